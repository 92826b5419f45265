"""Changes of branches and tags. None of them disturbs a running query. Pure."""

from dataclasses import asdict
from typing import Annotated, ClassVar, Final, TypeAlias

from flareiac.kernel.data import Attributes
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import Form
from flareiac.sdk.changes import Effect, Step
from flareiac_iceberg.format.spec import FOREVER, Branch, SnapshotTag, duration_text
from flareiac_iceberg.table.verdict import TableChange, metadata

_NEXT_EXPIRY: Final = "Times count from the snapshot's own; the next snapshot expiry goes by them."


def _branch(data: Attributes) -> Branch:
    return Branch(**data)


def _tag(data: Attributes) -> SnapshotTag:
    return SnapshotTag(**data)


InMilliseconds: TypeAlias = Annotated[Branch, Form(asdict, _branch)]
TagInMilliseconds: TypeAlias = Annotated[SnapshotTag, Form(asdict, _tag)]


@dataclass(frozen=True, slots=True, kw_only=True)
class MakeBranch(TableChange):
    """A branch that starts where main stands when the change is made, or with no rows where main has none."""

    name: str
    branch: InMilliseconds

    def step(self) -> Step:
        why = "It starts where main stands when this is applied."
        return metadata(f"create branch {self.name}{_kept(self.branch.retain)}", why)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepBranch(TableChange):
    """``branch`` is all that holds of it from now on."""

    name: str
    branch: InMilliseconds

    def step(self) -> Step:
        least, age = self.branch.min_snapshots_to_keep, duration_text(self.branch.max_snapshot_age)
        number = "" if least is None else f", with at least {least} snapshots"
        time = "" if age is None else f", snapshots {_long(age)}"
        return metadata(f"keep branch {self.name}{_kept(self.branch.retain)}{number}{time}", _NEXT_EXPIRY)


@dataclass(frozen=True, slots=True, kw_only=True)
class DropBranch(TableChange):
    text: ClassVar = "drop branch {0.name}"
    why: ClassVar = (
        "Rows that are only in this branch are lost: its snapshots expire, and nothing else names them."
    )
    effect: ClassVar = Effect.LOSES_DATA

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MakeSnapshotTag(TableChange):
    """``tag.snapshot_id`` None: the snapshot on which main stands when the change is made."""

    name: str
    tag: TagInMilliseconds

    def step(self) -> Step:
        snapshot = self.tag.snapshot_id
        where = "the snapshot on which main stands then" if snapshot is None else f"snapshot {snapshot}"
        return metadata(f"create tag {self.name} at {where}{_kept(self.tag.retain)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveSnapshotTag(TableChange):
    text: ClassVar = "move tag {0.name} from snapshot {0.old} to snapshot {0.new}"
    why: ClassVar = "Snapshot {0.old} is no longer kept by this name, and may expire."

    name: str
    old: int
    new: int


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepSnapshotTag(TableChange):
    """``retain`` in ms from now on."""

    name: str
    old: int | None
    retain: int

    def step(self) -> Step:
        return metadata(f"keep tag {self.name}{_kept(self.retain)}", _NEXT_EXPIRY)


@dataclass(frozen=True, slots=True, kw_only=True)
class DropSnapshotTag(TableChange):
    text: ClassVar = "drop tag {0.name}"
    why: ClassVar = "Its snapshot is no longer kept by this name, and may expire."

    name: str


def _kept(retain: int | None) -> str:
    length = duration_text(retain)
    return "" if length is None else f", kept {_long(length)}"


def _long(length: str) -> str:
    return length if length == FOREVER else f"for {length}"
