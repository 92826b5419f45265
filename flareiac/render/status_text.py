"""Renders the running resources, as a table of fixed columns and as JSON. None is shown as ``-``."""

from collections.abc import Iterator, Mapping

from flareiac.kernel.data import Json
from flareiac.kernel.elapsed import elapsed_text
from flareiac.kernel.records import encode
from flareiac.render.control_characters import printable
from flareiac.render.table_text import table_lines, within
from flareiac.sdk.run_status import RunStatus
from flareiac.sdk.text_table import Column, TextTable

FORMAT_VERSION = "1.0"

_JOB = Column("JOB")
COLUMNS = (
    Column("PHASE"),
    Column("RUN"),
    Column("BATCH", right=True),
    Column("LAG", right=True),
    Column("IN/S", right=True),
    Column("OUT/S", right=True),
    Column("WATERMARK"),
    Column("LAST COMMIT"),
    Column("FAILURES", right=True),
)
"""Those of ``status_cells``."""
_SAID_BY_PHASE = ("failed", "backoff")


def status_text(rows: Mapping[str, RunStatus], *, now: float, width: int | None = None) -> str:
    """One line for each address, on a narrow terminal one block, then what is wrong with it. ``now`` is in
    UTC seconds, ``width`` in columns of a terminal.
    """
    if not rows:
        return "No jobs are recorded.\n"
    cells = ((address, *status_cells(row, now)) for address, row in rows.items())
    lines = table_lines(TextTable((_JOB, *COLUMNS), tuple(cells)), width)
    said = [
        line
        for address, row in rows.items()
        for title, text in remarks(row)
        for line in ("", f"{address}: {title}", *_indented(text))
    ]
    return "\n".join([*lines, *(within(line, width) for line in said)]) + "\n"


def status_json(rows: Mapping[str, RunStatus]) -> dict[str, Json]:
    """Every field, versioned."""
    jobs = [{"address": address, **encode(row)} for address, row in rows.items()]
    return {"format_version": FORMAT_VERSION, "jobs": jobs}


def status_cells(row: RunStatus, now: float) -> tuple[str, ...]:
    """The cells of ``COLUMNS``. ``now`` is in UTC seconds."""
    return (
        _text(row.phase),
        (row.run_id or "-")[:8],
        _text(row.batch),
        _text(row.lag),
        _rate(row.input_rows_per_second),
        _rate(row.processed_rows_per_second),
        _text(row.watermark),
        "-" if row.last_commit is None else f"{elapsed_text(max(0.0, now - row.last_commit))} ago",
        _text(row.failures),
    )


def _text(value: str | int | None) -> str:
    return "-" if value in (None, "") else str(value).replace("\n", " ")


def _rate(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"


def remarks(row: RunStatus) -> Iterator[tuple[str, str]]:
    """Returns what is wrong with a resource that runs, or has to be known of it: titles and texts."""
    if row.last_error:
        yield "last error", row.last_error
    unhealthy = [text.rstrip("\n") for text in row.health if not text.startswith(_SAID_BY_PHASE)]
    if unhealthy:
        yield "unhealthy", "\n".join(unhealthy)
    unread = [
        f"{name}: {'-' if count is None else f'{count:,}'}"
        for name, count in row.bad_records.items()
        if count != 0
    ]
    if unread:
        yield "records that could not be read in this run, by input", "\n".join(unread)
    if row.late_rows:
        yield (
            "late rows",
            f"{row.late_rows:,} dropped, counted where state is kept: the watermark had passed them",
        )
    if row.files_too_old:
        yield (
            "old files",
            f"{row.files_too_old:,} not read: the newest file that was read is so much newer",
        )


def _indented(text: str) -> list[str]:
    return [f"    {line}".rstrip() for line in printable(text).rstrip("\n").split("\n")]
