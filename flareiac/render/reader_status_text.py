"""Renders the readers outside of the project: a table for people, and as JSON. None is shown as ``-``."""

from collections.abc import Iterable

from flareiac.kernel.data import Json
from flareiac.kernel.elapsed import elapsed_text
from flareiac.kernel.records import encode
from flareiac.model.service_levels import ReaderStatus, Verdict
from flareiac.render.control_characters import printable
from flareiac.render.table_text import table_lines, within
from flareiac.sdk.text_table import Column, TextTable
from flareiac.sdk.validators import duration_text

_NAMES = (Column("READER"), Column("OF"))
COLUMNS = (
    Column("AGE", right=True),
    Column("MAX AGE", right=True),
    Column("GROUP"),
    Column("LAG", right=True),
    Column("MAX LAG", right=True),
    Column("SLA"),
)
"""Those of ``reader_cells``."""


def reader_status_text(rows: Iterable[ReaderStatus], *, width: int | None = None) -> str:
    """One line for each reader and what it reads, on a narrow terminal one block, then why an sla is broken
    or not known. ``width`` is in columns of a terminal.
    """
    listed = tuple(rows)
    cells = tuple((row.reader, row.subject, *reader_cells(row)) for row in listed)
    lines = table_lines(TextTable((*_NAMES, *COLUMNS), cells), width)
    for row in listed:
        if reasons := complaints(row):
            lines += ["", printable(f"{row.reader} reads {row.subject}: sla {row.verdict}")]
            lines += [within(f"    {printable(reason)}", width) for reason in reasons]
    return "\n".join(lines) + "\n"


def reader_status_json(rows: Iterable[ReaderStatus]) -> list[Json]:
    """Every field of each."""
    return [encode(row) for row in rows]


def complaints(row: ReaderStatus) -> tuple[str, ...]:
    """The reasons why an sla is broken or not known."""
    return () if row.verdict in (None, Verdict.KEPT) else row.reasons


def reader_cells(row: ReaderStatus) -> tuple[str, ...]:
    """The cells of ``COLUMNS``."""
    return (
        "-" if row.age_ms is None else elapsed_text(row.age_ms / 1000),
        "-" if row.max_age_ms is None else duration_text(row.max_age_ms),
        row.group or "-",
        "-" if row.lag is None else f"{row.lag:,}",
        "-" if row.max_lag is None else f"{row.max_lag:,}",
        row.verdict or "-",
    )
