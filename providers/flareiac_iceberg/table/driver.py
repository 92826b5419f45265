"""The driver of tables: reads cheaply, and carries out what a planner proposed as one commit. Touches the
world.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, assert_never

from flareiac.kernel.data import Attributes
from flareiac.kernel.diagnostics import Diagnostic, Failure, error
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
from flareiac_iceberg.catalogs.outcomes import Conflict, Exists
from flareiac_iceberg.catalogs.requests import TableCommit
from flareiac_iceberg.catalogs.resolve import target_of
from flareiac_iceberg.catalogs.target import Target
from flareiac_iceberg.format.identity import identity_of
from flareiac_iceberg.format.metadata import TableFile, managed_by
from flareiac_iceberg.format.snapshots import commits
from flareiac_iceberg.maintenance.catalog_listing import Listings
from flareiac_iceberg.maintenance.humanize import count
from flareiac_iceberg.maintenance.read import figures, reader_of
from flareiac_iceberg.maintenance.statistics import survey
from flareiac_iceberg.maintenance.statistics_text import statistics_of
from flareiac_iceberg.table.actions.attempts import attempts, starved
from flareiac_iceberg.table.actions.commit import TableCommitter
from flareiac_iceberg.table.actions.create import TableCreator
from flareiac_iceberg.table.actions.order import order_of
from flareiac_iceberg.table.actions.results import applied, moved
from flareiac_iceberg.table.actions.update import TableUpdater
from flareiac_iceberg.table.current import current, managed, own, still_there
from flareiac_iceberg.table.managed_by import another_state
from flareiac_iceberg.table.observer import TableObserver
from flareiac_iceberg.table.payloads import DeletePayload
from flareiac_iceberg.table.purge import delete, files_of
from flareiac_iceberg.table.purge_check import PURGES
from flareiac_iceberg.table.purge_survey import PurgeSurvey
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
from flareiac_iceberg.table.shared_files import not_purged, shares_files, unsafe_purge
from flareiac_iceberg.table.undrop import last_metadata, name_taken, refuse_elsewhere, refuse_other_catalog

if TYPE_CHECKING:
    from flareiac_iceberg.catalogs.writer import CatalogWriter


class TableDriver:
    """Reads and changes tables. Safe to use from several threads."""

    def __init__(self, project: Project, connections: Connections) -> None:
        self._project = project
        self._connections = connections
        self._listings = Listings(project.resolve)
        self._purges = PurgeSurvey(self._listings, project.resolve)
        self._observer = TableObserver(self._listings, self._purges)
        committer = TableCommitter(connections)
        self._creator = TableCreator(connections, committer, project.root)
        self._updater = TableUpdater(connections, committer)

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
            order = order_of(request, request.action, self._project.lineage)
            creates = isinstance(order.change, Create)
            self._connections.get(order.target.catalog, make=creates)
        except Failure as failure:
            return NotApplied(diagnostics=failure.diagnostics)
        return self._creator.create(order) if creates else self._updater.update(order)

    def delete(self, request: ApplyRequest[Delete]) -> Outcome:
        """Drops or purges the recorded table, never another one of its name. Raises ``Failure`` as ``apply``
        does.
        """
        mode = decode_record(DeletePayload, request.action.payload).mode
        for attempt in attempts(request.cancel):
            try:
                return self._dropped(request, mode)
            except Conflict as conflict:
                request.progress(f"{conflict}: another writer committed first, trying again ({attempt + 1})")
        target = target_of(request.action.recorded.attributes, request.references)
        return NotApplied(diagnostics=(starved(target),))

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
                return NotApplied(diagnostics=(moved(target, "its uuid is another one"),))
            other = another_state(managed_by(found.properties), self._project.lineage, recorded=True)
            if other:
                return NotApplied(diagnostics=(moved(target, f"the state {other} has taken it over"),))
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
                return applied(
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
        return applied(recorded.attributes, own(target, recorded), *messages(request.address, way))

    def foresee(self, request: ApplyRequest[Settleable]) -> Outcome | None:
        """See ``settle``, which reads only."""
        return self.settle(request)

    def settle(self, request: ApplyRequest[Settleable]) -> Outcome | None:
        """The outcome of an operation whose result was lost, if it took effect: by its mark, the table's
        absence, or nothing left to change. Else None.
        """
        match request.action:
            case Create() as change:
                return self._creator.settled(order_of(request, change, self._project.lineage))
            case Adopt() | Update() as change:
                return self._updater.settled(order_of(request, change, self._project.lineage))
            case Delete(recorded=recorded, payload=payload):
                return self._gone(recorded, decode_record(DeletePayload, payload), request.references)
            case Revive(recorded=recorded):
                target = target_of(recorded.attributes, request.references)
                found = still_there(target, recorded)
                return _revived(recorded, found, target) if found is not None else None
            case CustomAction(recorded=recorded, payload=way):
                found = still_there(target_of(recorded.attributes, request.references), recorded)
                back = found is not None and is_back(found.metadata, way)
                return applied(recorded.attributes, found) if found is not None and back else None
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
    return applied({**recorded.attributes, "on_destroy": "retain"}, found, *said)


def _not_purged(target: Target, why: Blocker) -> Diagnostic:
    return why.as_error(f"The table {target.full_name} was not purged. {why.why} Nothing was changed.")
