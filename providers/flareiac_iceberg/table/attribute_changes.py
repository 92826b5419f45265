"""Which declared attributes differ, and where each difference comes from, given in the shape of the HCL
block. Pure.
"""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from flareiac.kernel.data import ABSENT, Attributes, Data
from flareiac.kernel.paths import Path as AttributePath
from flareiac.kernel.paths import render_path
from flareiac.sdk.changes import AttributeChange, Effect, Origin
from flareiac.sdk.classify import classify
from flareiac_iceberg.format.spec import (
    DEFAULT_PROPERTIES,
    Column,
    PartitionField,
    SortField,
    TableSpec,
    layout_of,
    type_at,
)
from flareiac_iceberg.format.types import render
from flareiac_iceberg.maintenance.canonical import shown
from flareiac_iceberg.maintenance.schema import NAMES
from flareiac_iceberg.table.blockers import same_location
from flareiac_iceberg.table.branch_blocks import named_changes
from flareiac_iceberg.table.changes import SetProperty
from flareiac_iceberg.table.diff import Difference
from flareiac_iceberg.table.rename import path_after

STATE_ONLY = ("catalog", "namespace", "name", "on_destroy")
MAINTENANCE = ("engine", "reader", *NAMES)
"""What only the next run of maintenance takes notice of; absent where it is not declared."""


def attribute_changes(
    desired: Attributes, recorded: Attributes | None, wanted: TableSpec, found: Difference, root: Path
) -> tuple[AttributeChange, ...]:
    """Every declared attribute that is not the same in all three records, columns as ``("column", path,
    ...)``.
    """
    new = _shape(desired, wanted, wanted)
    old = None if recorded is None else _aligned(_shape(recorded, found.recorded, wanted), new, root)
    live = _aligned(_shape(recorded or desired, found.observed, wanted), new, root)
    if old is not None and old["partition_by"] and live["partition_by"]:
        old["partition_by"] = _live_names(
            old["partition_by"], live["partition_by"], new["partition_by"] or []
        )
    _order(new, old, live)
    changes = classify(new, old, live)
    named = named_changes(desired, recorded, layout_of(found.observed), found.ended)
    return (*_renamed(found), *_folded(changes, new, old or {}, live), *_lost_defaults(wanted, found), *named)


def settled(change: AttributeChange) -> bool:
    """Whether the world already has what is desired, so that only the state is behind."""
    return (
        change.live is change.new
        if change.new is ABSENT or change.live is ABSENT
        else bool(change.live == change.new)
    )


def created(desired: Attributes, wanted: TableSpec) -> tuple[AttributeChange, ...]:
    """The attributes of a table that is to be created."""
    new = _shape(desired, wanted, wanted)
    return (*_folded(classify(new, None, None), new, {}, {}), *named_changes(desired, None, {}))


def drift_texts(changes: Iterable[AttributeChange]) -> tuple[str, ...]:
    """What changed behind the team's back, one sentence each."""
    return tuple(_drift(change) for change in changes if change.origin in (Origin.DRIFT, Origin.BOTH))


def _shape(attributes: Attributes, spec: TableSpec, wanted: TableSpec) -> Attributes:
    """A record as the block is written: one entry for each column that is managed now or was."""
    layout = layout_of(spec)
    columns = None if wanted.columns is None else layout["columns"]
    shaped = {name: attributes.get(name) for name in STATE_ONLY}
    shaped |= {
        name: value
        for name, value in layout.items()
        if name not in ("columns", "column_order", "branch", "tag")
    }
    maintenance = {name: attributes.get(name) for name in MAINTENANCE}
    shaped |= {
        name: shown(item) if isinstance(item, dict) else item
        for name, item in maintenance.items()
        if item is not None
    }
    shaped["column"] = columns
    shaped["column_order"] = None if columns is None else layout["column_order"]
    return shaped


def _aligned(record: Attributes, new: Attributes, root: Path) -> Attributes:
    """A record with differences taken out that mean nothing: order of sets, default names, the form of a
    location.
    """
    found = dict(record)
    if (
        new["identifier"] is not None
        and record["identifier"] is not None
        and set(new["identifier"]) == set(record["identifier"])
    ):
        found["identifier"] = new["identifier"]
    if new["partition_by"] is not None and record["partition_by"] is not None:
        found["partition_by"] = _partitions(record["partition_by"], new["partition_by"])
    if (
        new["location"] is not None
        and record["location"] is not None
        and same_location(new["location"], record["location"], root)
    ):
        found["location"] = new["location"]
    return found


def _partitions(record: list[Attributes], new: list[Attributes]) -> list[Attributes]:
    names = {_term(item): item["name"] for item in new}
    rows = [{**item, "name": item["name"] if names.get(_term(item)) else None} for item in record]
    rank = {_term(item): index for index, item in enumerate(new)}
    return sorted(rows, key=lambda item: rank.get(_term(item), len(rank)))


