"""Words that a report has for typed parts of its content, the same in each form. Pure."""

from collections.abc import Mapping
from typing import Final

from flareiac.kernel.elapsed import elapsed_text
from flareiac.render.report.content import Interruption, Reader, StateVerdict, VerdictPart
from flareiac.render.sections import Section
from flareiac.sdk.changes import Effect

TITLES: Final[Mapping[Section, str]] = {
    Section.DESTRUCTIVE: "Destructive or state-changing",
    Section.BLOCKED: "Blocked, a decision is needed",
    Section.RESTARTS: "Restarts and stops",
    Section.OTHERS: "Changes",
}
MEANINGS: Final[Mapping[Effect, str]] = {
    Effect.NEW_GENERATION: "the query begins again: without the state of its aggregations and joins, from "
    "the records that start_from names.",
    Effect.RESULTS_CHANGE: "the state is kept, and what is computed from now on does not mean what was "
    "computed before.",
    Effect.IRREVERSIBLE: "nothing is lost, and no later change takes it back.",
    Effect.RECORDED: "only the state file of the project takes it.",
}
"""The effects that a reader of Spark's and Iceberg's documentation does not know."""
STATES: Final[Mapping[StateVerdict, tuple[VerdictPart, ...]]] = {
    StateVerdict.KEPT: (VerdictPart(text="kept"),),
    StateVerdict.KEPT_IF_PROVEN: (
        VerdictPart(text="kept, once apply has proven that the query means the same"),
    ),
    StateVerdict.RESULTS_CHANGE: (VerdictPart(text="kept; "), VerdictPart(text="results change", grave=True)),
    StateVerdict.NEW_GENERATION: (VerdictPart(text="left behind: a new generation begins", grave=True),),
}


def downtime(stop: Interruption) -> str:
    """The time that a query is expected not to run."""
    if stop.batch_seconds is None:
        return "not known"
    batch = f"{elapsed_text(max(1.0, stop.batch_seconds))} as its last batch"
    return f"{batch}, then the start" if stop.restarts else f"{batch}, then it is down"


def replayed(stop: Interruption, most: int) -> str:
    """The batches that are done again, ``most`` of them."""
    return ", ".join(f"batch {number}" for number in stop.replays[:most]) or "none"


def doubts(reader: Reader) -> list[str]:
    """The ways in which a reader is less than a certain one that is declared."""
    return [
        *([] if reader.is_certain else ["perhaps not these columns"]),
        *([] if reader.is_declared else ["as declared until now"]),
    ]
