"""The driver of tables: reads cheaply, and carries out what a planner proposed as one commit. Touches the
world.
"""

import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, assert_never

from flareiac.kernel.data import UNKNOWN, Attributes
from flareiac.kernel.diagnostics import Diagnostic, Failure, error
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import decode as decode_record
from flareiac.kernel.records import encode as encode_record
from flareiac.sdk.actions import Adopt, Create, CustomAction, Delete, Revive, Settleable, Update
from flareiac.sdk.changes import Blocker
from flareiac.sdk.command_line import RecordedResource
from flareiac.sdk.lakehouse import EarlierState
from flareiac.sdk.maintenance import MeasureRequest
from flareiac.sdk.project import Project
from flareiac.sdk.references import References, Resolved
from flareiac.sdk.requests import ApplyRequest, ChangeRequest, ReadRequest
from flareiac.sdk.results import Applied, NotApplied, Observation, Outcome, Recorded
from flareiac.sdk.statistics import Statistics, StatisticsRequest
from flareiac_iceberg import codes
from flareiac_iceberg.catalogs.connections import Connections
from flareiac_iceberg.catalogs.entries import NoCatalog
from flareiac_iceberg.catalogs.outcomes import Conflict, Exists
from flareiac_iceberg.catalogs.requests import TableCommit
from flareiac_iceberg.catalogs.resolve import target_of
from flareiac_iceberg.catalogs.target import Target
from flareiac_iceberg.format.identity import identity_of
from flareiac_iceberg.format.locations import absolute_location
from flareiac_iceberg.format.metadata import TableFile, created_by, managed_by
from flareiac_iceberg.format.snapshots import commits
from flareiac_iceberg.format.spec import TableDefinition, layout_of
from flareiac_iceberg.maintenance.catalog_listing import Listings
from flareiac_iceberg.maintenance.humanize import count
from flareiac_iceberg.maintenance.read import figures, reader_of
from flareiac_iceberg.maintenance.statistics import survey
from flareiac_iceberg.maintenance.statistics_text import statistics_of
from flareiac_iceberg.table.branches import contradiction, lost, needs_start, wanted_snapshots
from flareiac_iceberg.table.changes import (
    Change,
    MoveTable,
    RemoveProperty,
    SetProperty,
    SetTableComment,
    SetTag,
    TakeOver,
    decode,
)
from flareiac_iceberg.table.create import definition
from flareiac_iceberg.table.current import current, managed, own, still_there
from flareiac_iceberg.table.diff import NOTHING, Known, difference, known_of
from flareiac_iceberg.table.empty_snapshot import empty_snapshot
from flareiac_iceberg.table.managed_by import another_state
from flareiac_iceberg.table.observed import recorded_table
from flareiac_iceberg.table.observer import TableObserver
from flareiac_iceberg.table.payloads import DeletePayload, UpdatePayload, expected_of
from flareiac_iceberg.table.purge import delete, files_of
from flareiac_iceberg.table.purge_check import PURGES
from flareiac_iceberg.table.purge_survey import PurgeSurvey
from flareiac_iceberg.table.requirements import requirements
from flareiac_iceberg.table.rollback import (
    HistoryRow,
    RollbackPreview,
    decode_way,
    encode_way,
    is_back,
    messages,
    preview,
    rows,
    stands,
    way_back,
)
from flareiac_iceberg.table.rollback import requirements as restore_requirements
from flareiac_iceberg.table.rollback import updates as restore_updates
from flareiac_iceberg.table.schema_updates import updates, version_after
from flareiac_iceberg.table.shared_files import not_purged, shares_files, unsafe_purge
from flareiac_iceberg.table.undrop import last_metadata, name_taken, refuse_elsewhere, refuse_other_catalog

if TYPE_CHECKING:
    from flareiac_iceberg.catalogs.writer import CatalogWriter

