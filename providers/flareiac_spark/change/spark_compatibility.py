"""The behaviour of Spark when a query with another definition starts on an existing checkpoint: measured
rules, keyed by Spark version.

Each rule cites the measurement that it rests on (``fact``). The planner never guesses beyond this table: a
change without a rule is "unknown", and the plan says so.
"""

from enum import StrEnum
from typing import Final

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark.runtime.versions import DEFAULT


class Verdict(StrEnum):
    TAKES = "takes"
    """The query continues, and its output means what the new definition says."""
    MIXES = "mixes"
    """The query continues without an error on state or rows of the old definition: results mean neither the
    old nor the new.
    """
    REFUSES = "refuses"
    """The query does not start."""
    IGNORES = "ignores"
    """The query continues with the old value."""


class Subject(StrEnum):
    """The part of a definition that a change is about, as readers of the documentation look for it."""

    STATELESS = "A query without state"
    AFTER = "What is computed from the state"
    BEFORE = "What feeds the state"
    AGGREGATES = "Aggregates"
    KEYS = "Grouping keys"
    WINDOWS = "Windows and watermarks"
    DEDUP = "Deduplication"
    JOINS = "Joins of streams"
    OPERATORS = "Stateful operators"
    OUTPUT = "Output mode"
    SOURCES = "Sources"
    SETTINGS = "Settings"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """``change`` is what the reader changed; ``what`` is what Spark does then, as the end of a sentence that
    begins with its version.
    """

    spark: str
    fact: str
    subject: Subject
    change: str
    verdict: Verdict
    what: str

    def __str__(self) -> str:
        return f"Spark {self.spark} {self.what}"


def rule(fact: str, spark: str = DEFAULT.spark) -> Rule:
    """The rule of a Spark line (``4.1``). Raises ``KeyError`` for what was not measured on it."""
    return _BY_KEY[spark, fact]


_SPARK: Final = "4.1"


def _about(subject: Subject, *rows: tuple[str, str, Verdict, str]) -> tuple[Rule, ...]:
    """The rules of one subject: change, the facts they rest on, verdict, what Spark does."""
    return tuple(
        Rule(spark=_SPARK, fact=fact, subject=subject, change=change, verdict=verdict, what=what)
        for change, facts, verdict, what in rows
        for fact in facts.split()
    )


