"""Removes files that no snapshot names. All are listed and judged first: one that is not proven to be the
table's own stops it.

Touches the table's files through the table's own file access, so on every file system that the table can be
on.
"""

import time
from collections.abc import Iterable
from typing import Any, Final

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.table_tasks import KnownRefusal, Performed, Performer, TableWork, TaskRefusal
from flareiac_iceberg_runtime import codes
from flareiac_iceberg_runtime.file_names import name_of, plain
from flareiac_iceberg_runtime.kinds.orphan_removal.past import Kept, Past
from flareiac_iceberg_runtime.kinds.orphan_removal.proof import (
    HADOOP_HINT,
    Layout,
    is_below,
    is_metadata_file,
)
from flareiac_iceberg_runtime.live_files import refuse_live
from flareiac_iceberg_runtime.metadata_content import is_missing
from flareiac_iceberg_runtime.performing import (
    NO_COLLECTION,
    actions,
    refuse_without_gc,
)

UNCLEAR: Final = "unclear"
"""Names in a result the metadata files of which only a person knows whose they are."""
_DAY_MS: Final = 24 * 3_600_000
_MEASURED: Final = 10_000
"""Orphans whose size is asked for one by one; beyond that the bytes are not known."""
_CHUNK: Final = 500
"""Metadata files that are deleted at once, in no order."""
_SHOWN: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveOrphans:
    """Files below the table's location that no metadata names and that are older than a time (ms since 1970).

    ``prefix_mismatch``: error, ignore or delete, where the same place is written in two ways.
    """

    older_than_ms: int
    dry_run: bool = False
    prefix_mismatch: str = "error"


def remove_orphans(work: TableWork, task: RemoveOrphans) -> Performed:
    """``orphans``: files found, and removed unless it is a dry run; ``orphan_bytes`` None where there are too
    many to be asked. ``unclear``: metadata files that stay with all that they name, since a copy of the
    table may need them.

    Raises ``TaskRefusal``, with nothing removed, where a file is not proven to be left by a writer of this
    table.
    """
    refuse_without_gc(work)
    if task.older_than_ms > time.time() * 1000 - _DAY_MS:
        raise TaskRefusal(
            "ORPHANS_TOO_YOUNG",
            "A file that is younger than 24 hours may belong to a write that has not committed yet.",
        )
    layout = _layout(work.table)
    orphans = [path for path in _listed(work, task, task.older_than_ms) if is_below(path, layout.location)]
    unclear: tuple[str, ...] = ()
    if orphans:
        _refuse_unproven(work, layout, orphans)
        kept = _kept(work, layout, task, orphans)
        unclear = kept.unclear
        # The table's earlier metadata goes last and oldest first: however far a run gets, what is left of it
        # can be followed from the current one.
        ages = {path: age for age, path in enumerate(kept.past)}
        left = (path for path in orphans if plain(path) not in kept.files)
        orphans = sorted(left, key=lambda path: (ages.get(plain(path), -1), path))
    refuse_live(work, orphans)
    size = _bytes(work, orphans)
    if not task.dry_run:
        _delete(work, orphans)
    more: dict[str, Any] = {UNCLEAR: list(unclear)} if unclear else {}
    return Performed(result={"orphans": len(orphans), "orphan_bytes": size, **more})


PERFORMER: Final = Performer(
    kind="remove_orphans",
    task=RemoveOrphans,
    perform=remove_orphans,
    doing="looking for orphan files",
    commits=False,
    refusals=(
        NO_COLLECTION,
        KnownRefusal(
            error_class="ORPHANS_TOO_YOUNG",
            code=codes.ORPHANS_TOO_YOUNG,
            advice="Nothing was removed. Raise older_than in orphan_removal.",
        ),
        KnownRefusal(
            error_class="PREFIX_MISMATCH",
            sign="Unable to determine whether certain files are orphan",
            code=codes.PATHS_DIFFER_IN_PREFIX,
            advice='Nothing was removed. Look at the places named; prefix_mismatch = "ignore" leaves such '
            'files alone, "delete" takes them.',
        ),
        KnownRefusal(
            error_class="FOREIGN_FILES",
            code=codes.FILES_OF_UNKNOWN_OWNER,
            advice="Nothing was removed. Move them elsewhere if they are needed, or delete them by hand.",
        ),
        KnownRefusal(
            error_class="OTHER_TABLE",
            code=codes.FILES_OF_OTHER_TABLE,
            advice="Nothing was removed. Give each table a location of its own; if the other one is given "
            "up, delete its metadata files by hand.",
        ),
        KnownRefusal(
            error_class="LIVE_FILES",
            code=codes.ORPHANS_IN_USE,
            advice="Nothing was removed. Write the place in one way: in the catalog's warehouse, the table's "
            "location and its write paths.",
        ),
        KnownRefusal(
            error_class="FILES_LEFT",
            code=codes.ORPHANS_NOT_REMOVED,
            advice="The others were removed. Check who may delete there, and apply again.",
        ),
    ),
)


