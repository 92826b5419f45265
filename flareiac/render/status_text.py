"""What the jobs are doing, as a table of fixed columns and as JSON. Rows are what drivers answered; None is
shown as ``-``.
"""

from collections.abc import Mapping, Sequence

from flareiac.kernel.data import Data
from flareiac.kernel.elapsed import elapsed_text
from flareiac.render.control_characters import printable
from flareiac.render.json_values import plain
from flareiac.render.value_text import inline

FORMAT_VERSION = "1.0"

_COLUMNS = ("JOB", "PHASE", "RUN", "BATCH", "LAG", "IN/S", "OUT/S", "WATERMARK", "LAST COMMIT", "FAILURES")
_RIGHT = frozenset({"BATCH", "LAG", "IN/S", "OUT/S", "FAILURES"})


def status_text(rows: Sequence[Mapping[str, Data]], *, now: float) -> str:
    """One line a job, then the last error of each that has one. ``now`` is in UTC seconds."""
    if not rows:
        return "No jobs are recorded.\n"
    cells = [_COLUMNS, *(_cells(row, now) for row in rows)]
    widths = [max(len(line[index]) for line in cells) for index in range(len(_COLUMNS))]
    lines = [_padded(line, widths) for line in cells]
    for row in rows:
        if row.get("last_error"):
            lines.extend(["", f"{row['address']}: last error", *_indented(str(row["last_error"]))])
        unwell = [text for text in row.get("health") or () if not str(text).startswith(("failed", "backoff"))]
        if unwell:
            lines.extend(
                [
                    "",
                    f"{row['address']}: unhealthy",
                    *(line for text in unwell for line in _indented(str(text))),
                ]
            )
    return "\n".join(lines) + "\n"


def status_json(rows: Sequence[Mapping[str, Data]]) -> dict[str, Data]:
    """The rows as they are, versioned."""
    return {"format_version": FORMAT_VERSION, "jobs": [plain(dict(row)) for row in rows]}


def _cells(row: Mapping[str, Data], now: float) -> tuple[str, ...]:
    run_id, last_commit = row.get("run_id"), row.get("last_commit")
    return (
        str(row.get("address", "-")),
        _text(row.get("phase")),
        printable(str(run_id))[:8] if run_id else "-",
        _text(row.get("batch")),
        _lag(row.get("lag")),
        _rate(row.get("input_rows_per_second")),
        _rate(row.get("processed_rows_per_second")),
        _text(row.get("watermark")),
        f"{elapsed_text(max(0.0, now - last_commit))} ago"
        if isinstance(last_commit, int | float)
        else _text(last_commit),
        _text(row.get("failures")),
    )


def _text(value: Data) -> str:
    if value is None or value == "":
        return "-"
    return printable(value).replace("\n", " ") if isinstance(value, str) else inline(value)


def _lag(value: Data) -> str:
    """One number as it is; a lag for each source with its name."""
    if isinstance(value, dict) and value:
        return " ".join(f"{printable(str(name))}={_text(item)}" for name, item in value.items())
    return "-" if value in ({}, []) else _text(value)


def _rate(value: Data) -> str:
    return f"{value:.1f}" if isinstance(value, int | float) and not isinstance(value, bool) else _text(value)


def _padded(line: Sequence[str], widths: Sequence[int]) -> str:
    aligned = [
        text.rjust(width) if name in _RIGHT else text.ljust(width)
        for name, text, width in zip(_COLUMNS, line, widths, strict=True)
    ]
    return "  ".join(aligned).rstrip()


def _indented(text: str) -> list[str]:
    return [f"    {line}".rstrip() for line in printable(text).rstrip("\n").split("\n")]
