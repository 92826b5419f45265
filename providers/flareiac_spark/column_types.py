"""Columns of streams and tables with their whole types as text."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from flareiac.kernel.column_types import ColumnType, Member, build, parse, quoted_name, render
from flareiac.kernel.data import Attributes, Data
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.lakehouse_views import TableView
from flareiac.sdk.references import References

_MARK: Final = re.compile(r"[<>(),:`\[\]]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A top-level column with its whole type as Iceberg writes it."""

    name: str
    type: str
    required: bool = False

    @property
    def text(self) -> str:
        """The type, with ``not null`` where a value is required."""
        return f"{self.type} not null" if self.required else self.type

    @classmethod
    def of_text(cls, name: str, text: str) -> "Column":
        """The inverse of ``text``."""
        return cls(name=name, type=text.removesuffix(" not null"), required=text.endswith(" not null"))

    @classmethod
    def declared(cls, name: str, text: str) -> "Column":
        """A column of a declared type, in one spelling. Raises ``TypeTextError``."""
        kind, required = parse(text)
        return cls(name=name, type=render(kind), required=required)


def whole_columns(columns: Mapping[str, Attributes], order: Sequence[str]) -> list[Column]:
    """Top-level columns with their whole types, from columns that are flat by path (``address``,
    ``address.zip``). Running jobs are recognized by these texts.
    """
    return [
        Column(
            name=path,
            type=render(_assembled(columns, order, path), spell=_spelled),
            required=bool(columns[path]["required"]),
        )
        for path in order
        if "." not in path
    ]


def table_columns(reference: Data, references: References) -> list[Column]:
    """The top-level columns of a table with whole types; none where its schema is not managed here."""
    table = TableView.at(reference, references)
    return [] if table is None or not table.columns else whole_columns(table.columns, table.column_order)


def _spelled(name: str) -> str:
    """A name of a table's field as earlier releases wrote it: bare, whatever signs and blanks it has. One
    with a mark of the grammar, which no driver could read, is quoted.
    """
    return quoted_name(name) if _MARK.search(name) else name


def _assembled(columns: Mapping[str, Attributes], order: Sequence[str], path: str) -> ColumnType:
    inside = [child for child in order if child.startswith(f"{path}.") and "." not in child[len(path) + 1 :]]
    members = (
        Member(
            name=child[len(path) + 1 :],
            type=_assembled(columns, order, child),
            required=bool(columns[child]["required"]),
        )
        for child in inside
    )
    return build(columns[path]["type"], tuple(members))
