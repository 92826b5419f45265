"""The figures of one table from its metadata, and when each kind of its maintenance ran and may run again."""

from collections.abc import Iterator, Mapping

from flareiac.kernel.data import Attributes, Data
from flareiac.kernel.diagnostics import Diagnostic, Failure, error
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import decode
from flareiac.sdk.maintenance import LastRun
from flareiac.sdk.statistics import StatisticsRequest
from flareiac_iceberg import codes
from flareiac_iceberg.format.age import made_ms
from flareiac_iceberg.format.identity import identity_of
from flareiac_iceberg.format.snapshots import commits, heads
from flareiac_iceberg.maintenance.contents import Contents, Read, Table
from flareiac_iceberg.maintenance.figures import Figures, SmallFiles
from flareiac_iceberg.maintenance.live_rows import live_rows
from flareiac_iceberg.maintenance.measure import known_figures
from flareiac_iceberg.maintenance.registry import KINDS


@dataclass(frozen=True, slots=True, kw_only=True)
class KindStatistics:
    """One kind of maintenance. ``last`` and ``next`` in UTC seconds; ``next`` None: with the next apply that
    finds it due.
    """

    name: str
    declared: bool
    last: float | None
    failed: str | None
    result: Mapping[str, Data] | None
    next: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TableStatistics:
    """Sizes are those of the newest snapshot. ``small_files`` of ``looked_at_files``, as of ``looked_at`` (ms
    since 1970, None: now). ``oldest_snapshot`` and ``last_commit`` in ms since 1970. ``names``: of branches
    and tags.

    A table that was never written has none of anything; None where nothing is known. ``rows_at_most``: where
    rows are deleted in a way that only reading them tells, ``rows`` is None and there are at most so many.
    """

    rows: int | None
    rows_at_most: int | None
    bytes: int | None
    files: int | None
    delete_files: int | None
    small_files: int | None
    looked_at_files: int | None
    looked_at: int | None
    snapshots: int
    oldest_snapshot: int | None
    last_commit: int | None
    names: tuple[str, ...]
    format_version: int
    location: str
    maintenance: tuple[KindStatistics, ...]


def survey(
    table_file: tuple[str, Attributes] | None, name: str, request: StatisticsRequest, read: Read
) -> TableStatistics:
    """``table_file``: the place of the table's metadata file, and what is in it. Raises ``Failure`` where the
    recorded table is not there.
    """
    if table_file is None:
        raise Failure(gone_table(name))
    location, metadata = table_file
    if metadata["table-uuid"] != identity_of(request.recorded.identity).uuid:
        raise Failure(another_table(name))
    table = Table(metadata=metadata, metadata_location=location, attributes=request.recorded.attributes)
    contents = Contents(table, read, int(request.now * 1000))
    totals, rows = contents.totals, live_rows(contents)
    small = _small_files(table, known_figures(request.known), read)
    commit = next(commits(metadata, limit=1), None)
    snapshots = metadata.get("snapshots") or ()
    return TableStatistics(
        rows=rows.exact,
        rows_at_most=rows.at_most,
        bytes=totals.bytes,
        files=totals.files,
        delete_files=totals.delete_files,
        small_files=small.small,
        looked_at_files=small.files,
        looked_at=small.at_ms,
        snapshots=len(snapshots),
        oldest_snapshot=min((snapshot["timestamp-ms"] for snapshot in snapshots), default=None),
        last_commit=commit.at if commit else None,
        names=tuple(sorted(name for name in heads(metadata) if name != "main")),
        format_version=metadata["format-version"],
        location=metadata["location"],
        maintenance=tuple(
            _maintenance(request.recorded.attributes, request.runs, made_ms(location, metadata))
        ),
    )


def _small_files(table: Table, known: Figures | None, read: Read) -> SmallFiles:
    counting = (kind.small_files for kind in KINDS if kind.small_files is not None)
    return next((count(table, known, read) for count in counting), SmallFiles())


def gone_table(name: str) -> Diagnostic:
    """Complains that a recorded table is not there."""
    return error(codes.TABLE_GONE, f"The catalog no longer has {name}; flareiac plan shows what that means.")


def another_table(name: str) -> Diagnostic:
    """Complains that what is there is not the recorded table."""
    return error(
        codes.RECREATED_ELSEWHERE,
        f"{name} is another table than the recorded one; flareiac plan shows what that means.",
    )


def _maintenance(
    attributes: Attributes, runs: Mapping[str, LastRun], made: int | None
) -> Iterator[KindStatistics]:
    """Each kind that is declared or once ran. ``made``: when the table was made (ms since 1970), where
    that is known.
    """
    for kind in KINDS:
        settings, run = kind.declaration.of(attributes), runs.get(kind.name)
        if settings is None and run is None:
            continue
        block = attributes.get(kind.name)
        every = None if block is None else decode(kind.declaration.settings, block).every
        since = None if run is None else run.at
        if (
            run is None
            and settings is not None
            and made is not None
            and kind.declaration.first_run_waits(settings)
        ):
            since = made / 1000
        yield KindStatistics(
            name=kind.name,
            declared=settings is not None,
            last=None if run is None else run.at,
            failed=(run.failed or None) if run is not None else None,
            result=None if run is None else run.result,
            next=None if since is None or every is None else since + every / 1000,
        )
