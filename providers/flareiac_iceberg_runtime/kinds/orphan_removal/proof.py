"""Proves that a file can only be this table's own: it lies where the table's writers put files, under a name
that Iceberg's writers give. Pure.

What is not proven stops a removal: a folder that a stream reads, another table's files and a download all
look like "no snapshot names it".
"""

import re
from collections.abc import Iterable, Mapping
from typing import Final
from urllib.parse import unquote_plus

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_iceberg_runtime.file_names import DATA_PATHS, METADATA_PATH, name_of, plain

_UUID: Final = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_TRINO: Final = rf"\d{{8}}_\d{{6}}_\d{{5}}_[a-z0-9]{{5}}-{_UUID}"
_FORMATS: Final = "(parquet|orc|avro)"
_METADATA_FILE: Final = re.compile(r".*\.metadata\.json(\.gz)?")
_METADATA: Final = re.compile(
    "|".join(
        (
            rf"\d{{5,}}-{_UUID}(\.gz)?\.metadata\.json(\.gz)?",
            rf"snap-\d+-\d+-{_UUID}\.avro",
            rf"({_UUID}|optimized)-m(\d+|-{_UUID})\.avro",
            rf"(\d+-{_UUID}|{_TRINO})\.stats",
            rf"partition-stats-\d+-{_UUID}\.{_FORMATS}",
        )
    )
)
_DATA: Final = re.compile(
    # Partition, task, operation (of a stream: with its batch) and number, as Iceberg's library names them;
    # pyiceberg has no number.
    rf"([01]{{8}}-)?(\d{{5,}}-\d+-{_UUID}(-\d+)*(-deletes)?\.({_FORMATS}|puffin)|{_TRINO}\.{_FORMATS})"
)
_HASHED: Final = (re.compile(r"[01]{4}/[01]{4}/[01]{4}/([01]{8}/)?"), re.compile(r"[0-9a-f]{8}/"))
"""Folders of the object storage layout, of now and of old."""
_TABLE_UUID: Final = re.compile(rb'"table-uuid"\s*:\s*"([^"]*)"')
HADOOP_HINT: Final = "version-hint.text"


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The folders in which a table's writers put files. ``partitions``: the names of all partition fields
    that it has had.
    """

    location: str
    properties: Mapping[str, str]
    partitions: frozenset[str]

    @property
    def data(self) -> tuple[str, ...]:
        """The folders of data and delete files."""
        return (
            f"{self.location.rstrip('/')}/data",
            *(self.properties[name] for name in DATA_PATHS if name in self.properties),
        )

    @property
    def metadata(self) -> tuple[str, ...]:
        """The folders of metadata, manifests and statistics."""
        named = self.properties.get(METADATA_PATH)
        return (f"{self.location.rstrip('/')}/metadata", *((named,) if named else ()))

    def could_have_written(self, path: str) -> bool:
        """Returns True if a file is where a writer of this table puts one, under such a name."""
        if any(_METADATA.fullmatch(rest) for rest in _below(path, self.metadata)):
            return True
        return any(self._is_data(rest) for rest in _below(path, self.data))

    def _is_data(self, rest: str) -> bool:
        for pattern in _HASHED:
            if (hashed := pattern.match(rest)) is not None:
                rest = rest[hashed.end() :]
                break
        *folders, name = rest.split("/")
        # One layout joins the last folder to the file's name; so the name is what follows.
        return bool(_DATA.fullmatch(name)) and all(self._is_partition(folder) for folder in folders)

    def _is_partition(self, folder: str) -> bool:
        field, equals, _value = folder.partition("=")
        return bool(equals) and unquote_plus(field) in self.partitions


def uuid_in(beginning: bytes) -> str | None:
    """Whose metadata a file is, in lower case; None where its first bytes do not tell."""
    match = _TABLE_UUID.search(beginning)
    return match[1].decode(errors="replace").lower() if match else None


def is_metadata_file(path: str) -> bool:
    """Returns True if a file has a name as the metadata of some table has."""
    return _METADATA_FILE.fullmatch(name_of(path)) is not None


def is_below(path: str, folder: str) -> bool:
    """Returns True if a file is inside a folder, however the two are spelled."""
    return any(True for _ in _below(path, (folder,)))


def _below(path: str, folders: Iterable[str]) -> Iterable[str]:
    """The rests of a file's path after those of the folders that it is in."""
    own = plain(path)
    for folder in folders:
        start = f"{plain(folder).rstrip('/')}/"
        if own.startswith(start):
            yield own.removeprefix(start)
