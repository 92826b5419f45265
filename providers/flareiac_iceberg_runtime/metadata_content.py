"""Reads metadata files and names what they name. Touches the table's files through the table's own file
access.
"""

import json
import zlib
from collections.abc import Mapping
from typing import Any, Final

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.table_tasks import TableWork
from flareiac_iceberg_runtime.file_names import DATA_PATHS, METADATA_PATH, plain
from flareiac_iceberg_runtime.performing import java_exception

_GZIP: Final = b"\x1f\x8b"
_GONE: Final = frozenset({"NotFoundException", "FileNotFoundException", "NoSuchKeyException"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """The content of a metadata file. ``log``: the metadata files before it, oldest first. ``named``: the
    files that it names by itself (earlier metadata, manifest lists, manifests of the oldest tables,
    statistics). ``places``: its location and write paths, None where it has none.
    """

    uuid: str | None
    current: int | None
    snapshots: frozenset[int]
    log: tuple[str, ...]
    named: tuple[str, ...]
    places: tuple[str | None, ...]


def current_metadata(work: TableWork) -> tuple[str, Known]:
    """The location of the metadata that the table has, and what it says."""
    metadata = work.table.operations().current()
    content = work.session._jvm.org.apache.iceberg.TableMetadataParser.toJson(metadata)
    return str(metadata.metadataFileLocation()), known_of(json.loads(str(content)))


def metadata_in(io: Any, path: str) -> Known | None:
    """The content of a metadata file; None where the file is gone. Raises ``ValueError`` where it is empty,
    torn or no metadata, and what the file access raises.
    """
    content = content_of(io, path)
    if content is None:
        return None
    try:
        metadata = json.loads(unpacked(content))
    except (zlib.error, RecursionError) as torn:
        raise ValueError(str(torn)) from torn
    if not isinstance(metadata, dict):
        raise ValueError("no JSON object")  # noqa: TRY004 - what is in a file is a value
    return known_of(metadata)


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
    """Returns True where the file access says that there is no such file."""
    cause = java_exception(failure)
    while cause is not None:
        if cause.getClass().getSimpleName() in _GONE:
            return True
        cause = cause.getCause()
    return False


def unpacked(start: bytes) -> bytes:
    """The text of a metadata file, or of its beginning, packed or not."""
    return zlib.decompressobj(wbits=31).decompress(start) if start.startswith(_GZIP) else start


def known_of(metadata: Mapping[str, Any]) -> Known:
    """Raises ``ValueError`` where the content has another shape."""
    try:
        return _known_of(metadata)
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"no metadata of a table: {error!r}") from error


def _known_of(metadata: Mapping[str, Any]) -> Known:
    uuid, current = (metadata.get(name) for name in ("table-uuid", "current-snapshot-id"))
    properties = _part(metadata, "properties") or {}
    log = _values(metadata, "metadata-log", "metadata-file")
    inline = [path for each in _values(metadata, "snapshots", "manifests") for path in each]
    return Known(
        uuid=None if uuid is None else str(uuid).lower(),
        current=None if current in (None, -1) else int(current),
        snapshots=frozenset(map(int, _values(metadata, "snapshots", "snapshot-id"))),
        log=tuple(map(str, log)),
        named=(
            *map(str, log),
            *map(str, _values(metadata, "snapshots", "manifest-list")),
            *map(str, inline),
            *map(str, _values(metadata, "statistics", "statistics-path")),
            *map(str, _values(metadata, "partition-statistics", "statistics-path")),
        ),
        places=(
            _place(_part(metadata, "location")),
            *(_place(_part(properties, name)) for name in (*DATA_PATHS, METADATA_PATH)),
        ),
    )


def _part(content: Mapping[str, Any], name: str) -> Any:
    return content.get(name)


def _values(content: Mapping[str, Any], part: str, name: str) -> list[Any]:
    """The values of one name in the entries of a list, of those that have it."""
    return [entry[name] for entry in _part(content, part) or () if entry.get(name) is not None]


def _place(location: object) -> str | None:
    return None if location is None else plain(str(location)).rstrip("/")
