"""The parts in which two versions of a query can differ."""

from enum import StrEnum
from typing import Final, Literal

from flareiac.kernel.lazy_dataclass import dataclass


class ChangeKind(StrEnum):
    """The part of a query that differs. Below means: it feeds a stateful operator; a part that is not below
    one touches no state.
    """

    SOURCES = "sources"
    PROJECTION = "projection"
    FILTER = "filter"
    FILTER_BEFORE_STATE = "filter-before-state"
    """Also a filter written above that Spark moves below: on grouping keys, or on one side of a join."""
    GROUPING_KEYS = "grouping-keys"
    AGGREGATE_ADDED = "aggregate-added"
    AGGREGATE_REMOVED = "aggregate-removed"
    AGGREGATE_CHANGED = "aggregate-changed"
    AGGREGATE_ARGUMENT = "aggregate-argument"
    AGGREGATE_ORDER = "aggregate-order"
    """The state keeps the aggregates by position: with equal types they are silently exchanged."""
    WINDOW = "window"
    JOIN_TYPE = "join-type"
    JOIN_KEYS = "join-keys"
    JOIN_CONDITION = "join-condition"
    JOIN_COLUMNS = "join-columns"
    """The columns of a side that a join of two streams keeps in its state, since something above reads
    them.
    """
    DEDUP = "dedup"
    LIMIT = "limit"
    """Another number. Of a stream, a limit more or less is state added or removed."""
    ORDER = "order"
    """The order of rows (ORDER BY)."""
    STATE_ADDED = "state-added"
    STATE_REMOVED = "state-removed"
    INPUT_OF_STATE = "input-of-state"
    """An expression below the state: its values go into the state or decide where they go."""
    HINT = "hint"
    """The hint for the way in which Spark computes a join: no other rows come out, wherever it stands."""
    UNKNOWN = "unknown"


def placed(part: ChangeKind, *, feeds_state: bool) -> ChangeKind:
    """The kind of a difference at its place: below the state nothing is only above it. Every difference
    passes here.
    """
    match part:
        case ChangeKind.PROJECTION | ChangeKind.LIMIT | ChangeKind.ORDER:
            return ChangeKind.INPUT_OF_STATE if feeds_state else part
        case ChangeKind.FILTER:
            return ChangeKind.FILTER_BEFORE_STATE if feeds_state else part
        case (
            ChangeKind.SOURCES
            | ChangeKind.FILTER_BEFORE_STATE
            | ChangeKind.INPUT_OF_STATE
            | ChangeKind.GROUPING_KEYS
            | ChangeKind.AGGREGATE_ADDED
            | ChangeKind.AGGREGATE_REMOVED
            | ChangeKind.AGGREGATE_CHANGED
            | ChangeKind.AGGREGATE_ARGUMENT
            | ChangeKind.AGGREGATE_ORDER
            | ChangeKind.WINDOW
            | ChangeKind.JOIN_TYPE
            | ChangeKind.JOIN_KEYS
            | ChangeKind.JOIN_CONDITION
            | ChangeKind.JOIN_COLUMNS
            | ChangeKind.DEDUP
            | ChangeKind.STATE_ADDED
            | ChangeKind.STATE_REMOVED
            | ChangeKind.HINT
            | ChangeKind.UNKNOWN
        ):
            return part


ABOVE_STATE: Final = frozenset(part for part in ChangeKind if placed(part, feeds_state=True) is not part)
"""The differences above the state of a query that holds some, or in a query without: the state itself means
what it meant.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnChange:
    """A column that a step begins to write, writes no more, or computes differently."""

    step: str
    name: str
    kind: Literal["added", "removed", "changed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """``step`` is named as in the new query. ``old`` and ``new`` are short SQL texts, "" where absent."""

    part: ChangeKind
    step: str
    old: str = ""
    new: str = ""
    detail: str = ""
    same_type: bool | None = None
    """For the expressions that the state is made of: True if their types and their number stay as they are,
    so that Spark goes on from the old state silently. None: it cannot be determined, or does not matter.
    """
    column: ColumnChange | None = None
    """The one output column that differs; None where it is another difference."""