def _live_names(old: list[Attributes], live: list[Attributes], new: list[Attributes]) -> list[Attributes]:
    """Names that were left to the default, as they are, where a name is declared now: no one changed those
    elsewhere.
    """
    named = {_term(item) for item in new if item["name"]}
    names = {_term(item): item["name"] for item in live}
    return [
        {**item, "name": item["name"] or (names.get(_term(item)) if _term(item) in named else None)}
        for item in old
    ]


def _term(item: Attributes) -> tuple[Data, ...]:
    return (item["column"], item["transform"], item["param"])


def _order(new: Attributes, old: Attributes | None, live: Attributes) -> None:
    """Compares the order of those columns only that all records have."""
    records = [
        record for record in (new, old, live) if record is not None and record["column_order"] is not None
    ]
    shared = set.intersection(*(set(record["column_order"]) for record in records)) if records else set()
    for record in records:
        record["column_order"] = [path for path in record["column_order"] if path in shared]


def _folded(
    changes: Iterable[AttributeChange], new: Attributes, old: Attributes, live: Attributes
) -> Iterable[AttributeChange]:
    """One change for a column that comes or goes as a whole, and none for its parts."""
    done: set[str] = set()
    for change in changes:
        if change.path[0] != "column":
            if len(change.path) == 1 or change.path[0] not in MAINTENANCE or _both(change, new, old):
                yield replace(change, note=_note(change))
            elif change.path[0] not in done:
                name = str(change.path[0])
                done.add(name)
                yield _whole_block(name, new, old)
            continue
        whole = _whole(str(change.path[1]), new, live)
        if whole is None:
            yield replace(change, note=_note(change))
        elif whole not in done:
            done.add(whole)
            texts = [_column_text(record, whole) for record in (new, old, live)]
            origin = (
                Origin.DRIFT if texts[0] == texts[1] else Origin.BOTH if _drifted(texts) else Origin.CONFIG
            )
            returns = texts[2] is ABSENT and texts[1] is not ABSENT
            note = Effect.LOSES_DATA if texts[0] is ABSENT or returns else Effect.METADATA
            yield AttributeChange(
                path=("column", whole), origin=origin, old=texts[1], new=texts[0], live=texts[2], note=note
            )


def _both(change: AttributeChange, new: Attributes, old: Attributes) -> bool:
    """Whether a setting stands in a block that was there before and still is."""
    return change.path[0] in new and change.path[0] in old


def _whole_block(name: str, new: Attributes, old: Attributes) -> AttributeChange:
    """One change for a block that comes."""
    before = old.get(name, ABSENT)
    change = AttributeChange(
        path=(name,), origin=Origin.CONFIG, old=before, new=new.get(name, ABSENT), live=before
    )
    return replace(change, note=_note(change))


def _drifted(texts: list[Data]) -> bool:
    return texts[1] is not ABSENT and texts[1] != texts[2]


def _whole(path: str, new: Attributes, live: Attributes) -> str | None:
    """The topmost part of a path that is missing in the desired or the observed columns, if any is."""
    steps = path.split(".")
    for count in range(1, len(steps) + 1):
        part = ".".join(steps[:count])
        if part not in (new.get("column") or {}) or part not in (live.get("column") or {}):
            return part
    return None


def _column_text(record: Attributes, path: str) -> Data:
    columns = record.get("column") or {}
    if path not in columns:
        return ABSENT
    typed = {name: Column(type=item["type"], required=item["required"]) for name, item in columns.items()}
    return render(type_at(typed, path)) + (" not null" if columns[path]["required"] else "")


def _note(change: AttributeChange) -> str:
    if change.path[0] == "column" and change.path[-1] == "type":
        return Effect.IRREVERSIBLE  # a type only gets wider; anything else is refused
    match change.path[0]:
        case "on_destroy":
            return "kept in the state only"
        case name if name in MAINTENANCE:
            return "takes effect with the next run"
        case "format_version":
            return Effect.IRREVERSIBLE
        case _:
            return Effect.METADATA


def _renamed(found: Difference) -> Iterable[AttributeChange]:
    for steps, origin in ((found.renames.declared, Origin.CONFIG), (found.renames.undone, Origin.DRIFT)):
        for index, item in enumerate(steps):
            new = path_after(item.path, steps[index:])
            old = item.path if origin is Origin.CONFIG else new
            yield AttributeChange(
                path=("column", new, "name"),
                origin=origin,
                old=old,
                new=new,
                live=item.path,
                note=Effect.METADATA,
            )


def _lost_defaults(wanted: TableSpec, found: Difference) -> Iterable[AttributeChange]:
    for change in found.changes:
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
            return "[" + ", ".join(_element(item) for item in value) + "]"
        case _:
            return str(value)


def _element(item: Data) -> str:
    if isinstance(item, dict):
        return str(SortField(**item) if "direction" in item else PartitionField(**item))
    return f'"{item}"'
