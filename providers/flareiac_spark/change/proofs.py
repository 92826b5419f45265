"""Decides on the proof that a changed query needs before it starts on the checkpoint of the old one. Pure.

The comparison of two texts explains what changed. That nothing else did is for Spark's own plans to prove, at
the beginning of the apply.
"""

from collections.abc import Sequence
from typing import Final, Literal, TypeAlias

from flareiac.kernel.records import encode
from flareiac_spark.change.acceptance_token import token_of
from flareiac_spark.change.changes import JobChange, Mixed, Refused, Restarted
from flareiac_spark.change.query_changes import has_shape
from flareiac_spark.control import Proof
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.observation.job import JobFacts
from flareiac_spark.sql.raw_parse import words

Needed: TypeAlias = Literal["", "state", "sources"]
NO_PROOF: Final = ""
KEEPS_STATE: Final = "state"
KEEPS_SOURCES: Final = "sources"
_KEPT_WITHOUT_STATE: Final = ("sources", "state")
"""A query without state keeps these parts: offsets belong to its sources, and state cannot be added."""


def needed_proof(
    address: str,
    recorded: JobDefinition,
    desired: JobDefinition,
    facts: JobFacts,
    found: Sequence[JobChange],
    *,
    is_new: bool = False,
) -> Needed:
    """The proof without which these changes must not start: none where no text differs, nothing restarts, or
    the plan asks for a person's word or a new generation anyway. ``is_new``: the job starts in any case, on
    the checkpoint that ``recorded`` left.
    """
    starts = is_new or any(isinstance(change, Restarted) for change in found)
    asks = any(isinstance(change, Mixed | Refused) for change in found)
    if not facts.started or not starts or asks or _same_queries(recorded, desired):
        return NO_PROOF
    if is_new and is_accepted_unproven(address, recorded, desired):
        return NO_PROOF
    stateful = any(has_shape(recorded, on) for on in facts.checkpoints.values())
    return KEEPS_STATE if stateful else KEEPS_SOURCES


def is_proven(needed: Needed, proof: Proof) -> bool:
    """True where a query may start on the checkpoint of the old one. Without state only what Spark's plans
    show to be other sources, or added state, is refused.
    """
    if needed == KEEPS_STATE:
        return proof.verdict in ("equal", "state")
    return proof.verdict != "different" or not set(_KEPT_WITHOUT_STATE) & set(proof.parts)


def unproven_change(recorded: JobDefinition, desired: JobDefinition) -> Mixed:
    """The change that a person accepts where Spark does not prove that the state is kept."""
    return Mixed(
        path=("steps",),
        text="a query that Spark does not prove to keep its state",
        why=(
            "Spark's plans of the old and the new text are not proven to hold the same state, which the new "
            "query goes on from."
        ),
        undo="write the old SQL again",
        before=_queries(recorded),
        after=_queries(desired),
        known=False,
    )


def is_accepted_unproven(address: str, recorded: JobDefinition, desired: JobDefinition) -> bool:
    """True where a person gave their word for exactly this change of the text."""
    return desired.accept_result_change == acceptance_of_unproven(address, recorded, desired)


def acceptance_of_unproven(address: str, recorded: JobDefinition, desired: JobDefinition) -> str:
    """The token that accepts it."""
    return token_of(address, [unproven_change(recorded, desired)], recorded.accept_result_change)


def _same_queries(recorded: JobDefinition, desired: JobDefinition) -> bool:
    return _queries(recorded) == _queries(desired)


def _queries(job: JobDefinition) -> object:
    """The steps in their order, token by token, and what each output takes its rows from."""
    steps = [
        [name, _tokens(step.sql), encode(step.dedup), encode(step.watermark), step.python]
        for name, step in job.ordered_steps.items()
    ]
    return [steps, {name: output.source for name, output in job.outputs.items()}, job.foreach_batch]


def _tokens(sql: str) -> object:
    found = words(sql)
    return sql if found is None else [list(token) for token in found]
