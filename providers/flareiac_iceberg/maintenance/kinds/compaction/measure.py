"""Counts the data files that compaction would take, and what Iceberg would make of them.

How worn a file is, the delete files say that apply to it.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from flareiac.kernel.data import Data
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_iceberg.format import manifests as files
from flareiac_iceberg.format.manifests import Entry
from flareiac_iceberg.format.metadata import nodes, schema_of
from flareiac_iceberg.maintenance.contents import Contents, Counting, File, Table
from flareiac_iceberg.maintenance.figures import Totals
from flareiac_iceberg.maintenance.file_rewrite import FileGroups, group_figures, limits_of
from flareiac_iceberg.maintenance.kinds.compaction.file_filter import Filter, filter_of
from flareiac_iceberg.maintenance.kinds.compaction.settings import TARGET, Compaction
from flareiac_iceberg.maintenance.rewrite_groups import Candidate, Groups, Sizing, grouped

_INEXACT: Final = frozenset({"max-files-to-rewrite", "output-spec-id"})
"""Options by which Iceberg takes other files than are counted here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RewriteFigures(FileGroups):
    """The figures of data files. ``worn``: with many deleted rows, ``unfit``: small or worn. ``exact``:
    Iceberg would take these very files. ``columns``: the types of all columns by path, where the settings
    name some.
    """

    worn: int = 0
    unfit: int = 0
    exact: bool = True
    columns: Mapping[str, str] | None = None


def measure(settings: Compaction, contents: Contents) -> RewriteFigures | Counting[RewriteFigures]:
    """Counts data files, unless their number alone says that no rewrite is due: then no manifest is read."""
    table = contents.table
    limits = limits_of(settings, table.properties, TARGET, everything=settings.rewrite_all)
    few = _too_few(settings, limits, contents.totals)
    if few is not None:
        return RewriteFigures(few=few, columns=columns_of(settings, table))
    return DataFiles(settings, table, limits, contents.delete_files)


def columns_of(settings: Compaction, table: Table) -> dict[str, str] | None:
    """The types of all columns by path; None where the settings name none."""
    if not (settings.where or settings.sort_by or settings.zorder_by):
        return None
    return {node.path: node.type for node in nodes(schema_of(table.metadata))}


def _too_few(settings: Compaction, limits: Sizing, totals: Totals) -> int | None:
    """The number of files where that alone says that no rewrite is due: then no manifest is read."""
    count, size, deletes = totals.files, totals.bytes, totals.delete_files
    if count is None or deletes != 0 or settings.rewrite_all:
        return None
    share = settings.run_if.small_file_share_over
    over = settings.run_if.small_files_over
    if share is None and over is not None and count <= over:
        return count
    return (
        count
        if count == 0 or (count < settings.min_input_files and size is not None and size <= limits.target)
        else None
    )


class DataFiles(Counting[RewriteFigures]):
    """Sorts data files by partition, and counts those that a rewrite would take."""

    def __init__(
        self, settings: Compaction, table: Table, limits: Sizing, delete_files: Iterable[File] = ()
    ) -> None:
        self._limits, self._spec_id = limits, table.spec_id
        self._settings, self._columns = settings, columns_of(settings, table)
        self._filter = filter_of(settings.where, table.metadata) if settings.where is not None else Filter()
        self._wear = Wear(settings, delete_files)
        self._parts: dict[tuple[Data, ...], list[Candidate]] = {}
        self._files = self._small = self._worn = self._unfit = 0

    def add(self, spec_id: int, entry: Entry) -> None:
        """Takes a live data file into account."""
        if not self._filter.may_match(spec_id, entry):
            return
        candidate = Candidate(entry.size, self._wear.of(spec_id, entry))
        self._files += 1
        small = candidate.size < self._limits.least
        self._small += small
        self._worn += candidate.worn
        self._unfit += small or candidate.worn
        key = (spec_id, *files.partition_key(entry)) if spec_id == self._spec_id else ()
        self._parts.setdefault(key, []).append(candidate)

    def figures(self) -> RewriteFigures:
        """The counted figures, and those of the files that Iceberg would make."""
        total = sum((grouped(part, self._limits) for part in self._parts.values()), Groups())
        return RewriteFigures(
            files=self._files,
            small=self._small,
            worn=self._worn,
            unfit=self._unfit,
            exact=self._filter.exact and _INEXACT.isdisjoint(self._settings.options),
            columns=self._columns,
            **group_figures(self._limits, total, len(self._parts)),
        )


class Wear:
    """The share of deleted rows in each data file, by the delete files that apply to it."""

    def __init__(self, settings: Compaction, delete_files: Iterable[File]) -> None:
        self._ratio, self._threshold = settings.delete_ratio, settings.delete_file_threshold
        self._own: dict[str, list[Entry]] = {}
        self._shared: dict[tuple[Data, ...], list[Entry]] = {}
        for spec, entry in delete_files:
            if entry.referenced is not None:
                self._own.setdefault(entry.referenced, []).append(entry)
            else:
                self._shared.setdefault((spec, *files.partition_key(entry)), []).append(entry)

    def of(self, spec: int, entry: Entry) -> bool:
        """Returns True if the deletes of a file alone are a reason to rewrite it."""
        own = [
            delete_file
            for delete_file in self._own.get(entry.path, ())
            if delete_file.sequence >= entry.sequence
        ]
        deleted = min(sum(delete_file.records for delete_file in own), entry.records)
        if own and entry.records and deleted / entry.records >= self._ratio:
            return True
        if self._threshold is None:
            return False
        shared = (
            *self._shared.get((spec, *files.partition_key(entry)), ()),
            *(self._shared.get((spec,), ()) if entry.partition else ()),
        )
        return len(own) + sum(_applies(delete_file, entry) for delete_file in shared) >= self._threshold


def _applies(deletes: Entry, entry: Entry) -> bool:
    if deletes.content == files.EQUALITY_DELETES:
        return deletes.sequence > entry.sequence
    return deletes.sequence >= entry.sequence
