"""Decides on the proof that a changed query needs before it starts on the checkpoint of the old one. Pure.

The comparison of two texts explains what changed. That nothing else did is for Spark's own plans to prove, at
the beginning of the apply.
"""

from collections.abc import Sequence
from typing import Final, Literal, TypeAlias

from flareiac.kernel.data import digest
from flareiac.kernel.records import encode
from flareiac_spark.change.acceptance_token import token_of
from flareiac_spark.change.changes import (
    OLD_SQL,
    JobChange,
    MetadataOnly,
    NewGeneration,
    Restart,
    ResultsChange,
    TakenAsSame,
    blocks,
)
from flareiac_spark.change.query_changes import REPLACES, has_shape
from flareiac_spark.change.query_text import query_text, reworded, same_texts
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.observation.job import JobFacts
from flareiac_spark_runtime.control import Proof, StoredProof

Needed: TypeAlias = Literal["", "equal", "state", "sources"]
NO_PROOF: Final = ""
IS_EQUAL: Final = "equal"
KEEPS_STATE: Final = "state"
KEEPS_SOURCES: Final = "sources"
_KEPT_WITHOUT_STATE: Final = ("sources", "state")
"""A query without state keeps these parts: offsets belong to its sources, and state cannot be added."""
_PARTS: Final = {
    "sources": "the streams that it reads, in their order,",
    "state": "what its state holds",
    "watermarks": "the rows that its watermarks see",
    "columns": "its columns",
    "query": "what it computes",
    "outputs": "all of its outputs",
}


def needed_proof(
    address: str,
    recorded: JobDefinition,
    desired: JobDefinition,
    facts: JobFacts,
    changes: Sequence[JobChange],
    *,
    is_new: bool = False,
) -> Needed:
    """The proof without which these changes must not be carried out: none where no text differs, or the plan
    asks for a person's word or a new generation anyway. ``is_new``: the job starts in any case, on the
    checkpoint that ``recorded`` left.
    """
    if same_texts(recorded, desired) or blocks(changes):
        return NO_PROOF
    if is_new and is_accepted_unproven(address, recorded, desired):
        return NO_PROOF
    if is_new or any(isinstance(change, Restart) for change in changes):
        return start_needs(recorded, facts)
    return IS_EQUAL if any(isinstance(change, TakenAsSame) for change in changes) else NO_PROOF


def start_needs(recorded: JobDefinition, facts: JobFacts) -> Needed:
    """The proof without which a new text must not start on the checkpoint."""
    if not facts.started:
        return NO_PROOF
    return KEEPS_STATE if _holds_shape(recorded, facts) else KEEPS_SOURCES


def pair_digest(recorded: JobDefinition, desired: JobDefinition) -> str:
    """Names the two queries of a proof, old and new."""
    return "..".join(digest(_judged(side))[:16] for side in (recorded, desired))


def known_proof(recorded: JobDefinition, desired: JobDefinition, facts: JobFacts) -> StoredProof | None:
    """The verdict of Spark on exactly these two, if it was asked. Another version than the one that the job
    runs on is asked again.
    """
    if not facts.proofs:
        return None
    pair = pair_digest(recorded, desired)
    proofs = (proof for proof in facts.proofs if proof.pair == pair and facts.spark in ("", proof.spark))
    return next(proofs, None)


def is_provable(
    changes: Sequence[JobChange],
    before: JobDefinition,
    desired: JobDefinition,
    facts: JobFacts,
    blockers: int,
    *,
    unrecorded: bool,
) -> bool:
    """True where nothing but the comparison of texts blocks a plan, of which Spark was not asked yet.
    ``blockers``: their number. ``unrecorded``: one is that ``before`` was set to run and not recorded.
    """
    blocking = [change for change in changes if isinstance(change, ResultsChange | NewGeneration)]
    mixed = any(isinstance(change, ResultsChange) for change in blocking)
    others = blockers - sum(isinstance(change, NewGeneration) for change in blocking) - mixed
    of_texts = all(change.path == ("steps",) or change.path[-1] == "sql" for change in blocking)
    asks = not blocking and others == 1 if unrecorded else bool(blocking) and of_texts and others == 0
    return asks and known_proof(before, desired, facts) is None


def is_proven_to_go_on(
    others: Sequence[JobChange], before: JobDefinition, desired: JobDefinition, facts: JobFacts
) -> bool:
    """True where Spark is known to prove that a query goes on with the state of the one before. ``others``:
    the changes between both, as they are judged with that proof.
    """
    proof = known_proof(before, desired, facts)
    return proof is not None and proof.verdict in ("equal", "state") and not blocks(others)


