"""The plan of a table: action, typed changes, blockers, drift. Pure."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from flareiac.kernel import records
from flareiac.kernel.column_types import render
from flareiac.kernel.data import Attributes, Data
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.changes import (
    Action,
    AttributeChange,
    Blocker,
    Effect,
    Proposal,
    Relation,
    Step,
    Usage,
    blocker,
)
from flareiac.sdk.lakehouse import TableWriters
from flareiac.sdk.requests import PlanRequest
from flareiac.sdk.results import Missing, Present
from flareiac_iceberg import codes
from flareiac_iceberg.catalogs.absence import absence
from flareiac_iceberg.format.identity import TableIdentity, identity_of
from flareiac_iceberg.format.locations import absolute_location
from flareiac_iceberg.format.recent_writers import unacknowledged
from flareiac_iceberg.format.spec import TableDefinition, TableOutline, TableSpec, parent_of, type_at
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
from flareiac_iceberg.table.diff import NOTHING, Difference, difference, known_of
from flareiac_iceberg.table.earlier_layout import rows_of_earlier_layout
from flareiac_iceberg.table.effects import ANOTHER_TABLE, NO_TABLE, disturbances
from flareiac_iceberg.table.managed_by import managed_elsewhere, other_manager, taken_over, taking_over
from flareiac_iceberg.table.metadata_place import unwritable_metadata
from flareiac_iceberg.table.move import is_elsewhere, move_blockers, move_of
from flareiac_iceberg.table.observed import (
    ObservedTable,
    RecordedTable,
    is_another,
    observed_table,
    recorded_table,
)
from flareiac_iceberg.table.payloads import DeletePayload, UpdatePayload, expected_of
from flareiac_iceberg.table.purge_check import PURGES, Doomed
from flareiac_iceberg.table.rename import path_after
from flareiac_iceberg.table.shared_files import shares_files, unpurgeable, unsafe_purge


@dataclass(frozen=True, slots=True)
class TablePlanner:
    """Pure knowledge of tables."""

    def plan(self, request: PlanRequest) -> Proposal:
        """The proposal; what cannot be done as written is a blocker in it."""
        recorded = None if request.recorded is None else recorded_table(request.recorded)
        if request.desired is None:
            assert recorded is not None, "a table that is not declared is recorded"
            return _removal(request, recorded)
        case = Case(request=request, desired=TableDefinition.of(request.desired), recorded=recorded)
        if not isinstance(request.observed, Present):
            return _creation(case)
        observed = observed_table(request.observed)
        if recorded is not None and is_another(recorded, observed):
            return _of_another_table(case, observed)
        if request.replace and recorded is not None:
            return _replacement(case, observed)
        return _update(case, observed)

    def fingerprint(self, request: PlanRequest) -> Data:
        """The identity of a table that goes or is replaced; of one that stays, the facts that an update
        relies on.
        """
        recorded, there = request.recorded, request.observed
        if request.desired is None:
            drops = recorded is not None and not _keeps(request, TableOutline.of(recorded.attributes))
            return _which(identity_of(there.identity)) if drops and isinstance(there, Present) else None
        if not isinstance(there, Present):
            return absence("table", request)
        identity = identity_of(there.identity)
        if recorded is not None and identity_of(recorded.identity).uuid != identity.uuid:
            recorded = None
        elif request.replace and recorded is not None:
            return _which(identity)
        was = None if recorded is None else TableOutline.of(recorded.attributes)
        live = TableOutline.of(there.attributes)
        return _relied_on(TableOutline.of(request.desired), was, live, identity)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A declared table, with what is recorded of it."""

    request: PlanRequest
    desired: TableDefinition
    recorded: RecordedTable | None

    @property
    def usages(self) -> tuple[Usage, ...]:
        """The uses of this very table by others."""
        return tuple(usage for usage in self.request.usages if usage.subject == self.request.address)


def _keeps(request: PlanRequest, recorded: TableOutline | TableDefinition) -> bool:
    return recorded.on_destroy == "retain" and not request.destroy_object


