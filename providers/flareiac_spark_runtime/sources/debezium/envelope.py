"""The parts of every envelope of Debezium beside its row, and the faults that make one unreadable. Pure."""

from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark_runtime.sources.debezium.leaves import instant
from flareiac_spark_runtime.sources.debezium.names import (
    CHANGE,
    DELETE,
    MONGODB,
    OP,
    OPERATIONS,
    POSITION,
    TIME,
    TRUNCATE,
)
from flareiac_spark_runtime.sources.debezium.positions import Get, position
from flareiac_spark_runtime.sources.decoding import literal, quote
from flareiac_spark_runtime.sources.resolved import SpecColumn

Cases: TypeAlias = Sequence[tuple[str, str]]
"""Conditions, and the expression of a text for each."""
UNCHANGED: Final = (
    "the source did not send the field {name}, which did not change and is stored apart from its row. Write "
    "ALTER TABLE ... REPLICA IDENTITY FULL at the source"
)
_NO_BEFORE: Final = (
    "the delete does not say which row: the table of the source needs a primary key or REPLICA IDENTITY FULL"
)
_TRUNCATED: Final = (
    "the table of the source was truncated, and no change by key can follow that. Start over with a new "
    "generation of the checkpoint and an empty table"
)
_MONGODB: Final = "changes of MongoDB are not read: their rows are texts, not columns"


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """Expressions: ``before`` and ``after`` are conditions that the row is there, ``time`` milliseconds."""

    op: str
    connector: str
    before: str
    after: str
    time: str
    source: Get

    @property
    def change(self) -> tuple[str, ...]:
        """The columns of ``CHANGE``, as a projection."""
        made = {OP: self.op, TIME: instant(self.time, 1_000), POSITION: position(self.source, self.op)}
        return tuple(f"{made[name]} AS {name}" for name in CHANGE)

    @property
    def errors(self) -> Cases:
        """The conditions under which a change cannot be read, whatever its row holds, with their texts."""
        known = ", ".join(map(literal, OPERATIONS))
        is_delete = f"{self.op} = {literal(DELETE)}"
        texts = {
            f"{self.op} IS NULL": "the value is not an envelope of Debezium: it has no op",
            f"{self.connector} = {literal(MONGODB)}": _MONGODB,
            f"{self.op} = {literal(TRUNCATE)}": _TRUNCATED,
        }
        return (
            *((condition, literal(text)) for condition, text in texts.items()),
            (f"{self.op} NOT IN ({known})", f"concat('Debezium has no operation ', {self.op})"),
            (f"{is_delete} AND NOT coalesce({self.before}, false)", literal(_NO_BEFORE)),
            (
                f"NOT {is_delete} AND NOT coalesce({self.after}, false)",
                literal("the change does not have the row after it"),
            ),
        )

    def missing(self, conditions: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
        """Required values that are not there. A delete may have the key alone."""
        for condition, name in conditions:
            text = f"there is no value for {name}, which is not null"
            yield f"{self.op} <> {literal(DELETE)} AND ({condition})", literal(text)


def of_row(columns: Sequence[SpecColumn]) -> tuple[SpecColumn, ...]:
    """The columns that a row of the captured table gives."""
    return tuple(column for column in columns if column.name not in CHANGE)


def text_of(cases: Cases) -> str:
    """The text of the first case that holds, null where none does."""
    return f"CASE {' '.join(f'WHEN {condition} THEN {text}' for condition, text in cases)} END"


def fields_of(struct: str, columns: Sequence[SpecColumn]) -> tuple[str, ...]:
    """The columns, as a projection of a struct that holds them."""
    return tuple(f"{struct}.{quote(column.name)} AS {quote(column.name)}" for column in columns)
