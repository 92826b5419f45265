"""Whether the declared streaming readers of a table can live with its retention. Pure."""

from collections.abc import Iterable, Iterator

from flareiac.kernel.data import Attributes
from flareiac.sdk.changes import Blocker, Relation, Usage, blocker
from flareiac_iceberg import codes

_TIMED = ("identity", "year", "month", "day", "hour")


def endangered(desired: Attributes, usages: Iterable[Usage]) -> Iterator[Blocker]:
    """One blocker for each reader that the first run of retention would end. ``usages`` are those on this
    table.
    """
    block = desired.get("retention")
    if block is None or not block["enabled"]:
        return
    needed = ("deletes",) if _whole_partitions(desired, block["column"]) else ("deletes", "overwrites")
    for usage in usages:
        missing = [kind for kind in needed if kind not in usage.tolerates]
        if usage.relation is Relation.STREAMS_FROM and missing:
            yield _ends(usage, missing)


def _whole_partitions(desired: Attributes, column: str) -> bool:
    """Whether rows go by whole files, which is a delete and never an overwrite; where the layout is not
    managed that is not known.
    """
    return any(
        item["column"] == column and item["transform"] in _TIMED for item in desired["partition_by"] or ()
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
