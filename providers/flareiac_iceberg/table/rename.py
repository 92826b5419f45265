"""The columns that get a new name: those that ``renamed`` names, and those that were renamed elsewhere. By
field id, never by guess.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_iceberg.format.spec import TableDefinition, TableSpec, is_inside, leaf, parent_of
from flareiac_iceberg.table.column_changes import RenameColumn


@dataclass(frozen=True, slots=True, kw_only=True)
class Renames:
    """Renames in the order in which they are carried out: ``declared`` ones, then those that undo what
    someone else did.
    """

    declared: tuple[RenameColumn, ...] = ()
    undone: tuple[RenameColumn, ...] = ()
    taken: tuple[RenameColumn, ...] = ()
    """Declared ones that cannot be carried out: the new name is in use beside the old one."""


def find(
    desired: TableDefinition,
    observed: Iterable[str],
    recorded_ids: Mapping[str, int],
    observed_ids: Mapping[str, int],
) -> Renames:
    """The renames between what is there and what is desired. ``*_ids`` map paths to field ids."""
    paths = list(observed)
    by_id = {field_id: path for path, field_id in observed_ids.items()}
    declared: list[RenameColumn] = []
    taken: list[RenameColumn] = []
    for old, new in desired.renamed.items():
        if new in recorded_ids and old not in recorded_ids:
            continue  # Done before: a column that has the old name today is another writer's.
        late = path_after(old, declared)
        source = late if late in paths else _moved_on(old, recorded_ids, by_id, declared)
        if source is None or source == new or source not in paths:
            continue
        step = RenameColumn(path=source, new=new)
        if new in paths:
            taken.append(step)
        elif parent_of(source) == parent_of(new):
            declared.append(step)
            paths = [path_after(path, (step,)) for path in paths]
    undone: list[RenameColumn] = []
    for path, field_id in recorded_ids.items():
        now = by_id.get(field_id)
        wanted = desired.columns is not None and path in desired.columns
        if now is None or not wanted or path in paths:
            continue
        source = path_after(now, (*declared, *undone))
        if source in paths and source not in (desired.columns or {}) and parent_of(source) == parent_of(path):
            step = RenameColumn(path=source, new=path)
            undone.append(step)
            paths = [path_after(known_path, (step,)) for known_path in paths]
    return Renames(declared=tuple(declared), undone=tuple(undone), taken=tuple(taken))


def _moved_on(
    old: str, recorded_ids: Mapping[str, int], by_id: Mapping[int, str], done: Iterable[RenameColumn]
) -> str | None:
    """The present path of the column that was recorded as ``old``, None where it is gone."""
    now = by_id.get(recorded_ids.get(old, -1))
    return None if now is None else path_after(now, done)


def followed(renamed: Mapping[str, str], declared: Collection[str]) -> dict[str, str]:
    """``renamed`` with each old name leading to the name that is declared: ``a = b, b = c`` are the names of
    one column over time.
    """
    return {old: _last(new, renamed, declared) for old, new in renamed.items()}


def _last(new: str, renamed: Mapping[str, str], declared: Collection[str]) -> str:
    first, seen = new, {new}
    while new not in declared and new in renamed:
        new = renamed[new]
        if new in seen:
            return first
        seen.add(new)
    return new


def declared_steps(renamed: Mapping[str, str]) -> tuple[RenameColumn, ...]:
    """``renamed`` as steps: an old path may be written as it was before the renames of the columns around it,
    or as it is after them.
    """
    steps: list[RenameColumn] = []
    for old, new in renamed.items():
        steps.append(RenameColumn(path=path_after(old, steps), new=new))
    return tuple(steps)


def path_after(path: str, renames: Iterable[RenameColumn]) -> str:
    """A path after these renames."""
    for step in renames:
        if is_inside(path, step.path):
            parent = parent_of(step.path)
            path = f"{parent}.{leaf(step.new)}".lstrip(".") + path[len(step.path) :]
    return path


def spec_after(spec: TableSpec, renames: Iterable[RenameColumn]) -> TableSpec:
    """A table's record after these renames: layout follows its columns."""
    steps = tuple(renames)
    if not steps:
        return spec
    return replace(
        spec,
        columns=None
        if spec.columns is None
        else {path_after(path, steps): column for path, column in spec.columns.items()},
        identifier=None
        if spec.identifier is None
        else tuple(path_after(path, steps) for path in spec.identifier),
        partition_by=None
        if spec.partition_by is None
        else tuple(replace(field, column=path_after(field.column, steps)) for field in spec.partition_by),
        sort_by=None
        if spec.sort_by is None
        else tuple(replace(field, column=path_after(field.column, steps)) for field in spec.sort_by),
    )
