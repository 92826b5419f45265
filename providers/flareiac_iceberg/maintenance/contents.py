"""A table's metadata, and its current snapshot as far as it is asked for: the manifest list first, manifests
only where figures depend on them.

Touches the world through ``read`` (the bytes of a file) alone, and never asks it for a data file.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Generic, TypeAlias, TypeVar

from flareiac.kernel.data import Attributes
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_iceberg.format import manifests as files
from flareiac_iceberg.format.manifests import Entry, Manifest
from flareiac_iceberg.format.metadata import nodes, partition_spec_of, partition_specs_of, schema_of
from flareiac_iceberg.maintenance.figures import Totals, number

F_co = TypeVar("F_co", covariant=True)

Read: TypeAlias = Callable[[str], bytes]
File: TypeAlias = tuple[int, Entry]
"""The id of a partition spec, and a live file of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """The parts of a table that measuring needs."""

    metadata: Attributes
    metadata_location: str
    attributes: Attributes

    @property
    def properties(self) -> Mapping[str, str]:
        properties: Mapping[str, str] = self.metadata.get("properties") or {}
        return properties

    @property
    def current(self) -> Attributes | None:
        """The current snapshot, None for a table that was never written."""
        wanted = self.metadata.get("current-snapshot-id")
        return next(
            (
                snapshot
                for snapshot in self.metadata.get("snapshots") or ()
                if snapshot["snapshot-id"] == wanted
            ),
            None,
        )

    @property
    def specs(self) -> Sequence[Attributes]:
        """All partition specs."""
        return partition_specs_of(self.metadata)

    @property
    def spec_id(self) -> int:
        """The current partition spec."""
        spec_id: int = partition_spec_of(self.metadata)["spec-id"]
        return spec_id


def partition_sources(spec: Attributes) -> list[tuple[int, str]]:
    """The fields of a partition spec, in their order: the id of the column, and the transform."""
    return [(field["source-id"], field["transform"]) for field in _fields(spec)]


def _fields(spec: Attributes) -> Sequence[Attributes]:
    fields: Sequence[Attributes] = spec["fields"]
    return fields


def partition_names(specs: Iterable[Attributes]) -> Iterator[str]:
    """The names of the fields of partition specs."""
    return (field["name"] for spec in specs for field in _fields(spec))


def partition_columns(table: Table, specs: Iterable[Attributes], *types: str) -> Iterator[str]:
    """The paths of the columns of these types (a width aside) whose own values are partition values of one of
    the specs.
    """
    kept = {column for spec in specs for column, how in partition_sources(spec) if how == "identity"}
    columns = (node for node in nodes(schema_of(table.metadata)) if node.id in kept)
    return (node.path for node in columns if node.type.partition("(")[0] in types)


class Counting(ABC, Generic[F_co]):
    """Takes the live data files of a snapshot into account, one by one. All that count share one reading."""

    def wants(self, _manifest: Manifest) -> bool:
        """Returns True if the files of a manifest matter."""
        return True

    @abstractmethod
    def add(self, spec_id: int, entry: Entry) -> None:
        """Takes a file into account."""

    @abstractmethod
    def figures(self) -> F_co:
        """The figures that have been counted."""


class Contents:
    """The content of a table at ``now_ms``. Raises ``Failure`` where a file that the metadata names cannot be
    read.
    """

    def __init__(self, table: Table, read: Read, now_ms: int) -> None:
        self.table, self.now_ms, self._read = table, now_ms, read

    @cached_property
    def totals(self) -> Totals:
        """The totals of the current snapshot; of a table that was never written they are zero."""
        if self.table.current is None:
            return Totals()
        summary = self.table.current.get("summary") or {}
        return Totals(
            files=number(summary, "total-data-files"),
            bytes=number(summary, "total-files-size"),
            delete_files=number(summary, "total-delete-files"),
            rows=number(summary, "total-records"),
        )

    @cached_property
    def manifests(self) -> tuple[Manifest, ...]:
        """All of the current snapshot."""
        current = self.table.current
        if current is None:
            return ()
        if "manifest-list" in current:
            return files.read_list(current["manifest-list"], self._read(current["manifest-list"]))
        # The oldest tables name their manifests in the metadata itself, without anything about them.
        own = self.table.spec_id
        return tuple(
            Manifest(location=path, length=0, spec_id=own, deletes=False, sequence=0, live=1)
            for path in current.get("manifests") or ()
        )

    @property
    def data_manifests(self) -> tuple[Manifest, ...]:
        """The manifests with live data files."""
        return tuple(manifest for manifest in self.manifests if manifest.live and not manifest.deletes)

    @cached_property
    def delete_files(self) -> tuple[File, ...]:
        """The live delete files."""
        return tuple(
            self.entries(manifest for manifest in self.manifests if manifest.live and manifest.deletes)
        )

    def entries(self, manifests: Iterable[Manifest]) -> Iterator[File]:
        """The live files of manifests."""
        for manifest in manifests:
            for entry in files.read_entries(manifest, self._read(manifest.location)):
                yield manifest.spec_id, entry

    def count(self, counts: Sequence[Counting[object]]) -> None:
        """Has these count the live data files; each manifest is read once, and only where one wants it."""
        for manifest in self.data_manifests if counts else ():
            wanting = [count for count in counts if count.wants(manifest)]
            for spec_id, entry in self.entries([manifest]) if wanting else ():
                for count in wanting:
                    count.add(spec_id, entry)
