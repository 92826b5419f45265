"""Measures a table: its metadata first, the manifest list of its current snapshot next, manifests only where
those leave a doubt.

Touches the world through ``read`` (the bytes of a file) alone, and never asks it for a data file.
"""

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from flareiac.kernel.data import Attributes, Data, digest
from flareiac_iceberg.format import manifests as files
from flareiac_iceberg.format.manifests import Entry, Manifest
from flareiac_iceberg.format.metadata import nodes, partition_spec_of, schema_of, sort_order_of
from flareiac_iceberg.format.types import NOT_IN_SPARK
from flareiac_iceberg.maintenance.expiry_rules import MAIN, History, Ref, marks
from flareiac_iceberg.maintenance.figures import (
    DeleteFigures,
    Figures,
    ManifestFigures,
    ManifestSizes,
    RewriteFigures,
    Totals,
    number,
    settings_digest,
)
from flareiac_iceberg.maintenance.file_filter import Filter, filter_of
from flareiac_iceberg.maintenance.rewrite_groups import Candidate, Groups, Sizing, grouped, sizing
from flareiac_iceberg.maintenance.row_ages import Ages, Clock, clock
from flareiac_iceberg.maintenance.settings import (
    DEFAULT_DELETE_TARGET,
    DEFAULT_TARGET,
    Compaction,
    DeleteRewrite,
    Retention,
    Settings,
    settings_of,
)

Read: TypeAlias = Callable[[str], bytes]

