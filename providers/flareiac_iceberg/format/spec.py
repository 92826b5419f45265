"""A table as a typed record, and the canonical attributes that say the same as plain data.

Nested columns are flat: ``address`` is a ``struct``, ``address.zip`` a ``string``; a list's part is
``element``, a map's are ``key`` and ``value``.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from flareiac.kernel.data import Attributes, Data
from flareiac.sdk.validators import parse_duration
from flareiac_iceberg.format.types import ColumnType, Field, build, head, parts

COMMENT_PROPERTY: Final = "comment"
DISTRIBUTION_PROPERTY: Final = "write.distribution-mode"
CREATED_BY_PROPERTY: Final = "flareiac.created-by"
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
    default: Data = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionField:
    """One partition field. ``name`` is None where it is left to the default."""

    transform: str
    column: str
    param: int | None = None
    name: str | None = None

    @property
    def term(self) -> tuple[str, str, int | None]:
        """What makes two partition fields the same: not the name."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """How long a branch and its snapshots are kept. Times in ms; None: not managed (observed: not set)."""

    retain: int | None = None
    min_snapshots_to_keep: int | None = None
    max_snapshot_age: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotTag:
    """A name for a snapshot. ``snapshot_id`` None: of whichever it is; ``retain`` in ms, None: not managed
    (observed: not set).
    """

    snapshot_id: int | None = None
    retain: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSpec:
    """What is declared, recorded or observed of a table. None: not managed (observed: not set)."""

    columns: Mapping[str, Column] | None = None
    identifier: tuple[str, ...] | None = None
    partition_by: tuple[PartitionField, ...] | None = None
    sort_by: tuple[SortField, ...] | None = None
    distribution: str | None = None
    properties: Mapping[str, Data] | None = None
    comment: Data = None
    format_version: int | None = None
    location: str | None = None
    tags: Mapping[str, Data] | None = None
    renamed: Mapping[str, str] = field(default_factory=dict)
    branches: Mapping[str, Branch] = field(default_factory=dict)
    snapshot_tags: Mapping[str, SnapshotTag] = field(default_factory=dict)


def spec_of(attributes: Attributes) -> TableSpec:
    """The typed record of canonical attributes."""
    columns, order = attributes["columns"], attributes["column_order"]
    return TableSpec(
        columns=None if columns is None else {path: _column(columns[path]) for path in order},
        identifier=_tuple(attributes["identifier"]),
        partition_by=None
        if attributes["partition_by"] is None
        else tuple(PartitionField(**item) for item in attributes["partition_by"]),
        sort_by=None
        if attributes["sort_by"] is None
        else tuple(SortField(**item) for item in attributes["sort_by"]),
        distribution=attributes["distribution"],
        properties=attributes["properties"],
        comment=attributes["comment"],
        format_version=attributes["format_version"],
        location=attributes["location"],
        tags=attributes["tags"],
        renamed=attributes.get("renamed") or {},
        branches={name: _branch(item) for name, item in (attributes.get("branch") or {}).items()},
        snapshot_tags={name: _snapshot_tag(item) for name, item in (attributes.get("tag") or {}).items()},
    )


def layout_of(spec: TableSpec) -> Attributes:
    """The part of canonical attributes that describes the table itself (not where it is, nor what becomes of
    it).
    """
    columns = spec.columns
    return {
        "identifier": None if spec.identifier is None else list(spec.identifier),
        "columns": None
        if columns is None
        else {path: column_data(column) for path, column in columns.items()},
        "column_order": None if columns is None else list(columns),
        "partition_by": None
        if spec.partition_by is None
        else [partition_data(item) for item in spec.partition_by],
        "sort_by": None if spec.sort_by is None else [sort_data(item) for item in spec.sort_by],
        "distribution": spec.distribution,
        "properties": None if spec.properties is None else dict(spec.properties),
        "comment": spec.comment,
        "format_version": spec.format_version,
        "location": spec.location,
        "tags": None if spec.tags is None else dict(spec.tags),
        "branch": {name: branch_data(item) for name, item in spec.branches.items()} or None,
        "tag": {name: snapshot_tag_data(item) for name, item in spec.snapshot_tags.items()} or None,
    }


def column_data(column: Column) -> Attributes:
    """A column as plain data."""
    tags = None if column.tags is None else list(column.tags)
    return {
        "type": column.type,
        "required": column.required,
        "comment": column.comment,
        "tags": tags,
        "default": column.default,
    }


def partition_data(item: PartitionField) -> Attributes:
    """A partition field as plain data."""
    return {"transform": item.transform, "column": item.column, "param": item.param, "name": item.name}


def sort_data(item: SortField) -> Attributes:
    """A sort field as plain data."""
    return {
        "transform": item.transform,
        "column": item.column,
        "param": item.param,
        "direction": item.direction,
        "nulls": item.nulls,
    }


def branch_data(item: Branch) -> Attributes:
    """A branch as plain data, times as texts."""
    return {
        "retain": duration_text(item.retain),
        "min_snapshots_to_keep": item.min_snapshots_to_keep,
        "max_snapshot_age": duration_text(item.max_snapshot_age),
    }


def snapshot_tag_data(item: SnapshotTag) -> Attributes:
    """A tag as plain data, times as texts."""
    return {"snapshot_id": item.snapshot_id, "retain": duration_text(item.retain)}


def _branch(data: Attributes) -> Branch:
    return Branch(
        retain=_milliseconds(data["retain"]),
        min_snapshots_to_keep=data["min_snapshots_to_keep"],
        max_snapshot_age=_milliseconds(data["max_snapshot_age"]),
    )


def _snapshot_tag(data: Attributes) -> SnapshotTag:
    return SnapshotTag(snapshot_id=data["snapshot_id"], retain=_milliseconds(data["retain"]))


def _milliseconds(text: str | None) -> int | None:
    return None if text is None else parse_duration(text)


_UNITS: Final = (("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1))


def duration_text(milliseconds: int | None) -> str | None:
    """The shortest text of a duration, ``7d`` for ``168h``; None stays None."""
    if milliseconds is None:
        return None
    return next(f"{milliseconds // size}{unit}" for unit, size in _UNITS if milliseconds % size == 0)


def flatten(name: str, kind: ColumnType, required: bool, *, known: bool = False) -> dict[str, Column]:
    """A column and everything inside it, by path, in order. ``known``: comments and tags are observed, so
    never None.
    """
    empty = ("", ()) if known else (None, None)
    found = {name: Column(type=head(kind), required=required, comment=empty[0], tags=empty[1])}
    for part in parts(kind):
        found |= flatten(f"{name}.{part.name}", part.type, part.required, known=known)
    return found


def type_at(columns: Mapping[str, Column], path: str) -> ColumnType:
    """The whole type of a column, put together from its flat parts."""
    inner = [
        Field(name=leaf(child), type=type_at(columns, child), required=columns[child].required)
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
    """Whether a path is another one or stands inside it."""
    return path == ancestor or path.startswith(f"{ancestor}.")


def _column(data: Attributes) -> Column:
    return Column(
        type=data["type"],
        required=data["required"],
        comment=data["comment"],
        tags=_tuple(data["tags"]),
        default=data.get("default"),
    )


def _tuple(value: list[str] | None) -> tuple[str, ...] | None:
    return None if value is None else tuple(value)
