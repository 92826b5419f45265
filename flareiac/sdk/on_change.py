"""The effect of a change of an attribute on existing resources, as the reference says it and a plan carries
it out.
"""

from enum import StrEnum

from flareiac.kernel.lazy_dataclass import dataclass


class ChangeClass(StrEnum):
    """The classes of changes, from the one that concerns nothing that is there to the gravest."""

    RECORDED = "only recorded"
    """Only the state of the project takes it; no object and no running query changes."""
    NO_EFFECT = "no effect"
    """The running resource keeps the value that it was started with."""
    STOPS = "stops or starts it"
    NEXT_RUN = "takes effect with the next run"
    NEXT_GENERATION = "takes effect with the next generation"
    LIVE = "live"
    METADATA_ONLY = "metadata only"
    RESTART = "restart"
    """A batch job runs again."""
    MOVES_FILES = "moves files, restart"
    RENAMES = "renames for all readers"
    IRREVERSIBLE = "irreversible"
    RESULTS_CHANGE = "results change"
    NEW_GENERATION = "new generation"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class OnChange:
    """The class of a change. ``over_state``: its class for a job whose checkpoint holds state, where that is
    another one. ``note``: what the classes leave open, in a few words without a stop. ``says``: the words of
    a plan, where the attribute alone decides: the reason of a restart, or a sentence about any other change.
    """

    does: ChangeClass
    over_state: ChangeClass | None = None
    note: str = ""
    says: str = ""

    def __str__(self) -> str:
        over_state = f", or {self.over_state} over state" if self.over_state else ""
        return f"{self.does}{over_state}{f' ({self.note})' if self.note else ''}"
