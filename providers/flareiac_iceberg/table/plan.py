"""What apply would do with a table: action, typed changes, blockers, drift. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from flareiac.kernel import records
from flareiac.kernel.data import Attributes, Data
from flareiac.sdk.changes import Action, Blocker, Effect, Proposal, Relation, Step, Usage, blocker
from flareiac.sdk.lakehouse import TableWriters
from flareiac.sdk.requests import PlanRequest
from flareiac.sdk.results import Missing, Present, Recorded
from flareiac_iceberg import codes
from flareiac_iceberg.catalogs.absence import absence
from flareiac_iceberg.format.identity import identity_of
from flareiac_iceberg.format.recent_writers import unacknowledged
from flareiac_iceberg.format.spec import TableSpec, parent_of, spec_of, type_at
from flareiac_iceberg.format.types import render
from flareiac_iceberg.maintenance.plan import usage_blockers, usage_warnings
from flareiac_iceberg.table import branches
from flareiac_iceberg.table.attribute_changes import (
    MAINTENANCE,
    attribute_changes,
    created,
    drift_texts,
    settled,
)
from flareiac_iceberg.table.blockers import Past, moved_location, refusals
from flareiac_iceberg.table.changes import Change, CreateTable, encode
from flareiac_iceberg.table.column_changes import (
    AddColumn,
    DropColumn,
    SetNullability,
    another_field,
    another_field_step,
)
from flareiac_iceberg.table.column_users import contradictions
from flareiac_iceberg.table.copied_project import in_another_copy
from flareiac_iceberg.table.diff import NOTHING, Difference, Known, difference, known_of, recorded_known
from flareiac_iceberg.table.effects import ANOTHER_TABLE, NO_TABLE, disturbances
from flareiac_iceberg.table.expected import expected_of
from flareiac_iceberg.table.move import PLACE, import_id, move_blockers, move_of, moved_already
from flareiac_iceberg.table.observed import ObservedTable, is_another, observed_table
from flareiac_iceberg.table.rename import path_after
from flareiac_iceberg.table.shared_files import shares_files, unpurgeable


@dataclass(frozen=True, slots=True)
class TablePlanner:
    """Pure knowledge of tables."""

    def plan(self, request: PlanRequest) -> Proposal:
        """The proposal; what cannot be done as written is a blocker in it."""
        recorded = request.recorded
        if request.desired is None:
            assert recorded is not None, "a table that is not declared is recorded"
            return _removal(request, recorded)
        if not isinstance(request.observed, Present):
            return _creation(request, request.desired)
        observed = observed_table(request.observed)
        if recorded is not None and is_another(recorded, observed):
            return _of_another_table(request, request.desired, observed)
        if request.replace and recorded is not None:
            return _replacement(request, request.desired, observed)
        return _update(request, request.desired, observed)

    def fingerprint(self, request: PlanRequest) -> Data:
        """Of a table that goes or is replaced only which one it is; of one that stays what an update relies
        on.
        """
        recorded, there = request.recorded, request.observed
        if request.desired is None:
            drops = recorded is not None and not _keeps(request, recorded)
            return _which(observed_table(there)) if drops and isinstance(there, Present) else None
        if not isinstance(there, Present):
            return absence("table", request)
        observed = observed_table(there)
        if recorded is not None and is_another(recorded, observed):
            recorded = None
        elif request.replace and recorded is not None:
            return _which(observed)
        return _relied_on(spec_of(request.desired), recorded, observed)


def _keeps(request: PlanRequest, recorded: Recorded) -> bool:
    return recorded.attributes["on_destroy"] == "retain" and not request.destroy_object


def _removal(request: PlanRequest, recorded: Recorded) -> Proposal:
    if isinstance(request.observed, Missing):
        return Proposal(
            action=Action.FORGET, planned=None, drift=("the table was dropped outside of FlareIaC",)
        )
    if _keeps(request, recorded) or not isinstance(request.observed, Present):
        why = "on_destroy is retain: the table and its data stay, FlareIaC only forgets them"
        return Proposal(action=Action.FORGET, planned=None, reasons=(why,))
    mode = "purge" if recorded.attributes["on_destroy"] == "purge" else "drop"
    observed = observed_table(request.observed)
    blockers = (*_ownership(request, observed), *in_another_copy(request, recorded.attributes, observed))
    if mode == "purge" and shares_files(observed.attributes["properties"] or {}):
        blockers = (*blockers, unpurgeable())
    return Proposal(
        action=Action.DELETE,
        planned=None,
        steps=(_dropping(mode),),
        blockers=blockers,
        disturbs=NO_TABLE,
        payload=_leaving(mode, observed),
    )


def _leaving(mode: str, observed: ObservedTable) -> dict[str, Data]:
    """What deleting it takes; the location leads back to it when no one could record another."""
    return {"mode": mode, "metadata_location": observed.identity.metadata_location}


def _dropping(mode: str) -> Step:
    if mode == "purge":
        return Step(
            text="drop the table and delete its files", effect=Effect.LOSES_DATA, why="on_destroy is purge."
        )
    why = "Its files stay; the state keeps the location of its last metadata file."
    return Step(text="drop the table from its catalog", effect=Effect.LOSES_DATA, why=why)


def _creation(request: PlanRequest, desired: Attributes) -> Proposal:
    wanted = spec_of(desired)
    again = request.recorded is not None
    return Proposal(
        action=Action.CREATE,
        planned=desired,
        changes=created(desired, wanted),
        steps=(CreateTable().step(),),
        blockers=(
            *_uncreatable(wanted),
            *_moved(request, desired),
            *usage_blockers(desired, _usages(request)),
        ),
        disturbs=ANOTHER_TABLE if again else (),
        drift=("the table was dropped outside of FlareIaC",) if again else (),
        reasons=(_again(request.address),) if again else (),
        payload=_payload((CreateTable(),), None),
        diagnostics=tuple(usage_warnings(request.address, desired, _usages(request))),
    )


def _again(address: str) -> str:
    return (
        "it is gone, so it is created again, empty; to have the old one back, with its rows: flareiac "
        f"undrop {address} before the apply"
    )


def _uncreatable(wanted: TableSpec) -> tuple[Blocker, ...]:
    changes = tuple(branches.changes(wanted, TableSpec(), TableSpec(), {}, frozenset()))
    nameless = tuple(branches.refusals(wanted, TableSpec(), changes, _declared_snapshots(wanted), empty=True))
    if wanted.columns:
        return nameless
    unmade = blocker(
        codes.NO_COLUMNS_TO_CREATE,
        "The table does not exist, and without column blocks FlareIaC does not manage the schema of a "
        "table, so it must exist.",
        ('column "id" {\n  type = "long"\n}',),
    )
    return (unmade, *nameless)


def _declared_snapshots(wanted: TableSpec) -> frozenset[int]:
    """A table that is to be made has none of them."""
    return frozenset(
        item.snapshot_id for item in wanted.snapshot_tags.values() if item.snapshot_id is not None
    )


def _replacement(request: PlanRequest, desired: Attributes, observed: ObservedTable) -> Proposal:
    wanted = spec_of(desired)
    return Proposal(
        action=Action.REPLACE,
        planned=desired,
        changes=created(desired, wanted),
        steps=(_dropping("drop"), CreateTable().step()),
        blockers=(
            *_uncreatable(wanted),
            *_moved(request, desired),
            *_ownership(request, observed),
            *in_another_copy(request, desired, observed),
        ),
        disturbs=ANOTHER_TABLE,
        reasons=("asked for with -replace",),
        payload=_payload((CreateTable(),), None) | _leaving("drop", observed),
    )


def _of_another_table(request: PlanRequest, desired: Attributes, observed: ObservedTable) -> Proposal:
    """Blocked until someone says which table is meant: an import block that names the new one's uuid adopts
    it.
    """
    proposal = _update(replace(request, recorded=None, importing=True), desired, observed)
    text = f"the table was dropped and created again outside of FlareIaC (uuid {observed.identity.uuid})"
    if request.import_id == f"{import_id(desired)}@{observed.identity.uuid}":
        return replace(proposal, disturbs=ANOTHER_TABLE, drift=(text,))
    blockers = (_another_table(request, observed), *_moved(request, desired))
    return replace(proposal, action=Action.UPDATE, steps=(), changes=(), blockers=blockers, drift=(text,))


def _update(request: PlanRequest, desired: Attributes, observed: ObservedTable) -> Proposal:
    recorded, wanted = request.recorded, spec_of(desired)
    found = difference(wanted, recorded_known(recorded) if recorded else NOTHING, _known(observed))
    move = move_of(recorded, desired, observed)
    if move is not None:
        found = replace(found, changes=(move, *found.changes))
    changes = attribute_changes(
        desired, recorded.attributes if recorded else None, wanted, found, request.project.root
    )
    blockers = (
        *_ownership(request, observed),
        *in_another_copy(request, desired, observed),
        *move_blockers(request, desired, observed, move),
        *refusals(wanted, found, _past(observed, found)),
        *contradictions(found.changes, _usages(request), wanted.columns or found.observed.columns or {}),
        *branches.refusals(
            wanted,
            found.observed,
            found.changes,
            observed.facts.gone,
            empty=observed.identity.snapshot_id is None,
        ),
        *branches.still_written(found.changes, _usages(request)),
        *usage_blockers(desired, _usages(request)),
        *filter(None, [moved_location(wanted.location, found.observed.location, request.project.root)]),
    )
    state_only = any(change.path == ("on_destroy",) for change in changes)
    maintenance = any(change.path[0] in MAINTENANCE for change in changes)
    renamed = recorded is not None and recorded.attributes.get("renamed") != desired["renamed"]
    return Proposal(
        action=_action(
            request,
            found,
            worth=state_only or maintenance or bool(blockers) or bool(found.reborn),
            record=renamed
            or any(map(settled, changes))
            or _written_by_others(request, observed)
            or moved_already(recorded, desired, move),
        ),
        planned=desired,
        changes=changes,
        steps=(
            *map(another_field_step, found.reborn),
            *(change.step() for change in found.changes),
            *_state_steps(desired, state_only=state_only and recorded is not None),
        ),
        reasons=(*_suggestions(found), *_ended(found)),
        blockers=blockers,
        disturbs=tuple(
            dict.fromkeys(
                (
                    *(item for path in found.reborn for item in another_field(path).all()),
                    *disturbances(change.verdict() for change in found.changes),
                )
            )
        ),
        drift=(*map(_other_field, found.reborn), *drift_texts(changes)) if recorded else (),
        payload=_payload(found.changes, observed, empty=_needs_empty(found)),
        diagnostics=tuple(usage_warnings(request.address, desired, _usages(request))),
    )


def _usages(request: PlanRequest) -> tuple[Usage, ...]:
    return tuple(usage for usage in request.usages if usage.subject == request.address)


def _written_by_others(request: PlanRequest, observed: ObservedTable) -> bool:
    """Then the table is recorded again, so that an apply acknowledges what they did. A table without declared
    writers is fed by others.
    """
    writers = [usage for usage in _usages(request) if usage.relation is Relation.WRITES]
    if request.recorded is None or not writers:
        return False
    declared = {query for usage in writers for query in usage.queries or ()}
    without = len({usage.holder for usage in writers if usage.queries is None})
    recorded = identity_of(request.recorded.identity).writers or TableWriters()
    return unacknowledged(observed.identity.writers or TableWriters(), recorded, declared, without)


def _action(request: PlanRequest, found: Difference, *, worth: bool, record: bool) -> Action:
    if request.recorded is None:
        return Action.ADOPT
    if found.changes or worth:
        return Action.UPDATE
    return Action.RECORD if record else Action.NO_OP


def _state_steps(desired: Attributes, *, state_only: bool) -> tuple[Step, ...]:
    if not state_only:
        return ()
    mode = desired["on_destroy"]
    return (
        Step(
            text=f"removing the block will {mode} the table from now on",
            effect=Effect.METADATA,
            why="Kept in the state only.",
        ),
    )


def _known(observed: ObservedTable) -> Known:
    known = known_of(spec_of(observed.attributes), observed.identity)
    return replace(known, gone=observed.facts.gone)


def _ownership(request: PlanRequest, observed: ObservedTable) -> tuple[Blocker, ...]:
    if request.recorded is None:
        return () if request.importing else (_foreign(request, observed),)
    return () if not is_another(request.recorded, observed) else (_another_table(request, observed),)


def _foreign(request: PlanRequest, observed: ObservedTable) -> Blocker:
    assert request.desired is not None, "only a declared table can be foreign"
    name = import_id(request.desired)
    return blocker(
        codes.NOT_ADOPTED,
        f"The table {name} exists (uuid {observed.identity.uuid}), and FlareIaC changes only what it "
        "created or was asked to adopt.",
        (
            f'adopt it:\nimport {{\n  to = {request.address}\n  id = "{name}"\n}}',
            "give the block another name or namespace",
        ),
    )


def _another_table(request: PlanRequest, observed: ObservedTable) -> Blocker:
    attributes = request.desired or (request.recorded.attributes if request.recorded else {})
    name = import_id(attributes)
    return blocker(
        codes.RECREATED_ELSEWHERE,
        f"{name} has another uuid than recorded: it is another table under the same name, and FlareIaC was "
        "not asked to change it.",
        (
            (
                f"to adopt the new one:\nimport {{\n  to = {request.address}\n  id = "
                f'"{name}@{observed.identity.uuid}"\n}}'
            ),
            (
                "to have the declared table created again, empty: drop or rename the new one by hand, then "
                "plan again"
            ),
            (
                "to have the old one back: drop or rename the new one by hand, then flareiac undrop "
                f"{request.address}"
            ),
        ),
    )


def _moved(request: PlanRequest, desired: Attributes) -> tuple[Blocker, ...]:
    recorded = request.recorded
    if recorded is None or all(recorded.attributes[name] == desired[name] for name in PLACE):
        return ()
    was, now = import_id(recorded.attributes), import_id(desired)
    moved = blocker(
        codes.RENAMED_AND_REMADE,
        f"{was} cannot become {now}: the old table is gone or is to be created again, and a new name beside "
        "that leaves open which table is meant.",
        (
            f"write the name of {was} again",
            (
                f"to have a new, empty table and leave {was} alone: give the block another label; the old "
                "one is forgotten"
            ),
        ),
    )
    return (moved,)


def _suggestions(found: Difference) -> tuple[str, ...]:
    """A ready ``renamed`` for a column that goes while one like it comes."""
    dropped = [change.path for change in found.changes if isinstance(change, DropColumn)]
    added = [change for change in found.changes if isinstance(change, AddColumn)]
    columns = found.observed.columns or {}
    lines: list[str] = []
    for old in dropped:
        near = [
            item.path
            for item in added
            if parent_of(item.path) == parent_of(old) and item.type == _type_text(columns, old)
        ]
        if len(near) == 1:
            lines.append(
                f'if {near[0]} is {old} under a new name, write renamed = {{ "{old}" = "{near[0]}" }}: its '
                "values are kept then"
            )
    return tuple(lines)


def _other_field(path: str) -> str:
    return f"column {path} was dropped and added again, or another column took its name"


def _ended(found: Difference) -> Iterator[str]:
    for name in found.ended:
        yield f"the time of tag {name} ran out, and its snapshot expired; its block can be removed"


def _type_text(columns: Data, path: str) -> str:
    return render(type_at(columns, path))


def _past(observed: ObservedTable, found: Difference) -> Past:
    """What the table has had. A table that is read as it was recorded by an earlier version does not tell all
    of it, nor does it change.
    """
    identity = observed.identity
    renames = (*found.renames.declared, *found.renames.undone)
    paths = {field_id: path_after(path, renames) for path, field_id in identity.field_ids.items()}
    return Past(
        written=identity.ever_written,
        sorted=frozenset(paths[item] for item in identity.sorted_ids if item in paths),
        partitions=frozenset(
            (item.name, paths[item.source], item.transform)
            for item in identity.partition_names
            if item.source in paths
        ),
    )


def _needs_empty(found: Difference) -> bool:
    return any(
        (isinstance(change, AddColumn) and change.required)
        or (isinstance(change, SetNullability) and change.required)
        for change in found.changes
    )


def _which(observed: ObservedTable) -> Attributes:
    """Which table it is. A catalog that was copied with its folder names the files of the original: the same
    uuid in another place.
    """
    return {"uuid": observed.identity.uuid, "location": observed.identity.location}


def _relied_on(wanted: TableSpec, recorded: Recorded | None, observed: ObservedTable) -> Data:
    """Only what an update relies on; never the snapshot, which moves beside a live stream."""
    declared = {*(wanted.properties or {}), *((recorded.attributes["properties"] or {}) if recorded else {})}
    live = observed.attributes["properties"] or {}
    return {
        **_which(observed),
        "schema_id": observed.identity.schema_id,
        "spec_id": observed.identity.spec_id,
        "sort_id": observed.identity.sort_id,
        "properties": {name: live.get(name) for name in sorted(declared)},
        **{kind: _declared_refs(kind, wanted, recorded, observed) for kind in ("branch", "tag")},
    }


def _declared_refs(kind: str, wanted: TableSpec, recorded: Recorded | None, observed: ObservedTable) -> Data:
    """How the declared branches (or tags) are; never where a branch stands, which moves beside a live
    stream.
    """
    desired = wanted.branches if kind == "branch" else wanted.snapshot_tags
    declared = {*desired, *((recorded.attributes.get(kind) or {}) if recorded else {})}
    live = observed.attributes.get(kind) or {}
    return {name: live.get(name) for name in sorted(declared)}


def _payload(
    changes: tuple[Change, ...], observed: ObservedTable | None, *, empty: bool = False
) -> Attributes:
    requirements = None if observed is None else records.encode(expected_of(observed.identity))
    return {"changes": [encode(change) for change in changes], "requirements": requirements, "empty": empty}
