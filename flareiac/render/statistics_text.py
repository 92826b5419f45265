"""How large tables are and how they are kept: as lines for people, one or many tables, and as JSON. None is
shown as ``-``.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime

from flareiac.kernel.data import Attributes, Data
from flareiac.render.control_characters import printable
from flareiac.render.json_values import plain

_COLUMNS = (
    "TABLE",
    "ROWS",
    "SIZE",
    "FILES",
    "SMALL FILES",
    "DELETE FILES",
    "SNAPSHOTS",
    "LAST COMMIT",
    "LAST MAINTENANCE",
    "NEXT",
)
_RIGHT = frozenset({"ROWS", "SIZE", "FILES", "SMALL FILES", "DELETE FILES", "SNAPSHOTS"})
_NEXT_APPLY = "next apply, if due"
_LEGEND = "SMALL FILES: the share of data files that compaction would rewrite; - where it was not measured."
_UNITS = ("B", "KB", "MB", "GB", "TB", "PB")


def survey_text(surveys: Mapping[str, Attributes], *, now: float) -> str:
    """One line a table, then what is wrong with those that cannot be read. ``now`` is in UTC seconds. Empty
    without tables.
    """
    if not surveys:
        return ""
    cells = [_COLUMNS, *(_cells(address, found, now) for address, found in surveys.items())]
    widths = [max(len(line[index]) for line in cells) for index in range(len(_COLUMNS))]
    lines = [_padded(line, widths) for line in cells]
    if any(_share(found) != "-" for found in surveys.values() if "trouble" not in found):
        lines += ["", _LEGEND]
    for address, found in surveys.items():
        if "trouble" in found:
            lines += ["", f"{printable(address)}: not known", f"    {printable(str(found['trouble']))}"]
        for item in found.get("maintenance") or ():
            if item["failed"]:
                lines += [
                    "",
                    f"{printable(address)}: the last {item['name']} failed",
                    f"    {printable(str(item['failed']))}",
                ]
    return "\n".join(lines) + "\n"


def survey_json(surveys: Mapping[str, Attributes]) -> list[Data]:
    """The figures as they are."""
    return [{"address": address, **plain(found)} for address, found in surveys.items()]


def survey_lines(found: Attributes, *, now: float) -> Iterator[str]:
    """One table, for below its record."""
    if "trouble" in found:
        yield f"not known: {printable(str(found['trouble']))}"
        return
    deletes = f", {found['delete_files']:,} delete files" if found["delete_files"] else ""
    small, looked = _share(found), _looked(found, now)
    part = "" if small == "-" else f" ({small} small{looked and ', '}{looked})"
    yield (
        f"{_number(found['rows'])} rows, {_size(found['bytes'])} in {_number(found['files'])} data "
        f"files{part}{deletes}"
    )
    since = "" if found["oldest_snapshot"] is None else f" since {_time(found['oldest_snapshot'])}"
    last = "" if found["last_commit"] is None else f", the last commit {_time(found['last_commit'])}"
    yield f"{found['snapshots']:,} snapshot{'' if found['snapshots'] == 1 else 's'}{since}{last}"
    for item in found["maintenance"]:
        yield f"{item['name']}: {_last(item, now) or 'never ran'}, {_next(item, now)}"


def _cells(address: str, found: Attributes, now: float) -> tuple[str, ...]:
    if "trouble" in found:
        return (printable(address), *["-"] * (len(_COLUMNS) - 1))
    kept = [item for item in found["maintenance"] if item["declared"]]
    ran = max(
        (item for item in found["maintenance"] if item["last"] is not None),
        key=lambda item: item["last"],
        default=None,
    )
    commit, looked = found["last_commit"], _looked(found, now)
    return (
        printable(address),
        _number(found["rows"]),
        _size(found["bytes"]),
        _number(found["files"]),
        _share(found) + (looked and f" ({looked})"),
        _number(found["delete_files"]),
        _number(found["snapshots"]),
        "-" if commit is None else f"{_span(now - commit / 1000)} ago",
        "-"
        if ran is None
        else f"{ran['name']} {_span(now - ran['last'])} ago{' (failed)' if ran['failed'] else ''}",
        _soonest(kept, now),
    )


def _soonest(kept: Sequence[Attributes], now: float) -> str:
    """Which maintenance may run first, and when: what has no waiting time runs with the next apply that finds
    it due.
    """
    if not kept:
        return "-"
    waiting = [item for item in kept if item["next"] is not None and item["next"] > now]
    if len(waiting) < len(kept):
        return _NEXT_APPLY
    first = min(waiting, key=lambda item: item["next"])
    return f"{first['name']} in {_span(first['next'] - now)}"


def _last(item: Attributes, now: float) -> str:
    return (
        ""
        if item["last"] is None
        else f"ran {_span(now - item['last'])} ago{' and failed' if item['failed'] else ''}"
    )


def _next(item: Attributes, now: float) -> str:
    if not item["declared"]:
        return "no longer declared"
    if item["next"] is None or item["next"] <= now:
        return "next when it is due"
    return f"not before {_span(item['next'] - now)} from now"


def _share(found: Attributes) -> str:
    small, of = found["small_files"], found["looked_at_files"]
    if small is None or of is None:
        return "-"
    return f"{round(100 * small / of)}%" if of else "0%"


def _looked(found: Attributes, now: float) -> str:
    """How old the share of small files is, empty where it is that of now."""
    return "" if found["looked_at"] is None else f"{_span(now - found['looked_at'] / 1000)} ago"


def _number(value: Data) -> str:
    return "-" if value is None else f"{value:,}"


def _size(value: Data) -> str:
    """Bytes in the binary units of the language."""
    if value is None:
        return "-"
    amount, unit = float(value), 0
    while amount >= 1024 and unit < len(_UNITS) - 1:
        amount, unit = amount / 1024, unit + 1
    return f"{amount:.0f}{_UNITS[unit]}" if unit == 0 or amount >= 100 else f"{amount:.1f}{_UNITS[unit]}"


def _span(seconds: float) -> str:
    """``12s``, ``3m``, ``5h``, ``9d``: rounded down, one unit."""
    whole = max(0, int(seconds))
    for length, unit in ((86_400, "d"), (3600, "h"), (60, "m")):
        if whole >= length:
            return f"{whole // length}{unit}"
    return f"{whole}s"


def _time(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _padded(line: Sequence[str], widths: Sequence[int]) -> str:
    aligned = [
        text.rjust(width) if name in _RIGHT else text.ljust(width)
        for name, text, width in zip(_COLUMNS, line, widths, strict=True)
    ]
    return "  ".join(aligned).rstrip()
