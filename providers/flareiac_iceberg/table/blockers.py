"""Changes that Iceberg cannot make, or that would break the rows that are there: each with why and the safe
way out. Pure.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.changes import Blocker, blocker
from flareiac_iceberg import codes
from flareiac_iceberg.format.layout import layout_errors
from flareiac_iceberg.format.locations import absolute_location, plain_text
from flareiac_iceberg.format.spec import Column, PartitionField, TableSpec, is_inside, leaf, parent_of
from flareiac_iceberg.format.types import can_become
from flareiac_iceberg.table.changes import (
    AddPartitionField,
    Change,
    RemovePartitionField,
    RenamePartitionField,
    UpgradeFormat,
)
from flareiac_iceberg.table.column_changes import (
    AddColumn,
    DropColumn,
    MoveColumn,
    RenameColumn,
    SetNullability,
    WidenType,
)
from flareiac_iceberg.table.diff import Difference
from flareiac_iceberg.table.schema_updates import transform_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """The past of a table, which it never forgets, its columns under their names after the renames.

    ``written``: true if any snapshot, of any branch, may hold rows. ``sorted``: the columns of all its sort
    orders. ``partitions``: the fields of all its partition specs as name, column and transform; those of
    columns that are gone are in no one's way (measured).
    """

    written: bool
    sorted: frozenset[str]
    partitions: frozenset[tuple[str, str, str]]


def refusals(desired: TableSpec, diff: Difference, past: Past) -> tuple[Blocker, ...]:
    """One blocker for each change that cannot be made as written."""
    blockers: list[Blocker] = [_taken(step) for step in diff.renames.taken]
    for change in diff.changes:
        blockers += _refused(change, diff.observed.columns or {}, past)
    blockers += _sort_history(diff, past)
    blockers += _empty_places(diff, past)
    # Else the table is as it was recorded, and was not read
    if desired.columns is not None or diff.observed.columns is not None:
        columns = final_columns(desired, diff)
        before = set(layout_errors(diff.observed))
        blockers += (
            layout_error
            for layout_error in layout_errors(_final_layout(desired, diff, columns))
            if layout_error not in before
        )
        blockers += _twins(diff, columns)
        blockers += _hidden_columns(diff, columns, past)
        blockers += _field_names(diff, columns, past)
    return tuple(dict.fromkeys(blockers))


def _refused(change: Change, columns: Mapping[str, Column], past: Past) -> Iterable[Blocker]:
    match change:
        case WidenType(path=path) | SetNullability(path=path) | MoveColumn(path=path) if _is_key(
            path, columns
        ):
            yield from _map_key(f"{path}.part", columns)
        case WidenType(path=path, old=old, new=new) if not can_become(old, new):
            yield _type(path, old, new, reusable=path not in past.sorted)
        case SetNullability(path=path, required=True) if past.written:
            yield blocker(
                codes.NOT_NULL_ON_DATA,
                f"The table has data, and existing rows may hold null in {path}; they are not checked.",
                (
                    f'leave "not null" out of the type of {path}',
                    f'check new rows with an expect block: condition = "{path} is not null"',
                ),
            )
        case AddColumn(path=path, required=True) if past.written:
            yield blocker(
                codes.REQUIRED_COLUMN_ADDED,
                f"The table has data, and existing rows would have no value for {path}.",
                (f'leave "not null" out of the type of {path}',),
            )
        case UpgradeFormat(old=old, new=new) if new < old:
            yield blocker(
                codes.FORMAT_DOWNGRADE,
                f"The table has version {old}, and cannot go back to {new}: Iceberg only upgrades, as files "
                "of the newer version may exist.",
                (f"format_version = {old}",),
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
            yield blocker(
                codes.MAP_KEY_CHANGED,
                f"The structure of the keys of {outer} is fixed in Iceberg: changed keys would no longer "
                "equal those in old files.",
                ("add a new column with the new map type and fill it",),
            )
            return
        parent = outer


def _taken(step: RenameColumn) -> Blocker:
    return blocker(
        codes.RENAME_TO_EXISTING,
        f"{step.path} cannot be renamed to {step.new}: both columns are in the table, and a rename would "
        "hide one of them.",
        (
            (
                f"if {step.new} is the one to keep, remove the rename; {step.path} is then dropped if it was "
                "declared"
            ),
            f"if {step.path} is the one to keep, drop or rename {step.new} first, in an apply of its own",
        ),
    )


def _type(path: str, old: str, new: str, *, reusable: bool) -> Blocker:
    name = leaf(path)
    narrower = can_become(new, old)
    why = (
        f"{new} is narrower, so existing values may not fit."
        if narrower
        else (
            "Iceberg reads old files as the new type only from int to long, float to double, and decimal "
            "to more digits of one scale."
        )
    )
    return blocker(
        codes.TYPE_CHANGE,
        f"{path} is {old} and cannot become {new}: {why}",
        (
            (
                f"keep {path} as {old}, add a column such as {name}_{new.partition('(')[0]} with type = "
                f'"{new}", and fill it from the query'
            ),
            *(
                [
                    (
                        f"drop {path} in one apply and add it with its new type in the next: old values are "
                        "gone then"
                    )
                ]
                if reusable
                else []
            ),
        ),
    )


def final_columns(desired: TableSpec, diff: Difference) -> dict[str, Column]:
    """The columns after the changes."""
    dropped = [change.path for change in diff.changes if isinstance(change, DropColumn)]
    there = {
        path: column
        for path, column in (diff.observed.columns or {}).items()
        if not any(is_inside(path, dropped_path) for dropped_path in dropped)
    }
    return there | dict(desired.columns or {})


def _final_layout(desired: TableSpec, diff: Difference, columns: Mapping[str, Column]) -> TableSpec:
    """The layout after the changes: what is declared, else what is there."""
    kept = {
        name: getattr(desired, name)
        for name in ("identifier", "partition_by", "sort_by")
        if getattr(desired, name) is not None
    }
    return replace(diff.observed, columns=columns, **kept)


def _sort_history(diff: Difference, past: Past) -> Iterable[Blocker]:
    """Before 1.12 Iceberg binds every sort order that a table ever had before Spark writes, and fails on a
    missing column (measured with both). A lock file may name 1.11, and others may write with an older one.
    """
    for change in diff.changes:
        if isinstance(change, DropColumn) and any(is_inside(path, change.path) for path in past.sorted):
            yield blocker(
                codes.HISTORY_SORTED,
                f"The table is or was sorted by {change.path}. Tables keep their earlier sort orders, and "
                'before Iceberg 1.12 Spark cannot write a table in which one has a missing column ("Cannot '
                'find source column for sort field").',
                _kept(change.path),
            )


def _empty_places(diff: Difference, past: Past) -> Iterable[Blocker]:
    """Format version 1 leaves a place, called void, for each partition field that goes; it must not lose its
    column (measured).
    """
    places = {column for _, column, transform in past.partitions if transform == "void"}
    version = max(
        [
            diff.observed.format_version or 0,
            *(change.new for change in diff.changes if isinstance(change, UpgradeFormat)),
        ]
    )
    if version == 1:
        places |= {change.field.column for change in diff.changes if isinstance(change, RemovePartitionField)}
    for change in diff.changes:
        if isinstance(change, DropColumn) and any(is_inside(path, change.path) for path in places):
            yield blocker(
                codes.HISTORY_PARTITIONED,
                f"The table was partitioned by {change.path} in format version 1, where the place of a "
                "partition field stays when the field is removed, and with Iceberg 1.12 Spark cannot write a "
                'partitioned table in which the column of one is missing ("Cannot build accessor for '
                'field").',
                _kept(change.path),
            )


def _kept(path: str) -> tuple[str, ...]:
    """The ways out for a column that cannot be dropped."""
    return (
        f"keep the column {path}",
        (
            f'keep it as {leaf(path)}_unused, with a column block of that name: renamed = {{ "{path}" = '
            f'"{path}_unused" }}'
        ),
    )


def _new_names(diff: Difference) -> list[str]:
    """The paths that columns get, added or renamed."""
    return [
        change.path if isinstance(change, AddColumn) else change.new
        for change in diff.changes
        if isinstance(change, AddColumn | RenameColumn)
    ]


def _twins(diff: Difference, columns: Mapping[str, Column]) -> Iterable[Blocker]:
    """Spark takes two columns whose names differ in case only for one."""
    spelled: dict[str, list[str]] = {}
    for path in columns:
        spelled.setdefault(path.lower(), []).append(path)
    for name in _new_names(diff):
        for other in spelled.get(name.lower(), ()):
            if other != name and parent_of(other) == parent_of(name):
                yield blocker(
                    codes.COLUMNS_DIFFER_IN_CASE,
                    f"There cannot be a column {name} beside {other}, which the table has: Spark does not "
                    "distinguish them.",
                    (
                        f"if they are one column, declare it as it is spelled in the table: {other}",
                        f'to have it spelled {name}: renamed = {{ "{other}" = "{name}" }}',
                        "if they are two, give one of them another name",
                    ),
                )


def _hidden_columns(diff: Difference, columns: Mapping[str, Column], past: Past) -> Iterable[Blocker]:
    """A column may not get the name of a partition field of another column: engines check that for each spec
    that the table ever had.
    """
    new = _new_names(diff)
    for name, source, _ in sorted(past.partitions):
        if (
            name in columns
            and source in columns
            and source != name
            and any(is_inside(name, path) for path in new)
        ):
            yield blocker(
                codes.COLUMN_NAMED_AS_PARTITION,
                f'A partition field of {source} is or was named "{name}". Tables keep their earlier '
                "partition specs, and Spark cannot load a table in which a field of one has the name of "
                'another column ("Cannot create identity partition sourced from different field in '
                'schema").',
                (f'give the column another name, such as "{leaf(name)}_2"',),
            )


def _field_names(diff: Difference, columns: Mapping[str, Column], past: Past) -> Iterable[Blocker]:
    """A partition field may not get the name of a column, or of another field that is or was there."""
    for change in diff.changes:
        match change:
            case AddPartitionField(field=field):
                name = field.field_name
            case RenamePartitionField(field=field, new=name):
                pass
            case _:
                continue
        term = (field.column, transform_text(field.transform, field.param))
        taken = {
            (column, transform)
            for other, column, transform in past.partitions
            if other == name and column in columns
        }
        if term in taken:
            taken.discard((field.column, "void"))  # its own place in version 1, which it gets back
        if taken - {term} or (name in columns and (field.transform, field.column) != ("identity", name)):
            yield blocker(
                codes.PARTITION_FIELD_NAME_TAKEN,
                f'The partition field {field} cannot be named "{name}": a column or another partition field '
                "of the table has or had this name, and tables keep their earlier partition specs.",
                (f"give it a name as last argument: {_named(field, f'{name}_2')}",),
            )


def _named(field: PartitionField, name: str) -> str:
    """The call that declares a partition field under this name."""
    width = f"{field.param}, " if field.param is not None else ""
    return f'{field.transform}({width}"{field.column}", "{name}")'


def moved_location(desired: str | None, observed: str | None, root: Path) -> Blocker | None:
    """A blocker when a declared location is not the one that the table has."""
    if desired is None or observed is None or same_location(desired, observed, root):
        return None
    return blocker(
        codes.LOCATION_CHANGED,
        f"The table is at {plain_text(observed)}; its files stay where they are, and nothing would move "
        f"them to {desired}.",
        (f'location = "{plain_text(observed)}"', "leave location out: then it is not managed"),
    )


def same_location(left: str, right: str, root: Path) -> bool:
    """Returns True if two locations are the same place; relative ones start at the root module."""
    return plain_text(absolute_location(left, root) or left) == plain_text(
        absolute_location(right, root) or right
    )
