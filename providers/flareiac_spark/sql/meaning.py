"""What differs in meaning between two versions of the query that feeds one output, part by part? Pure; never raises on any text."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Part(StrEnum):
    """What of a query differs. Below means: it feeds a stateful operator; what is not below one touches no state."""

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
    """The columns of a side that a join of two streams keeps in its state, since something above reads them."""
    DEDUP = "dedup"
    LIMIT = "limit"
    ORDER = "order"
    """The order of rows (ORDER BY)."""
    STATE_ADDED = "state-added"
    STATE_REMOVED = "state-removed"
    INPUT_OF_STATE = "input-of-state"
    """An expression below the state: its values go into the state or decide where they go."""
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """``step`` is named as in the new query. ``old`` and ``new`` are short SQL texts, "" where absent."""

    part: Part
    step: str
    old: str = ""
    new: str = ""
    detail: str = ""
    same_type: bool | None = None
    """Of changed aggregates: whether the types of result and buffer stay equal. None: it can not be told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What one output reads.

    ``steps``: name -> SQL, in order. ``source``: the step or input that the output writes. ``streams``: the streamed inputs.
    ``columns``: input -> column -> type as Iceberg spells it (``long``, ``decimal(12,2)``), empty where unknown.
    ``dedups``: step -> the columns that its rows are deduplicated by, after its SQL.
    """

    steps: Mapping[str, str]
    source: str
    streams: Collection[str]
    columns: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    dedups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """``same``: no row and no state could differ. ``stateful_*``: whether the query holds state; None where it can not be told."""

    same: bool
    differences: tuple[Difference, ...] = ()
    stateful_before: bool | None = None
    stateful_after: bool | None = None


def compare_queries(old: Query, new: Query) -> Meaning:
    """Whether two queries mean the same, and what differs."""
    from flareiac_spark.sql.state import Stateful, stateful_steps

    def stateful(query: Query) -> bool | None:
        kinds = {item.kind for item in stateful_steps(query.steps, query.streams)}
        return True if query.dedups else None if Stateful.UNKNOWN in kinds else bool(kinds)

    before, after = stateful(old), stateful(new)
    if (dict(old.steps), old.source, dict(old.dedups)) == (dict(new.steps), new.source, dict(new.dedups)):
        return Meaning(same=True, stateful_before=before, stateful_after=after)
    unknown = Difference(part=Part.UNKNOWN, step=new.source, detail="the two queries can not be compared")
    return Meaning(same=False, differences=(unknown,), stateful_before=before, stateful_after=after)
