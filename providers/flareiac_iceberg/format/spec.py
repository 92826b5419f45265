"""A table as a typed record, and the canonical attributes that say the same as plain data.

Nested columns are flat: ``address`` is a ``struct``, ``address.zip`` a ``string``; a list's part is
``element``, a map's are ``key`` and ``value``.
"""

from collections.abc import Iterable, Mapping
from dataclasses import field, fields, replace
from typing import Annotated, Final, TypeAlias, TypeVar

from flareiac.kernel.column_types import ColumnType, Member, build, head, parts
from flareiac.kernel.data import Attributes, Data, Reference
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import Foreign, Form, Mismatch, decode, encode, named
from flareiac.sdk.definitions import Plain, Ref, definition_of
from flareiac.sdk.table_tasks import MANAGED_BY
from flareiac.sdk.validators import parse_duration

COMMENT_PROPERTY: Final = "comment"
DISTRIBUTION_PROPERTY: Final = "write.distribution-mode"
DISTRIBUTION_MODES: Final = ("none", "hash", "range")
CREATED_BY_PROPERTY: Final = "flareiac.created-by"
MANAGED_BY_PROPERTY: Final = MANAGED_BY
"""The lineage of the state that adopted the table; the key in ``CREATED_BY_PROPERTY`` begins with that of the
one that created it.
"""
COLUMN_TAGS_PREFIX: Final = "flareiac.column-tags."
TAGS_PREFIX: Final = "flareiac.tags."
DEFAULT_PROPERTIES: Final = {"commit.retry.num-retries": "20"}
"""Written at creation where not declared: with Spark's 4 retries a busy neighbour kills a stream that writes
the table (measured).
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One level of a column. ``comment``, ``tags`` and ``default`` are None where they are not managed
    (observed: where there is none).

    ``default`` is what new rows get that name no value, in the form of metadata files.
    """

    type: str
    required: bool = False
    comment: str | None = None
    tags: tuple[str, ...] | None = None
    default: Plain = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionField:
    """One partition field. ``name`` is None where it is left to the default."""

    transform: str
    column: str
    param: int | None = None
    name: str | None = None

    @property
    def term(self) -> tuple[str, str, int | None]:
        """The parts that make two partition fields the same: not the name."""
        return (self.column, self.transform, self.param)

    @property
    def field_name(self) -> str:
        """The declared name, or the one that Iceberg gives."""
        if self.name:
            return self.name
        base = self.column.replace(".", "_")
        match self.transform:
            case "identity":
                return self.column
            case "bucket":
                return f"{base}_bucket_{self.param}"
            case "truncate":
                return f"{base}_trunc_{self.param}"
            case _:
                return f"{base}_{self.transform}"

    def __str__(self) -> str:
        width = f"{self.param}, " if self.param is not None else ""
        return f'{self.transform}({width}"{self.column}")'


@dataclass(frozen=True, slots=True, kw_only=True)
class SortField:
    """One sort field; ``nulls`` is ``first`` or ``last``."""

    transform: str
    column: str
    param: int | None = None
    direction: str = "asc"
    nulls: str = "first"

    def __str__(self) -> str:
        width = f"{self.param}, " if self.param is not None else ""
        term = (
            f'"{self.column}"'
            if self.transform == "identity"
            else f'{self.transform}({width}"{self.column}")'
        )
        usual = (self.direction == "asc") == (self.nulls == "first")
        return f"{self.direction}({term})" if usual else f'{self.direction}({term}, "{self.nulls}")'


