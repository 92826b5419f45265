"""Branches and tags: the differences between a table and its blocks, and the updates of one commit that
remove them. Pure.
"""

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Final

from flareiac.kernel.articles import with_article
from flareiac.kernel.data import Attributes
from flareiac.sdk.changes import Blocker, Relation, Usage, blocker
from flareiac_iceberg import codes
from flareiac_iceberg.format.refs import refs_of
from flareiac_iceberg.format.snapshots import current
from flareiac_iceberg.format.spec import Branch, SnapshotTag, TableSpec
from flareiac_iceberg.table.changes import Change
from flareiac_iceberg.table.ref_changes import (
    DropBranch,
    DropSnapshotTag,
    KeepBranch,
    KeepSnapshotTag,
    MakeBranch,
    MakeSnapshotTag,
    MoveSnapshotTag,
)

OWN_TAGS: Final = "flareiac-before-"
"""Tags of FlareIaC's own that keep what a rollback or a rebuild left behind."""


def lost(snapshots: Iterable[int], metadata: Attributes) -> tuple[int, ...]:
    """The snapshots among these that the table does not have (any more)."""
    there = {snapshot["snapshot-id"] for snapshot in metadata.get("snapshots") or ()}
    return tuple(sorted({snapshot for snapshot in snapshots if snapshot not in there}))


def wanted_snapshots(desired: TableSpec, recorded_tags: Mapping[str, int]) -> set[int]:
    """The snapshots that declared tags need: declared by id, or recorded when the tag was made."""
    declared = {snapshot_tag.snapshot_id for snapshot_tag in desired.snapshot_tags.values()}
    return {snapshot for snapshot in declared if snapshot is not None} | {
        recorded_tags[name] for name in desired.snapshot_tags if name in recorded_tags
    }


def changes(
    desired: TableSpec,
    recorded: TableSpec,
    observed: TableSpec,
    recorded_tags: Mapping[str, int],
    gone: AbstractSet[int],
) -> Iterator[Change]:
    """The changes that make the observed branches and tags those that are desired. ``recorded_tags``: the
    snapshots of tags when they were recorded; ``gone``: snapshots that are needed and do not exist. No one's
    branches and tags stay.
    """
    for name in recorded.branches:
        if name not in desired.branches and name in observed.branches:
            yield DropBranch(name=name)
    for name in recorded.snapshot_tags:
        if name not in desired.snapshot_tags and name in observed.snapshot_tags:
            yield DropSnapshotTag(name=name)
    for name, branch in desired.branches.items():
        there = observed.branches.get(name)
        if there is None:
            yield MakeBranch(name=name, branch=branch)
        elif (kept := _overlaid(there, branch)) != there:
            yield KeepBranch(name=name, branch=kept)
    for name, tag in desired.snapshot_tags.items():
        yield from _tag(name, tag, observed.snapshot_tags.get(name), recorded_tags.get(name), gone)


def _overlaid(there: Branch, wanted: Branch) -> Branch:
    names = [
        name
        for name in ("retain", "min_snapshots_to_keep", "max_snapshot_age")
        if getattr(wanted, name) is not None
    ]
    return replace(there, **{name: getattr(wanted, name) for name in names})


def _tag(
    name: str, wanted: SnapshotTag, there: SnapshotTag | None, was: int | None, gone: AbstractSet[int]
) -> Iterator[Change]:
    if there is None:
        if not has_ended(wanted, was, gone):
            yield MakeSnapshotTag(name=name, tag=replace(wanted, snapshot_id=wanted.snapshot_id or was))
        return
    if wanted.snapshot_id is not None and there.snapshot_id not in (None, wanted.snapshot_id):
        yield MoveSnapshotTag(name=name, old=there.snapshot_id, new=wanted.snapshot_id)
    if wanted.retain is not None and wanted.retain != there.retain:
        yield KeepSnapshotTag(name=name, old=there.retain, retain=wanted.retain)


def ended(
    desired: TableSpec, observed: TableSpec, recorded_tags: Mapping[str, int], gone: AbstractSet[int]
) -> tuple[str, ...]:
    """The declared tags whose time ran out."""
    absent = {name: tag for name, tag in desired.snapshot_tags.items() if name not in observed.snapshot_tags}
    return tuple(name for name, tag in absent.items() if has_ended(tag, recorded_tags.get(name), gone))