ATTEMPTS: Final = 20
"""Commits that are tried beside busy writers before giving up."""
_FOLLOWS: Final = ("format_version", "branch", "tag")
"""The attributes that a new table may get only in a second commit."""
_FIRST_PAUSE: Final = 0.05
_LONGEST_PAUSE: Final = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """The change of a table that is to be made, read once."""

    request: ApplyRequest[Settleable] | ChangeRequest
    change: Create | Adopt | Update
    target: Target
    planned: TableDefinition
    payload: UpdatePayload
    lineage: str
    """The lineage of the state that the request comes from."""


class TableDriver:
    """Reads and changes tables. Safe to use from several threads."""

    def __init__(self, project: Project, connections: Connections) -> None:
        self._project = project
        self._connections = connections
        self._listings = Listings(project.resolve)
        self._purges = PurgeSurvey(self._listings, project.resolve)
        self._observer = TableObserver(self._listings, self._purges)

    def prefetch(self, requests: Sequence[ReadRequest]) -> Mapping[str, Observation]:
        """See ``TableObserver``."""
        return self._observer.prefetch(requests)

    def read(self, request: ReadRequest) -> Observation:
        """See ``TableObserver``."""
        return self._observer.read(request)

    def apply(self, request: ChangeRequest) -> Outcome:
        """Creates, adopts or updates. The same request again finds what the first one did.

        Raises ``Failure`` where only ``settle`` can tell what was done.
        """
        try:
            order = _order(request, request.action, self._project.lineage)
            creates = isinstance(order.change, Create)
            self._connections.get(order.target.catalog, make=creates)
        except Failure as failure:
            return NotApplied(diagnostics=failure.diagnostics)
        return self._create(order) if creates else self._update(order)

    def delete(self, request: ApplyRequest[Delete]) -> Outcome:
        """Drops or purges the recorded table, never another one of its name. Raises ``Failure`` as ``apply``
        does.
        """
        mode = decode_record(DeletePayload, request.action.payload).mode
        pause = _FIRST_PAUSE
        for attempt in range(ATTEMPTS):
            try:
                return self._dropped(request, mode)
            except Conflict as conflict:
                request.progress(f"{conflict}: another writer committed first, trying again ({attempt + 1})")
            if request.cancel.wait(pause * random.uniform(0.5, 1.0)):  # noqa: S311  # spreads retries, guards nothing
                break
            pause = min(pause * 2, _LONGEST_PAUSE)
        target = target_of(request.action.recorded.attributes, request.references)
        return NotApplied(diagnostics=(_starved(target),))

    def _dropped(self, request: ApplyRequest[Delete], mode: str) -> Outcome:
        """Raises ``Conflict`` if the table was committed to since it was read: then nothing is done."""
        recorded, purge = request.action.recorded, mode in PURGES
        try:
            target = target_of(recorded.attributes, request.references)
            found = current(target)
            if found is None:
                return Applied(
                    attributes=recorded.attributes, identity=recorded.identity, revivable=not purge
                )
            if found.uuid != identity_of(recorded.identity).uuid:
                return NotApplied(diagnostics=(_moved(target, "its uuid is another one"),))
            other = another_state(managed_by(found.properties), self._project.lineage, recorded=True)
            if other:
                return NotApplied(diagnostics=(_moved(target, f"the state {other} has taken it over"),))
            delete_files = self._deletion(target, found, mode) if purge else None
        except Failure as failure:
            return NotApplied(diagnostics=failure.diagnostics)
        try:
            exact = self._writer(target).drop(target, found.location, purge=purge)
        except Failure:
            if not self._is_gone(target, recorded):
                raise
            exact = False
        known = identity_of(recorded.identity)
        identity = encode_record(replace(known, metadata_location=found.location, last_is_known=exact))
        gone = f"dropped {target.full_name}"
        back = f"flareiac undrop {request.address} brings it back"
        way = f"{gone}; its last metadata file is {found.location}; {back}"
        texts = (way,) if delete_files is None else (gone, *delete_files())
        return Applied(attributes=recorded.attributes, identity=identity, messages=texts, revivable=not purge)

    def _deletion(self, target: Target, found: TableFile, mode: str) -> Callable[[], Sequence[str]]:
        """The function that deletes the files of a table that is out of its catalog, and returns those that
        stay. Raises ``Failure`` if none may be.
        """
        if shares_files(found.properties):
            raise Failure(not_purged(target.full_name))
        unsafe = unsafe_purge(self._purges.doomed_now(target, found), mode)
        if unsafe:
            raise Failure(*(_not_purged(target, item) for item in unsafe))
        if target.catalog.is_server:
            return tuple  # the server does it
        return partial(delete, files_of(target, *found), target.catalog)

    def _writer(self, target: Target) -> "CatalogWriter[Any]":
        return self._connections.get(target.catalog)

    def _is_gone(self, target: Target, recorded: Recorded) -> bool:
        """Returns True if it is sure that the recorded table no longer exists."""
        try:
            found = current(target)
        except Failure:
            return False
        return found is None or found.uuid != identity_of(recorded.identity).uuid

    def revive(self, request: ApplyRequest[Revive]) -> Outcome:
        """Enters a table that is gone in its catalog again, as its last metadata file says; never over
        another one, nor a second time.
        """
        recorded = request.action.recorded
        try:
            target = target_of(recorded.attributes, request.references)
            refuse_other_catalog(target, target_of(recorded.attributes, _as_then(request)))
            return self._entered(request.key, recorded, target)
        except Exists:
            return NotApplied(diagnostics=(name_taken(target),))
        except Failure as failure:
            return NotApplied(
                diagnostics=tuple(item.at(address=request.address) for item in failure.diagnostics)
            )

    def _entered(self, key: str, recorded: Recorded, target: Target) -> Outcome:
        known, there = identity_of(recorded.identity), current(target)
        uuid = known.uuid
        notes: tuple[str, ...] = ()
        if there is None:
            hidden = refuse_elsewhere(self._connections, target, uuid, known.location or "")
            last = last_metadata(target, uuid, known.metadata_location, exact=known.last_is_known)
            self._writer(target).register(target, last.location, key)
            there, notes = current(target), (*last.notes, *hidden)
        if there is None or there.uuid != uuid:
            return NotApplied(diagnostics=(name_taken(target),))
        return _revived(recorded, there, target, *notes)

    def measure(self, request: MeasureRequest) -> Attributes:
        """The figures by which its maintenance is decided; reads metadata, never data files. Raises
        ``Failure``.
        """
        found: Attributes = encode_record(
            figures(request, self._listings, self._project.resolve, self._project.root)
        )
        return found

    def history(self, recorded: Recorded, references: References) -> Sequence[HistoryRow]:
        """The snapshots of the recorded table, newest first (see ``rows``). Raises ``Failure``."""
        target = target_of(recorded.attributes, references)
        return rows(own(target, recorded).metadata)

    def statistics(self, request: StatisticsRequest) -> Statistics:
        """The figures of the recorded table. Raises ``Failure``."""
        target = target_of(request.recorded.attributes, request.references)
        found = current(target)
        figures = survey(found, target.full_name, request, reader_of(target.catalog))
        return statistics_of(figures, now=request.now)

    def way_back(
        self, table: RecordedResource, to: int | None, known: Sequence[EarlierState]
    ) -> RollbackPreview:
        """The snapshot to which main (or the branch that was emptied) would go back, and the commits that
        this undoes. Raises ``Failure``.
        """
        target = target_of(table.recorded.attributes, table.references)
        metadata = managed(target, table.recorded, self._project.lineage).metadata
        way = way_back(metadata, target.full_name, to, known)
        if way.head == way.target.id:
            return RollbackPreview(
                texts=(f"{table.address} stands at snapshot {way.head} already",), payload=None, there=True
            )
        return RollbackPreview(texts=tuple(preview(table.address, metadata, way)), payload=encode_way(way))

    def restore(self, request: ApplyRequest[CustomAction]) -> Outcome:
        """Sets a branch back in one commit, which fails if anybody wrote since the way back was looked at.

        Raises ``Failure`` where only ``settle`` can tell what was done.
        """
        recorded = request.action.recorded
        try:
            target = target_of(recorded.attributes, request.references)
            found = managed(target, recorded, self._project.lineage)
            way = decode_way(found.metadata, target.full_name, request.action.payload)
            if stands(found.metadata, way):
                return _applied(
                    recorded.attributes,
                    found,
                    f"{request.address} stands at snapshot {way.target.id} already",
                )
            made = restore_updates(found.metadata, way, now=time.time())
        except Failure as failure:
            return NotApplied(
                diagnostics=tuple(item.at(address=request.address) for item in failure.diagnostics)
            )
        try:
            needs = restore_requirements(found.metadata, way)
            self._writer(target).commit(target, TableCommit(found=found, updates=made, needs=needs))
        except Conflict:
            return NotApplied(diagnostics=(_written_meanwhile(target),))
        except Failure as failure:
            done = self.settle(request)
            if not isinstance(done, Applied):
                return NotApplied(
                    diagnostics=tuple(item.at(address=request.address) for item in failure.diagnostics)
                )
        return _applied(recorded.attributes, own(target, recorded), *messages(request.address, way))

    def foresee(self, request: ApplyRequest[Settleable]) -> Outcome | None:
        """See ``settle``, which reads only."""
        return self.settle(request)

    def settle(self, request: ApplyRequest[Settleable]) -> Outcome | None:
        """The outcome of an operation whose result was lost, if it took effect: by its mark, the table's
        absence, or nothing left to change. Else None.
        """
        match request.action:
            case Create() as change:
                order = _order(request, change, self._project.lineage)
                try:
                    found = current(order.target)
                except NoCatalog:
                    return None  # to create the table would have made the catalog
                made = found is not None and created_by(found.metadata) == request.key
                return _as_created(change.planned, found) if found is not None and made else None
            case Adopt() | Update() as change:
                order = _order(request, change, self._project.lineage)
                found = current(order.target)
                done = found is not None and _nothing_left(order, found)
                return _applied(change.planned, found) if found is not None and done else None
            case Delete(recorded=recorded, payload=payload):
                return self._gone(recorded, decode_record(DeletePayload, payload), request.references)
            case Revive(recorded=recorded):
                target = target_of(recorded.attributes, request.references)
                found = still_there(target, recorded)
                return _revived(recorded, found, target) if found is not None else None
            case CustomAction(recorded=recorded, payload=way):
                found = still_there(target_of(recorded.attributes, request.references), recorded)
                back = found is not None and is_back(found.metadata, way)
                return _applied(recorded.attributes, found) if found is not None and back else None
            case other:
                assert_never(other)

    def _gone(self, recorded: Recorded, payload: DeletePayload, references: References) -> Outcome | None:
        if still_there(target_of(recorded.attributes, references), recorded) is not None:
            return None
        known = identity_of(recorded.identity)
        # What was committed since it was recorded is in the metadata file that the plan saw.
        last = payload.metadata_location or known.metadata_location
        return Applied(
            attributes=recorded.attributes,
            identity=encode_record(replace(known, metadata_location=last)),
            revivable=payload.mode not in PURGES,
        )

    def _create(self, order: Order) -> Outcome:
        target, key, location = order.target, order.request.key, order.planned.location
        place = None if location is None else absolute_location(location, self._project.root) or location
        try:
            what, missing = definition(order.planned, key), partial(self._missing, order)
            made = self._writer(target).create(target, what, place, key, missing)
            message = f"created {target.full_name}"
        except Exists:
            made, message = None, f"{target.full_name} had been created by this operation before"
        if made is not None:
            return _applied(order.change.planned, made, message)
        found = current(target)
        if found is None or created_by(found.metadata) != key:
            return NotApplied(diagnostics=(_moved(target, "a table of this name has appeared"),))
        # What a server did not take together with a new table follows in a commit of its own
        missing_yet = partial(_lacking, order.planned)
        return self._in_one_commit(order, missing_yet, lambda _found: None, message, sent=True)

    def _missing(self, order: Order, metadata: Attributes) -> list[Attributes]:
        """The updates that make a new table with this metadata the planned one."""
        return self._updates(order, metadata, _lacking(order.planned, TableFile("", metadata)))

    def _update(self, order: Order) -> Outcome:
        target = order.target
        steps = tuple(_filled(decode(item), order.planned) for item in order.payload.changes)
        changes = tuple(item for item in steps if not isinstance(item, MoveTable))
        renamed = False
        if isinstance(order.change, Update) and len(changes) != len(steps):
            answer = self._renamed(order, order.change.recorded)
            if isinstance(answer, NotApplied):
                return answer
            renamed = answer

        def needed(found: TableFile) -> tuple[Change, ...]:
            return () if _nothing_left(order, found) else changes

        def trouble(found: TableFile) -> Diagnostic | None:
            return _requirements(order, found, changes)

        message = f"changed {target.full_name} in one commit"
        return self._in_one_commit(order, needed, trouble, message, sent=renamed)

    def _renamed(self, order: Order, recorded: Recorded) -> bool | NotApplied:
        """Returns True where the table had another name than the planned one, and has that now. Raises
        ``Failure`` where that is not known.
        """
        for _ in range(ATTEMPTS):
            try:
                old = self._old_name(order, recorded)
            except Failure as failure:
                return NotApplied(diagnostics=failure.diagnostics)
            if old is None:
                return False
            try:
                self._writer(old[0]).rename(old[0], order.target, old[1], order.request.key)
            except Exists:
                self._old_name(order, recorded)
            except Conflict:
                continue  # another writer's commit came in between: nothing was renamed
            return True
        return NotApplied(diagnostics=(_starved(order.target),))

    def _old_name(self, order: Order, recorded: Recorded) -> tuple[Target, str] | None:
        """The name that the recorded table is to be moved from, and its metadata file; None where it has the
        new one. Raises ``Failure`` if it has neither.
        """
        wanted = order.payload.requirements
        assert wanted is not None, "a table that is updated was there"
        there = current(order.target)
        if there is not None:
            if there.uuid != wanted.uuid:
                raise Failure(_name_taken(order.target))
            return None
        old = target_of(recorded.attributes, order.request.references)
        found = current(old)
        if found is None or found.uuid != wanted.uuid:
            raise Failure(_moved(old, "it is gone" if found is None else "its uuid is another one"))
        return old, found.location

    def _in_one_commit(
        self,
        order: Order,
        needed: Callable[[TableFile], tuple[Change, ...]],
        trouble: Callable[[TableFile], Diagnostic | None],
        message: str,
        *,
        sent: bool,
    ) -> Outcome:
        """Commits what is needed on top of what is there, again and again while others commit first.

        ``sent``: something of the request was done already. Raises ``Failure`` only then, or once a commit
        was tried.
        """
        request, target, pause = order.request, order.target, _FIRST_PAUSE
        for attempt in range(ATTEMPTS):
            try:
                found = current(target)
            except Failure as failure:
                if sent or attempt:
                    raise
                return NotApplied(diagnostics=failure.diagnostics)
            if found is None:
                return NotApplied(diagnostics=(_moved(target, "it is gone"),))
            changes = needed(found)
            if not changes:
                created = attempt == 0 and isinstance(order.change, Create)
                return _applied(order.change.planned, found, *([message] if created else []))
            problem = trouble(found)
            if problem is not None:
                return NotApplied(diagnostics=(problem,))
            try:
                self._commit(order, found, changes)
            except Conflict:
                request.progress(
                    f"{target.full_name}: another writer committed first, trying again ({attempt + 1})"
                )
            else:
                return self._committed(order, message)
            if request.cancel.wait(pause * random.uniform(0.5, 1.0)):  # noqa: S311  # spreads retries, guards nothing
                break
            pause = min(pause * 2, _LONGEST_PAUSE)
        return NotApplied(diagnostics=(_starved(target),))

    def _commit(self, order: Order, found: TableFile, changes: tuple[Change, ...]) -> None:
        made = self._updates(order, found.metadata, changes)
        needs = requirements(found.metadata, made, empty=order.payload.empty)
        self._writer(order.target).commit(order.target, TableCommit(found=found, updates=made, needs=needs))

    def _updates(self, order: Order, metadata: Attributes, changes: tuple[Change, ...]) -> list[Attributes]:
        start = None
        if needs_start(changes, metadata):
            version = version_after(metadata, changes)
            start = empty_snapshot(self._connections, order.target, metadata, version)
        return updates(metadata, changes, start, order.planned.properties or ())

    def _committed(self, order: Order, message: str) -> Outcome:
        found = current(order.target)
        if found is None:
            return NotApplied(diagnostics=(_moved(order.target, "it was dropped right after the change"),))
        return _applied(order.change.planned, found, message)


