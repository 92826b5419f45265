"""The statistics of one table as ``status`` and ``show`` print them. Pure; None is shown as ``-``."""

from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import Final

from flareiac.kernel.data import Data
from flareiac.kernel.records import encode
from flareiac.sdk.statistics import Statistics
from flareiac_iceberg.maintenance.humanize import moment
from flareiac_iceberg.maintenance.statistics import KindStatistics, TableStatistics

_NEXT_APPLY: Final = "next apply, if due"
_LEGEND: Final = (
    "SMALL FILES: the share of data files that compaction would rewrite; - where it was not measured."
)
_UNITS: Final = ("B", "KB", "MB", "GB", "TB", "PB")


def statistics_of(found: TableStatistics, *, now: float) -> Statistics:
    """The figures (see ``statistics.survey``) with their texts. ``now`` in UTC seconds."""
    failed = (item for item in found.maintenance if item.failed)
    return Statistics(
        figures=encode(found),
        cells=_cells(found, now),
        lines=tuple(_lines(found, now)),
        legend="" if _share(found) == "-" else _LEGEND,
        trouble=tuple((f"the last {item.name} failed", str(item.failed)) for item in failed),
    )


def _lines(found: TableStatistics, now: float) -> Iterator[str]:
    deletes = f", {found.delete_files:,} delete files" if found.delete_files else ""
    small, looked = _share(found), _looked(found, now)
    part = "" if small == "-" else f" ({small} small{looked and ', '}{looked})"
    yield (
        f"{_rows(found, 'at most ')}, {_size(found.bytes)} in {_number(found.files)} data "
        f"files{part}{deletes}"
    )
    since = "" if found.oldest_snapshot is None else f" since {moment(found.oldest_snapshot)}"
    last = "" if found.last_commit is None else f", the last commit {moment(found.last_commit)}"
    yield f"{found.snapshots:,} snapshot{'' if found.snapshots == 1 else 's'}{since}{last}"
    for item in found.maintenance:
        yield f"{item.name}: {_last(item, now) or 'never ran'}, {_next(item, now)}"


def _cells(found: TableStatistics, now: float) -> tuple[str, ...]:
    kept = [item for item in found.maintenance if item.declared]
    commit, looked = found.last_commit, _looked(found, now)
    return (
        _rows(found, "<=").partition(" ")[0],
        _size(found.bytes),
        _number(found.files),
        _share(found) + (looked and f" ({looked})"),
        _number(found.delete_files),
        _number(found.snapshots),
        "-" if commit is None else f"{_span(now - commit / 1000)} ago",
        _newest(found.maintenance, now),
        _soonest(kept, now),
    )


def _newest(kinds: Sequence[KindStatistics], now: float) -> str:
    """The maintenance that ran last, with the time since then."""
    runs = [(kind.last, kind) for kind in kinds if kind.last is not None]
    if not runs:
        return "-"
    at, item = max(runs, key=itemgetter(0))
    return f"{item.name} {_span(now - at)} ago{' (failed)' if item.failed else ''}"


def _soonest(kept: Sequence[KindStatistics], now: float) -> str:
    """The maintenance that may run first, with the time until then: a kind without a waiting time runs with
    the next apply that sees it due.
    """
    if not kept:
        return "-"
    waiting = [(item.next, item) for item in kept if item.next is not None and item.next > now]
    if len(waiting) < len(kept):
        return _NEXT_APPLY
    at, first = min(waiting, key=itemgetter(0))
    return f"{first.name} in {_span(at - now)}"


def _last(kind_statistics: KindStatistics, now: float) -> str:
    return (
        ""
        if kind_statistics.last is None
        else f"ran {_span(now - kind_statistics.last)} ago{' and failed' if kind_statistics.failed else ''}"
    )


def _next(kind_statistics: KindStatistics, now: float) -> str:
    if not kind_statistics.declared:
        return "no longer declared"
    if kind_statistics.next is None or kind_statistics.next <= now:
        return "next when it is due"
    return f"not before {_span(kind_statistics.next - now)} from now"


def _share(found: TableStatistics) -> str:
    small, of = found.small_files, found.looked_at_files
    if small is None or of is None:
        return "-"
    return f"{round(100 * small / of)}%" if of else "0%"


def _looked(found: TableStatistics, now: float) -> str:
    """The age of the share of small files, empty where it is that of now."""
    return "" if found.looked_at is None else f"{_span(now - found.looked_at / 1000)} ago"


def _rows(found: TableStatistics, bound: str) -> str:
    """``1,234 rows``, ``at most 1,234 rows``."""
    rows = found.rows if found.rows is not None else found.rows_at_most
    number = f"{bound if found.rows is None and rows is not None else ''}{_number(rows)}"
    return f"{number} {'row' if rows == 1 else 'rows'}"


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
