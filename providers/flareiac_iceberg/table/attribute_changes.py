"""The declared attributes that differ, and the origin of each difference, given in the shape of the HCL
block. Pure.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from flareiac.kernel.column_types import render
from flareiac.kernel.data import ABSENT, Attributes, Data
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.paths import Path as AttributePath
from flareiac.kernel.paths import render_path
from flareiac.sdk.changes import AttributeChange, Effect, Origin
from flareiac.sdk.classify import classify
from flareiac.sdk.on_change import ChangeClass
from flareiac_iceberg.format.spec import (
    DEFAULT_PROPERTIES,
    PartitionField,
    SortField,
    TableDefinition,
    TableSpec,
    layout_of,
    type_at,
)
from flareiac_iceberg.maintenance.canonical import shown
from flareiac_iceberg.maintenance.schema import NAMES
from flareiac_iceberg.table.blockers import same_location
from flareiac_iceberg.table.branch_blocks import named_changes
from flareiac_iceberg.table.changes import SetProperty
from flareiac_iceberg.table.diff import Difference
from flareiac_iceberg.table.rename import path_after

STATE_ONLY = ("catalog", "namespace", "name", "on_destroy")
MAINTENANCE = ("engine", "reader", *NAMES)
"""The attributes that only the next run of maintenance takes notice of; absent where they are not
declared.
"""


def attribute_changes(
    desired: TableDefinition, recorded: TableDefinition | None, diff: Difference, root: Path
) -> tuple[AttributeChange, ...]:
    """Every declared attribute that is not the same in all three records, columns as ``("column", path,
    ...)``.
    """
    live = _aligned(diff.observed, desired, root)
    if recorded is not None and live.location != desired.location:
        live = replace(live, location=_in_the_form_of(recorded.location, live.location, root))
    was = None if recorded is None else _named_as(_aligned(diff.recorded, desired, root), live, desired)
    ordered = _in_all([spec for spec in (desired, was, live) if spec is not None])
    new, there = _shape(desired, desired, ordered), _shape(recorded or desired, live, ordered)
    old = None if recorded is None or was is None else _shape(recorded, was, ordered)
    changes = (
        *_renamed(diff),
        *_folded(classify(new, old, there), Records(new=desired, old=was, live=live), new, old or {}),
        *_lost_defaults(desired, diff),
        *named_changes(desired, recorded, diff.observed, diff.ended),
    )
    return tuple(
        replace(change, drift=_drift(change)) if change.has_drifted else change for change in changes
    )


def settled(change: AttributeChange) -> bool:
    """Returns True if the world already has what is desired, so that only the state is behind."""
    return (
        change.live is change.new
        if change.new is ABSENT or change.live is ABSENT
        else bool(change.live == change.new)
    )


def created(desired: TableDefinition) -> tuple[AttributeChange, ...]:
    """The attributes of a table that is to be created."""
    new = _shape(desired, desired, _in_all([desired]))
    nothing = TableSpec()
    return (
        *_folded(classify(new, None, None), Records(new=desired, old=None, live=nothing), new, {}),
        *named_changes(desired, None, nothing),
    )


def drift_texts(changes: Iterable[AttributeChange]) -> tuple[str, ...]:
    """The changes behind the team's back, one sentence each."""
    return tuple(change.drift for change in changes if change.has_drifted)


@dataclass(frozen=True, slots=True, kw_only=True)
class Records:
    """The records that are compared. ``old`` None: nothing is recorded."""

    new: TableSpec
    old: TableSpec | None
    live: TableSpec

    def column_texts(self, path: str) -> tuple[Data, Data, Data]:
        """The type of a column that is desired, recorded and there."""
        new, old, live = (column_text(column, path) for column in (self.new, self.old, self.live))
        return new, old, live

    def topmost(self, path: str) -> str | None:
        """The topmost part of a path that is missing in the desired or the observed columns, if any is."""
        steps = path.split(".")
        for count in range(1, len(steps) + 1):
            part = ".".join(steps[:count])
            if part not in (self.new.columns or {}) or part not in (self.live.columns or {}):
                return part
        return None