def _removal(request: PlanRequest, recorded: RecordedTable) -> Proposal:
    if isinstance(request.observed, Missing):
        return Proposal(
            action=Action.FORGET, planned=None, drift=("the table was dropped outside of FlareIaC",)
        )
    if _keeps(request, recorded.definition) or not isinstance(request.observed, Present):
        why = "on_destroy is retain: the table and its data stay, FlareIaC only forgets them"
        return Proposal(action=Action.FORGET, planned=None, reasons=(why,))
    mode = recorded.definition.on_destroy if recorded.definition.on_destroy in PURGES else "drop"
    observed = observed_table(request.observed)
    another = (_another_table(request, recorded.definition, observed),)
    blockers: tuple[Blocker, ...] = (
        *(another if is_another(recorded, observed) else ()),
        *in_another_copy(request, recorded.definition.catalog, observed),
        *managed_elsewhere(request, recorded.definition, observed),
    )
    doomed = observed.facts.doomed if mode in PURGES else None
    if mode in PURGES and shares_files(observed.definition.properties or {}):
        blockers = (*blockers, unpurgeable())
    elif doomed is not None:
        blockers = (*blockers, *unsafe_purge(doomed, mode))
    return Proposal(
        action=Action.DELETE,
        planned=None,
        steps=(_dropping(mode, doomed),),
        blockers=blockers,
        disturbs=NO_TABLE,
        payload=_leaving(mode, observed),
    )


def _leaving(mode: str, observed: ObservedTable) -> dict[str, Data]:
    """The payload of its deletion; the location leads back to it when no one could record another."""
    location = observed.identity.metadata_location
    leaving: Attributes = records.encode(DeletePayload(mode=mode, metadata_location=location))
    return leaving


def _outside(doomed: Doomed | None) -> str:
    count = len(doomed.outside) if doomed is not None else 0
    return f", {count:,} of them outside of its location" if count else ""


def _dropping(mode: str, doomed: Doomed | None = None) -> Step:
    if mode in PURGES:
        outside = _outside(doomed)
        return Step(
            text=f"drop the table and delete its files{outside}",
            effect=Effect.LOSES_DATA,
            why=f"on_destroy is {mode}.",
        )
    why = "Its files stay; the state keeps the location of its last metadata file."
    return Step(text="drop the table from its catalog", effect=Effect.LOSES_DATA, why=why)


def _creation(case: Case) -> Proposal:
    request, desired = case.request, case.request.desired or {}
    again = case.recorded is not None
    return Proposal(
        action=Action.CREATE,
        planned=desired,
        changes=created(case.desired),
        steps=(CreateTable().step(),),
        blockers=(*_uncreatable(case), *_moved(case), *usage_blockers(desired, case.usages)),
        disturbs=ANOTHER_TABLE if again else (),
        drift=("the table was dropped outside of FlareIaC",) if again else (),
        reasons=(_again(request.address),) if again else (),
        payload=_payload((CreateTable(),), None),
        diagnostics=tuple(usage_warnings(request.address, desired, case.usages)),
    )


def _again(address: str) -> str:
    return (
        "it is gone, so it is created again, empty; to have the old one back, with its rows: flareiac "
        f"undrop {address} before the apply"
    )


def _uncreatable(case: Case) -> tuple[Blocker, ...]:
    wanted = case.desired
    location = wanted.location and (
        absolute_location(wanted.location, case.request.project.root) or wanted.location
    )
    elsewhere = unwritable_metadata(
        wanted, wanted.properties or {}, location, (), case.request.references, is_new=True
    )
    changes = tuple(branches.changes(wanted, TableSpec(), TableSpec(), {}, frozenset()))
    nameless = tuple(branches.refusals(wanted, TableSpec(), changes, _declared_snapshots(wanted), empty=True))
    if wanted.columns:
        return (*nameless, *elsewhere)
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
        snapshot_tag.snapshot_id
        for snapshot_tag in wanted.snapshot_tags.values()
        if snapshot_tag.snapshot_id is not None
    )


def _replacement(case: Case, observed: ObservedTable) -> Proposal:
    return Proposal(
        action=Action.REPLACE,
        planned=case.request.desired,
        changes=created(case.desired),
        steps=(_dropping("drop"), CreateTable().step()),
        blockers=(
            *_uncreatable(case),
            *_moved(case),
            *in_another_copy(case.request, case.desired.catalog, observed),
            *managed_elsewhere(case.request, case.desired, observed),
        ),
        disturbs=ANOTHER_TABLE,
        reasons=("asked for with -replace",),
        payload=_payload((CreateTable(),), None) | _leaving("drop", observed),
    )


def _of_another_table(case: Case, observed: ObservedTable) -> Proposal:
    """Blocked until someone says which table is meant: an import block that names the new one's uuid adopts
    it.
    """
    request = replace(case.request, recorded=None, importing=True)
    proposal = _update(replace(case, request=request, recorded=None), observed)
    text = f"the table was dropped and created again outside of FlareIaC (uuid {observed.identity.uuid})"
    if request.import_id == f"{case.desired.import_id}@{observed.identity.uuid}":
        return replace(proposal, disturbs=ANOTHER_TABLE, drift=(text,))
    blockers = (_another_table(request, case.desired, observed), *_moved(case))
    return replace(proposal, action=Action.UPDATE, steps=(), changes=(), blockers=blockers, drift=(text,))


