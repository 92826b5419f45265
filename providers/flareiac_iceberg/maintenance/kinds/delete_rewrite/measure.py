"""Counts the position delete files that a rewrite would take, and what Iceberg would make of them."""

from collections.abc import Collection
from dataclasses import replace
from typing import Final

from flareiac.kernel.data import Data
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_iceberg.format import manifests as files
from flareiac_iceberg.maintenance.contents import Contents, partition_columns, partition_names
from flareiac_iceberg.maintenance.file_rewrite import FileGroups, group_figures, limits_of
from flareiac_iceberg.maintenance.kinds.delete_rewrite.settings import TARGET, DeleteRewrite
from flareiac_iceberg.maintenance.rewrite_groups import Candidate, Groups, Sizing, grouped

_GRANULARITY: Final = "write.delete.granularity"
_OWN_COLUMNS: Final = frozenset(
    {
        *("file_path", "pos", "row", "partition", "spec_id", "delete_file_path"),
        *("content_offset", "content_size_in_bytes"),
    }
)
"""The columns of Iceberg's table of position deletes, the last two from format version 3 on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteFigures(FileGroups):
    """The figures of position delete files. ``apart``: one that is written is about one data file only.
    ``unfit``: the column of a partition that Iceberg's action cannot read; empty where there is none.
    ``taken``: the partition field with a name that Iceberg's table of deletes needs itself; or empty.
    ``old_specs``: how many earlier partition specs have such files.
    """

    apart: bool = True
    unfit: str = ""
    taken: str = ""
    old_specs: int = 0


def measure(settings: DeleteRewrite, contents: Contents) -> DeleteFigures:
    """A rewrite makes one file for each data file, unless the table says otherwise, and drops what is about
    data files that are gone.

    Which are gone only the data manifests tell; they are read where the answer hangs on it.
    """
    table, total = contents.table, contents.totals.delete_files
    if total is not None and total < 1:
        return DeleteFigures(few=total)
    limits = limits_of(settings, table.properties, TARGET)
    apart = str(table.properties.get(_GRANULARITY, "file")).lower() != "partition"
    named = {entry.referenced for _, entry in contents.delete_files} if apart else set[str | None]()
    figures = _counted(contents, limits, named)
    if apart and 0 < figures.rewritten_files <= figures.added_files:
        figures = _counted(
            contents, limits, {entry.path for _, entry in contents.entries(contents.data_manifests)}
        )
    # Iceberg asks Spark for the rows of each partition by a literal, and has none of these (measured).
    unfit = next(partition_columns(table, table.specs, "uuid", "fixed"), "")
    # It puts the partition fields of all specs beside these columns, and refuses equal names (measured).
    taken = next((name for name in partition_names(table.specs) if name in _OWN_COLUMNS), "")
    return replace(figures, apart=apart, unfit=unfit, taken=taken)


def _counted(contents: Contents, limits: Sizing, kept: Collection[str | None]) -> DeleteFigures:
    """``kept``: the data files for each of which a file of its own remains."""
    parts: dict[tuple[Data, ...], list[Candidate]] = {}
    old: set[int] = set()
    count = small = 0
    for spec, entry in contents.delete_files:
        if entry.content != files.POSITION_DELETES or entry.format == "PUFFIN":
            continue
        count += 1
        small += entry.size < limits.least
        key: tuple[Data, ...] = ()
        if spec == contents.table.spec_id:
            key = (spec, *files.partition_key(entry))
        else:
            old.add(spec)
        parts.setdefault(key, []).append(
            Candidate(entry.size, about=entry.referenced if entry.referenced in kept else None)
        )
    total = sum((grouped(part, limits) for part in parts.values()), Groups())
    figures = group_figures(limits, total, len(parts))
    return DeleteFigures(files=count, small=small, old_specs=len(old), **figures)
