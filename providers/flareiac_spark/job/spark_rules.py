"""What Spark does when a query with another definition starts on an existing checkpoint: measured rules, keyed by Spark version.

Each rule cites the measurement that it rests on (``fact``). The planner never guesses beyond this table: a change that no rule covers is
"unknown" and says so.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from flareiac_spark.runtime.versions import DEFAULT


class Verdict(StrEnum):
    TAKES = "takes"
    """The query goes on, and what comes out means what the new definition says."""
    MIXES = "mixes"
    """The query goes on in silence, with state or rows made under the old definition: results mean neither the old nor the new."""
    REFUSES = "refuses"
    """The query does not start."""
    IGNORES = "ignores"
    """The query goes on with the old value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """``what`` is what Spark does and what comes of it, as the end of a sentence that begins with Spark's name and version."""

    spark: str
    fact: str
    verdict: Verdict
    what: str

    def __str__(self) -> str:
        return f"Spark {self.spark} {self.what}"


def rule(fact: str, spark: str = DEFAULT.spark) -> Rule:
    """The rule of a Spark line (``4.1``). Raises ``KeyError`` for what was not measured on it."""
    return _BY_KEY[spark, fact]


def _line(spark: str, verdict: Verdict, **facts: str) -> tuple[Rule, ...]:
    return tuple(
        Rule(spark=spark, fact=name.replace("__", ".").replace("_", "-"), verdict=verdict, what=what) for name, what in facts.items()
    )


RULES: Final[tuple[Rule, ...]] = (
    *_line(
        "4.1",
        Verdict.TAKES,
        change__projection="takes another projection of a query that keeps no state",
        change__filter="takes another filter of a query that keeps no state",
        change__above_aggregate="computes what is above the state anew, from the same state",
        change__filter_after_state="filters what comes out of the state anew",
        change__dedup_output="selects anew from what is unique by the same columns",
        source__rate_limit="takes other rate limits and reader options",
        source__columns="reads other columns of the same files",
        change__limit="counts on towards another limit",
    ),
    *_line(
        "4.1",
        Verdict.MIXES,
        change__sum_to_max="takes another aggregate of the same type in silence and goes on from the old one's state",
        change__aggregate_argument="takes another argument of an aggregate in silence: the state holds the old argument's values",
        change__aggregate_order="takes aggregates of equal types in another order in silence, and each goes on from the state of another",
        change__filter_before_state="takes another filter below the state in silence: what the state holds was made with the old one",
        change__input_of_state="takes another expression below the state in silence: what the state holds was made with the old one",
        change__grouping_key_expression="takes another grouping key of the same type in silence: groups under both keys stand side by side",
        change__grouping_key_order="takes grouping keys of equal types in another order in silence: old groups are found under other keys",
        change__window_size="takes other windows in silence: windows of the old and the new size stand side by side",
        change__session_gap="takes another gap in silence: sessions that are open were joined by the old one",
        change__dedup_column_of_equal_type="takes other columns of the same types to tell rows apart by in silence: the state knows the "
        "values of the old ones",
        change__join_key_equal_columns="takes other join keys of the same types in silence: the rows that wait are kept under the old ones",
        change__full_to_inner_join="takes an inner join in silence on an outer one's state: rows that wait for a partner never come out",
        change__inner_to_semi_join="takes another kind of join in silence: what was joined so far stays joined by the old kind",
        change__semi_to_inner_join="takes another kind of join in silence: what was joined so far stays joined by the old kind",
        change__left_to_semi_join="takes another kind of join in silence: what was joined so far stays joined by the old kind",
        change__watermark_delay="takes another watermark in silence: what the old one dropped or closed stays so, and open state is "
        "closed at another time",
        change__left_to_inner_join="takes an inner join in silence on an outer one's state: rows that wait for a partner never come out",
        change__join_time_bound="takes another join condition in silence: rows that the old one let go are missing",
        change__append_to_complete="goes on in silence: groups that were closed are in the state no more, and vanish from the table",
        change__complete_to_append="goes on in silence: rows that are in the table are appended once more when their groups are closed",
    ),
    *_line(
        "4.1",
        Verdict.REFUSES,
        change__aggregate_added="refuses one more aggregate: the state has no place for it",
        change__aggregate_removed="refuses one aggregate less: the state has another shape",
        change__aggregate_type="refuses an aggregate of another type: the state has another shape",
        change__grouping_key_added="refuses other grouping keys: the state's keys have another shape",
        change__dedup_columns="refuses other columns to tell rows apart by: the state's keys have another shape",
        change__inner_to_left_join="refuses an outer join on the state of an inner one",
        change__inner_to_right_join="refuses an outer join on the state of an inner one",
        change__left_to_full_join="refuses a full join on the state of a left one",
        change__left_to_right_join="refuses a right join on the state of a left one",
        change__join_output_columns="refuses other columns of a joined stream: its state keeps whole rows",
        change__state_added="adds no state to a checkpoint that has none",
        change__window_to_sliding="refuses windows of another kind: the state's keys have another shape",
        change__aggregate_order_types="refuses aggregates of different types in another order: the state has another shape",
        change__join_key_type="refuses join keys of other types: the state's keys have another shape",
        change__state_removed="refuses a query without the state that is there",
        change__limit_removed="keeps a limit's count as state, and refuses a query without it",
        change__state_other_operator="refuses a checkpoint with the state of another operator",
        source__count="refuses another number of streams: the offsets are kept by their position",
        source__kind="can not read the offsets of one kind of source as those of another",
        source__path="refuses another folder of files on the offsets of the old one, or reads it from its beginning in silence",
        source__table_other="finds no snapshot of another table at the offsets of the old one",
        source__order="takes the offsets of one stream for those of another, or does not start",
    ),
    *_line("4.1", Verdict.IGNORES, pinned__conf="keeps the value that the checkpoint was started with"),
)
_BY_KEY: Final = {(item.spark, item.fact): item for item in RULES}
ABOVE_STATE: Final = ("change.above-aggregate", "change.filter-after-state", "change.dedup-output")
"""Facts about what is made of the state: right from the next batch on. What an output keeps of earlier batches has the old meaning, unless
each batch replaces all its rows.
"""
