"""Rows in columns for people. Records; the core aligns them."""

from flareiac.kernel.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Column:
    """A column. ``right``: its cells are aligned to the right, as numbers are."""

    title: str
    right: bool = False


@dataclass(frozen=True, slots=True)
class TextTable:
    """One cell of plain text for each column in each row."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