def _update(case: Case, observed: ObservedTable) -> Proposal:
    request, recorded, desired = case.request, case.recorded, case.desired
    diff = _difference(case, observed)
    changes = attribute_changes(
        desired, None if recorded is None else recorded.definition, diff, request.project.root
    )
    blockers = _blockers(case, observed, diff)
    retained = any(change.path == ("on_destroy",) for change in changes)
    disturbed = [impact for path in diff.reborn for impact in another_field(path).all()]
    return Proposal(
        action=_action(case, observed, diff, changes, blocked=bool(blockers)),
        planned=request.desired,
        changes=changes,
        steps=(
            *map(another_field_step, diff.reborn),
            *(change.step() for change in diff.changes),
            *((_retained(desired.on_destroy),) if retained and recorded is not None else ()),
        ),
        reasons=(*_suggestions(diff).values(), *_ended(diff)),
        blockers=blockers,
        disturbs=tuple(
            dict.fromkeys([*disturbed, *disturbances(change.verdict() for change in diff.changes)])
        ),
        drift=(
            *taken_over(request, observed),
            *map(_other_field, diff.reborn),
            *(drift_texts(changes) if recorded else ()),
        ),
        payload=_payload(diff.changes, observed, empty=_needs_empty(diff)),
        diagnostics=(
            *usage_warnings(request.address, request.desired or {}, case.usages),
            *rows_of_earlier_layout(request.address, case.usages, diff.changes, observed),
        ),
    )


def _difference(case: Case, observed: ObservedTable) -> Difference:
    recorded = case.recorded
    was = NOTHING if recorded is None else known_of(recorded.definition, recorded.identity)
    there = known_of(observed.definition, observed.identity, observed.facts.gone)
    diff = difference(case.desired, was, there)
    move = move_of(recorded, case.desired, observed)
    first = (*taking_over(case.request, observed), *((move,) if move is not None else ()))
    return replace(diff, changes=(*first, *diff.changes)) if first else diff


def _blockers(case: Case, observed: ObservedTable, diff: Difference) -> tuple[Blocker, ...]:
    """All that stands in the way of an update or of adopting the table."""
    request, desired, usages = case.request, case.desired, case.usages
    foreign = case.recorded is None and not request.importing and not other_manager(request, observed)
    there, catalogs = diff.observed.properties or {}, request.references
    writes = diff.changes or case.recorded is None
    location = diff.observed.location
    elsewhere = moved_location(desired.location, location, request.project.root)
    return (
        *((_foreign(case, observed),) if foreign else ()),
        *in_another_copy(request, desired.catalog, observed),
        *managed_elsewhere(request, desired, observed),
        *move_blockers(case.recorded, desired, observed, request.references),
        *refusals(desired, diff, _past(observed, diff)),
        *contradictions(
            diff.changes, usages, desired.columns or diff.observed.columns or {}, _suggestions(diff)
        ),
        *branches.refusals(
            desired,
            diff.observed,
            diff.changes,
            observed.facts.gone,
            empty=observed.identity.snapshot_id is None,
        ),
        *branches.still_written(diff.changes, usages),
        *(unwritable_metadata(desired, there, location, diff.changes, catalogs) if writes else ()),
        *usage_blockers(request.desired or {}, usages),
        *((elsewhere,) if elsewhere is not None else ()),
    )


def _action(
    case: Case,
    observed: ObservedTable,
    diff: Difference,
    changes: tuple[AttributeChange, ...],
    *,
    blocked: bool,
) -> Action:
    """The action. A table is only recorded again where the world has the changes already, or others wrote
    it.
    """
    recorded = case.recorded
    if recorded is None:
        return Action.ADOPT
    kept_by_state = any(change.path[0] in ("on_destroy", *MAINTENANCE) for change in changes)
    if diff.changes or diff.reborn or kept_by_state or blocked:
        return Action.UPDATE
    behind = (
        recorded.definition.renamed != case.desired.renamed
        or is_elsewhere(recorded, case.desired)
        or any(map(settled, changes))
        or _written_by_others(case, recorded, observed)
    )
    return Action.RECORD if behind else Action.NO_OP


def _written_by_others(case: Case, recorded: RecordedTable, observed: ObservedTable) -> bool:
    """Then the table is recorded again, so that an apply acknowledges what they did. A table without declared
    writers is fed by others.
    """
    writers = [usage for usage in case.usages if usage.relation is Relation.WRITES]
    if not writers:
        return False
    declared = {query for usage in writers for query in usage.queries or ()}
    without = len({usage.holder for usage in writers if usage.queries is None})
    before, now = (record.identity.writers or TableWriters() for record in (recorded, observed))
    return unacknowledged(now, before, declared, without)


