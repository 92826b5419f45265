"""What each change does to what is there, in words, and whom it disturbs. One table of truth for plan texts
and for stopping queries.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from flareiac.kernel.data import UNKNOWN, Data
from flareiac.sdk.changes import Effect, Impact, Reaction, Relation, Step
from flareiac_iceberg.format.spec import DEFAULT_PROPERTIES, Branch, duration_text
from flareiac_iceberg.table.changes import (
    AddColumn,
    AddPartitionField,
    Change,
    CreateTable,
    DropBranch,
    DropColumn,
    DropSnapshotTag,
    KeepBranch,
    KeepSnapshotTag,
    MakeBranch,
    MakeSnapshotTag,
    MoveColumn,
    MoveSnapshotTag,
    MoveTable,
    RemovePartitionField,
    RemoveProperty,
    RenameColumn,
    RenamePartitionField,
    SetColumnComment,
    SetColumnTags,
    SetDefault,
    SetDistribution,
    SetIdentifier,
    SetNullability,
    SetProperty,
    SetSortOrder,
    SetTableComment,
    SetTag,
    UpgradeFormat,
    WidenType,
)

_OLD_FILES: Final = "Files that are there keep their layout; new files and the next write follow the new one."
_NEW_FILES: Final = "Holds for files that are written from now on."
_NEW_ROWS: Final = (
    "For new rows that name no value: batch writes and merges fill it in, Spark's streaming append leaves "
    "null. Rows that are there keep what they have."
)
_UPGRADED: Final = {
    2: "Versions only go up. What knows version 1 only can no longer read or write the table.",
    3: (
        "Versions only go up. What knows no version 3 can no longer read or write the table; PyIceberg 0.12 "
        "reads it, and writes no rows."
    ),
}
_BY_FIELD: Final = (
    "Iceberg finds columns by field id: rows written before are null in it, and their old values do not "
    "come back. To have them back, make the schema that the table had before that its current one again, "
    "and then apply."
)
_NOT_BACK: Final = f"It was dropped outside of FlareIaC. {_BY_FIELD}"
_FROM_MAIN: Final = "It starts where main stands when this is applied."
_NEXT_EXPIRY: Final = "Times count from the snapshot's own; the next snapshot expiry goes by them."
_ONLY_THERE: Final = (
    "Rows that are only in this branch are lost: its snapshots expire, and nothing else names them."
)
_SAME_TABLE: Final = (
    "It stays the same table with the same files. Queries of others that use the old name fail."
)
_BY_ID: Final = "Iceberg finds columns by field id: old rows keep their values under the new name."


def step(change: Change) -> Step:  # one line for each member of the union
    """One change in words."""
    match change:
        case CreateTable():
            return Step(text="create the table", effect=Effect.METADATA)
        case MoveTable(old=old, new=new):
            return Step(
                text=f"rename the table {old} to {new} in its catalog",
                effect=Effect.METADATA,
                why=_SAME_TABLE,
            )
        case RenameColumn(path=path, new=new):
            return Step(text=f"rename column {path} to {new}", effect=Effect.METADATA, why=_BY_ID)
        case DropColumn(path=path):
            why = (
                "Old files keep the bytes, but no query sees them any more, and adding the name again "
                "does not bring them back."
            )
            return Step(text=f"drop column {path}", effect=Effect.LOSES_DATA, why=why)
        case AddColumn(path=path, type=kind, returns=True):
            text = f"add column {path} {kind} again{_place(change)}, under another field id"
            return Step(text=text, effect=Effect.LOSES_DATA, why=_NOT_BACK)
        case AddColumn(path=path, type=kind, required=required):
            text = (
                f"add column {path} {kind}{' not null' if required else ''}{_filled(change)}{_place(change)}"
            )
            return Step(text=text, effect=Effect.METADATA, why="" if change.default is None else _NEW_ROWS)
        case WidenType(path=path, old=old, new=new):
            return Step(
                text=f"widen column {path} from {old} to {new}",
                effect=Effect.IRREVERSIBLE,
                why="Types only get wider; no file is rewritten.",
            )
        case SetColumnComment(path=path):
            return Step(text=f"set the comment of column {path}", effect=Effect.METADATA)
        case SetDefault(path=path, new=new):
            return Step(
                text=f"set the default of column {path} to {_value(new)}",
                effect=Effect.METADATA,
                why=_NEW_ROWS,
            )
        case SetNullability(path=path, required=required):
            return Step(
                text=f"make column {path} {'required' if required else 'optional'}", effect=Effect.METADATA
            )
        case MoveColumn(path=path, after=after):
            return Step(
                text=f"move column {path} {f'after {after}' if after else 'to the front'}",
                effect=Effect.METADATA,
            )
        case SetColumnTags(path=path):
            return Step(text=f"set the tags of column {path}", effect=Effect.METADATA)
        case SetIdentifier(new=new):
            return Step(
                text=f"identify rows by {', '.join(new)}" if new else "identify rows by nothing",
                effect=Effect.METADATA,
            )
        case AddPartitionField(field=field):
            return Step(text=f"partition by {field}", effect=Effect.METADATA, why=_OLD_FILES)
        case RemovePartitionField(field=field):
            return Step(text=f"no longer partition by {field}", effect=Effect.METADATA, why=_OLD_FILES)
        case RenamePartitionField(field=field, new=new):
            return Step(text=f"name the partition field {field} {new}", effect=Effect.METADATA)
        case SetSortOrder(fields=fields):
            return Step(
                text=f"sort by {', '.join(map(str, fields))}" if fields else "no longer sort",
                effect=Effect.METADATA,
                why=_NEW_FILES,
            )
        case SetDistribution(new=new):
            return Step(
                text=f"distribute rows by {new} before writing", effect=Effect.METADATA, why=_NEW_FILES
            )
        case SetProperty(name=name, old=old, new=new):
            return Step(
                text=f"set property {name} to {_shown(new)}",
                effect=Effect.METADATA,
                why=_default_reason(name, old, new),
            )
        case RemoveProperty(name=name):
            return Step(text=f"remove property {name}", effect=Effect.METADATA)
        case SetTableComment():
            return Step(text="set the table's comment", effect=Effect.METADATA)
        case SetTag(name=name, new=new):
            return Step(
                text=f"remove tag {name}" if new is None else f"set tag {name} to {_shown(new)}",
                effect=Effect.METADATA,
            )
        case UpgradeFormat(old=old, new=new):
            return Step(
                text=f"upgrade from format version {old} to {new}",
                effect=Effect.IRREVERSIBLE,
                why=_UPGRADED.get(new, ""),
            )
        case MakeBranch(name=name, branch=branch):
            return Step(
                text=f"create branch {name}{_kept(branch.retain)}", effect=Effect.METADATA, why=_FROM_MAIN
            )
        case KeepBranch(name=name, branch=branch):
            return Step(
                text=f"keep branch {name}{_kept(branch.retain)}{_snapshots(branch)}",
                effect=Effect.METADATA,
                why=_NEXT_EXPIRY,
            )
        case DropBranch(name=name):
            return Step(text=f"drop branch {name}", effect=Effect.LOSES_DATA, why=_ONLY_THERE)
        case MakeSnapshotTag(name=name, tag=tag):
            where = (
                "the snapshot on which main stands then"
                if tag.snapshot_id is None
                else f"snapshot {tag.snapshot_id}"
            )
            return Step(text=f"create tag {name} at {where}{_kept(tag.retain)}", effect=Effect.METADATA)
        case MoveSnapshotTag(name=name, old=old, new=new):
            why = f"Snapshot {old} is no longer kept by this name, and may expire."
            return Step(
                text=f"move tag {name} from snapshot {old} to snapshot {new}", effect=Effect.METADATA, why=why
            )
        case KeepSnapshotTag(name=name, retain=retain):
            return Step(text=f"keep tag {name}{_kept(retain)}", effect=Effect.METADATA, why=_NEXT_EXPIRY)
        case DropSnapshotTag(name=name):
            return Step(
                text=f"drop tag {name}",
                effect=Effect.METADATA,
                why="Its snapshot is no longer kept by this name, and may expire.",
            )


def _filled(change: AddColumn) -> str:
    return "" if change.default is None else f", {_value(change.default)} by default"


def _value(value: Data) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value).lower()


def _kept(retain: int | None) -> str:
    return "" if retain is None else f", kept for {duration_text(retain)}"


def _snapshots(branch: Branch) -> str:
    least = (
        ""
        if branch.min_snapshots_to_keep is None
        else f", with at least {branch.min_snapshots_to_keep} snapshots"
    )
    return least + (
        "" if branch.max_snapshot_age is None else f", snapshots for {duration_text(branch.max_snapshot_age)}"
    )


def _place(change: AddColumn) -> str:
    if change.after is None:
        return ""
    return f" after {change.after}" if change.after else " at the front"


def _shown(value: Data) -> str:
    return "a value known after apply" if value is UNKNOWN else f'"{value}"'


def _default_reason(name: str, old: str | None, new: Data) -> str:
    if old is None and DEFAULT_PROPERTIES.get(name) == new:
        return "With Spark's default of 4 retries a busy neighbour kills a stream that writes this table."
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a change does to a query that runs on the table, by what the query does with it; each as reaction
    and reason.
    """

    writes: Impact
    streams_from: Impact
    looks_up: Impact
    writes_unless: Impact | None = None
    """For writers that do not tolerate it."""

    def all(self) -> tuple[Impact, ...]:
        unless = () if self.writes_unless is None else (self.writes_unless,)
        return (self.writes, *unless, self.streams_from, self.looks_up)


