"""The part of a ``kafka`` block about change events: settings of Debezium, and the check that columns can be
read without schemas. Pure.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from flareiac.kernel.column_types import ColumnType, ListOf, MapOf, StructOf, type_of
from flareiac.kernel.data import Data
from flareiac.kernel.diagnostics import Diagnostics, did_you_mean
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark import codes
from flareiac_spark.column_types import Column
from flareiac_spark_runtime.sources.debezium.json_kinds import deciding, spoken_values
from flareiac_spark_runtime.sources.debezium.names import CHANGE, OPTIONS, SCHEMAS
from flareiac_spark_runtime.sources.kafka.formats import DEBEZIUM_JSON

_ATTRIBUTE: Final = ("kafka", "options")


def change_columns() -> list[Column]:
    """The columns that follow those of the row."""
    return [Column(name=name, type=kind) for name, kind in CHANGE.items()]


@dataclass(frozen=True, slots=True, kw_only=True)
class DebeziumBlock:
    """``options`` in canonical form. What is wrong is reported."""

    format: str
    options: Mapping[str, Data]
    columns: Sequence[Column]
    diagnostics: Diagnostics

    def check(self) -> None:
        """Unknown settings, invalid values, and columns whose values have no certain meaning."""
        for name, value in self.options.items():
            self._check(name, value)
        if self.format == DEBEZIUM_JSON and self.options.get(SCHEMAS) == "false":
            for column, setting in self._unclear():
                self.diagnostics.error(
                    codes.UNCLEAR_VALUES,
                    f"{column.name} is {column.type}, and messages without a schema do not say how Debezium "
                    f"writes such a value. Repeat the setting of the connector: options = {{ "
                    f'"{setting}" = "..." }} with {spoken_values(setting)}, or let the connector send '
                    "schemas.",
                    attribute=_ATTRIBUTE,
                )

    def _check(self, name: str, value: Data) -> None:
        if name not in OPTIONS:
            self.diagnostics.error(
                codes.INVALID_CHANGE_OPTION,
                f"{name} is not a setting that a stream of change events takes. There are "
                f"{', '.join(OPTIONS)}.{did_you_mean(name, list(OPTIONS))}",
                attribute=_ATTRIBUTE,
            )
        elif OPTIONS[name] and isinstance(value, str) and value not in OPTIONS[name]:
            self.diagnostics.error(
                codes.INVALID_CHANGE_OPTION,
                f"{name} is {value!r}. It is one of {', '.join(OPTIONS[name])}, as the connector has it.",
                attribute=_ATTRIBUTE,
            )

    def _unclear(self) -> Iterator[tuple[Column, str]]:
        known = {name: value for name, value in self.options.items() if isinstance(value, str)}
        for column in self.columns:
            # A moment may be a text with its zone: only its records can tell.
            leaves = _leaves(type_of(column.type)) if column.type != "timestamptz" else ()
            settings = {setting for kind in leaves if (setting := deciding(kind, known)) is not None}
            for setting in sorted(settings):
                yield column, setting


def _leaves(kind: ColumnType) -> Iterator[ColumnType]:
    match kind:
        case ListOf(element=inner) | MapOf(value=inner):
            yield from _leaves(inner)
        case StructOf(members=members):
            for member in members:
                yield from _leaves(member.type)
        case _:
            yield kind