def _order(
    request: ApplyRequest[Settleable] | ChangeRequest, change: Create | Adopt | Update, lineage: str
) -> Order:
    """Raises ``Failure`` where the catalog is no longer known."""
    return Order(
        request=request,
        change=change,
        target=target_of(change.planned, request.references),
        planned=TableDefinition.of(change.planned),
        payload=decode_record(UpdatePayload, change.payload),
        lineage=lineage,
    )


def _applied(planned: Attributes, found: TableFile, *messages: str) -> Applied:
    return Applied(attributes=planned, identity=encode_record(found.read()[1]), messages=messages)


def _as_created(planned: Attributes, found: TableFile) -> Applied:
    """The record of a table that this operation created, perhaps without the attributes that were to follow
    in a second commit.
    """
    there = layout_of(found.read()[0])
    behind = [name for name in _FOLLOWS if planned.get(name) not in (None, there[name])]
    return _applied(planned | {name: there[name] for name in behind}, found)


def _lacking(planned: TableDefinition, found: TableFile) -> tuple[Change, ...]:
    return difference(planned, NOTHING, _known(planned, found, {})).changes


def _nothing_left(order: Order, found: TableFile) -> bool:
    """Returns True if the table is the one that was planned for and satisfies what was planned already."""
    wanted, recorded = order.payload.requirements, NOTHING
    if wanted is None or found.uuid != wanted.uuid or _unmarked(order, found):
        return False
    if order.change.recorded is not None:
        known = recorded_table(order.change.recorded)
        if known.identity.uuid == wanted.uuid:
            recorded = known_of(known.definition, known.identity)
    return not difference(order.planned, recorded, _known(order.planned, found, recorded.tags)).changes