def has_ended(wanted: SnapshotTag, was: int | None, gone: AbstractSet[int]) -> bool:
    """Returns True if a tag was made, its time ran out, and its snapshot went with it: then there is nothing
    to do.
    """
    return wanted.retain is not None and was in gone and wanted.snapshot_id in (None, was)


def refusals(
    desired: TableSpec, observed: TableSpec, planned: Iterable[Change], gone: AbstractSet[int], *, empty: bool
) -> Iterator[Blocker]:
    """One blocker for each branch or tag that cannot be as declared."""
    for name in desired.branches:
        if name in observed.snapshot_tags:
            yield _taken(name, "branch", "tag")
    for name in desired.snapshot_tags:
        if name in observed.branches:
            yield _taken(name, "tag", "branch")
    for change in planned:
        match change:
            case MakeSnapshotTag(name=name, tag=SnapshotTag(snapshot_id=None)) if empty:
                yield _nothing_to_name(name)
            case MakeSnapshotTag(name=name, tag=SnapshotTag(snapshot_id=snapshot)) if snapshot in gone:
                yield _no_snapshot(name, snapshot)
            case MoveSnapshotTag(name=name, new=snapshot) if snapshot in gone:
                yield _no_snapshot(name, snapshot)
            case _:
                pass


def _taken(name: str, wanted: str, there: str) -> Blocker:
    return blocker(
        codes.NAME_SHARED,
        f'There cannot be {with_article(wanted)} "{name}": the table has {with_article(there)} of this name, '
        "and branches and tags of a table share their names.",
        (
            f'give the {wanted} another name than "{name}"',
            f'declare {there} "{name}" instead, or drop it where it came from',
        ),
    )


def _nothing_to_name(name: str) -> Blocker:
    return blocker(
        codes.TAG_WITHOUT_SNAPSHOT,
        f'The tag "{name}" would keep one state of the table, and an empty table has none.',
        (
            "add the tag block once the table has rows",
            f'to write before main shows it, use a branch: branch "{name}" {{}}',
        ),
    )


def _no_snapshot(name: str, snapshot: int | None) -> Blocker:
    return blocker(
        codes.NO_SUCH_SNAPSHOT,
        f'The tag "{name}" cannot name snapshot {snapshot}: it was expired, or it belongs to another table.',
        ("name one that flareiac table snapshots ADDRESS lists", f'remove the block tag "{name}"'),
    )


def still_written(planned: Iterable[Change], usages: Iterable[Usage]) -> Iterator[Blocker]:
    """One blocker for each branch that goes although a declared job still uses it."""
    users = [usage for usage in usages if usage.part is not None]
    for change in planned:
        holders = [usage for usage in users if isinstance(change, DropBranch) and usage.part == change.name]
        if holders and isinstance(change, DropBranch):
            named = " and ".join(dict.fromkeys(usage.holder for usage in holders))
            verb = "writes" if any(usage.relation is Relation.WRITES for usage in holders) else "reads"
            yield blocker(
                codes.BRANCH_IN_USE,
                f'The branch "{change.name}" cannot be dropped: {named} {verb} it, and would fail at the '
                "next batch.",
                (
                    f'keep the block branch "{change.name}" {{}}',
                    *(f"take the branch out of {usage.holder} ({usage.reason})" for usage in holders),
                ),
            )


def needs_start(planned: Iterable[Change], metadata: Attributes) -> bool:
    """Returns True if a branch is to be made on a table that never had a row: it starts at an empty snapshot
    of its own.
    """
    missing = [
        change
        for change in planned
        if isinstance(change, MakeBranch) and change.name not in (metadata.get("refs") or {})
    ]
    return current(metadata) is None and bool(missing)


