"""Rows in columns, as lines."""

from collections.abc import Sequence

from flareiac.render.control_characters import printable
from flareiac.sdk.text_table import TextTable


def table_lines(table: TextTable) -> list[str]:
    """A line of titles and a line for each row, columns two spaces apart."""
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
