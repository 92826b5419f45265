"""The check that those who read and write a table can live with its retention. Pure."""

from collections.abc import Iterable, Iterator
from typing import Final

from flareiac.kernel.data import Attributes
from flareiac.kernel.diagnostics import Diagnostic, warning
from flareiac.sdk.changes import Blocker, Relation, Sharing, Usage, blocker
from flareiac_iceberg import codes
from flareiac_iceberg.maintenance.kinds.retention.settings import Retention

_TIMED: Final = ("identity", "year", "month", "day", "hour")
_LATE: Final = "a row that arrives late writes its key or partition again, although retention has deleted it"
_WHY: Final = {
    Sharing.REPLACES: "each write replaces all rows with its whole result, the expired ones among them",
    Sharing.CHANGES: _LATE,
    Sharing.REPLACES_PARTITIONS: _LATE,
}


def endangered(settings: Retention, desired: Attributes, usages: Iterable[Usage]) -> Iterator[Blocker]:
    """One blocker for each reader that the first run of retention would end. ``usages`` are those on this
    table.
    """
    needed = ("deletes",) if _whole_partitions(desired, settings.column) else ("deletes", "overwrites")
    for usage in usages:
        missing = [kind for kind in needed if kind not in usage.tolerates]
        if usage.relation is Relation.STREAMS_FROM and missing:
            yield _ends(usage, missing)


def _whole_partitions(desired: Attributes, column: str) -> bool:
    """Returns True if rows go by whole files, which is a delete and never an overwrite; where the layout is
    not managed that is not known.
    """
    return any(
        field["column"] == column and field["transform"] in _TIMED for field in desired["partition_by"] or ()
    )


def _ends(usage: Usage, missing: list[str]) -> Blocker:
    lines = "\n".join(f"  skip_{kind} = true" for kind in missing)
    return blocker(
        codes.RETENTION_ENDS_READER,
        f"{usage.holder} streams from the table ({usage.reason}), and a streaming reader fails at a "
        "snapshot that removes rows, unless it is set to skip such snapshots.",
        (
            (
                f"in the stream that {usage.holder} reads as {usage.reason}, so that it keeps what it has "
                f"read:\n{lines}"
            ),
            "remove the retention block, or set its enabled = false",
        ),
    )


def rewritten(settings: Retention, address: str, usages: Iterable[Usage]) -> Iterator[Diagnostic]:
    """One warning for each writer whose mode brings deleted rows back. ``usages`` are those on this table."""
    for usage in usages:
        if usage.relation is Relation.WRITES and usage.part is None and usage.sharing in _WHY:
            yield warning(
                codes.ROWS_COME_BACK,
                f'{usage.holder} ({usage.reason}) writes {address} with mode = "{usage.mode}": '
                f"{_WHY[usage.sharing]}. Filter on "
                f"{settings.column} in the job as well, so that it writes no row older than retention keeps.",
                address=address,
            )