_UNITS: Final = (("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1))


FOREVER: Final = "forever"
NEVER_ENDS: Final = 2**63 - 1
"""The duration that other tools write for a branch, a tag or a snapshot that is kept forever, in ms."""
_LONGEST: Final = 1000 * 365 * 86_400_000


def clamped(milliseconds: int | None) -> int | None:
    """A time as it stands in metadata: what is longer than 1,000 years never ends, by whatever number."""
    return NEVER_ENDS if milliseconds is not None and milliseconds > _LONGEST else milliseconds


def duration_text(milliseconds: int | None) -> str | None:
    """The shortest text of a duration, ``7d`` for ``168h``, ``forever`` beyond 1,000 years; None stays
    None.
    """
    if milliseconds is None:
        return None
    if milliseconds > _LONGEST:
        return FOREVER
    return next(f"{milliseconds // size}{unit}" for unit, size in _UNITS if milliseconds % size == 0)


def _milliseconds(text: str) -> int:
    if text == FOREVER:
        return NEVER_ENDS
    # A time below zero is in metadata that other tools have written.
    duration = parse_duration(text.removeprefix("-"))
    if duration is None:
        raise Mismatch("", f"is {text!r:.60}, expected a duration")
    return -duration if text.startswith("-") else duration


Milliseconds: TypeAlias = Annotated[int, Form(duration_text, _milliseconds, str)]
"""In attributes as a text, such as ``7d`` or ``forever``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """The limits up to which a branch and its snapshots are kept. Times in ms; None: not managed (observed:
    not set).
    """

    retain: Milliseconds | None = None
    min_snapshots_to_keep: int | None = None
    max_snapshot_age: Milliseconds | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotTag:
    """A name for a snapshot. ``snapshot_id`` None: of whichever it is; ``retain`` in ms, None: not managed
    (observed: not set).
    """

    snapshot_id: int | None = None
    retain: Milliseconds | None = None


T = TypeVar("T")


def _by_name(kind: type[T]) -> Form:
    """Blocks by name; in attributes None where there is none."""

    def data_of(blocks: Mapping[str, T]) -> Data:
        return {name: encode(block) for name, block in blocks.items()} or None

    def blocks_of(data: Data) -> Mapping[str, T]:
        return {name: decode(kind, block, f".{name}") for name, block in (data or {}).items()}

    return Form(data_of, blocks_of, Mapping[str, kind] | None)  # type: ignore[valid-type]  # a type at run time


Branches: TypeAlias = Annotated[Mapping[str, Branch], _by_name(Branch)]
SnapshotTags: TypeAlias = Annotated[Mapping[str, SnapshotTag], _by_name(SnapshotTag)]


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSpec:
    """The declared, recorded or observed layout of a table. None: not managed (observed: not set)."""

    identifier: tuple[str, ...] | None = None
    columns: Mapping[str, Column] | None = None
    partition_by: tuple[PartitionField, ...] | None = None
    sort_by: tuple[SortField, ...] | None = None
    distribution: str | None = None
    properties: Mapping[str, Plain] | None = None
    comment: Plain = None
    format_version: int | None = None
    location: str | None = None
    tags: Mapping[str, Plain] | None = None
    branches: Branches = field(default_factory=dict, metadata=named("branch"))
    snapshot_tags: SnapshotTags = field(default_factory=dict, metadata=named("tag"))


class Placed:
    """A record that says where a table is."""

    __slots__ = ()
    catalog: Reference
    namespace: str
    name: str

    @property
    def full_name(self) -> str:
        """``NAMESPACE.NAME``."""
        return f"{self.namespace}.{self.name}"

    @property
    def import_id(self) -> str:
        """``CATALOG.NAMESPACE.NAME``: the catalog by its block's label."""
        return f"{self.catalog.address.rpartition('.')[2]}.{self.full_name}"

    @property
    def place(self) -> tuple[Reference, str, str]:
        """The place of the table: its catalog, namespace and name."""
        return (self.catalog, self.namespace, self.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableOutline(Placed, Foreign):
    """A table block without columns and layout, which cost most to read: enough for what is asked of each of
    many tables that do not change.
    """

    catalog: Ref
    namespace: str
    name: str
    on_destroy: str
    properties: Mapping[str, Plain] | None
    branches: Branches = field(default_factory=dict, metadata=named("branch"))
    snapshot_tags: SnapshotTags = field(default_factory=dict, metadata=named("tag"))

    @classmethod
    def of(cls, attributes: Attributes) -> "TableOutline":
        """Raises ``Mismatch`` for attributes of another shape."""
        return definition_of(cls, attributes)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableDefinition(Placed, TableSpec):
    """A table block, as it is declared or was recorded: also where the table is and what becomes of it.

    ``maintenance``: by name, the blocks that the package of maintenance reads.
    """

    catalog: Ref
    namespace: str
    name: str
    on_destroy: str
    renamed: Mapping[str, str] = field(default_factory=dict)
    engine: Plain = None
    reader: Plain = None
    maintenance: Mapping[str, Plain] = field(default_factory=dict)

    @classmethod
    def of(cls, attributes: Attributes) -> "TableDefinition":
        """The definition that canonical attributes say, also those of an earlier version. Raises ``Mismatch``
        for others.
        """
        parts = dict(attributes)
        order = parts.pop("column_order")
        own = {name: parts.pop(name) for name in _DEFINITION if name in parts}
        definition = definition_of(cls, {**own, "maintenance": parts})
        if definition.columns is None:
            return definition
        return replace(definition, columns={path: definition.columns[path] for path in order})


_DEFINITION, _LAYOUT = (
    tuple(record_field.metadata.get("json", record_field.name) for record_field in fields(record))
    for record in (TableDefinition, TableSpec)
)


def layout_of(spec: TableSpec) -> Attributes:
    """The part of canonical attributes that describes the table itself (not where it is, nor what becomes of
    it). Beside the columns stands their order, which JSON objects have none of.
    """
    data = encode(spec)
    order = None if spec.columns is None else list(spec.columns)
    return {name: data[name] for name in _LAYOUT} | {"column_order": order}


def flatten(name: str, kind: ColumnType, required: bool, *, known: bool = False) -> dict[str, Column]:
    """A column and everything inside it, by path, in order. ``known``: comments and tags are observed, so
    never None.
    """
    empty = ("", ()) if known else (None, None)
    columns = {name: Column(type=head(kind), required=required, comment=empty[0], tags=empty[1])}
    for part in parts(kind):
        columns |= flatten(f"{name}.{part.name}", part.type, part.required, known=known)
    return columns


def type_at(columns: Mapping[str, Column], path: str) -> ColumnType:
    """The whole type of a column, put together from its flat parts."""
    inner = [
        Member(name=leaf(child), type=type_at(columns, child), required=columns[child].required)
        for child in children(columns, path)
    ]
    return build(columns[path].type, tuple(inner))


def children(columns: Iterable[str], parent: str) -> list[str]:
    """The paths directly inside a path (``""``: the top level), in order."""
    return [path for path in columns if parent_of(path) == parent]


def parent_of(path: str) -> str:
    """``address`` of ``address.zip``; an empty text at the top level."""
    return path.rpartition(".")[0]


def leaf(path: str) -> str:
    """``zip`` of ``address.zip``."""
    return path.rpartition(".")[2]


def is_inside(path: str, ancestor: str) -> bool:
    """Returns True if a path is another one or stands inside it."""
    return path == ancestor or path.startswith(f"{ancestor}.")
