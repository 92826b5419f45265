"""Reads metadata files and names what they name. Touches the table's files through the table's own file
access.
"""

import json
import zlib
from collections.abc import Iterator, Mapping
from typing import Any, Final

from flareiac.sdk.table_tasks import TableWork
from flareiac_iceberg.maintenance.performing import java_exception

_GZIP: Final = b"\x1f\x8b"
_GONE: Final = frozenset({"NotFoundException", "FileNotFoundException", "NoSuchKeyException"})


def current_metadata(work: TableWork) -> tuple[str, Mapping[str, Any]]:
    """The location and the content of the metadata that the table has."""
    metadata = work.table.operations().current()
    content = work.session._jvm.org.apache.iceberg.TableMetadataParser.toJson(metadata)
    return str(metadata.metadataFileLocation()), json.loads(str(content))


def metadata_in(io: Any, path: str) -> Mapping[str, Any] | None:
    """The content of a metadata file; None of one that is gone. Raises ``ValueError`` where it is empty, torn
    or no JSON object, and what the file access raises.
    """
    content = content_of(io, path)
    if content is None:
        return None
    try:
        found = json.loads(unpacked(content))
    except (zlib.error, RecursionError) as torn:
        raise ValueError(str(torn)) from torn
    if not isinstance(found, dict):
        raise ValueError("no JSON object")  # noqa: TRY004 - what is in a file is a value
    return found


def content_of(io: Any, path: str, most: int | None = None) -> bytes | None:
    """A file's bytes, or the first of them; None of one that is gone. Raises what the file access raises."""
    try:
        stream = io.newInputFile(path).newStream()
        try:
            return bytes(stream.readAllBytes() if most is None else stream.readNBytes(most))
        finally:
            stream.close()
    except Exception as failure:
        if is_missing(failure):
            return None
        raise


def is_missing(failure: BaseException) -> bool:
    """Whether the file access says that there is no such file."""
    cause = java_exception(failure)
    while cause is not None:
        if cause.getClass().getSimpleName() in _GONE:
            return True
        cause = cause.getCause()
    return False


def unpacked(start: bytes) -> bytes:
    """The text of a metadata file, or of its beginning, packed or not."""
    return zlib.decompressobj(wbits=31).decompress(start) if start.startswith(_GZIP) else start


def log_of(metadata: Mapping[str, Any]) -> list[str]:
    """The metadata files that were the table's before this one, oldest first."""
    return [str(entry["metadata-file"]) for entry in metadata.get("metadata-log") or ()]


def named_in(metadata: Mapping[str, Any]) -> Iterator[str]:
    """The files that metadata names by itself: earlier metadata, manifest lists, manifests of the oldest
    tables, statistics.
    """
    yield from log_of(metadata)
    for snapshot in metadata.get("snapshots") or ():
        if listed := snapshot.get("manifest-list"):
            yield str(listed)
        yield from map(str, snapshot.get("manifests") or ())
    for name in ("statistics", "partition-statistics"):
        yield from (str(entry["statistics-path"]) for entry in metadata.get(name) or ())


def snapshots_of(metadata: Mapping[str, Any]) -> set[int]:
    """The ids of all its snapshots."""
    return {int(snapshot["snapshot-id"]) for snapshot in metadata.get("snapshots") or ()}
