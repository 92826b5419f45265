"""From a table as it is to the table that is desired: typed changes in the order in which they are carried
out. Pure.

What is not declared is left alone: an extra column or property is neither dropped nor moved without need.
"""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import field

from flareiac.kernel.column_types import render
from flareiac.kernel.data import Data
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_iceberg.format.identity import TableIdentity
from flareiac_iceberg.format.spec import (
    DEFAULT_PROPERTIES,
    Column,
    TableDefinition,
    TableSpec,
    children,
    is_inside,
    parent_of,
    type_at,
)
from flareiac_iceberg.table import branches
from flareiac_iceberg.table.changes import (
    AddPartitionField,
    Change,
    RemovePartitionField,
    RemoveProperty,
    RenamePartitionField,
    SetDistribution,
    SetProperty,
    SetSortOrder,
    SetTableComment,
    SetTag,
    UpgradeFormat,
)
from flareiac_iceberg.table.column_changes import (
    AddColumn,
    DropColumn,
    MoveColumn,
    SetColumnComment,
    SetColumnTags,
    SetDefault,
    SetIdentifier,
    SetNullability,
    WidenType,
)
from flareiac_iceberg.table.rename import Renames, declared_steps, find, path_after, spec_after


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A table record with the field ids of its columns (empty where they are not known) and the defaults that
    were written into it.

    ``tags``: where its tags stand; ``gone``: snapshots that tags need and the table does not have.
    """

    spec: TableSpec
    field_ids: Mapping[str, int]
    defaults: Mapping[str, str]
    tags: Mapping[str, int] = field(default_factory=dict)
    gone: AbstractSet[int] = frozenset()


NOTHING = Known(spec=TableSpec(), field_ids={}, defaults={})


def known_of(spec: TableSpec, identity: TableIdentity, gone: AbstractSet[int] = frozenset()) -> Known:
    """A table as it is, or was, of this identity."""
    return Known(
        spec=spec,
        field_ids=identity.field_ids,
        defaults=identity.defaults,
        tags=identity.tags,
        gone=gone,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """The changes, and the three records they come from with all names as they are after the renames."""

    changes: tuple[Change, ...]
    renames: Renames
    observed: TableSpec
    recorded: TableSpec
    ended: tuple[str, ...] = ()
    """Declared tags whose time ran out."""
    reborn: tuple[str, ...] = ()
    """Declared columns that are there under another field id than recorded."""


def difference(desired: TableDefinition, recorded: Known, observed: Known) -> Difference:
    """The changes that make ``observed`` satisfy ``desired``. ``recorded`` has what was declared before and
    is to be removed now.
    """
    current = observed.spec.columns or {}
    renames = find(desired, current, recorded.field_ids, observed.field_ids)
    there = spec_after(observed.spec, (*renames.declared, *renames.undone))
    # All declared renames, not only those still to do: the state may be behind a rename that the world has
    # seen.
    was = spec_after(recorded.spec, declared_steps(desired.renamed))
    changes: list[Change] = []
    if desired.format_version is not None and there.format_version != desired.format_version:
        changes.append(UpgradeFormat(old=there.format_version or 0, new=desired.format_version))
    changes += [*renames.declared, *renames.undone]
    if desired.columns is not None:
        changes += _columns(desired.columns, was.columns or {}, there.columns or {})
    changes += _identifier(desired, there)
    changes += _partitions(desired, there)
    if desired.sort_by is not None and desired.sort_by != there.sort_by:
        changes.append(SetSortOrder(fields=desired.sort_by))
    changes += _settings(desired, was, there, set(recorded.defaults) - set(observed.defaults))
    changes += branches.changes(desired, was, there, recorded.tags, observed.gone)
    ended = branches.ended(desired, there, recorded.tags, observed.gone)
    reborn = _reborn(desired, recorded, observed, renames)
    return Difference(
        changes=tuple(changes), renames=renames, observed=there, recorded=was, ended=ended, reborn=reborn
    )


def _reborn(desired: TableDefinition, recorded: Known, observed: Known, renames: Renames) -> tuple[str, ...]:
    before = {
        path_after(path, declared_steps(desired.renamed)): field_id
        for path, field_id in recorded.field_ids.items()
    }
    steps = (*renames.declared, *renames.undone)
    now = {path_after(path, steps): field_id for path, field_id in observed.field_ids.items()}
    return tuple(
        _topmost(
            [
                path
                for path in desired.columns or ()
                if path in before and now.get(path, before[path]) != before[path]
            ]
        )
    )


def _columns(
    desired: Mapping[str, Column], recorded: Mapping[str, Column], observed: Mapping[str, Column]
) -> Iterable[Change]:
    dropped = _topmost([path for path in recorded if path not in desired and path in observed])
    left = [path for path in observed if not any(is_inside(path, dropped_path) for dropped_path in dropped)]
    added = _topmost([path for path in desired if path not in observed])
    yield from (DropColumn(path=path) for path in dropped)
    yield from _arranged(desired, left, added, recorded)
    for path, column in desired.items():
        if path in observed:
            yield from _column(path, column, observed[path])
        elif column.tags:
            yield SetColumnTags(path=path, tags=column.tags)


def _topmost(paths: Sequence[str]) -> list[str]:
    chosen = set(paths)
    return [path for path in paths if not any(parent in chosen for parent in _ancestors(path))]


def _ancestors(path: str) -> Iterable[str]:
    while path := parent_of(path):
        yield path


def _arranged(
    desired: Mapping[str, Column], left: Sequence[str], added: Sequence[str], recorded: Mapping[str, Column]
) -> Iterable[Change]:
    """Adds columns and moves others, level by level, so that declared columns stand in declared order."""
    parents = dict.fromkeys(parent_of(path) for path in desired if path in added or path in left)
    for parent in parents:
        if parent == "" or parent in left:
            wanted = [path for path in children(desired, parent) if path in added or path in left]
            yield from _level(wanted, children(left, parent), desired, recorded)


def _level(
    wanted: Sequence[str],
    current: Sequence[str],
    desired: Mapping[str, Column],
    recorded: Mapping[str, Column],
) -> Iterable[Change]:
    staying = _longest_in_order([path for path in current if path in wanted], wanted)
    line = list(current)
    for index, path in enumerate(wanted):
        before = wanted[index - 1] if index else ""
        if path not in line:
            at = line.index(before) + 1 if before else 0
            column = desired[path]
            yield AddColumn(
                path=path,
                type=render(type_at(desired, path)),
                required=column.required,
                comment=column.comment or None,
                after=None if at == len(line) else before,
                default=column.default,
                returns=path in recorded,
            )
            line.insert(at, path)
        elif path not in staying:
            yield MoveColumn(path=path, after=before)
            line.remove(path)
            line.insert(line.index(before) + 1 if before else 0, path)


def _longest_in_order(current: Sequence[str], wanted: Sequence[str]) -> set[str]:
    """The largest set of columns that can keep their places."""
    rank = {path: index for index, path in enumerate(wanted)}
    if [rank[path] for path in current] == sorted(rank[path] for path in current):
        return set(current)
    best: list[list[str]] = []
    for path in current:
        best.append([*_longest([chain for chain in best if rank[chain[-1]] < rank[path]]), path])
    return set(_longest(best))


def _longest(chains: list[list[str]]) -> list[str]:
    return max(chains, key=len) if chains else []


def _column(path: str, desired: Column, observed: Column) -> Iterable[Change]:
    if desired.type != observed.type:
        yield WidenType(path=path, old=observed.type, new=desired.type)
    if desired.required != observed.required:
        yield SetNullability(path=path, required=desired.required)
    if desired.comment is not None and desired.comment != observed.comment:
        yield SetColumnComment(path=path, old=observed.comment or "", new=desired.comment)
    if desired.default is not None and desired.default != observed.default:
        yield SetDefault(path=path, old=observed.default, new=desired.default)
    if desired.tags is not None and desired.tags != (observed.tags or ()):
        yield SetColumnTags(path=path, tags=desired.tags)


def _identifier(desired: TableSpec, observed: TableSpec) -> Iterable[Change]:
    if desired.identifier is not None and set(desired.identifier) != set(observed.identifier or ()):
        yield SetIdentifier(old=observed.identifier or (), new=desired.identifier)


def _partitions(desired: TableSpec, observed: TableSpec) -> Iterable[Change]:
    if desired.partition_by is None:
        return
    wanted = {partition_field.term: partition_field for partition_field in desired.partition_by}
    there = {partition_field.term: partition_field for partition_field in observed.partition_by or ()}
    yield from (
        RemovePartitionField(field=partition_field)
        for term, partition_field in there.items()
        if term not in wanted
    )
    for term, partition_field in wanted.items():
        if term not in there:
            yield AddPartitionField(field=partition_field)
        elif partition_field.name is not None and partition_field.name != there[term].name:
            yield RenamePartitionField(field=there[term], new=partition_field.name)


def _settings(
    desired: TableSpec, recorded: TableSpec, observed: TableSpec, lost: AbstractSet[str]
) -> Iterable[Change]:
    if desired.distribution is not None and desired.distribution != observed.distribution:
        yield SetDistribution(old=observed.distribution, new=desired.distribution)
    yield from _properties(desired, recorded, observed.properties or {}, lost)
    if desired.comment is not None and desired.comment != observed.comment:
        yield SetTableComment(new=desired.comment)
    if desired.tags is not None:
        there = observed.tags or {}
        yield from (
            SetTag(name=name, new=value) for name, value in desired.tags.items() if there.get(name) != value
        )
        yield from (
            SetTag(name=name, new=None)
            for name in recorded.tags or {}
            if name not in desired.tags and name in there
        )


def _properties(
    desired: TableSpec, recorded: TableSpec, observed: Mapping[str, Data], lost: AbstractSet[str]
) -> Iterable[Change]:
    wanted = desired.properties
    for name, value in (wanted or {}).items():
        if observed.get(name) != value:
            yield SetProperty(name=name, old=observed.get(name), new=value)
    gone = [
        name
        for name in recorded.properties or {}
        if wanted is not None and name not in wanted and name in observed
    ]
    yield from (
        RemoveProperty(name=name, old=observed[name]) for name in gone if name not in DEFAULT_PROPERTIES
    )
    for name, value in DEFAULT_PROPERTIES.items():
        gone_elsewhere = name in lost and name not in (wanted or {})
        if gone_elsewhere or (name in gone and observed[name] != value):
            yield SetProperty(name=name, old=observed.get(name), new=value)