def judged(
    changes: Sequence[JobChange], recorded: JobDefinition, desired: JobDefinition, facts: JobFacts
) -> tuple[JobChange, ...]:
    """The changes of a query, with the verdict of Spark in place of the comparison's where it is known.

    Where both disagree the comparison's explanation is left out.
    """
    proof = None if same_texts(recorded, desired) else known_proof(recorded, desired, facts)
    if proof is None:
        return tuple(changes)
    noted = [change for change in changes if isinstance(change, MetadataOnly)]
    stateful = _holds_shape(recorded, facts)
    if proof.verdict == "equal":
        return (*noted, *_proven_texts(recorded, desired, proof.spark))
    is_blocked = blocks(changes)
    same = not any(isinstance(change, Restart) for change in changes)
    if proof.verdict == "state":
        blocking = [change for change in changes if isinstance(change, ResultsChange | NewGeneration)]
        # Both say that the state goes on. What was accepted of the comparison stays accepted.
        agree = all(isinstance(change, ResultsChange) and change.above_state for change in blocking)
        if agree and (is_blocked or not same):
            return tuple(changes)
        return (*noted, _above_state(recorded, desired, proof) if stateful else _restarted(proof))
    if is_blocked:
        return tuple(changes)
    if stateful:
        return (*noted, unproven_change(recorded, desired, said_of(proof)))
    if not is_proven(KEEPS_SOURCES, proof.proof) and facts.started:
        undo = OLD_SQL
        refused = NewGeneration(
            path=("steps",), text="the query in Spark's plan", why=said_of(proof), undo=undo
        )
        return (*noted, refused)
    return (*noted, _restarted(proof)) if same else tuple(changes)


def is_proven(needed: Needed, proof: Proof) -> bool:
    """True where a query may start on the checkpoint of the old one, or be recorded in its place. Without
    state only what Spark's plans show to be other sources, or added state, is refused.
    """
    match needed:
        case "equal":
            return proof.verdict == "equal"
        case "state":
            return proof.verdict in ("equal", "state")
        case _:
            return proof.verdict != "different" or not set(_KEPT_WITHOUT_STATE) & set(proof.parts)


def said_of(proof: Proof | StoredProof) -> str:
    """Says why two texts are not one query, as a sentence."""
    if proof.verdict in ("different", "state"):
        parts = " and ".join(_PARTS[part] for part in proof.parts if part in _PARTS)
        return f"Spark {proof.spark} plans another query than the one that runs: {parts} differ."
    return f"Whether the new text is the same query cannot be proven: {proof.reason.rstrip('.')}."


def unproven_change(recorded: JobDefinition, desired: JobDefinition, why: str = "") -> ResultsChange:
    """The change that a person accepts where Spark does not prove that the state is kept. ``why``: what it
    said of it.
    """
    return ResultsChange(
        path=("steps",),
        text="a query that Spark does not prove to keep its state",
        why=why
        or (
            "Spark's plans of the old and the new text are not proven to hold the same state, which the new "
            "query goes on from."
        ),
        undo=OLD_SQL,
        before=query_text(recorded),
        after=query_text(desired),
        known=False,
    )


def is_accepted_unproven(address: str, recorded: JobDefinition, desired: JobDefinition) -> bool:
    """True where a person gave their word for exactly this change of the text."""
    return desired.accept_result_change == acceptance_of_unproven(address, recorded, desired)


def acceptance_of_unproven(address: str, recorded: JobDefinition, desired: JobDefinition) -> str:
    """The token that accepts it."""
    return token_of(address, [unproven_change(recorded, desired)], recorded.accept_result_change)


def _holds_shape(recorded: JobDefinition, facts: JobFacts) -> bool:
    return any(has_shape(recorded, on) for on in facts.checkpoints.values())


def _judged(job: JobDefinition) -> object:
    """All that Spark's plan of a query depends on."""
    return [query_text(job), encode(job.inputs), encode(job.outputs), dict(job.conf), job.mode]


def _proven_texts(recorded: JobDefinition, desired: JobDefinition, spark: str) -> list[TakenAsSame]:
    return reworded(recorded, desired, spark) or [
        TakenAsSame(path=("steps",), text="the division into steps", proven=spark)
    ]


def _restarted(proof: StoredProof) -> Restart:
    return Restart(path=("steps",), text="the query in Spark's plan", why=said_of(proof).rstrip("."))


def _above_state(recorded: JobDefinition, desired: JobDefinition, proof: StoredProof) -> JobChange:
    """The state goes on as it is; what an output keeps of earlier batches was computed otherwise."""
    if all(output.mode in REPLACES for output in desired.declared_outputs.values()):
        return _restarted(proof)
    return ResultsChange(
        path=("steps",),
        text="what the query makes of its state",
        why=f"{said_of(proof)} The state is the same. Rows that are in the table keep the old meaning.",
        undo=OLD_SQL,
        before=query_text(recorded),
        after=query_text(desired),
        above_state=True,
    )
