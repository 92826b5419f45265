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

from flareiac.sdk.table_tasks import RemoveOrphans
from flareiac_spark.driver.maintenance_expiry import refuse_without_gc
from flareiac_spark.driver.maintenance_marks import TableWork
from flareiac_spark.driver.orphan_proof import (
    HADOOP_HINT,
    Head,
    Layout,
    head_of,
    is_below,
    is_metadata_file,
    name_of,
    plain,
)
from flareiac_spark.driver.refusal import Refusal

_DAY_MS: Final = 24 * 3_600_000
_MEASURED: Final = 10_000
"""Orphans whose size is asked for one by one; beyond that the bytes are not known."""
_HEAD: Final = 64 * 1024
"""Every writer names the table long before that."""
_GZIP: Final = b"\x1f\x8b"
_AT_ONCE: Final = 8
_SHOWN: Final = 3


def remove_orphans(bench: TableWork, work: RemoveOrphans) -> dict[str, int | None]:
    """``orphans``: files found, and removed unless it is a dry run; ``orphan_bytes`` None where there are too
    many to be asked.

    Raises ``Refusal``, with nothing removed, where a file is not proven to be left by a writer of this table.
    """
    refuse_without_gc(bench)
    if work.older_than_ms > time.time() * 1000 - _DAY_MS:
        raise Refusal(
            "ORPHANS_TOO_YOUNG",
            "A file that is younger than 24 hours may belong to a write that has not committed yet.",
        )
    layout = _layout(bench.table)
    found = [path for path in _listed(bench, work, work.older_than_ms) if is_below(path, layout.location)]
    if found:
        _refuse_unproven(bench, layout, found)
        _refuse_other_tables(bench, layout, work, found)
    size = _bytes(bench, found)
    if found and not work.dry_run:
        _delete(bench, found)
    return {"orphans": len(found), "orphan_bytes": size}


def _listed(
    bench: TableWork, work: RemoveOrphans, older_than_ms: int, folder: str | None = None
) -> list[str]:
    """The files below the table's location, or below another folder, that no snapshot of it names."""
    mode = bench.jvm.org.apache.iceberg.actions.DeleteOrphanFiles.PrefixMismatchMode.valueOf(
        work.prefix_mismatch.upper()
    )
    # A builder of a stream takes what it is given and does nothing with it: so the action lists, and deletes
    # nothing.
    action = bench.actions.deleteOrphanFiles(bench.table).deleteWith(
        bench.jvm.java.util.stream.Stream.builder()
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


def _refuse_unproven(bench: TableWork, layout: Layout, found: Iterable[str]) -> None:
    foreign = sorted(path for path in found if not layout.could_have_written(path))
    if foreign:
        why = (
            f"{len(foreign)} files below {bench.table.location()} are not where a writer of this table puts "
            f"files, or have other names: {_some(foreign)}."
        )
        raise Refusal("FOREIGN_FILES", why)


def _refuse_other_tables(bench: TableWork, layout: Layout, work: RemoveOrphans, found: list[str]) -> None:
    """Another table may have its metadata in the same folder: there, files of any age tell of it."""
    folders = [folder for folder in layout.metadata if is_below(f"{folder}/", layout.location)]
    now = int(time.time() * 1000)
    there = [
        path for folder in folders for path in _listed(bench, work, now, folder) if is_below(path, folder)
    ]
    if hints := [path for path in there if name_of(path) == HADOOP_HINT]:
        raise Refusal("OTHER_TABLE", f"A Hadoop catalog keeps a table in the same place: {_some(hints)}.")
    candidates = {path for path in found if is_metadata_file(path)}
    files = sorted(candidates.union(path for path in there if is_metadata_file(path)))
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        heads = dict(zip(files, pool.map(lambda path: _head(bench.table.io(), path), files), strict=True))
    own = str(bench.table.uuid().toString())
    if others := [path for path, head in heads.items() if head is not None and head.uuid != own]:
        raise Refusal(
            "OTHER_TABLE",
            f"{len(others)} metadata files are of another table than this one, or of none: {_some(others)}.",
        )
    _refuse_a_twin(
        bench, {path: head for path, head in heads.items() if head is not None and path in candidates}
    )


def _refuse_a_twin(bench: TableWork, heads: dict[str, Head]) -> None:
    """A catalog that knows the same table under another pointer commits metadata of its own, one file upon
    the other.

    What a killed writer left is one file upon a file of ours.
    """
    metadata = bench.table.operations().current()
    log = list(metadata.previousFiles())
    known = {plain(str(entry.file())) for entry in log} | {plain(str(metadata.metadataFileLocation()))}
    first = min((int(entry.timestampMillis()) for entry in log), default=None)
    for path, head in heads.items():
        if first is None or head.updated_ms is None or head.updated_ms <= first:
            continue  # older than what the table still remembers: its own past
        parser = bench.jvm.org.apache.iceberg.TableMetadataParser
        before = [plain(str(entry.file())) for entry in parser.read(bench.table.io(), path).previousFiles()]
        if before and before[-1] not in known:
            raise Refusal(
                "OTHER_TABLE",
                f"Another catalog has committed to a copy of this table's metadata: {_some([path])}.",
            )


def _head(io: Any, path: str) -> Head | None:
    """None of a file that is empty or gone: no catalog reads a table from it."""
    from py4j.protocol import Py4JJavaError

    try:
        stream = io.newInputFile(path).newStream()
        try:
            start = _unpacked(bytes(stream.readNBytes(_HEAD)))
        finally:
            stream.close()
    except Py4JJavaError as failure:
        if failure.java_exception.getClass().getSimpleName() in (
            "NotFoundException",
            "FileNotFoundException",
        ):
            return None
        raise
    return head_of(start) if start else None


def _unpacked(start: bytes) -> bytes:
    return zlib.decompressobj(wbits=31).decompress(start) if start.startswith(_GZIP) else start


def _delete(bench: TableWork, found: list[str]) -> None:
    paths = bench.jvm.java.util.ArrayList()
    for path in found:
        paths.add(path)
    bench.jvm.org.apache.iceberg.CatalogUtil.deleteFiles(bench.table.io(), paths, "orphan", True)
    left = [path for path in found[:_MEASURED] if bench.table.io().newInputFile(path).exists()]
    if left:
        raise Refusal(
            "FILES_LEFT", f"{len(left)} of {len(found)} orphan files could not be removed, such as {left[0]}."
        )


def _bytes(bench: TableWork, paths: list[str]) -> int | None:
    if len(paths) > _MEASURED:
        return None
    files = (bench.table.io().newInputFile(path) for path in paths)
    return sum(int(file.getLength()) for file in files if file.exists())


def _some(paths: list[str]) -> str:
    more = f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
    return f"{', '.join(paths[:_SHOWN])}{more}"