def _shape(table: TableDefinition, spec: TableSpec, ordered: Collection[str]) -> Attributes:
    """A record as the block is written, its layout that of ``spec``: one entry for each column that is
    managed now or was, and the order of those that all records have.
    """
    layout = layout_of(spec)
    columns = layout.pop("columns")
    for apart in ("column_order", "branch", "tag"):
        del layout[apart]
    blocks = {name: table.maintenance.get(name) for name in NAMES}
    settings = {"engine": table.engine, "reader": table.reader, **blocks}
    return {
        **{name: getattr(table, name) for name in STATE_ONLY},
        **layout,
        **{
            name: shown(setting) if isinstance(setting, dict) else setting
            for name, setting in settings.items()
            if setting is not None
        },
        "column": columns,
        "column_order": None if columns is None else [path for path in columns if path in ordered],
    }


def _aligned(spec: TableSpec, new: TableSpec, root: Path) -> TableSpec:
    """A record with differences taken out that mean nothing: order of sets, default names, the form of a
    location, and columns where none are declared.
    """
    same_set = (
        new.identifier is not None
        and spec.identifier is not None
        and set(new.identifier) == set(spec.identifier)
    )
    return replace(
        spec,
        columns=None if new.columns is None else spec.columns,
        identifier=new.identifier if same_set else spec.identifier,
        partition_by=_partitions(spec.partition_by, new.partition_by),
        location=_in_the_form_of(new.location, spec.location, root),
    )


def _in_the_form_of(written: str | None, location: str | None, root: Path) -> str | None:
    """A location as it is written elsewhere, where that is the same place."""
    is_same = written is not None and location is not None and same_location(written, location, root)
    return written if is_same else location


def _partitions(
    there: tuple[PartitionField, ...] | None, new: tuple[PartitionField, ...] | None
) -> tuple[PartitionField, ...] | None:
    """In the desired order, named where a name is desired."""
    if there is None or new is None:
        return there
    named = {field.term for field in new if field.name}
    rank = {field.term: index for index, field in enumerate(new)}
    rows = [field if field.term in named else replace(field, name=None) for field in there]
    return tuple(sorted(rows, key=lambda field: rank.get(field.term, len(rank))))


def _named_as(old: TableSpec, live: TableSpec, new: TableSpec) -> TableSpec:
    """Names that were left to the default, as they are, where a name is declared now: no one changed those
    elsewhere.
    """
    if not old.partition_by or not live.partition_by:
        return old
    named = {field.term for field in new.partition_by or () if field.name}
    names = {field.term: field.name for field in live.partition_by if field.term in named}
    fields = tuple(replace(field, name=field.name or names.get(field.term)) for field in old.partition_by)
    return replace(old, partition_by=fields)


def _in_all(specs: Sequence[TableSpec]) -> set[str]:
    """The columns that all records have that manage columns."""
    managed = [set(spec.columns) for spec in specs if spec.columns is not None]
    return set.intersection(*managed) if managed else set()


def _folded(
    changes: Iterable[AttributeChange], records: Records, new: Attributes, old: Attributes
) -> Iterable[AttributeChange]:
    """One change for a column that comes or goes as a whole, and none for its parts; the same for a block of
    maintenance.
    """
    done: set[str] = set()
    for change in changes:
        kind = str(change.path[0])
        if kind == "column":
            whole = records.topmost(str(change.path[1]))
            folded = None if whole is None else _whole_column(whole, records)
        else:
            whole = (
                kind if len(change.path) > 1 and kind in MAINTENANCE and not _both(kind, new, old) else None
            )
            folded = None if whole is None else _whole_block(whole, new, old)
        if whole is None or folded is None:
            yield replace(change, note=_note(change))
        elif whole not in done:
            done.add(whole)
            yield folded


def _whole_column(path: str, records: Records) -> AttributeChange:
    new, old, live = records.column_texts(path)
    drifted = old is not ABSENT and old != live
    origin = Origin.DRIFT if new == old else Origin.BOTH if drifted else Origin.CONFIG
    returns = live is ABSENT and old is not ABSENT
    note = Effect.LOSES_DATA if new is ABSENT or returns else Effect.METADATA
    return AttributeChange(path=("column", path), origin=origin, old=old, new=new, live=live, note=note)


