"""Changes that Iceberg can not make, or that would break the rows that are there: each with why and the safe way out. Pure."""

from collections.abc import Collection, Iterable, Mapping
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
    RenameColumn,
    SetNullability,
    UpgradeFormat,
    WidenType,
)
from flareiac_iceberg.table.diff import Difference
from flareiac_iceberg.table.spec import Column, PartitionField, TableSpec, is_inside, leaf, parent_of


def refusals(desired: TableSpec, found: Difference, *, has_data: bool, ever_sorted: Collection[str]) -> tuple[Blocker, ...]:
    """One blocker for each change that can not be made as written. ``ever_sorted``: columns of all its sort orders ever."""
    blockers: list[Blocker] = [_taken(step) for step in found.renames.taken]
    for change in found.changes:
        blockers += _refused(change, found.observed.columns or {}, has_data)
    blockers += _sort_history(found, ever_sorted)
    blockers += _broken_references(desired, found)
    blockers += _names(desired, found)
    return tuple(dict.fromkeys(blockers))


def _refused(change: Change, columns: Mapping[str, Column], has_data: bool) -> Iterable[Blocker]:
    match change:
        case WidenType(path=path) | SetNullability(path=path) | MoveColumn(path=path) if _is_key(path, columns):
            yield from _map_key(f"{path}.part", columns)
        case WidenType(path=path, old=old, new=new) if not can_become(old, new):
            yield _type(path, old, new)
        case SetNullability(path=path, required=True) if has_data:
            yield Blocker(
                code="FII031",
                summary=f"column {path} can not become not null",
                why="The table has data, and rows that are there may hold null; nobody has checked them.",
                ways_out=(
                    f'leave "not null" out of the type of {path}',
                    f'check new rows with an expect block: condition = "{path} is not null"',
                ),
            )
        case AddColumn(path=path, required=True) if has_data:
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


def _type(path: str, old: str, new: str) -> Blocker:
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
            f"drop {path} in one apply and add it with its new type in the next: old values are gone then",
        ),
    )


def final_columns(desired: TableSpec, found: Difference) -> dict[str, Column]:
    """The columns after the changes."""
    dropped = [change.path for change in found.changes if isinstance(change, DropColumn)]
    there = {path: column for path, column in (found.observed.columns or {}).items() if not any(is_inside(path, item) for item in dropped)}
    return there | dict(desired.columns or {})


def _broken_references(desired: TableSpec, found: Difference) -> Iterable[Blocker]:
    """Layout that would refer to columns that are not there (any more), or that can not identify rows."""
    if desired.columns is None and found.observed.columns is None:
        return  # columns are not managed, and the table is as it was recorded, so they were not read
    columns = final_columns(desired, found)
    there = found.observed
    partitions = desired.partition_by if desired.partition_by is not None else there.partition_by or ()
    sorting = desired.sort_by if desired.sort_by is not None else there.sort_by or ()
    identifier = desired.identifier if desired.identifier is not None else there.identifier or ()
    uses = [("partition_by", item.column) for item in partitions] + [("sort_by", item.column) for item in sorting]
    for attribute, column in [*uses, *(("identifier", item) for item in identifier)]:
        if column not in columns and not column.startswith("#"):
            yield Blocker(
                code="FII035",
                summary=f"column {column} is needed: the table's {attribute} uses it",
                why="Iceberg would have a layout that refers to a column that is not there.",
                ways_out=(f"declare {attribute} without {column}; both change in one commit", f"keep the column {column}"),
            )
    for column in identifier:
        if column in columns and not columns[column].required:
            yield Blocker(
                code="FII037",
                summary=f"column {column} can not identify rows: it may be null",
                why="Iceberg takes only columns that are not null as identifier.",
                ways_out=(f"declare identifier without {column}", f'declare {column} as "not null" (on an empty table)'),
            )


def _sort_history(found: Difference, ever_sorted: Collection[str]) -> Iterable[Blocker]:
    """Iceberg 1.11 binds every sort order that a table ever had before Spark writes, and fails on a missing column (measured)."""
    for change in found.changes:
        if isinstance(change, DropColumn) and any(is_inside(path, change.path) for path in ever_sorted):
            name = leaf(change.path)
            yield Blocker(
                code="FII045",
                summary=f"column {change.path} can not be dropped: the table is or was sorted by it",
                why="Tables keep their earlier sort orders, and with Iceberg 1.11 Spark writes no table that has one with a missing column "
                '("Cannot find source column for sort field").',
                ways_out=(
                    f"keep the column {change.path}",
                    f'keep it as {name}_unused, with a column block of that name: renamed = {{ "{change.path}" = "{change.path}_unused" }}',
                ),
            )


def _names(desired: TableSpec, found: Difference) -> Iterable[Blocker]:
    columns = final_columns(desired, found)
    yield from _hidden_fields(desired, found)
    added = [change.field for change in found.changes if isinstance(change, AddPartitionField)]
    kept: list[PartitionField] = [
        item for item in found.observed.partition_by or () if item.term in {x.term for x in desired.partition_by or ()}
    ]
    taken = {item.field_name for item in kept}
    for field in added:
        name = field.field_name
        if name in taken or (name in columns and not (field.transform == "identity" and field.column == name)):
            yield Blocker(
                code="FII039",
                summary=f'the partition field {field} can not be named "{name}"',
                why="Another column or partition field of the table has this name.",
                ways_out=(f'give it a name as last argument: {str(field)[:-1]}, "{name}_part")',),
            )
        taken.add(name)


def _hidden_fields(desired: TableSpec, found: Difference) -> Iterable[Blocker]:
    """A column may not get the name of a partition field that is there already."""
    if desired.partition_by is not None:
        return  # Checked where both are declared.
    fields = {item.field_name: item for item in found.observed.partition_by or ()}
    for change in found.changes:
        name = change.path if isinstance(change, AddColumn) else change.new if isinstance(change, RenameColumn) else None
        field = fields.get(name or "")
        if name is not None and field is not None and (field.transform, field.column) != ("identity", name):
            yield Blocker(
                code="FII039",
                summary=f'no column can be named "{name}": the partition field {field} is',
                why="Another column or partition field of the table has this name.",
                ways_out=("give the column another name", f'declare partition_by, with another name for the field: "{name}_part"'),
            )


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
