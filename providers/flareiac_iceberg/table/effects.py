"""What each change does to what is there, in words, and whom it disturbs. One table of truth for plan texts and for stopping queries."""

from collections.abc import Iterable
from typing import Final

from flareiac.kernel.data import UNKNOWN, Data
from flareiac.sdk.changes import Disturbance, Effect, Reaction, Relation, Step
from flareiac_iceberg.table.changes import (
    AddColumn,
    AddPartitionField,
    Change,
    CreateTable,
    DropColumn,
    MoveColumn,
    RemovePartitionField,
    RemoveProperty,
    RenameColumn,
    RenamePartitionField,
    SetColumnComment,
    SetColumnTags,
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
from flareiac_iceberg.table.spec import DEFAULT_PROPERTIES

_OLD_FILES: Final = "Files that are there keep their layout; new files and the next write follow the new one."
_NEW_FILES: Final = "Holds for files that are written from now on."
_BY_ID: Final = "Iceberg finds columns by field id: old rows keep their values under the new name."


def step(change: Change) -> Step:  # one line for each member of the union
    """One change in words."""
    match change:
        case CreateTable():
            return Step(text="create the table", effect=Effect.METADATA)
        case RenameColumn(path=path, new=new):
            return Step(text=f"rename column {path} to {new}", effect=Effect.METADATA, why=_BY_ID)
        case DropColumn(path=path):
            why = "Old files keep the bytes, but no query sees them any more, and adding the name again does not bring them back."
            return Step(text=f"drop column {path}", effect=Effect.LOSES_DATA, why=why)
        case AddColumn(path=path, type=kind, required=required):
            return Step(text=f"add column {path} {kind}{' not null' if required else ''}{_place(change)}", effect=Effect.METADATA)
        case WidenType(path=path, old=old, new=new):
            return Step(
                text=f"widen column {path} from {old} to {new}",
                effect=Effect.IRREVERSIBLE,
                why="Types only get wider; no file is rewritten.",
            )
        case SetColumnComment(path=path):
            return Step(text=f"set the comment of column {path}", effect=Effect.METADATA)
        case SetNullability(path=path, required=required):
            return Step(text=f"make column {path} {'required' if required else 'optional'}", effect=Effect.METADATA)
        case MoveColumn(path=path, after=after):
            return Step(text=f"move column {path} {f'after {after}' if after else 'to the front'}", effect=Effect.METADATA)
        case SetColumnTags(path=path):
            return Step(text=f"set the tags of column {path}", effect=Effect.METADATA)
        case SetIdentifier(new=new):
            return Step(text=f"identify rows by {', '.join(new)}" if new else "identify rows by nothing", effect=Effect.METADATA)
        case AddPartitionField(field=field):
            return Step(text=f"partition by {field}", effect=Effect.METADATA, why=_OLD_FILES)
        case RemovePartitionField(field=field):
            return Step(text=f"no longer partition by {field}", effect=Effect.METADATA, why=_OLD_FILES)
        case RenamePartitionField(field=field, new=new):
            return Step(text=f"name the partition field {field} {new}", effect=Effect.METADATA)
        case SetSortOrder(fields=fields):
            return Step(
                text=f"sort by {', '.join(map(str, fields))}" if fields else "no longer sort", effect=Effect.METADATA, why=_NEW_FILES
            )
        case SetDistribution(new=new):
            return Step(text=f"distribute rows by {new} before writing", effect=Effect.METADATA, why=_NEW_FILES)
        case SetProperty(name=name, old=old, new=new):
            return Step(text=f"set property {name} to {_shown(new)}", effect=Effect.METADATA, why=_default_reason(name, old, new))
        case RemoveProperty(name=name):
            return Step(text=f"remove property {name}", effect=Effect.METADATA)
        case SetTableComment():
            return Step(text="set the table's comment", effect=Effect.METADATA)
        case SetTag(name=name, new=new):
            return Step(text=f"remove tag {name}" if new is None else f"set tag {name} to {_shown(new)}", effect=Effect.METADATA)
        case UpgradeFormat(old=old, new=new):
            return Step(text=f"upgrade from format version {old} to {new}", effect=Effect.IRREVERSIBLE)


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


def disturbances(changes: Iterable[Change]) -> tuple[Disturbance, ...]:
    """Who must stop or restart, once each; whoever is not named runs on (added columns, layout and properties are picked up)."""
    found: dict[Disturbance, None] = {}
    for change in changes:
        found.update(dict.fromkeys(_disturbs(change)))
    return tuple(found)


def _disturbs(change: Change) -> tuple[Disturbance, ...]:
    match change:
        case RenameColumn() | DropColumn():
            name = "rename" if isinstance(change, RenameColumn) else "drop"
            return (
                _disturbance(
                    Relation.WRITES,
                    Reaction.STOPS_FIRST,
                    f"a query that writes {change.path} dies within two batches after the {name}",
                ),
                _disturbance(Relation.STREAMS_FROM, Reaction.RESTARTS, f"a running query reads with the columns from before the {name}"),
            )
        case AddColumn(required=True, path=path) | SetNullability(required=True, path=path):
            return (_disturbance(Relation.WRITES, Reaction.STOPS_FIRST, f"a query must check that {path} is not null from now on"),)
        case CreateTable():
            return ()
        case _:
            return ()


def _disturbance(relation: Relation, reaction: Reaction, reason: str) -> Disturbance:
    return Disturbance(relation=relation, reaction=reaction, reason=reason)


ANOTHER_TABLE: Final = (
    _disturbance(Relation.WRITES, Reaction.STOPS_FIRST, "the table becomes another one under the same name"),
    _disturbance(Relation.STREAMS_FROM, Reaction.STOPS_FIRST, "the table becomes another one under the same name"),
    _disturbance(Relation.LOOKS_UP, Reaction.RESTARTS, "the table becomes another one under the same name"),
)
"""What replacing or dropping a table asks of those who use it."""