def _runs_on(relation: Relation, reason: str) -> Impact:
    return Impact(relation=relation, reaction=Reaction.RUNS_ON, reason=reason)


def _stops(relation: Relation, reason: str, tolerance: str = "") -> Impact:
    return Impact(relation=relation, reaction=Reaction.STOPS_FIRST, reason=reason, tolerance=tolerance)


_SECOND_BATCH: Final = "a running query takes it from its second batch on"
_UNMOVED: Final = "a running query is not affected"
_LOOKED_UP: Final = (
    "Spark ends a query at its next batch when the columns of a table that it looks up are "
    "no longer those it began with"
)
_WRITER_RUNS_ON: Final = _runs_on(Relation.WRITES, _SECOND_BATCH)
_STREAM_RUNS_ON: Final = _runs_on(Relation.STREAMS_FROM, _UNMOVED)
_LOOKUP_RUNS_ON: Final = _runs_on(Relation.LOOKS_UP, _UNMOVED)
_LOOKUP_STOPS: Final = _stops(Relation.LOOKS_UP, _LOOKED_UP)
_UNHURT: Final = Verdict(writes=_WRITER_RUNS_ON, streams_from=_STREAM_RUNS_ON, looks_up=_LOOKUP_RUNS_ON)
ADDED_COLUMNS: Final = "added columns"
"""What a writer tolerates that goes through Iceberg's own streaming sink."""