def _known(planned: TableDefinition, found: TableFile, tags: Mapping[str, int]) -> Known:
    gone = frozenset(lost(wanted_snapshots(planned, tags), found.metadata))
    return known_of(*found.read(), gone)


def _taken_over(order: Order, found: TableFile) -> str:
    """The lineage of another state that manages the table; empty where none does."""
    recorded = order.change.recorded is not None
    return another_state(managed_by(found.properties), order.lineage, recorded=recorded)


def _unmarked(order: Order, found: TableFile) -> bool:
    """Returns True if the table carries the lineage of another state, or is yet to carry that of this one."""
    marks = any(isinstance(decode(item), TakeOver) for item in order.payload.changes)
    there = managed_by(found.properties).lineage
    return bool(_taken_over(order, found)) or (marks and there != order.lineage)


def _requirements(order: Order, found: TableFile, changes: tuple[Change, ...]) -> Diagnostic | None:
    target, identity = order.target, found.read()[1]
    now, wanted = expected_of(identity), order.payload.requirements
    names = {"uuid": "uuid", "schema_id": "schema", "spec_id": "partitioning", "sort_id": "sort order"}
    moved = [text for name, text in names.items() if getattr(now, name) != getattr(wanted, name)]
    if moved:
        return _moved(target, f"its {' and '.join(moved)} changed since the plan was made")
    other = _taken_over(order, found)
    if other and not any(isinstance(item, TakeOver) and item.old == other for item in changes):
        return _moved(target, f"the state {other} has taken it over")
    if order.payload.empty and identity.written:
        return _moved(
            target,
            "rows were written since the plan was made, and a not null column needs a table without rows",
        )
    against = contradiction(found.metadata, changes) or _overtaken(found.properties, changes)
    return None if against is None else _moved(target, against)


