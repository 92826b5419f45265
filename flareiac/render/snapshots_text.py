"""The snapshots of a table, as lines for people and as JSON."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from flareiac.kernel.data import Data
from flareiac.render.control_characters import printable
from flareiac.render.json_values import plain

FORMAT_VERSION = "1.0"
_COLUMNS = ("SNAPSHOT", "TIME (UTC)", "OPERATION", "ADDED", "DELETED", "TOTAL", "BY")
_RIGHT = frozenset({"SNAPSHOT", "ADDED", "DELETED", "TOTAL"})


def snapshots_text(address: str, rows: Sequence[Mapping[str, Data]], *, more: int) -> str:
    """One line a snapshot, newest first; ``more`` are left out."""
    if not rows:
        return f"{printable(address)} has no snapshots: nothing was ever written into it.\n"
    cells = [_COLUMNS, *map(_cells, rows)]
    widths = [max(len(line[index]) for line in cells) for index in range(len(_COLUMNS))]
    lines = [
        "  ".join(
            _placed(text, name, width) for text, name, width in zip(line, _COLUMNS, widths, strict=True)
        )
        for line in cells
    ]
    left_out = [f"({more} older ones are not shown; -limit shows more)"] if more else []
    return "\n".join([*(line.rstrip() for line in lines), *left_out]) + "\n"


def snapshots_json(address: str, rows: Sequence[Mapping[str, Data]]) -> dict[str, Data]:
    """The rows as they are, versioned."""
    return {
        "format_version": FORMAT_VERSION,
        "address": address,
        "snapshots": [plain(dict(row)) for row in rows],
    }


def _cells(row: Mapping[str, Data]) -> tuple[str, ...]:
    names = ", ".join(printable(str(name)) for name in row["names"])
    return (
        str(row["id"]),
        datetime.fromtimestamp(row["at"] / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S"),
        printable(str(row["operation"] or "-")),
        *("-" if row[name] is None else str(row[name]) for name in ("added", "deleted", "total")),
        printable(str(row["writer"])) + (f"  ({names})" if names else ""),
    )


def _placed(text: str, name: str, width: int) -> str:
    return text.rjust(width) if name in _RIGHT else text.ljust(width)
