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


def statistics_of(figures: TableStatistics, *, now: float) -> Statistics:
    """The figures (see ``statistics.survey``) with their texts. ``now`` in UTC seconds."""
    failed = (kind for kind in figures.maintenance if kind.failed)
    return Statistics(
        figures=encode(figures),
        cells=_cells(figures, now),
        lines=tuple(_lines(figures, now)),
        legend="" if _share(figures) == "-" else _LEGEND,
        trouble=tuple((f"the last {kind.name} failed", str(kind.failed)) for kind in failed),
    )


def _lines(figures: TableStatistics, now: float) -> Iterator[str]:
    deletes = f", {figures.delete_files:,} delete files" if figures.delete_files else ""
    small, looked = _share(figures), _looked(figures, now)
    part = "" if small == "-" else f" ({small} small{looked and ', '}{looked})"
    yield (
        f"{_rows(figures, 'at most ')}, {_size(figures.bytes)} in {_number(figures.files)} data "
        f"files{part}{deletes}"
    )
    since = "" if figures.oldest_snapshot is None else f" since {moment(figures.oldest_snapshot)}"
    last = "" if figures.last_commit is None else f", the last commit {moment(figures.last_commit)}"
    yield f"{figures.snapshots:,} snapshot{'' if figures.snapshots == 1 else 's'}{since}{last}"
    for kind in figures.maintenance:
        yield f"{kind.name}: {_last(kind, now) or 'never ran'}, {_next(kind, now)}"


def _cells(figures: TableStatistics, now: float) -> tuple[str, ...]:
    kept = [kind for kind in figures.maintenance if kind.declared]
    commit, looked = figures.last_commit, _looked(figures, now)
    return (
        _rows(figures, "<=").partition(" ")[0],
        _size(figures.bytes),
        _number(figures.files),
        _share(figures) + (looked and f" ({looked})"),
        _number(figures.delete_files),
        _number(figures.snapshots),
        "-" if commit is None else f"{_span(now - commit / 1000)} ago",
        _newest(figures.maintenance, now),
        _soonest(kept, now),
    )


def _newest(kinds: Sequence[KindStatistics], now: float) -> str:
    """The maintenance that ran last, with the time since then."""
    runs = [(kind.last, kind) for kind in kinds if kind.last is not None]
    if not runs:
        return "-"
    at, newest = max(runs, key=itemgetter(0))
    return f"{newest.name} {_span(now - at)} ago{' (failed)' if newest.failed else ''}"


def _soonest(kept: Sequence[KindStatistics], now: float) -> str:
    """The maintenance that may run first, with the time until then: a kind without a waiting time runs with
    the next apply that sees it due.
    """
    if not kept:
        return "-"
    waiting = [(kind.next, kind) for kind in kept if kind.next is not None and kind.next > now]
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


def _share(figures: TableStatistics) -> str:
    small, of = figures.small_files, figures.looked_at_files
    if small is None or of is None:
        return "-"
    return f"{round(100 * small / of)}%" if of else "0%"


def _looked(figures: TableStatistics, now: float) -> str:
    """The age of the share of small files, empty where it is that of now."""
    return "" if figures.looked_at is None else f"{_span(now - figures.looked_at / 1000)} ago"


def _rows(figures: TableStatistics, bound: str) -> str:
    """``1,234 rows``, ``at most 1,234 rows``."""
    rows = figures.rows if figures.rows is not None else figures.rows_at_most
    number = f"{bound if figures.rows is None and rows is not None else ''}{_number(rows)}"
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