RULES: Final[tuple[Rule, ...]] = (
    *_about(
        Subject.STATELESS,
        (
            "selected columns",
            "change.projection",
            Verdict.TAKES,
            "accepts a different projection of a query without state",
        ),
        ("a filter", "change.filter", Verdict.TAKES, "accepts a different filter of a query without state"),
    ),
    *_about(
        Subject.AFTER,
        (
            "expressions above the state",
            "change.above-aggregate",
            Verdict.TAKES,
            "computes the expressions above the state from the same state",
        ),
        (
            "`HAVING` or another filter above the state",
            "change.filter-after-state",
            Verdict.TAKES,
            "filters the output of the same state",
        ),
        (
            "columns selected from deduplicated rows",
            "change.dedup-output",
            Verdict.TAKES,
            "selects other columns of rows that are deduplicated by the same keys",
        ),
    ),
    *_about(
        Subject.BEFORE,
        (
            "a filter below the state",
            "change.filter-before-state",
            Verdict.MIXES,
            "silently accepts a different filter below the state: the state holds results of the old filter",
        ),
        (
            "an expression below the state",
            "change.input-of-state",
            Verdict.MIXES,
            (
                "silently accepts a different expression below the state: the state holds values of the old "
                "expression"
            ),
        ),
    ),
    *_about(
        Subject.AGGREGATES,
        (
            "the aggregate, its type unchanged (`sum` to `max`)",
            "change.sum-to-max",
            Verdict.MIXES,
            "silently accepts a different aggregate of the same type and continues from the old state",
        ),
        (
            "the argument of an aggregate",
            "change.aggregate-argument",
            Verdict.MIXES,
            (
                "silently accepts a different argument of an aggregate: the state holds values of the old "
                "argument"
            ),
        ),
        (
            "the order of aggregates of equal types",
            "change.aggregate-order",
            Verdict.MIXES,
            (
                "silently accepts a different order of aggregates of equal types: each one continues from "
                "the state of another one"
            ),
        ),
        (
            "the order of aggregates of different types",
            "change.aggregate-order-types",
            Verdict.REFUSES,
            "refuses a different order of aggregates of different types: the state has another schema",
        ),
        (
            "one more aggregate",
            "change.aggregate-added",
            Verdict.REFUSES,
            "refuses an additional aggregate: the state has no place for it",
        ),
        (
            "one aggregate less",
            "change.aggregate-removed",
            Verdict.REFUSES,
            "refuses to drop an aggregate: the state has another schema",
        ),
        (
            "the type of an aggregate",
            "change.aggregate-type",
            Verdict.REFUSES,
            "refuses an aggregate of another type: the state has another schema",
        ),
    ),
    *_about(
        Subject.KEYS,
        (
            "a key, its type unchanged",
            "change.grouping-key-expression",
            Verdict.MIXES,
            "silently accepts a different grouping key of the same type: the state mixes groups of both keys",
        ),
        (
            "the order of keys of equal types",
            "change.grouping-key-order",
            Verdict.MIXES,
            (
                "silently accepts a different order of grouping keys of equal types: old groups are found "
                "under wrong keys"
            ),
        ),
        (
            "the number or the types of keys",
            "change.grouping-key-added",
            Verdict.REFUSES,
            "refuses other grouping keys: the keys of the state have another schema",
        ),
    ),
    *_about(
        Subject.WINDOWS,
        (
            "the size of a window",
            "change.window-size",
            Verdict.MIXES,
            "silently accepts a different window size: the state mixes windows of both sizes",
        ),
        (
            "the gap of a session window",
            "change.session-gap",
            Verdict.MIXES,
            "silently accepts a different gap: open sessions were joined by the old gap",
        ),
        (
            "the kind of window (tumbling to sliding)",
            "change.window-to-sliding",
            Verdict.REFUSES,
            "refuses another kind of window: the keys of the state have another schema",
        ),
        (
            "the delay of a watermark",
            "change.watermark-delay",
            Verdict.MIXES,
            (
                "silently accepts a different watermark: rows it dropped and groups it closed stay so, open "
                "state closes at another time"
            ),
        ),
    ),
    *_about(
        Subject.DEDUP,
        (
            "key columns, their types unchanged",
            "change.dedup-column-of-equal-type",
            Verdict.MIXES,
            (
                "silently accepts other key columns of the same types for deduplication: the state holds "
                "values of the old columns"
            ),
        ),
        (
            "the number or the types of key columns",
            "change.dedup-columns",
            Verdict.REFUSES,
            "refuses other key columns for deduplication: the keys of the state have another schema",
        ),
    ),
    *_about(
        Subject.JOINS,
        (
            "join keys, their types unchanged",
            "change.join-key-equal-columns",
            Verdict.MIXES,
            "silently accepts other join keys of the same types: waiting rows are kept under the old keys",
        ),
        (
            "the types of join keys",
            "change.join-key-type",
            Verdict.REFUSES,
            "refuses join keys of other types: the keys of the state have another schema",
        ),
        (
            "the time bound or another condition",
            "change.join-time-bound",
            Verdict.MIXES,
            "silently accepts a different join condition: rows that the old condition dropped are missing",
        ),
        (
            "an outer join to an inner join",
            "change.full-to-inner-join change.left-to-inner-join",
            Verdict.MIXES,
            (
                "silently accepts an inner join on the state of an outer join: rows that wait for a partner "
                "are never written"
            ),
        ),
        (
            "to or from a semi join",
            "change.inner-to-semi-join change.semi-to-inner-join change.left-to-semi-join",
            Verdict.MIXES,
            "silently accepts another kind of join: rows joined so far stay joined by the old kind",
        ),
        (
            "an inner join to an outer join",
            "change.inner-to-left-join change.inner-to-right-join",
            Verdict.REFUSES,
            "refuses an outer join on the state of an inner join",
        ),
        (
            "a left join to a full join",
            "change.left-to-full-join",
            Verdict.REFUSES,
            "refuses a full join on the state of a left join",
        ),
        (
            "a left join to a right join",
            "change.left-to-right-join",
            Verdict.REFUSES,
            "refuses a right join on the state of a left join",
        ),
        (
            "the columns of a joined stream",
            "change.join-output-columns",
            Verdict.REFUSES,
            "refuses other columns of a joined stream: its state keeps whole rows",
        ),
    ),
    *_about(
        Subject.OPERATORS,
        (
            "the first stateful operator is added",
            "change.state-added",
            Verdict.REFUSES,
            "cannot add state to a checkpoint without state",
        ),
        (
            "the stateful operator is removed",
            "change.state-removed",
            Verdict.REFUSES,
            "refuses a query without the state that the checkpoint holds",
        ),
        (
            "one stateful operator replaces another",
            "change.state-other-operator",
            Verdict.REFUSES,
            "refuses a checkpoint with the state of another operator",
        ),
        ("the number in `LIMIT`", "change.limit", Verdict.TAKES, "continues to count towards the new limit"),
        (
            "`LIMIT` is removed",
            "change.limit-removed",
            Verdict.REFUSES,
            "keeps the count of a limit as state, and refuses a query without it",
        ),
    ),
    *_about(
        Subject.OUTPUT,
        (
            "`append` to `complete`",
            "change.append-to-complete",
            Verdict.MIXES,
            "silently continues: closed groups are no longer in the state and vanish from the table",
        ),
        (
            "`complete` to `append`",
            "change.complete-to-append",
            Verdict.MIXES,
            "silently continues: rows that are in the table are appended again when their groups are closed",
        ),
    ),
    *_about(
        Subject.SOURCES,
        (
            "rate limits and reader options",
            "source.rate-limit",
            Verdict.TAKES,
            "accepts other rate limits and reader options",
        ),
        (
            "the declared columns of the same files",
            "source.columns",
            Verdict.TAKES,
            "reads other columns of the same files",
        ),
        (
            "the number of streams",
            "source.count",
            Verdict.REFUSES,
            "refuses another number of streams: it keeps offsets by the position of a stream",
        ),
        (
            "the kind of source",
            "source.kind",
            Verdict.REFUSES,
            "cannot read the offsets of one kind of source as those of another kind",
        ),
        (
            "the folder of files",
            "source.path",
            Verdict.REFUSES,
            (
                "refuses another folder of files on the offsets of the old one, or silently reads it from "
                "the beginning"
            ),
        ),
        (
            "the table that is read",
            "source.table-other",
            Verdict.REFUSES,
            "finds no snapshot of another table at the offsets of the old one",
        ),
        (
            "a topic is added, by name or by a pattern that covers the old ones",
            "kafka.topic-added",
            Verdict.TAKES,
            "reads a topic that is added from its first record, whatever the starting offsets are",
        ),
        (
            "a topic is removed or replaced",
            "kafka.topic-removed",
            Verdict.REFUSES,
            (
                "refuses a stream without a topic that it has read, and leaves a batch that spoils the "
                "checkpoint"
            ),
        ),
        (
            "the starting offsets of a stream of Kafka",
            "kafka.restart",
            Verdict.IGNORES,
            "keeps the offsets of the checkpoint whatever the starting offsets are",
        ),
        (
            "partitions are added to a topic",
            "kafka.partitions-added",
            Verdict.TAKES,
            "reads partitions that are added from their first record",
        ),
        (
            "a topic is deleted and created again",
            "kafka.recreated-more",
            Verdict.MIXES,
            (
                "silently continues at the old offsets in a topic that was created again: its first records "
                "are never read (the driver refuses such a start)"
            ),
        ),
        (
            "a topic of the same name on another cluster",
            "kafka.other-cluster",
            Verdict.MIXES,
            "silently continues at the old offsets on another cluster (the driver refuses such a start)",
        ),
        (
            "records are deleted before they are read",
            "kafka.expired",
            Verdict.REFUSES,
            (
                "refuses offsets whose records are gone, and leaves a batch that spoils the checkpoint (the "
                "driver refuses such a start before Spark does)"
            ),
        ),
        (
            "the order of streams",
            "source.order",
            Verdict.REFUSES,
            "takes the offsets of one stream for those of another, or does not start",
        ),
    ),
    *_about(
        Subject.SETTINGS,
        (
            "a setting that the checkpoint pins (`spark.sql.shuffle.partitions`, the state store)",
            "pinned.conf",
            Verdict.IGNORES,
            "keeps the value that the checkpoint was started with",
        ),
    ),
)
_BY_KEY: Final = {(each_rule.spark, each_rule.fact): each_rule for each_rule in RULES}
ABOVE_STATE: Final = (
    "change.above-aggregate",
    "change.filter-after-state",
    "change.dedup-output",
    "change.limit",
)
"""Facts about what is computed from the state: correct from the next batch on. Rows that an output keeps of
earlier batches have the old meaning, unless each batch replaces all its rows.
"""