def updates(metadata: Attributes, planned: Iterable[Change], start: Attributes | None) -> list[Attributes]:
    """The updates of one commit. ``start``: an empty snapshot for branches of a table without rows."""
    refs = dict(metadata.get("refs") or {})
    table_updates: list[Attributes] = [] if start is None else [{"action": "add-snapshot", "snapshot": start}]
    head = current(metadata) if start is None else start["snapshot-id"]
    for change in planned:
        for update in _update(refs, change, head):
            table_updates.append(update)
            # A tag may move and be kept otherwise in one commit: the second goes by the first.
            refs[update["ref-name"]] = update
    return table_updates


def _update(refs: Mapping[str, Attributes], change: Change, head: int | None) -> Iterator[Attributes]:
    match change:
        case DropBranch(name=name) | DropSnapshotTag(name=name) if name in refs:
            yield {"action": "remove-snapshot-ref", "ref-name": name}
        case MakeBranch(name=name, branch=branch):
            yield _set_branch(name, refs[name]["snapshot-id"] if name in refs else head, branch)
        case KeepBranch(name=name, branch=branch) if name in refs:
            yield _set_branch(name, refs[name]["snapshot-id"], branch)
        case MakeSnapshotTag(name=name, tag=tag):
            yield _set_tag(name, tag.snapshot_id or head, tag.retain)
        case MoveSnapshotTag(name=name, new=new):
            yield _set_tag(name, new, (refs.get(name) or {}).get("max-ref-age-ms"))
        case KeepSnapshotTag(name=name, retain=retain) if name in refs:
            yield _set_tag(name, refs[name]["snapshot-id"], retain)
        case _:
            pass


def _set_branch(name: str, head: int | None, branch: Branch) -> Attributes:
    ages = {
        "max-ref-age-ms": branch.retain,
        "min-snapshots-to-keep": branch.min_snapshots_to_keep,
        "max-snapshot-age-ms": branch.max_snapshot_age,
    }
    return _set(name, "branch", head, ages)


def _set_tag(name: str, snapshot: int | None, retain: int | None) -> Attributes:
    return _set(name, "tag", snapshot, {"max-ref-age-ms": retain})


def _set(name: str, kind: str, snapshot: int | None, ages: Mapping[str, int | None]) -> Attributes:
    kept = {key: value for key, value in ages.items() if value is not None}
    return {"action": "set-snapshot-ref", "ref-name": name, "type": kind, "snapshot-id": snapshot, **kept}


def requirements(metadata: Attributes, made: Iterable[Attributes]) -> Iterator[Attributes]:
    """Each branch and tag that is set must stand where it stood, so that no one's commit is undone."""
    refs = metadata.get("refs") or {}
    for update in made:
        if update["action"] == "set-snapshot-ref":
            name = update["ref-name"]
            yield {
                "type": "assert-ref-snapshot-id",
                "ref": name,
                "snapshot-id": (refs.get(name) or {}).get("snapshot-id"),
            }


def contradiction(metadata: Attributes, planned: Iterable[Change]) -> str | None:
    """The change by someone else since the plan was made that one of these changes would undo; None for
    none.
    """
    refs = refs_of(metadata)
    for change in planned:
        match change:
            case MakeBranch(name=name) if name in refs and refs[name]["type"] != "branch":
                return f'a tag "{name}" has appeared'
            case MakeSnapshotTag(name=name, tag=tag) if (
                name in refs and refs[name]["snapshot-id"] != tag.snapshot_id
            ):
                return f'{with_article(refs[name]["type"])} "{name}" has appeared'
            case MoveSnapshotTag(name=name, old=old, new=new) if name not in refs or refs[name][
                "snapshot-id"
            ] not in (old, new):
                return f'the tag "{name}" was moved or dropped'
            case KeepBranch(name=name) | KeepSnapshotTag(name=name) if name not in refs:
                return f'"{name}" was dropped'
            case MakeSnapshotTag(name=name, tag=SnapshotTag(snapshot_id=None)) if current(metadata) is None:
                return f'there is no snapshot that the tag "{name}" could name'
            case _:
                pass
        snapshot = (
            change.tag.snapshot_id if isinstance(change, MakeSnapshotTag) else getattr(change, "new", None)
        )
        if (
            isinstance(change, MakeSnapshotTag | MoveSnapshotTag)
            and snapshot is not None
            and lost([snapshot], metadata)
        ):
            return f"snapshot {snapshot} was expired"
    return None
