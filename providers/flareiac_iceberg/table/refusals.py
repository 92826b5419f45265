"""Changes that Iceberg can not make, or that would break the rows that are there: each with why and the safe way out. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from flareiac.sdk.changes import Blocker
from flareiac_iceberg.catalog.spec import absolute_location, plain_text
from flareiac_iceberg.column_types import can_become
from flareiac_iceberg.table.changes import (
    AddColumn,
    AddPartitionField,
    Change,
    DropColumn,
    MoveColumn,
    RemovePartitionField,
    RenameColumn,
    RenamePartitionField,
    SetNullability,
    UpgradeFormat,
    WidenType,
)
from flareiac_iceberg.table.diff import Difference
from flareiac_iceberg.table.evolve import transform_text
from flareiac_iceberg.table.layout import unsound
from flareiac_iceberg.table.spec import Column, PartitionField, TableSpec, is_inside, leaf, parent_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """What a table has had and never forgets, its columns under their names after the renames.

    ``written``: whether any snapshot, of any branch, may hold rows. ``sorted``: the columns of all its sort orders. ``partitions``: the
    fields of all its partition specs as name, column and transform; those of columns that are gone are in nobody's way (measured).
    """

    written: bool
    sorted: frozenset[str]
    partitions: frozenset[tuple[str, str, str]]


def refusals(desired: TableSpec, found: Difference, past: Past) -> tuple[Blocker, ...]:
    """One blocker for each change that can not be made as written."""
    blockers: list[Blocker] = [_taken(step) for step in found.renames.taken]
    for change in found.changes:
        blockers += _refused(change, found.observed.columns or {}, past)
    blockers += _sort_history(found, past)
    blockers += _empty_places(found, past)
    if desired.columns is not None or found.observed.columns is not None:  # else the table is as it was recorded, and was not read
        columns = final_columns(desired, found)
        before = set(unsound(found.observed))
        blockers += (item for item in unsound(_final_layout(desired, found, columns)) if item not in before)
        blockers += _twins(found, columns)
        blockers += _hidden_columns(found, columns, past)
        blockers += _field_names(found, columns, past)
    return tuple(dict.fromkeys(blockers))


def _refused(change: Change, columns: Mapping[str, Column], past: Past) -> Iterable[Blocker]:
    match change:
        case WidenType(path=path) | SetNullability(path=path) | MoveColumn(path=path) if _is_key(path, columns):
            yield from _map_key(f"{path}.part", columns)
        case WidenType(path=path, old=old, new=new) if not can_become(old, new):
            yield _type(path, old, new, reusable=path not in past.sorted)
        case SetNullability(path=path, required=True) if past.written:
            yield Blocker(
                code="FII031",
                summary=f"column {path} can not become not null",
                why="The table has data, and rows that are there may hold null; nobody has checked them.",
                ways_out=(
                    f'leave "not null" out of the type of {path}',
                    f'check new rows with an expect block: condition = "{path} is not null"',
                ),
            )
        case AddColumn(path=path, required=True) if past.written:
            yield Blocker(
                code="FII032",
                summary=f"column {path} can not be added as not null",
                why="The table has data, and rows that are there would have no value for it.",
                ways_out=(f'leave "not null" out of the type of {path}',),
            )
        case UpgradeFormat(old=old, new=new) if new < old:
            yield Blocker(
                code="FII033",
                summary=f"the format version can not go down from {old} to {new}",
                why="Iceberg only upgrades: files of the newer version may be there already.",
                ways_out=(f"format_version = {old}",),
            )
        case AddColumn(path=path) | DropColumn(path=path) | RenameColumn(path=path):
            yield from _map_key(path, columns)
        case _:
            pass


def _is_key(path: str, columns: Mapping[str, Column]) -> bool:
    return any(_map_key(f"{path}.part", columns))


def _map_key(path: str, columns: Mapping[str, Column]) -> Iterable[Blocker]:
    parent = parent_of(path)
    while parent:
        outer = parent_of(parent)
        if leaf(parent) == "key" and outer in columns and columns[outer].type == "map":
            yield Blocker(
                code="FII034",
                summary=f"the key of the map {outer} can not change",
                why="Iceberg keeps the structure of map keys for good: changed keys would no longer equal those in old files.",
                ways_out=("add a new column with the new map type and fill it",),
            )
            return
        parent = outer


def _taken(step: RenameColumn) -> Blocker:
    return Blocker(
        code="FII030",
        summary=f"column {step.path} can not be renamed to {step.new}: that column exists",
        why="Both columns are in the table. A rename would hide one of them.",
        ways_out=(
            f"if {step.new} is the one to keep, remove the rename; {step.path} is then dropped if it was declared",
            f"if {step.path} is the one to keep, drop or rename {step.new} first, in an apply of its own",
        ),
    )


def _type(path: str, old: str, new: str, *, reusable: bool) -> Blocker:
    name = leaf(path)
    narrower = can_become(new, old)
    why = (
        f"{new} is narrower than {old}: values that are there may not fit."
        if narrower
        else "Iceberg reads old files as the new type only from int to long, float to double, and decimal to more digits of one scale."
    )
    return Blocker(
        code="FII036",
        summary=f"column {path} can not become {new}: it is {old}",
        why=why,
        ways_out=(
            f'keep {path} as {old}, add a column such as {name}_{new.partition("(")[0]} with type = "{new}", and fill it from the query',
            *([f"drop {path} in one apply and add it with its new type in the next: old values are gone then"] if reusable else []),
        ),
    )


def final_columns(desired: TableSpec, found: Difference) -> dict[str, Column]:
    """The columns after the changes."""
    dropped = [change.path for change in found.changes if isinstance(change, DropColumn)]
    there = {path: column for path, column in (found.observed.columns or {}).items() if not any(is_inside(path, item) for item in dropped)}
    return there | dict(desired.columns or {})


def _final_layout(desired: TableSpec, found: Difference, columns: Mapping[str, Column]) -> TableSpec:
    """The layout after the changes: what is declared, else what is there."""
    kept = {name: getattr(desired, name) for name in ("identifier", "partition_by", "sort_by") if getattr(desired, name) is not None}
    return replace(found.observed, columns=columns, **kept)


def _sort_history(found: Difference, past: Past) -> Iterable[Blocker]:
    """Iceberg 1.11 binds every sort order that a table ever had before Spark writes, and fails on a missing column (measured)."""
    for change in found.changes:
        if isinstance(change, DropColumn) and any(is_inside(path, change.path) for path in past.sorted):
            yield Blocker(
                code="FII045",
                summary=f"column {change.path} can not be dropped: the table is or was sorted by it",
                why="Tables keep their earlier sort orders, and with Iceberg 1.11 Spark writes no table that has one with a missing column "
                '("Cannot find source column for sort field").',
                ways_out=_kept(change.path),
            )


def _empty_places(found: Difference, past: Past) -> Iterable[Blocker]:
    """Format version 1 leaves a place, called void, for each partition field that goes; it must not lose its column (measured)."""
    places = {column for _, column, transform in past.partitions if transform == "void"}
    version = max([found.observed.format_version or 0, *(change.new for change in found.changes if isinstance(change, UpgradeFormat))])
    if version == 1:
        places |= {change.field.column for change in found.changes if isinstance(change, RemovePartitionField)}
    for change in found.changes:
        if isinstance(change, DropColumn) and any(is_inside(path, change.path) for path in places):
            yield Blocker(
                code="FII095",
                summary=f"column {change.path} can not be dropped: the table was partitioned by it in format version 1",
                why="In format version 1 the place of a partition field stays when the field goes, and with Iceberg 1.11 Spark writes no "
                'partitioned table that has one with a missing column ("Cannot build accessor for field").',
                ways_out=_kept(change.path),
            )


def _kept(path: str) -> tuple[str, ...]:
    """The ways out for a column that can not be dropped."""
    return (
        f"keep the column {path}",
        f'keep it as {leaf(path)}_unused, with a column block of that name: renamed = {{ "{path}" = "{path}_unused" }}',
    )


def _new_names(found: Difference) -> list[str]:
    """The paths that columns get, added or renamed."""
    return [item.path if isinstance(item, AddColumn) else item.new for item in found.changes if isinstance(item, AddColumn | RenameColumn)]


def _twins(found: Difference, columns: Mapping[str, Column]) -> Iterable[Blocker]:
    """Spark takes two columns whose names differ in case only for one."""
    spelled: dict[str, list[str]] = {}
    for path in columns:
        spelled.setdefault(path.lower(), []).append(path)
    for name in _new_names(found):
        for other in spelled.get(name.lower(), ()):
            if other != name and parent_of(other) == parent_of(name):
                yield Blocker(
                    code="FII093",
                    summary=f"there can be no column {name} beside {other}: they differ in case only",
                    why=f"Spark does not tell them apart. The table has {other} already.",
                    ways_out=(
                        f"if they are one column, declare it as it is spelled in the table: {other}",
                        f'to have it spelled {name}: renamed = {{ "{other}" = "{name}" }}',
                        "if they are two, give one of them another name",
                    ),
                )


def _hidden_columns(found: Difference, columns: Mapping[str, Column], past: Past) -> Iterable[Blocker]:
    """A column may not get the name of a partition field of another column: engines check that for each spec that the table ever had."""
    new = _new_names(found)
    for name, source, _ in sorted(past.partitions):
        if name in columns and source in columns and source != name and any(is_inside(name, item) for item in new):
            yield Blocker(
                code="FII039",
                summary=f'no column can be named "{name}": a partition field is or was',
                why="Tables keep their earlier partition specs, and Spark loads no table in which one has a field of the name of another "
                'column ("Cannot create identity partition sourced from different field in schema").',
                ways_out=(f'give the column another name, such as "{leaf(name)}_2"',),
            )


def _field_names(found: Difference, columns: Mapping[str, Column], past: Past) -> Iterable[Blocker]:
    """A partition field may not get the name of a column, or of another field that is or was there."""
    for change in found.changes:
        match change:
            case AddPartitionField(field=field):
                name = field.field_name
            case RenamePartitionField(field=field, new=name):
                pass
            case _:
                continue
        term = (field.column, transform_text(field.transform, field.param))
        taken = {(column, transform) for other, column, transform in past.partitions if other == name and column in columns}
        if term in taken:
            taken.discard((field.column, "void"))  # its own place in version 1, which it gets back
        if taken - {term} or (name in columns and (field.transform, field.column) != ("identity", name)):
            yield Blocker(
                code="FII039",
                summary=f'the partition field {field} can not be named "{name}"',
                why="A column or another partition field of the table has or had this name, and tables keep their earlier partition specs.",
                ways_out=(f"give it a name as last argument: {_named(field, f'{name}_2')}",),
            )


def _named(field: PartitionField, name: str) -> str:
    """The call that declares a partition field under this name."""
    width = f"{field.param}, " if field.param is not None else ""
    return f'{field.transform}({width}"{field.column}", "{name}")'


def moved_location(desired: str | None, observed: str | None, root: Path) -> Blocker | None:
    """A blocker when a declared location is not the one that the table has."""
    if desired is None or observed is None or same_location(desired, observed, root):
        return None
    return Blocker(
        code="FII038",
        summary="the table's location can not change",
        why=f"It is at {plain_text(observed)}; its files stay where they are, and nothing would move them to {desired}.",
        ways_out=(f'location = "{plain_text(observed)}"', "leave location out: then it is not managed"),
    )


def same_location(left: str, right: str, root: Path) -> bool:
    """Whether two locations are the same place; relative ones start at the root module."""
    return plain_text(absolute_location(left, root) or left) == plain_text(absolute_location(right, root) or right)