def _retained(mode: str) -> Step:
    return Step(
        text=f"removing the block will {mode} the table from now on",
        effect=Effect.RECORDED,
        why="The table itself does not change.",
    )


def _foreign(case: Case, observed: ObservedTable) -> Blocker:
    name = case.desired.import_id
    return blocker(
        codes.NOT_ADOPTED,
        f"The table {name} exists (uuid {observed.identity.uuid}), and FlareIaC changes only what it "
        "created or was asked to adopt.",
        (
            f'adopt it:\nimport {{\n  to = {case.request.address}\n  id = "{name}"\n}}',
            "give the block another name or namespace",
        ),
    )


def _another_table(request: PlanRequest, table: TableDefinition, observed: ObservedTable) -> Blocker:
    name = table.import_id
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


def _moved(case: Case) -> tuple[Blocker, ...]:
    if case.recorded is None or not is_elsewhere(case.recorded, case.desired):
        return ()
    was, now = case.recorded.definition.import_id, case.desired.import_id
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


def _suggestions(diff: Difference) -> Mapping[str, str]:
    """A ready ``renamed`` for each column that goes while one like it comes, by the column that goes."""
    dropped = [change.path for change in diff.changes if isinstance(change, DropColumn)]
    added = [change for change in diff.changes if isinstance(change, AddColumn)]
    columns = diff.observed.columns or {}
    lines: dict[str, str] = {}
    for old in dropped:
        near = [
            change.path
            for change in added
            if parent_of(change.path) == parent_of(old) and change.type == _type_text(columns, old)
        ]
        if len(near) == 1:
            lines[old] = (
                f'if {near[0]} is {old} under a new name, write renamed = {{ "{old}" = "{near[0]}" }}: its '
                "values are kept then"
            )
    return lines


def _other_field(path: str) -> str:
    return f"column {path} was dropped and added again, or another column took its name"


def _ended(diff: Difference) -> Iterator[str]:
    for name in diff.ended:
        yield f"the time of tag {name} ran out, and its snapshot expired; its block can be removed"


def _type_text(columns: Data, path: str) -> str:
    return render(type_at(columns, path))


def _past(observed: ObservedTable, diff: Difference) -> Past:
    """The past of the table. A table that is read as it was recorded by an earlier version does not tell all
    of it, nor does it change.
    """
    identity = observed.identity
    renames = (*diff.renames.declared, *diff.renames.undone)
    paths = {field_id: path_after(path, renames) for path, field_id in identity.field_ids.items()}
    return Past(
        written=identity.ever_written,
        sorted=frozenset(paths[field_id] for field_id in identity.sorted_ids if field_id in paths),
        partitions=frozenset(
            (partition_name.name, paths[partition_name.source], partition_name.transform)
            for partition_name in identity.partition_names
            if partition_name.source in paths
        ),
    )


def _needs_empty(diff: Difference) -> bool:
    return any(
        (isinstance(change, AddColumn) and change.required)
        or (isinstance(change, SetNullability) and change.required)
        for change in diff.changes
    )


def _which(identity: TableIdentity) -> Attributes:
    """The identity of a table. A catalog that was copied with its folder names the files of the original: the
    same uuid in another place.
    """
    return {"uuid": identity.uuid, "location": identity.location}


def _relied_on(
    desired: TableOutline, recorded: TableOutline | None, live: TableOutline, identity: TableIdentity
) -> Attributes:
    """Only what an update relies on; never the snapshot, nor where a branch stands, which move beside a live
    stream.
    """

    def declared(part: Callable[[TableOutline], Mapping[str, Data] | None]) -> Attributes:
        """The observed values of the names that are or were declared."""
        there = part(live) or {}
        names = {*(part(desired) or ()), *((part(recorded) or ()) if recorded is not None else ())}
        return {name: records.encode(there.get(name)) for name in sorted(names)}

    return {
        **_which(identity),
        "schema_id": identity.schema_id,
        "spec_id": identity.spec_id,
        "sort_id": identity.sort_id,
        "properties": declared(lambda table: table.properties),
        "branch": declared(lambda table: table.branches),
        "tag": declared(lambda table: table.snapshot_tags),
    }


def _payload(
    changes: tuple[Change, ...], observed: ObservedTable | None, *, empty: bool = False
) -> Attributes:
    payload: Attributes = records.encode(
        UpdatePayload(
            changes=tuple(map(encode, changes)),
            requirements=None if observed is None else expected_of(observed.identity),
            empty=empty,
        )
    )
    return payload
