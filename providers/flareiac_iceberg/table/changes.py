"""Everything that can happen to a table, as a closed union of typed changes, and their form in a plan file.

Paths are those that hold after all renames. ``after`` names the sibling that a column follows; an empty text
means first, None last.
"""

import dataclasses
from dataclasses import dataclass
from typing import Final, TypeAlias, get_args

from flareiac.kernel.data import Data
from flareiac_iceberg.format.spec import (
    Branch,
    PartitionField,
    SnapshotTag,
    SortField,
    partition_data,
    sort_data,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateTable:
    """The whole table, as planned."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveTable:
    """The table gets another namespace or name in its catalog; its files stay. Names have their namespace
    before them.
    """

    old: str
    new: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RenameColumn:
    """``path`` (as it is when this change's turn comes) gets the last part of ``new`` as its name."""

    path: str
    new: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DropColumn:
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AddColumn:
    path: str
    type: str
    required: bool
    comment: str | None
    after: str | None
    default: Data = None
    returns: bool = False
    """It was dropped outside of FlareIaC: rows written before have values under its old field id only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WidenType:
    path: str
    old: str
    new: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SetColumnComment:
    path: str
    old: str
    new: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SetDefault:
    """``new`` is for rows that are written from now on."""

    path: str
    old: Data
    new: Data


@dataclass(frozen=True, slots=True, kw_only=True)
class SetNullability:
    path: str
    required: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveColumn:
    path: str
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SetColumnTags:
    path: str
    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SetIdentifier:
    old: tuple[str, ...]
    new: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AddPartitionField:
    field: PartitionField


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovePartitionField:
    field: PartitionField


@dataclass(frozen=True, slots=True, kw_only=True)
class RenamePartitionField:
    field: PartitionField
    new: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SetSortOrder:
    fields: tuple[SortField, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SetDistribution:
    old: str | None
    new: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SetProperty:
    """``new`` may be known only after apply; it is then taken from the planned attributes."""

    name: str
    old: str | None
    new: Data


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveProperty:
    name: str
    old: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SetTableComment:
    new: Data


@dataclass(frozen=True, slots=True, kw_only=True)
class SetTag:
    """``new`` None removes the tag."""

    name: str
    new: Data


@dataclass(frozen=True, slots=True, kw_only=True)
class UpgradeFormat:
    old: int
    new: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MakeBranch:
    """A branch that starts where main stands when the change is made, or with no rows where main has none."""

    name: str
    branch: Branch


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepBranch:
    """``branch`` is all that holds of it from now on."""

    name: str
    branch: Branch


@dataclass(frozen=True, slots=True, kw_only=True)
class DropBranch:
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MakeSnapshotTag:
    """``tag.snapshot_id`` None: the snapshot on which main stands when the change is made."""

    name: str
    tag: SnapshotTag


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveSnapshotTag:
    name: str
    old: int
    new: int


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepSnapshotTag:
    """``retain`` in ms from now on."""

    name: str
    old: int | None
    retain: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DropSnapshotTag:
    name: str


Change: TypeAlias = (
    CreateTable
    | MoveTable
    | RenameColumn
    | DropColumn
    | AddColumn
    | WidenType
    | SetColumnComment
    | SetDefault
    | SetNullability
    | MoveColumn
    | SetColumnTags
    | SetIdentifier
    | AddPartitionField
    | RemovePartitionField
    | RenamePartitionField
    | SetSortOrder
    | SetDistribution
    | SetProperty
    | RemoveProperty
    | SetTableComment
    | SetTag
    | UpgradeFormat
    | MakeBranch
    | KeepBranch
    | DropBranch
    | MakeSnapshotTag
    | MoveSnapshotTag
    | KeepSnapshotTag
    | DropSnapshotTag
)

_KINDS: Final = {kind.__name__: kind for kind in get_args(Change)}


def encode(change: Change) -> Data:
    """A change as plain data."""
    return {"change": type(change).__name__} | {
        item.name: _plain(getattr(change, item.name)) for item in dataclasses.fields(change)
    }


def decode(data: Data) -> Change:
    """The inverse of ``encode``."""
    values = {name: _typed(name, value) for name, value in data.items() if name != "change"}
    change: Change = _KINDS[data["change"]](**values)
    return change


def _plain(value: Data) -> Data:
    match value:
        case PartitionField():
            return partition_data(value)
        case SortField():
            return sort_data(value)
        case Branch() | SnapshotTag():
            return dataclasses.asdict(value)
        case tuple():
            return [_plain(item) for item in value]
        case _:
            return value


def _typed(name: str, value: Data) -> Data:
    match name:
        case "field":
            return PartitionField(**value)
        case "fields":
            return tuple(SortField(**item) for item in value)
        case "branch":
            return Branch(**value)
        case "tag":
            return SnapshotTag(**value)
        case _:
            return tuple(value) if isinstance(value, list) else value
