"""Everything that can happen to a table, as a closed union of typed changes, and their form in a plan file.

Here are the changes of the table as a whole, of its layout and of its settings.
"""

from dataclasses import replace
from typing import ClassVar, Final, TypeAlias, get_args

from flareiac.kernel import records
from flareiac.kernel.data import UNKNOWN, Attributes, Data
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.changes import Effect, Hit, Relation, Step
from flareiac.sdk.definitions import Plain
from flareiac_iceberg.format.spec import DEFAULT_PROPERTIES, PartitionField, SortField
from flareiac_iceberg.table.column_changes import (
    AddColumn,
    DropColumn,
    MoveColumn,
    RenameColumn,
    SetColumnComment,
    SetColumnTags,
    SetDefault,
    SetIdentifier,
    SetNullability,
    WidenType,
)
from flareiac_iceberg.table.ref_changes import (
    DropBranch,
    DropSnapshotTag,
    KeepBranch,
    KeepSnapshotTag,
    MakeBranch,
    MakeSnapshotTag,
    MoveSnapshotTag,
)
from flareiac_iceberg.table.verdict import TableChange, Verdict, metadata, stops

_OLD_FILES: Final = "Files that are there keep their layout; new files and the next write follow the new one."
_NEW_FILES: Final = "Holds for files that are written from now on."
_UPGRADED: Final = {
    2: "Versions only go up. What knows version 1 only can no longer read or write the table.",
    3: (
        "Versions only go up. What knows no version 3 can no longer read or write the table; PyIceberg 0.12 "
        "reads it, and writes no rows."
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateTable(TableChange):
    """The whole table, as planned."""

    text: ClassVar = "create the table"


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveTable(TableChange):
    """The table gets another namespace or name in its catalog; its files stay. Names have their namespace
    before them.
    """

    text: ClassVar = "rename the table {0.old} to {0.new} in its catalog"
    effect: ClassVar = Effect.RENAMES
    why: ClassVar = (
        "It stays the same table with the same files. Queries of others that use the old name fail."
    )

    old: str
    new: str

    def verdict(self) -> Verdict:
        gone = f"{self.old}, and there is no table of that name any more"
        return Verdict(
            writes=stops(Relation.WRITES, f"a running query writes {gone}"),
            streams_from=stops(Relation.STREAMS_FROM, f"a running query reads {gone}"),
            looks_up=stops(Relation.LOOKS_UP, f"a running query reads {gone}"),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TakeOver(TableChange):
    """The state with the lineage ``new`` becomes the one that manages the table. ``old``: the lineage of the
    one that did, empty where none did.
    """

    old: str
    new: str

    def step(self) -> Step:
        if not self.old:
            return metadata(
                "mark the table as managed by this state", "Another state needs takeover = true to import it."
            )
        return metadata(
            f"take the table over from the state {self.old}", "That state refuses to change it from then on."
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AddPartitionField(TableChange):
    text: ClassVar = "partition by {0.field}"
    why: ClassVar = _OLD_FILES

    field: PartitionField


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovePartitionField(TableChange):
    text: ClassVar = "no longer partition by {0.field}"
    why: ClassVar = _OLD_FILES

    field: PartitionField


@dataclass(frozen=True, slots=True, kw_only=True)
class RenamePartitionField(TableChange):
    text: ClassVar = "name the partition field {0.field} {0.new}"

    field: PartitionField
    new: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SetSortOrder(TableChange):
    fields: tuple[SortField, ...]

    def step(self) -> Step:
        order = ", ".join(map(str, self.fields))
        return metadata(f"sort by {order}" if order else "no longer sort", _NEW_FILES)


@dataclass(frozen=True, slots=True, kw_only=True)
class SetDistribution(TableChange):
    text: ClassVar = "distribute rows by {0.new} before writing"
    why: ClassVar = _NEW_FILES

    old: str | None
    new: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SetProperty(TableChange):
    """``new`` may be known only after apply; it is then taken from the planned attributes."""

    name: str
    old: str | None
    new: Plain

    def step(self) -> Step:
        why = "With Spark's default of 4 retries a busy neighbour kills a stream that writes this table."
        defaulted = self.old is None and DEFAULT_PROPERTIES.get(self.name) == self.new
        return metadata(f"set property {self.name} to {_shown(self.new)}", why if defaulted else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveProperty(TableChange):
    text: ClassVar = "remove property {0.name}"

    name: str
    old: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SetTableComment(TableChange):
    text: ClassVar = "set the table's comment"

    new: Plain


@dataclass(frozen=True, slots=True, kw_only=True)
class SetTag(TableChange):
    """``new`` None removes the tag."""

    name: str
    new: Plain

    def step(self) -> Step:
        removed = self.new is None
        return metadata(
            f"remove tag {self.name}" if removed else f"set tag {self.name} to {_shown(self.new)}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class UpgradeFormat(TableChange):
    text: ClassVar = "upgrade from format version {0.old} to {0.new}"
    effect: ClassVar = Effect.IRREVERSIBLE

    old: int
    new: int

    def step(self) -> Step:
        return replace(TableChange.step(self), why=_UPGRADED.get(self.new, ""))

    def hits(self) -> tuple[Hit, ...]:
        return (Hit(),)


def _shown(value: Data) -> str:
    return "a value known after apply" if value is UNKNOWN else f'"{value}"'


Change: TypeAlias = (
    CreateTable
    | MoveTable
    | TakeOver
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


def encode(change: Change) -> Attributes:
    """A change as plain data."""
    return {"change": type(change).__name__, **records.encode(change)}


def decode(data: Attributes) -> Change:
    """The inverse of ``encode``."""
    fields = {name: value for name, value in data.items() if name != "change"}
    change: Change = records.decode(_KINDS[data["change"]], fields)
    return change