_GC: Final = "gc.enabled"
_TARGET: Final = "write.target-file-size-bytes"
_DELETE_TARGET: Final = "write.delete.target-file-size-bytes"
_GRANULARITY: Final = "write.delete.granularity"
_MANIFEST_TARGET: Final = "commit.manifest.target-size-bytes"
_MANIFEST_SIZE: Final = 8 * 1024**2
_FRESH_MS: Final = 3_600_000
_MARGIN_MS: Final = 2 * 86_400_000
"""Figures about old rows serve decisions of the next two days at least."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """What measuring needs of a table."""

    metadata: Attributes
    metadata_location: str
    attributes: Attributes

    @property
    def properties(self) -> Mapping[str, str]:
        found: Mapping[str, str] = self.metadata.get("properties") or {}
        return found

    @property
    def current(self) -> Attributes | None:
        """The current snapshot, None for a table that was never written."""
        wanted = self.metadata.get("current-snapshot-id")
        return next(
            (item for item in self.metadata.get("snapshots") or () if item["snapshot-id"] == wanted), None
        )


def measure(table: Table, read: Read) -> Figures:
    """The figures (see ``figures``). Raises ``Failure`` where a file that the metadata names cannot be
    read.
    """
    wanted, metadata = settings_of(table.attributes), table.metadata
    now = int(time.time() * 1000)
    summary = (table.current or {}).get("summary") or {}
    totals = Totals(
        files=number(summary, "total-data-files"),
        bytes=number(summary, "total-files-size"),
        delete_files=number(summary, "total-delete-files"),
        rows=number(summary, "total-records"),
    )
    if table.current is None:
        totals = Totals()
    snapshots = metadata.get("snapshots") or ()
    figures = Figures(
        uuid=metadata["table-uuid"],
        location=metadata["location"],
        metadata_location=table.metadata_location,
        snapshot_id=table.current["snapshot-id"] if table.current else None,
        format_version=metadata["format-version"],
        sorted=bool(sort_order_of(metadata)["fields"]),
        collects=str(table.properties.get(_GC, "true")).lower()
        == "true",  # what is not true is false to Iceberg
        spec_ids=tuple(item["spec-id"] for item in _specs(metadata)),
        measured_ms=now,
        settings=settings_digest(table.attributes),
        totals=totals,
        columns=_columns(metadata, wanted.get("compaction")),
        ids=digest([item["snapshot-id"] for item in snapshots]),
        not_in_spark=tuple(node.path for node in nodes(schema_of(metadata)) if node.type in NOT_IN_SPARK),
        marks=marks(snapshots, table.current["snapshot-id"] if table.current else None),
        history=_history(metadata) if "snapshot_expiry" in wanted else None,
    )
    return _with_files(figures, table, wanted, read)


def _columns(metadata: Attributes, compaction: Settings | None) -> dict[str, str] | None:
    if not isinstance(compaction, Compaction) or not (
        compaction.where or compaction.sort_by or compaction.zorder_by
    ):
        return None
    return {node.path: node.type for node in nodes(schema_of(metadata))}


def _history(metadata: Attributes) -> History:
    snapshots = metadata.get("snapshots") or ()
    current = metadata.get("current-snapshot-id")
    refs = dict(metadata.get("refs") or {})
    if MAIN not in refs and current not in (None, -1):
        refs[MAIN] = {"snapshot-id": current, "type": "branch"}
    longest = number(metadata.get("properties") or {}, "history.expire.max-ref-age-ms")
    removed: dict[int, tuple[int, int]] = {}
    for item in snapshots:
        summary = item.get("summary") or {}
        removed[item["snapshot-id"]] = (
            number(summary, "deleted-data-files") or 0,
            number(summary, "removed-delete-files") or 0,
        )
    return History(
        times={item["snapshot-id"]: item.get("timestamp-ms") or 0 for item in snapshots},
        parents={item["snapshot-id"]: item.get("parent-snapshot-id") for item in snapshots},
        refs=tuple(
            Ref(
                name=name,
                head=item["snapshot-id"],
                is_branch=item.get("type", "branch") == "branch",
                min_snapshots=item.get("min-snapshots-to-keep"),
                max_snapshot_age=item.get("max-snapshot-age-ms"),
                max_ref_age=item.get("max-ref-age-ms", longest),
            )
            for name, item in refs.items()
        ),
        removed=removed,
    )


def _with_files(figures: Figures, table: Table, wanted: Mapping[str, Settings], read: Read) -> Figures:
    """With the figures about files and manifests, from the current snapshot."""
    totals = figures.totals
    if table.current is None or not {"compaction", "delete_rewrite", "manifest_rewrite", "retention"} & set(
        wanted
    ):
        return figures
    compaction, deletes, retention = (
        wanted.get("compaction"),
        wanted.get("delete_rewrite"),
        wanted.get("retention"),
    )
    limits = _limits(compaction, table.properties) if isinstance(compaction, Compaction) else None
    delete_limits = _delete_limits(deletes, table.properties) if isinstance(deletes, DeleteRewrite) else None
    known = _clock(retention, table.metadata) if isinstance(retention, Retention) else None
    few = _too_few(compaction, limits, totals) if isinstance(compaction, Compaction) and limits else None
    if few is not None:
        figures, limits = replace(figures, rewrite=RewriteFigures(few=few)), None
    if delete_limits and totals.delete_files is not None and totals.delete_files < 1:
        figures, delete_limits = replace(figures, deletes=DeleteFigures(few=totals.delete_files)), None
    if totals.rows == 0:
        known = None
    if limits is None and delete_limits is None and known is None and "manifest_rewrite" not in wanted:
        return figures
    listed = _listed(table, read)
    if "manifest_rewrite" in wanted:
        figures = replace(figures, manifests=_manifest_figures(table, listed))
    return _from_manifests(figures, table, wanted, listed, limits, delete_limits, known, read)


def is_fresh(known: Figures, attributes: Attributes) -> bool:
    """Whether figures of the last time are of the same settings, and not so old that rows have aged."""
    age = int(time.time() * 1000) - known.measured_ms
    return known.settings == settings_digest(attributes) and 0 <= age < _FRESH_MS


def _too_few(settings: Compaction, limits: Sizing, totals: Totals) -> int | None:
    """The number of files where that alone says that no rewrite is due: then no manifest is read."""
    count, size, deletes = totals.files, totals.bytes, totals.delete_files
    if count is None or deletes != 0 or settings.rewrite_all:
        return None
    share = settings.run_if.get("small_file_share_over")
    over = settings.run_if.get("small_files_over")
    if share is None and over is not None and count <= over:
        return count
    return (
        count
        if count == 0 or (count < settings.min_input_files and size is not None and size <= limits.target)
        else None
    )


def _limits(settings: Compaction, properties: Mapping[str, str]) -> Sizing:
    return sizing(
        target=settings.target_file_size or number(properties, _TARGET) or DEFAULT_TARGET,
        least=settings.min_file_size,
        most=settings.max_file_size,
        min_input_files=settings.min_input_files,
        max_group=settings.max_file_group_size,
        everything=settings.rewrite_all,
    )


def _delete_limits(settings: DeleteRewrite, properties: Mapping[str, str]) -> Sizing:
    return sizing(
        target=settings.target_file_size or number(properties, _DELETE_TARGET) or DEFAULT_DELETE_TARGET,
        least=settings.min_file_size,
        most=settings.max_file_size,
        min_input_files=settings.min_input_files,
        max_group=settings.max_file_group_size,
    )


def _clock(settings: Retention, metadata: Attributes) -> Clock | None:
    column = next((node for node in nodes(schema_of(metadata)) if node.path == settings.column), None)
    if column is None:
        return None
    return clock(column.id, column.type, _specs(metadata), partition_spec_of(metadata)["spec-id"])


def _specs(metadata: Attributes) -> Sequence[Attributes]:
    return metadata.get("partition-specs") or [partition_spec_of(metadata)]


def _listed(table: Table, read: Read) -> tuple[Manifest, ...]:
    current = table.current
    assert current is not None, "only a table with a snapshot has manifests"
    if "manifest-list" in current:
        return files.read_list(current["manifest-list"], read(current["manifest-list"]))
    # The oldest tables name their manifests in the metadata itself, without anything about them.
    spec_id = partition_spec_of(table.metadata)["spec-id"]
    names = current.get("manifests") or ()
    return tuple(
        Manifest(location=item, length=0, spec_id=spec_id, deletes=False, sequence=0, live=1)
        for item in names
    )


def _manifest_figures(table: Table, listed: Iterable[Manifest]) -> ManifestFigures:
    """Those of the current spec, which are what a rewrite takes."""
    spec_id = partition_spec_of(table.metadata)["spec-id"]
    own = [item for item in listed if item.spec_id == spec_id]
    data, deletes = (
        [item.length for item in own if not item.deletes],
        [item.length for item in own if item.deletes],
    )
    target = number(table.properties, _MANIFEST_TARGET) or _MANIFEST_SIZE
    return ManifestFigures(
        data=ManifestSizes(count=len(data), bytes=sum(data)),
        deletes=ManifestSizes(count=len(deletes), bytes=sum(deletes)),
        target=target,
    )


def _from_manifests(
    figures: Figures,
    table: Table,
    wanted: Mapping[str, Settings],
    listed: Sequence[Manifest],
    limits: Sizing | None,
    delete_limits: Sizing | None,
    row_clock: Clock | None,
    read: Read,
) -> Figures:
    compaction, retention = wanted.get("compaction"), wanted.get("retention")
    live = [item for item in listed if item.live]
    delete_files: list[tuple[int, Entry]] = []
    if limits is not None or delete_limits is not None:
        delete_files = list(_entries((item for item in live if item.deletes), read))
    only = [item for item in live if not item.deletes]
    if delete_limits is not None:
        figures = replace(figures, deletes=_delete_figures(table, delete_files, only, delete_limits, read))
    if limits is None and row_clock is None:
        return figures
    young = figures.measured_ms - (retention.keep if isinstance(retention, Retention) else 0) + _MARGIN_MS
    if limits is None and row_clock is not None:
        only = [item for item in only if not _is_young(item, row_clock, young)]
    rewrite = (
        _Rewrite(table, compaction, limits, delete_files)
        if limits is not None and isinstance(compaction, Compaction)
        else None
    )
    ages = Ages(row_clock, young) if row_clock is not None else None
    for spec_id, entry in _entries(only, read):
        if rewrite is not None:
            rewrite.add(spec_id, entry)
        if ages is not None:
            ages.add(spec_id, entry)
    return replace(
        figures,
        rewrite=rewrite.figures() if rewrite is not None else figures.rewrite,
        rows=ages.figures() if ages is not None else None,
    )


def _is_young(manifest: Manifest, row_clock: Clock, young: int) -> bool:
    """Whether every file of a manifest is too young, by the least partition value that its list tells."""
    place = row_clock.places.get(manifest.spec_id)
    if place is None or place[0] >= len(manifest.partitions):
        return False
    least = manifest.partitions[place[0]][0]
    units = {"hour": 3_600_000, "day": 86_400_000}
    return (
        least is not None
        and place[1] in units
        and int.from_bytes(least, "little", signed=True) * units[place[1]] >= young
    )


def small_files_of(
    table: Table, read: Read, are_few: Callable[[Sequence[Manifest]], bool]
) -> tuple[int, int] | None:
    """How many data files of the current snapshot compaction calls small, declared or not, and of how many
    that it looks at.

    None where ``are_few`` is not true of the manifests that tell it. Raises ``Failure`` as ``measure`` does.
    """
    declared = settings_of(table.attributes).get("compaction")
    settings = declared if isinstance(declared, Compaction) else Compaction()
    listed = [item for item in _listed(table, read) if item.live and not item.deletes]
    if not are_few(listed):
        return None
    rewrite = _Rewrite(table, settings, _limits(settings, table.properties), ())
    for spec_id, entry in _entries(listed, read):
        rewrite.add(spec_id, entry)
    figures = rewrite.figures()
    return figures.small, figures.files


def _entries(listed: Iterable[Manifest], read: Read) -> Iterator[tuple[int, Entry]]:
    for manifest in listed:
        for entry in files.read_entries(manifest, read(manifest.location)):
            yield manifest.spec_id, entry


def _delete_figures(
    table: Table,
    delete_files: Sequence[tuple[int, Entry]],
    data: Iterable[Manifest],
    limits: Sizing,
    read: Read,
) -> DeleteFigures:
    """A rewrite makes one file for each data file, unless the table says otherwise, and drops what is about
    data files that are gone.

    Which are gone only the data manifests tell; they are read where the answer hangs on it.
    """
    apart = str(table.properties.get(_GRANULARITY, "file")).lower() != "partition"
    figures = _deletes(
        table, delete_files, limits, {entry.referenced for _, entry in delete_files} if apart else set()
    )
    if apart and 0 < figures.rewritten_files <= figures.added_files:
        figures = _deletes(table, delete_files, limits, {entry.path for _, entry in _entries(data, read)})
    return replace(figures, apart=apart)


def _deletes(
    table: Table, delete_files: Iterable[tuple[int, Entry]], limits: Sizing, kept: Collection[str | None]
) -> DeleteFigures:
    """``kept``: the data files for each of which a file of its own remains."""
    spec_id = partition_spec_of(table.metadata)["spec-id"]
    parts: dict[tuple[Data, ...], list[Candidate]] = {}
    count = small = 0
    for spec, entry in delete_files:
        if entry.content != files.POSITION_DELETES or entry.format == "PUFFIN":
            continue
        count += 1
        small += entry.size < limits.least
        key = (spec, *entry.partition) if spec == spec_id else ()
        parts.setdefault(key, []).append(
            Candidate(entry.size, about=entry.referenced if entry.referenced in kept else None)
        )
    total = sum((grouped(part, limits) for part in parts.values()), Groups())
    return DeleteFigures(
        files=count,
        small=small,
        partitions=len(parts),
        min_input_files=limits.min_input_files,
        sizes=tuple(limits.sizes),
        groups=total.groups,
        rewritten_files=total.files,
        rewritten_bytes=total.bytes,
        added_files=total.outputs,
    )


class _Rewrite:
    """Sorts data files by partition, and counts those that a rewrite would take."""

    def __init__(
        self, table: Table, settings: Compaction, limits: Sizing, delete_files: Iterable[tuple[int, Entry]]
    ) -> None:
        self._limits, self._options = limits, settings.options
        self._spec_id = partition_spec_of(table.metadata)["spec-id"]
        self._filter = filter_of(settings.where, table.metadata) if settings.where is not None else Filter()
        self._wear = _Wear(settings, delete_files)
        self._parts: dict[tuple[Data, ...], list[Candidate]] = {}
        self._files = self._small = self._worn = self._unfit = 0

    def add(self, spec_id: int, entry: Entry) -> None:
        """Takes a live data file into account."""
        if not self._filter.may_match(spec_id, entry):
            return
        item = Candidate(entry.size, self._wear.of(spec_id, entry))
        self._files += 1
        small = item.size < self._limits.least
        self._small += small
        self._worn += item.worn
        self._unfit += small or item.worn
        key = (spec_id, *entry.partition) if spec_id == self._spec_id else ()
        self._parts.setdefault(key, []).append(item)

    def figures(self) -> RewriteFigures:
        """What has been counted, and what Iceberg would make of it."""
        total = sum((grouped(part, self._limits) for part in self._parts.values()), Groups())
        return RewriteFigures(
            files=self._files,
            small=self._small,
            worn=self._worn,
            unfit=self._unfit,
            partitions=len(self._parts),
            exact=self._filter.exact and not {"max-files-to-rewrite", "output-spec-id"} & set(self._options),
            min_input_files=self._limits.min_input_files,
            sizes=tuple(self._limits.sizes),
            groups=total.groups,
            rewritten_files=total.files,
            rewritten_bytes=total.bytes,
            added_files=total.outputs,
        )


class _Wear:
    """How much of each data file is deleted, by the delete files that apply to it."""

    def __init__(self, settings: Compaction, delete_files: Iterable[tuple[int, Entry]]) -> None:
        self._ratio, self._threshold = settings.delete_ratio, settings.delete_file_threshold
        self._own: dict[str, list[Entry]] = {}
        self._shared: dict[tuple[Data, ...], list[Entry]] = {}
        for spec, entry in delete_files:
            if entry.referenced is not None:
                self._own.setdefault(entry.referenced, []).append(entry)
            else:
                self._shared.setdefault((spec, *entry.partition), []).append(entry)

    def of(self, spec: int, entry: Entry) -> bool:
        """Whether the deletes of a file alone are a reason to rewrite it."""
        own = [item for item in self._own.get(entry.path, ()) if item.sequence >= entry.sequence]
        deleted = min(sum(item.records for item in own), entry.records)
        if own and entry.records and deleted / entry.records >= self._ratio:
            return True
        if self._threshold is None:
            return False
        shared = (
            *self._shared.get((spec, *entry.partition), ()),
            *(self._shared.get((spec,), ()) if entry.partition else ()),
        )
        return len(own) + sum(_applies(item, entry) for item in shared) >= self._threshold


def _applies(deletes: Entry, entry: Entry) -> bool:
    if deletes.content == files.EQUALITY_DELETES:
        return deletes.sequence > entry.sequence
    return deletes.sequence >= entry.sequence