def verdict(change: Change) -> Verdict:
    """What Spark 4.1 with Iceberg 1.11 does (measured with running queries; the suite of facts measures it
    again).
    """
    match change:
        case CreateTable():
            return _UNHURT
        case MoveTable(old=old):
            return Verdict(
                writes=_stops(
                    Relation.WRITES,
                    f"a running query writes {old}, and there is no table of that name any more",
                ),
                streams_from=_stops(
                    Relation.STREAMS_FROM,
                    f"a running query reads {old}, and there is no table of that name any more",
                ),
                looks_up=_stops(
                    Relation.LOOKS_UP,
                    f"a running query reads {old}, and there is no table of that name any more",
                ),
            )
        case RenameColumn(path=path):
            return Verdict(
                writes=_stops(
                    Relation.WRITES,
                    "a running query writes every column under its old name and dies at the second batch "
                    f"after {path} is renamed",
                ),
                streams_from=_runs_on(
                    Relation.STREAMS_FROM, "a running query finds its columns by their ids"
                ),
                looks_up=_LOOKUP_STOPS,
            )
        case DropColumn(path=path):
            return Verdict(
                writes=_stops(
                    Relation.WRITES,
                    f"a running query would lose what it writes into {path} and die at the second batch",
                ),
                streams_from=_stops(
                    Relation.STREAMS_FROM, f"a running query would read null for {path} without a word"
                ),
                looks_up=_LOOKUP_STOPS,
            )
        case AddColumn(path=path, required=True) | SetNullability(path=path, required=True):
            reads = _LOOKUP_RUNS_ON if isinstance(change, AddColumn) else _LOOKUP_STOPS
            return Verdict(
                writes=_stops(Relation.WRITES, _without(change)),
                streams_from=_STREAM_RUNS_ON,
                looks_up=reads,
            )
        case AddColumn(path=path, returns=True):
            return Verdict(
                writes=_stops(Relation.WRITES, f"{_bound(path)}, and would go on writing null into this one"),
                streams_from=_stops(
                    Relation.STREAMS_FROM, f"{_bound(path)}, and would go on reading null for it"
                ),
                looks_up=_LOOKUP_STOPS,
            )
        case AddColumn(path=path):
            return Verdict(
                writes=_runs_on(
                    Relation.WRITES, f"a running query keeps running and leaves {path} null until it restarts"
                ),
                writes_unless=_stops(
                    Relation.WRITES,
                    f"a micro-batch that is written as a batch must give every column, {path} too",
                    ADDED_COLUMNS,
                ),
                streams_from=_STREAM_RUNS_ON,
                looks_up=_LOOKUP_RUNS_ON,
            )
        case WidenType(path=path, old=old):
            return Verdict(
                writes=_runs_on(
                    Relation.WRITES, f"a running query goes on writing {path} as {old}, which fits"
                ),
                streams_from=_stops(
                    Relation.STREAMS_FROM,
                    f"a running query reads {path} as {old} and dies at the first wider value",
                ),
                looks_up=_LOOKUP_STOPS,
            )
        case SetNullability(path=path):
            return Verdict(
                writes=_runs_on(Relation.WRITES, "a running query goes on refusing null"),
                streams_from=_stops(
                    Relation.STREAMS_FROM,
                    f"a running query takes {path} for never null and would read null as zero",
                ),
                looks_up=_LOOKUP_STOPS,
            )
        case MoveColumn(path=path):
            # Columns are written by name (check-ordering is off); of fields inside a column that has not been
            # measured.
            nested = _stops(
                Relation.WRITES, f"a running query writes the fields beside {path} in the old order"
            )
            return Verdict(
                writes=nested
                if "." in path
                else _runs_on(Relation.WRITES, "a running query writes its columns by name"),
                streams_from=_STREAM_RUNS_ON,
                looks_up=_LOOKUP_RUNS_ON,
            )
        case (
            SetColumnComment()
            | SetDefault()
            | SetColumnTags()
            | SetTableComment()
            | SetTag()
            | SetIdentifier()
            | AddPartitionField()
            | RemovePartitionField()
            | RenamePartitionField()
            | SetSortOrder()
            | SetDistribution()
            | SetProperty()
            | RemoveProperty()
            | UpgradeFormat()
            | MakeBranch()
            | KeepBranch()
            | DropBranch()
            | MakeSnapshotTag()
            | MoveSnapshotTag()
            | KeepSnapshotTag()
            | DropSnapshotTag()
        ):
            return _UNHURT