def _overtaken(properties: Mapping[str, str], changes: tuple[Change, ...]) -> str | None:
    """A property that someone else has set to a third value since the plan was made: setting it would undo
    that unseen.
    """
    for change in changes:
        match change:
            case SetProperty(name=name, old=old, new=new) if properties.get(name) not in (old, new):
                return f'somebody set the property "{name}" to "{properties.get(name)}"'
            case RemoveProperty(name=name, old=old) if properties.get(name) not in (old, None):
                return f'somebody set the property "{name}" to "{properties.get(name)}"'
            case _:
                pass
    return None


def _filled(change: Change, planned: TableDefinition) -> Change:
    """A change with a value that was unknown at plan time filled in."""
    match change:
        case SetProperty(name=name, new=new) if new is UNKNOWN:
            return replace(change, new=(planned.properties or {})[name])
        case SetTag(name=name, new=new) if new is UNKNOWN:
            return replace(change, new=(planned.tags or {})[name])
        case SetTableComment(new=new) if new is UNKNOWN:
            return replace(change, new=planned.comment)
        case _:
            return change


def _moved(target: Target, what: str) -> Diagnostic:
    return error(
        codes.TABLE_CHANGED_MEANWHILE,
        f"The table {target.full_name} is not what the plan was made for: {what}. Nothing of this change "
        "took effect. Make a new plan and review it.",
    )