def _both(block: str, new: Attributes, old: Attributes) -> bool:
    """Returns True if a block was there before and still is."""
    return block in new and block in old


def _whole_block(name: str, new: Attributes, old: Attributes) -> AttributeChange:
    """One change for a block that comes."""
    before = old.get(name, ABSENT)
    change = AttributeChange(
        path=(name,), origin=Origin.CONFIG, old=before, new=new.get(name, ABSENT), live=before
    )
    return replace(change, note=_note(change))


def column_text(spec: TableSpec | None, path: str) -> Data:
    """Returns the type of a column as its block says it; ABSENT where there is none."""
    columns = (spec.columns if spec is not None else None) or {}
    if path not in columns:
        return ABSENT
    return render(type_at(columns, path)) + (" not null" if columns[path].required else "")


def _note(change: AttributeChange) -> str:
    if change.path[0] == "column" and change.path[-1] == "type":
        return Effect.IRREVERSIBLE  # a type only gets wider; anything else is refused
    match change.path[0]:
        case "on_destroy":
            return ChangeClass.RECORDED
        case name if name in MAINTENANCE:
            return ChangeClass.NEXT_RUN
        case "format_version":
            return Effect.IRREVERSIBLE
        case "namespace" | "name" if change.old is not ABSENT and change.new is not ABSENT:
            return Effect.RENAMES
        case _:
            return Effect.METADATA


def _renamed(diff: Difference) -> Iterable[AttributeChange]:
    for steps, origin in ((diff.renames.declared, Origin.CONFIG), (diff.renames.undone, Origin.DRIFT)):
        for index, step in enumerate(steps):
            new = path_after(step.path, steps[index:])
            old = step.path if origin is Origin.CONFIG else new
            yield AttributeChange(
                path=("column", new, "name"),
                origin=origin,
                old=old,
                new=new,
                live=step.path,
                note=Effect.METADATA,
            )


def _lost_defaults(wanted: TableSpec, diff: Difference) -> Iterable[AttributeChange]:
    for change in diff.changes:
        if (
            isinstance(change, SetProperty)
            and change.name in DEFAULT_PROPERTIES
            and change.name not in (wanted.properties or {})
        ):
            path = ("properties", change.name)
            live = ABSENT if change.old is None else change.old
            yield AttributeChange(
                path=path, origin=Origin.DEFAULT, old=live, new=change.new, live=live, note=Effect.METADATA
            )


def _drift(change: AttributeChange) -> str:
    what = _subject(change.path)
    if change.path[0] == "column" and change.path[-1] == "name":
        return f'column "{change.old}" was renamed to "{change.live}" outside of FlareIaC'
    if change.path[0] == "column_order":
        return "the order of the columns was changed outside of FlareIaC"
    if change.live is ABSENT or change.live is None:
        return f"{what} was {'dropped' if change.path[0] == 'column' else 'removed'} outside of FlareIaC"
    if change.old is ABSENT:
        return f"{what} was added outside of FlareIaC"
    return f"{what} was changed from {_shown(change.old)} to {_shown(change.live)} outside of FlareIaC"


def _subject(path: AttributePath) -> str:
    match path:
        case ("properties", name):
            return f'property "{name}"'
        case ("tags", name):
            return f'tag "{name}"'
        case ("column", name):
            return f'column "{name}"'
        case ("column", name, part):
            return f'the {part} of column "{name}"'
        case ("comment",):
            return "the table's comment"
        case ("branch" | "tag" as kind, name, *part):
            return f'the {part[0]} of {kind} "{name}"' if part else f'{kind} "{name}"'
        case _:
            return render_path(path)


def _shown(value: Data) -> str:
    match value:
        case str():
            return f'"{value}"'
        case bool():
            return str(value).lower()
        case list():
            return "[" + ", ".join(_element(element) for element in value) + "]"
        case _:
            return str(value)


def _element(element: Data) -> str:
    if isinstance(element, dict):
        return str(SortField(**element) if "direction" in element else PartitionField(**element))
    return f'"{element}"'
