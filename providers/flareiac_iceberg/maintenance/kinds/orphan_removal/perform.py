"""Removes files that no snapshot names. All are listed and judged first: one that is not proven to be the
table's own stops it.

Touches the table's files through the table's own file access, so on every file system that the table can be
on.
"""

import time
import zlib
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.table_tasks import KnownRefusal, Performed, Performer, TableWork, TaskRefusal
from flareiac_iceberg import codes
from flareiac_iceberg.maintenance.kinds.orphan_removal.proof import (
    HADOOP_HINT,
    Head,
    Layout,
    head_of,
    is_below,
    is_metadata_file,
    name_of,
    plain,
)
from flareiac_iceberg.maintenance.performing import (
    NO_COLLECTION,
    actions,
    java_exception,
    refuse_without_gc,
)

_DAY_MS: Final = 24 * 3_600_000
_MEASURED: Final = 10_000
"""Orphans whose size is asked for one by one; beyond that the bytes are not known."""
_HEAD: Final = 64 * 1024
"""Every writer names the table long before that."""
_GZIP: Final = b"\x1f\x8b"
_AT_ONCE: Final = 8
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
    many to be asked.

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
    found = [path for path in _listed(work, task, task.older_than_ms) if is_below(path, layout.location)]
    if found:
        _refuse_unproven(work, layout, found)
        _refuse_other_tables(work, layout, task, found)
    size = _bytes(work, found)
    if found and not task.dry_run:
        _delete(work, found)
    return Performed(result={"orphans": len(found), "orphan_bytes": size})


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
    return [str(path) for path in listing.execute().orphanFileLocations()]


def _layout(table: Any) -> Layout:
    specs = table.specs()
    fields = [field for key in specs for field in specs.get(key).fields()]
    properties = table.properties()
    return Layout(
        location=str(table.location()),
        properties={str(key): str(properties.get(key)) for key in properties},
        partitions=frozenset(str(field.name()) for field in fields),
    )


def _refuse_unproven(work: TableWork, layout: Layout, found: Iterable[str]) -> None:
    foreign = sorted(path for path in found if not layout.could_have_written(path))
    if foreign:
        why = (
            f"{len(foreign)} files below {work.table.location()} are not where a writer of this table puts "
            f"files, or have other names: {_some(foreign)}."
        )
        raise TaskRefusal("FOREIGN_FILES", why)


def _refuse_other_tables(work: TableWork, layout: Layout, task: RemoveOrphans, found: list[str]) -> None:
    """Another table may have its metadata in the same folder: there, files of any age tell of it."""
    folders = [folder for folder in layout.metadata if is_below(f"{folder}/", layout.location)]
    now = int(time.time() * 1000)
    there = [
        path for folder in folders for path in _listed(work, task, now, folder) if is_below(path, folder)
    ]
    if hints := [path for path in there if name_of(path) == HADOOP_HINT]:
        raise TaskRefusal("OTHER_TABLE", f"A Hadoop catalog keeps a table in the same place: {_some(hints)}.")
    candidates = {path for path in found if is_metadata_file(path)}
    files = sorted(candidates.union(path for path in there if is_metadata_file(path)))
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        heads = dict(zip(files, pool.map(lambda path: _head(work.table.io(), path), files), strict=True))
    own = str(work.table.uuid().toString())
    if others := [path for path, head in heads.items() if head is not None and head.uuid != own]:
        raise TaskRefusal(
            "OTHER_TABLE",
            f"{len(others)} metadata files are of another table than this one, or of none: {_some(others)}.",
        )
    _refuse_a_twin(
        work, {path: head for path, head in heads.items() if head is not None and path in candidates}
    )


def _refuse_a_twin(work: TableWork, heads: dict[str, Head]) -> None:
    """A catalog that knows the same table under another pointer commits metadata of its own, one file upon
    the other.

    What a killed writer left is one file upon a file of ours.
    """
    metadata = work.table.operations().current()
    log = list(metadata.previousFiles())
    known = {plain(str(entry.file())) for entry in log} | {plain(str(metadata.metadataFileLocation()))}
    first = min((int(entry.timestampMillis()) for entry in log), default=None)
    for path, head in heads.items():
        if first is None or head.updated_ms is None or head.updated_ms <= first:
            continue  # older than what the table still remembers: its own past
        parser = work.session._jvm.org.apache.iceberg.TableMetadataParser
        before = [plain(str(entry.file())) for entry in parser.read(work.table.io(), path).previousFiles()]
        if before and before[-1] not in known:
            raise TaskRefusal(
                "OTHER_TABLE",
                f"Another catalog has committed to a copy of this table's metadata: {_some([path])}.",
            )


def _head(io: Any, path: str) -> Head | None:
    """None of a file that is empty or gone: no catalog reads a table from it."""
    try:
        stream = io.newInputFile(path).newStream()
        try:
            start = _unpacked(bytes(stream.readNBytes(_HEAD)))
        finally:
            stream.close()
    except Exception as failure:
        gone = java_exception(failure)
        if gone is None or gone.getClass().getSimpleName() not in (
            "NotFoundException",
            "FileNotFoundException",
        ):
            raise
        return None
    return head_of(start) if start else None


def _unpacked(start: bytes) -> bytes:
    return zlib.decompressobj(wbits=31).decompress(start) if start.startswith(_GZIP) else start


def _delete(work: TableWork, found: list[str]) -> None:
    paths = work.session._jvm.java.util.ArrayList()
    for path in found:
        paths.add(path)
    work.session._jvm.org.apache.iceberg.CatalogUtil.deleteFiles(work.table.io(), paths, "orphan", True)
    left = [path for path in found[:_MEASURED] if work.table.io().newInputFile(path).exists()]
    if left:
        raise TaskRefusal(
            "FILES_LEFT", f"{len(left)} of {len(found)} orphan files could not be removed, such as {left[0]}."
        )


def _bytes(work: TableWork, paths: list[str]) -> int | None:
    if len(paths) > _MEASURED:
        return None
    files = (work.table.io().newInputFile(path) for path in paths)
    return sum(int(file.getLength()) for file in files if file.exists())


def _some(paths: list[str]) -> str:
    more = f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
    return f"{', '.join(paths[:_SHOWN])}{more}"