def _listed(work: TableWork, task: RemoveOrphans, older_than_ms: int, folder: str | None = None) -> list[str]:
    """The files below the table's location, or below another folder, that no snapshot of it names."""
    mode = work.session._jvm.org.apache.iceberg.actions.DeleteOrphanFiles.PrefixMismatchMode.valueOf(
        task.prefix_mismatch.upper()
    )
    # A builder of a stream takes what it is given and does nothing with it: so the action lists, and deletes
    # nothing.
    action = (
        actions(work)
        .deleteOrphanFiles(work.table)
        .deleteWith(work.session._jvm.java.util.stream.Stream.builder())
    )
    if folder is not None:
        action = action.location(folder)
    listing = action.usePrefixListing(True).olderThan(older_than_ms).prefixMismatchMode(mode)
    try:
        return [str(path) for path in listing.execute().orphanFileLocations()]
    except Exception as failure:
        # A table that writes data and metadata elsewhere need not have a folder.
        if (
            is_missing(failure)
            and not work.table.io().newInputFile(folder or str(work.table.location())).exists()
        ):
            return []
        raise


def _layout(table: Any) -> Layout:
    specs = table.specs()
    fields = [field for key in specs for field in specs.get(key).fields()]
    properties = table.properties()
    return Layout(
        location=str(table.location()),
        properties={str(key): str(properties.get(key)) for key in properties},
        partitions=frozenset(str(field.name()) for field in fields),
    )


def _refuse_unproven(work: TableWork, layout: Layout, paths: Iterable[str]) -> None:
    foreign = sorted(path for path in paths if not layout.could_have_written(path))
    if foreign:
        why = (
            f"{len(foreign)} files below {work.table.location()} are not where a writer of this table puts "
            f"files, or have other names: {_some(foreign)}."
        )
        raise TaskRefusal("FOREIGN_FILES", why)


def _kept(work: TableWork, layout: Layout, task: RemoveOrphans, paths: list[str]) -> Kept:
    """Another table, or a copy of this one, may have its metadata in the same folder: there, files of any age
    tell of it.
    """
    now = int(time.time() * 1000)
    there = [path for folder in layout.metadata for path in _listed(work, task, now, folder)]
    inside = [path for path in there if is_below(path, layout.location)]
    if hints := [path for path in inside if name_of(path) == HADOOP_HINT]:
        raise TaskRefusal("OTHER_TABLE", f"A Hadoop catalog keeps a table in the same place: {_some(hints)}.")
    candidates = {path for path in paths if is_metadata_file(path)}
    own = candidates.union(path for path in inside if is_metadata_file(path))
    others = {path for path in there if is_metadata_file(path)} - own
    return Past(work).judged(own, candidates, others)


def _delete(work: TableWork, orphans: list[str]) -> None:
    """In their order, as far as metadata files go."""
    metadata = [path for path in orphans if is_metadata_file(path)]
    rest = [path for path in orphans if not is_metadata_file(path)]
    for some in (rest, *(metadata[at : at + _CHUNK] for at in range(0, len(metadata), _CHUNK))):
        paths = work.session._jvm.java.util.ArrayList()
        for path in some:
            paths.add(path)
        work.session._jvm.org.apache.iceberg.CatalogUtil.deleteFiles(work.table.io(), paths, "orphan", True)
    left = [path for path in orphans[:_MEASURED] if work.table.io().newInputFile(path).exists()]
    if left:
        raise TaskRefusal(
            "FILES_LEFT",
            f"{len(left)} of {len(orphans)} orphan files could not be removed, such as {left[0]}.",
        )


def _bytes(work: TableWork, paths: list[str]) -> int | None:
    if len(paths) > _MEASURED:
        return None
    files = (work.table.io().newInputFile(path) for path in paths)
    return sum(int(file.getLength()) for file in files if file.exists())


def _some(paths: list[str]) -> str:
    more = f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
    return f"{', '.join(paths[:_SHOWN])}{more}"
