"""The identity of a table: what the state records of it beside its attributes. Pure."""

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, TypeAlias

from flareiac.kernel.data import Attributes, Data
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import SPARSE, Form, Mismatch, decode
from flareiac.sdk.lakehouse import TableWriters


@dataclass(frozen=True, slots=True)
class PartitionName:
    """The name, the field id of the source and the transform of a partition field."""

    name: str
    source: int
    transform: str


def _encode_partition(partition_name: PartitionName) -> Data:
    return [partition_name.name, partition_name.source, partition_name.transform]


def _decode_partition(data: Data) -> PartitionName:
    match data:
        case [str() as name, int() as source, str() as transform]:
            return PartitionName(name, source, transform)
        case _:
            raise Mismatch(
                "", f"is {data!r:.60}, expected the name, source and transform of a partition field"
            )


StoredPartitionName: TypeAlias = Annotated[
    PartitionName, Form(_encode_partition, _decode_partition, tuple[str | int, ...])
]


@dataclass(frozen=True, slots=True, kw_only=True)
class TableIdentity:
    """The identity of a table, and the parts of its past that decide about changes. A state of an earlier
    version does not have all of it.

    ``places``: the folders in which it has files. ``sorted_ids``: the columns of all its sort orders ever;
    ``partition_names``: all its partition fields ever. ``written``: true if it ever had rows. ``defaults``:
    properties that were written into it when it was made. ``tags``: the snapshots that they name.
    ``properties``: their names. ``unsayable``: columns that no path can express. ``last_is_known``: of a
    deleted table, that nothing was committed after ``metadata_location``.
    """

    uuid: str = ""
    location: str | None = None
    places: tuple[str, ...] = ()
    metadata_location: str = ""
    snapshot_id: int | None = None
    schema_id: int = 0
    spec_id: int = 0
    sort_id: int = 0
    field_ids: Mapping[str, int] = field(default_factory=dict)
    sorted_ids: tuple[int, ...] = ()
    partition_names: tuple[StoredPartitionName, ...] = ()
    written: bool | None = None
    defaults: Mapping[str, Data] = field(default_factory=dict)
    tags: Mapping[str, int] = field(default_factory=dict)
    branches: tuple[str, ...] = ()
    properties: tuple[str, ...] = ()
    unsayable: tuple[str, ...] = ()
    writers: TableWriters | None = None
    last_is_known: bool = field(default=False, metadata=SPARSE)

    @property
    def ever_written(self) -> bool:
        """True if it ever had rows; where an earlier version did not record that, if it has some."""
        return self.snapshot_id is not None if self.written is None else self.written


def identity_of(data: Attributes) -> TableIdentity:
    """A table's identity as it was recorded or observed."""
    return decode(TableIdentity, data, "identity")