def another_field(path: str) -> tuple[Impact, ...]:
    """What a column asks of those who use it that has another field id than recorded: it is another column
    under the same name.
    """
    return (
        _stops(Relation.WRITES, f"{_bound(path)}, and writes null into this one"),
        _stops(Relation.STREAMS_FROM, f"{_bound(path)}, and reads null for it"),
        _LOOKUP_STOPS,
    )


def another_field_step(path: str) -> Step:
    """The same in words."""
    text = f"column {path} is another one than before, under another field id"
    why = "It was dropped and added again, or another column took its name, outside of FlareIaC. " + _BY_FIELD
    return Step(text=text, effect=Effect.LOSES_DATA, why=why)


def _bound(path: str) -> str:
    return f"a running query is bound to the {path} that was there before"


def _without(change: AddColumn | SetNullability) -> str:
    if isinstance(change, AddColumn) and change.default is not None:
        return (
            f"a running query gives no {change.path}; Iceberg's writer dies for want of a required "
            "column, also with a default"
        )
    return f"a running query could still write files without {change.path}, which no one could read then"


def disturbances(changes: Iterable[Change]) -> tuple[Impact, ...]:
    """Who must stop, and who runs on, once each; what a relation must stop for hides what it would run on
    with.
    """
    found = dict.fromkeys(item for change in changes for item in verdict(change).all())
    stopped = {
        item.relation for item in found if item.reaction is not Reaction.RUNS_ON and not item.tolerance
    }
    return tuple(
        item for item in found if item.reaction is not Reaction.RUNS_ON or item.relation not in stopped
    )


_ANOTHER: Final = "the table becomes another one under the same name"
ANOTHER_TABLE: Final = (
    _stops(
        Relation.WRITES,
        f"{_ANOTHER}; rows that were written into the old one are written again only in a new generation",
    ),
    Impact(
        relation=Relation.STREAMS_FROM,
        reaction=Reaction.CAN_NOT,
        reason=(
            f"{_ANOTHER}; the offsets in its checkpoint are snapshots of the old one, and Spark cannot "
            "go on from them"
        ),
    ),
    _stops(Relation.LOOKS_UP, _ANOTHER),
)
"""What replacing a table, or creating it again, asks of those who use it."""
NO_TABLE: Final = tuple(_stops(item.relation, "the table is dropped") for item in ANOTHER_TABLE)
"""What dropping a table asks of those who use it: they are to use another one by then."""
