"""Rows in columns, as lines."""

import textwrap
from collections.abc import Sequence
from typing import Final

from flareiac.render.control_characters import printable
from flareiac.sdk.text_table import TextTable

NARROW: Final = 100
"""On a terminal of fewer columns, a row is a block of lines."""


def table_lines(table: TextTable, width: int | None = None) -> list[str]:
    """A line of titles and a line for each row, columns two spaces apart.

    ``width``: columns of a terminal. Where a row would be cut or broken, it is a block of its own: the first
    cell, then each other one behind its title.
    """
    lines = _lines(table)
    if width is None or (width >= NARROW and max(map(len, lines)) <= width):
        return lines
    return [line for row in table.rows for line in _block(table, tuple(map(printable, row)), width)]


def within(line: str, width: int | None) -> str:
    """A line of prose broken to the columns of a terminal, with its own indent; None leaves it as it is."""
    if width is None or len(line) <= width:
        return line
    indent = line[: len(line) - len(line.lstrip())]
    return textwrap.fill(line.strip(), width, initial_indent=indent, subsequent_indent=indent)


def _block(table: TextTable, row: Sequence[str], width: int) -> list[str]:
    lines, inside = [row[0]], ""
    for column, text in zip(table.columns[1:], row[1:], strict=True):
        part = f"  {column.title} {text}"
        if inside and len(inside) + len(part) > width:
            lines.append(inside)
            inside = ""
        inside += part
    return [*lines, inside] if inside else lines


def _lines(table: TextTable) -> list[str]:
    cells = [
        tuple(column.title for column in table.columns),
        *(tuple(map(printable, row)) for row in table.rows),
    ]
    widths = [max(len(row[index]) for row in cells) for index in range(len(table.columns))]
    return [_aligned(table, row, widths) for row in cells]


def _aligned(table: TextTable, row: Sequence[str], widths: Sequence[int]) -> str:
    aligned = (
        text.rjust(width) if column.right else text.ljust(width)
        for text, column, width in zip(row, table.columns, widths, strict=True)
    )
    return "  ".join(aligned).rstrip()