def _written_meanwhile(target: Target) -> Diagnostic:
    return error(
        codes.WRITTEN_MEANWHILE,
        f"Somebody else writes {target.full_name}. Nothing was changed. Find out who with flareiac table "
        "snapshots ADDRESS, stop that, and try again.",
    )


def _as_then(request: ApplyRequest[Revive]) -> dict[str, Resolved]:
    then = {
        each: replace(request.references[each], attributes=attributes)
        for each, attributes in request.action.then.items()
    }
    return {**request.references, **then}


def _revived(recorded: Recorded, found: TableFile, target: Target, *notes: str) -> Applied:
    """It stays when its block is not written again: the apply after this must not drop it once more."""
    total = next((item.rows for item in commits(found.metadata, 1)), 0)
    rows_text = "" if total is None else f", with {count(total, 'row')}"
    said = (
        f"{target.full_name} is back{rows_text}",
        *notes,
        "without its block, the next apply forgets it (and it stays)",
    )
    return _applied({**recorded.attributes, "on_destroy": "retain"}, found, *said)


def _name_taken(target: Target) -> Diagnostic:
    return error(
        codes.NAME_TAKEN,
        f"The table cannot get the name {target.full_name}: another one has got it since the plan was made. "
        "Nothing was changed. Make a new plan and review it.",
    )


def _not_purged(target: Target, why: Blocker) -> Diagnostic:
    return why.as_error(f"The table {target.full_name} was not purged. {why.why} Nothing was changed.")


def _starved(target: Target) -> Diagnostic:
    return error(
        codes.OTHER_WRITERS_FIRST,
        f"Other writers of {target.full_name} committed first, {ATTEMPTS} times in a row. Nothing of this "
        "change took effect. Apply again when they are less busy, or stop them meanwhile.",
    )
