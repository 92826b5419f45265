"""The figures of one table from its metadata, and when each kind of its maintenance ran and may run again."""

from collections.abc import Iterator, Mapping
from typing import Final

from flareiac.kernel.data import Attributes, Data
from flareiac.kernel.diagnostics import Diagnostic, Failure, error
from flareiac.sdk.statistics import StatisticsRequest
from flareiac_iceberg import codes
from flareiac_iceberg.format.identity import identity_of
from flareiac_iceberg.format.snapshots import commits, current, heads
from flareiac_iceberg.maintenance.contents import Read, Table
from flareiac_iceberg.maintenance.measure import known_figures
from flareiac_iceberg.maintenance.registry import KINDS


def survey(
    found: tuple[str, Attributes] | None, name: str, request: StatisticsRequest, read: Read
) -> Attributes:
    """``rows``, ``bytes``, ``files``, ``delete_files``; ``small_files`` of ``looked_at_files``, as of
    ``looked_at`` (ms since 1970, None: now); ``snapshots`` (how many), ``oldest_snapshot``, ``last_commit``
    (ms since 1970); ``names`` of branches and tags, ``format_version``, ``location``; ``maintenance``:
    ``name``, ``declared``, ``last`` and ``next`` (UTC seconds), ``failed``, ``result`` of each kind. None
    where nothing is known.

    Sizes are those of the newest snapshot; a table that was never written has none of anything. ``found``:
    the place of its metadata file, and what is in it. Raises ``Failure`` where the recorded table is not
    there.
    """
    if found is None:
        raise Failure(gone_table(name))
    location, metadata = found
    if metadata["table-uuid"] != identity_of(request.recorded.identity).uuid:
        raise Failure(another_table(name))
    head = current(metadata)
    snapshots = metadata.get("snapshots") or ()
    newest = next((item for item in snapshots if item["snapshot-id"] == head), None)
    summary = (newest or {}).get("summary") or {}
    table = Table(metadata=metadata, metadata_location=location, attributes=request.recorded.attributes)
    totals = {name: _count(summary, key) if newest else 0 for name, key in _TOTALS.items()}
    commit = next(commits(metadata, limit=1), None)
    return {
        **totals,
        **_of_kinds(table, request, read),
        "snapshots": len(snapshots),
        "oldest_snapshot": min((item["timestamp-ms"] for item in snapshots), default=None),
        "last_commit": commit.at if commit else None,
        "names": sorted(name for name in heads(metadata) if name != "main"),
        "format_version": metadata["format-version"],
        "location": metadata["location"],
        "maintenance": list(_maintenance(request.recorded.attributes, request.runs)),
    }


def _of_kinds(table: Table, request: StatisticsRequest, read: Read) -> Attributes:
    known, found = known_figures(request.known), dict[str, Data]()
    for kind in KINDS:
        if kind.statistics is not None:
            found |= kind.statistics(table, known, read)
    return found


def gone_table(name: str) -> Diagnostic:
    """Complains that a recorded table is not there."""
    return error(codes.TABLE_GONE, f"The catalog no longer has {name}; flareiac plan shows what that means.")


def another_table(name: str) -> Diagnostic:
    """Complains that what is there is not the recorded table."""
    return error(
        codes.RECREATED_ELSEWHERE,
        f"{name} is another table than the recorded one; flareiac plan shows what that means.",
    )


_TOTALS: Final = {
    "rows": "total-records",
    "bytes": "total-files-size",
    "files": "total-data-files",
    "delete_files": "total-delete-files",
}


def _count(summary: Mapping[str, Data], key: str) -> int | None:
    try:
        return int(str(summary[key]))
    except (KeyError, ValueError):
        return None


def _maintenance(attributes: Attributes, runs: Mapping[str, Attributes]) -> Iterator[Attributes]:
    """Each kind that is declared or once ran. ``next`` None: with the next apply that finds it due."""
    for kind in KINDS:
        settings, run = attributes.get(kind.name) or {}, runs.get(kind.name) or {}
        active = bool(settings) and settings.get("enabled", True) is not False
        if not active and not run:
            continue
        last, every = run.get("at"), settings.get("every")
        yield {
            "name": kind.name,
            "declared": active,
            "last": last,
            "failed": run.get("failed"),
            "result": run.get("result"),
            "next": None if last is None or every is None else last + every / 1000,
        }
