"""Writes to catalogs that only name files: a new metadata file, and the table's entry moved to it if no one
moved it before.

Touches the world. Because the entry must still name the very file that a change was computed from, no one's
commit in between is overwritten: not even of properties, for which Iceberg has no requirement.

The files are written here: Iceberg's library for Python writes no metadata of version 3 and makes no table
with branches.
"""

import gzip
import json
import re
import time
import uuid
from abc import abstractmethod
from collections.abc import Iterable
from contextlib import suppress
from typing import Final, TypeVar

from flareiac.kernel.data import Attributes
from flareiac.kernel.diagnostics import Diagnostic, Failure, error
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_iceberg import codes
from flareiac_iceberg.catalogs.base import CatalogSpec
from flareiac_iceberg.catalogs.file_access import delete_file, write_file
from flareiac_iceberg.catalogs.outcomes import Conflict, Exists
from flareiac_iceberg.catalogs.requests import Definition, TableCommit
from flareiac_iceberg.catalogs.target import Target
from flareiac_iceberg.catalogs.writer import CatalogWriter, Missing
from flareiac_iceberg.format.layout import layout_errors
from flareiac_iceberg.format.metadata import TableFile, parse_metadata
from flareiac_iceberg.format.metadata_update import completed, updated
from flareiac_iceberg.format.new_metadata import new_metadata

_VERSION: Final = re.compile(r"(?:.*/)?v?(\d+)[^/]*$")
_DELETE_OLD: Final = "write.metadata.delete-after-commit.enabled"
S = TypeVar("S", bound=CatalogSpec)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """The entry of a table in a catalog: the location of its metadata file. ``metadata`` is the content of
    that file, and ``before`` that of the file whose place it takes (None for a new table).
    """

    target: Target
    location: str
    metadata: Attributes
    before: Attributes | None = None


class PointerWriter(CatalogWriter[S]):
    """Writes metadata files; a kind makes the entry of a table and moves it."""

    @abstractmethod
    def enter(self, entry: Entry) -> None:
        """Makes the entry of a new table. Raises ``Exists``, or what ``errors`` turns."""

    @abstractmethod
    def move(self, entry: Entry, old: str) -> bool:
        """Returns True if the table's entry is ``entry`` now; False if it did not name the file ``old``, or
        was changed meanwhile.
        """

    @abstractmethod
    def default_location(self, target: Target) -> str:
        """The location of a table of a namespace that exists, if no one chooses another."""

    def _create(
        self, target: Target, what: Definition, location: str | None, missing: Missing
    ) -> TableFile | None:
        now = int(time.time() * 1000)
        metadata = new_metadata(
            what.version,
            (what.schema, what.spec, what.order),
            what.properties,
            table_uuid=str(uuid.uuid4()),
            location=(location or self.default_location(target)).rstrip("/"),
            now=now,
        )
        if what.needs_updates:
            metadata = completed(metadata, missing(metadata), now)
        new = _location(0, metadata)
        self._write(new, metadata)
        try:
            self.enter(Entry(target=target, location=new, metadata=metadata))
        except Exists:
            self._delete([new])
            raise
        return TableFile(new, metadata)

    def commit(self, target: Target, change: TableCommit) -> None:
        with self.errors():
            if not self._commit(target, *change.base, change.updates):
                raise Conflict(target.full_name)

    def _commit(
        self, target: Target, location: str, metadata: Attributes, updates: Iterable[Attributes]
    ) -> bool:
        """Returns True if the table stands at the new metadata; False if another commit came first.

        Raises what ``errors`` turns, and ``Failure`` where no one could load the table afterwards.
        """
        after = updated(metadata, updates, location, int(time.time() * 1000))
        broken = sorted(_flaws(after, location) - _flaws(metadata, location))
        if broken:
            raise Failure(_not_committed(target, broken))
        new = _next_location(location, after)
        self._write(new, after)
        if not self.move(Entry(target=target, location=new, metadata=after, before=metadata), location):
            self._delete([new])
            return False
        if (after["properties"].get(_DELETE_OLD) or "").lower() == "true":
            kept = {entry["metadata-file"] for entry in after["metadata-log"]}
            self._delete(
                entry["metadata-file"]
                for entry in metadata.get("metadata-log") or ()
                if entry["metadata-file"] not in kept
            )
        return True

    def _write(self, location: str, metadata: Attributes) -> None:
        try:
            write_metadata(location, metadata, self.spec)
        except OSError:
            self._delete([location])
            raise

    def _delete(self, locations: Iterable[str]) -> None:
        """Removes files that nothing names any more; one that stays harms no one."""
        for location in locations:
            with suppress(OSError):
                delete_file(location, self.spec)


def _flaws(metadata: Attributes, location: str) -> set[str]:
    """The reasons that engines would not load a table; a server checks the same before it takes a commit."""
    spec, identity = parse_metadata(metadata, location)
    ids = identity.field_ids
    hidden = {
        partition_name.name
        for partition_name in identity.partition_names
        if partition_name.source in ids.values()
        and ids.get(partition_name.name, partition_name.source) != partition_name.source
    }
    return {layout_error.why.rstrip(".") for layout_error in layout_errors(spec)} | {
        f"column {name} has the name of a partition field of another column" for name in hidden
    }


def _not_committed(target: Target, broken: list[str]) -> Diagnostic:
    return error(
        codes.UNLOADABLE_AFTERWARDS,
        f"No engine could load {target.full_name} afterwards: {'; '.join(broken)}. Nothing of this change "
        "took effect. Make a new plan and review it.",
    )


def _next_location(location: str, metadata: Attributes) -> str:
    match = _VERSION.fullmatch(location)
    return _location(int(match[1]) + 1 if match else 0, metadata)


def _location(number: int, metadata: Attributes) -> str:
    properties = metadata["properties"]
    folder = (properties.get("write.metadata.path") or f"{metadata['location'].rstrip('/')}/metadata").rstrip(
        "/"
    )
    packed = ".gz" if (properties.get("write.metadata.compression-codec") or "").lower() == "gzip" else ""
    return f"{folder}/{number:05d}-{uuid.uuid4()}{packed}.metadata.json"


def write_metadata(location: str, metadata: Attributes, spec: CatalogSpec) -> None:
    """Writes a metadata file. Raises as ``write_file`` does."""
    content = json.dumps(metadata, separators=(",", ":"), ensure_ascii=False).encode()
    packed = gzip.compress(content) if location.endswith(".gz.metadata.json") else content
    write_file(location, packed, spec)
