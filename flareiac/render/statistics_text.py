"""Renders the statistics of resources that hold data: a sheet for people, and as JSON."""

from collections.abc import Mapping

from flareiac.kernel.data import Json
from flareiac.render.control_characters import printable
from flareiac.render.json_values import plain_object
from flareiac.render.table_text import table_lines, within
from flareiac.sdk.statistics import Statistics, StatisticsSheet
from flareiac.sdk.text_table import Column, TextTable


def statistics_text(
    sheet: StatisticsSheet, rows: Mapping[str, Statistics], *, width: int | None = None
) -> str:
    """One line for each resource, on a narrow terminal one block, then what is wrong with them. ``width`` is
    in columns of a terminal.
    """
    columns = (Column(sheet.subject), *sheet.columns)
    table = TextTable(columns, tuple((address, *row.cells) for address, row in rows.items()))
    lines = table_lines(table, width)
    for legend in dict.fromkeys(row.legend for row in rows.values() if row.legend):
        lines += ["", within(legend, width)]
    for address, row in rows.items():
        for title, text in row.trouble:
            lines += ["", f"{printable(address)}: {title}", within(f"    {printable(text)}", width)]
    return "\n".join(lines) + "\n"


def statistics_json(rows: Mapping[str, Statistics]) -> list[Json]:
    """The figures as they are."""
    return [{"address": address, **plain_object(row.figures)} for address, row in rows.items()]
