"""The driver of tables: reads cheaply, and carries out what a planner proposed as one commit. Touches the
world.
"""

import random
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, assert_never

from flareiac.kernel.data import UNKNOWN, Attributes, Data
from flareiac.kernel.diagnostics import Diagnostic, Failure, error
from flareiac.kernel.records import encode as encode_record
from flareiac.sdk.actions import Adopt, Create, CustomAction, Delete, Revive, Settleable, Update
from flareiac.sdk.command_line import RecordedResource
from flareiac.sdk.lakehouse import EarlierState
from flareiac.sdk.maintenance import MeasureRequest
from flareiac.sdk.project import Project
from flareiac.sdk.references import References, Resolved
from flareiac.sdk.requests import ApplyRequest, ChangeRequest, ReadRequest
from flareiac.sdk.results import Applied, NotApplied, Observation, Outcome, Recorded, Unreadable
from flareiac.sdk.statistics import Statistics, StatisticsRequest
from flareiac_iceberg import codes
from flareiac_iceberg.catalogs.connections import Connections
from flareiac_iceberg.catalogs.entries import NoCatalog
from flareiac_iceberg.catalogs.metadata_files import load_entry
from flareiac_iceberg.catalogs.outcomes import Conflict, Exists
from flareiac_iceberg.catalogs.reader import tables_in
from flareiac_iceberg.catalogs.requests import TableCommit
from flareiac_iceberg.catalogs.target import Target, target_of
from flareiac_iceberg.format.identity import TableIdentity, identity_of
from flareiac_iceberg.format.locations import absolute_location
from flareiac_iceberg.format.metadata import created_by, parse_metadata
from flareiac_iceberg.format.snapshots import commits
from flareiac_iceberg.format.spec import TableSpec, layout_of, spec_of
from flareiac_iceberg.maintenance.catalog_listing import Listings
from flareiac_iceberg.maintenance.read import figures, reader_of
from flareiac_iceberg.maintenance.statistics import another_table, gone_table, survey
from flareiac_iceberg.maintenance.statistics_text import statistics_of
from flareiac_iceberg.table.branches import contradiction, lost, needs_start, wanted_snapshots
from flareiac_iceberg.table.changes import (
    Change,
    MoveTable,
    RemoveProperty,
    SetProperty,
    SetTableComment,
    SetTag,
    decode,
)
from flareiac_iceberg.table.create import definition
from flareiac_iceberg.table.diff import NOTHING, Known, difference, known_of, recorded_known
from flareiac_iceberg.table.empty_snapshot import empty_snapshot
from flareiac_iceberg.table.expected import expected, expected_of
from flareiac_iceberg.table.purge import delete, files_of
from flareiac_iceberg.table.read import Entries, entries_of, group, key_of, observe, observe_moving, requested
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
from flareiac_iceberg.table.shared_files import not_purged, shares_files
from flareiac_iceberg.table.undrop import last_metadata, name_taken, refuse_elsewhere, refuse_other_catalog

if TYPE_CHECKING:
    from flareiac_iceberg.catalogs.writer import CatalogWriter

ATTEMPTS: Final = 20
"""Commits that are tried beside busy writers before giving up."""
_FOLLOWS: Final = ("format_version", "branch", "tag")
"""What a new table may get only in a second commit."""
_FIRST_PAUSE: Final = 0.05
_LONGEST_PAUSE: Final = 2.0


class TableDriver:
    """Reads and changes tables. Safe to use from several threads."""

    def __init__(self, project: Project, connections: Connections) -> None:
        self._project = project
        self._connections = connections
        self._prefetched: dict[tuple[str, str], Entries] = {}
        self._waiting: dict[str, tuple[str, str]] = {}
        self._listings = Listings(project.resolve)
        self._lock = threading.Lock()

    def prefetch(self, requests: Sequence[ReadRequest]) -> None:
        """Asks each namespace once; every answer serves one read of each of these resources. A new round of
        measuring follows, too.
        """
        self._listings.forget()
        entries = group(requests)
        waiting: dict[str, tuple[str, str]] = {}
        for request in requests:
            try:
                key = key_of(requested(request))
            except Failure:
                continue
            if key in entries:
                waiting[request.address] = key
        with self._lock:
            self._prefetched, self._waiting = entries, waiting

    def read(self, request: ReadRequest) -> Observation:
        """What is there; nothing is opened but the catalog when the recorded metadata file is still the
        current one.
        """
        try:
            target = requested(request)
            return observe_moving(request, observe(request, target, self._entries(request.address, target)))
        except Failure as failure:
            return Unreadable(diagnostic=failure.diagnostics[0].at(address=request.address))

    def _entries(self, address: str, target: Target) -> Entries:
        with self._lock:
            key = self._waiting.pop(address, None)
            if key == key_of(target):
                return self._prefetched[key]
        self._listings.forget()
        return entries_of(target)

    def apply(self, request: ChangeRequest) -> Outcome:
        """Creates, adopts or updates. The same request again finds what the first one did.

        Raises ``Failure`` where only ``settle`` can tell what was done.
        """
        change = request.action
        try:
            target, creates = target_of(change.planned, request.references), isinstance(change, Create)
            self._connections.get(target.catalog, make=creates)
        except Failure as failure:
            return NotApplied(diagnostics=failure.diagnostics)
        if isinstance(change, Create):
            return self._create(request, target, change.planned)
        return self._update(request, change, target)

    def delete(self, request: ApplyRequest[Delete]) -> Outcome:
        """Drops or purges the recorded table, never another one of its name. Raises ``Failure`` as ``apply``
        does.
        """
        recorded = request.action.recorded
        purge = request.action.payload["mode"] == "purge"
        try:
            target = target_of(recorded.attributes, request.references)
            found = self._metadata(target)
            if found is None:
                return Applied(
                    attributes=recorded.attributes, identity=recorded.identity, revivable=not purge
                )
            if found[1]["table-uuid"] != identity_of(recorded.identity).uuid:
                return NotApplied(diagnostics=(_moved(target, "its uuid is another one"),))
            delete_files = self._deletion(target, found) if purge else None
        except Failure as failure:
            return NotApplied(diagnostics=failure.diagnostics)
        try:
            self._writer(target).drop(target, purge=purge)
        except Failure:
            if not self._is_gone(target, recorded):
                raise
        known = identity_of(recorded.identity)
        identity = encode_record(replace(known, metadata_location=found[0], last_is_known=True))
        gone = f"dropped {target.full_name}"
        way = (
            f"{gone}; its last metadata file is {found[0]}; flareiac undrop {request.address} brings it back"
        )
        texts = (way,) if delete_files is None else (gone, *delete_files())
        return Applied(attributes=recorded.attributes, identity=identity, messages=texts, revivable=not purge)

    def _deletion(self, target: Target, found: tuple[str, Attributes]) -> Callable[[], Sequence[str]]:
        """What deletes the files of a table that is out of its catalog, and tells of those that stay. Raises
        ``Failure`` if none may be.
        """
        if shares_files(found[1].get("properties") or {}):
            raise Failure(not_purged(target.full_name))
        writer = self._writer(target)
        if target.catalog.is_server:
            return tuple  # the server does it
        return partial(delete, writer.file_io(found[1], found[0]), files_of(target, *found))

    def _writer(self, target: Target) -> "CatalogWriter[Any, Any]":
        return self._connections.get(target.catalog)

    def _is_gone(self, target: Target, recorded: Recorded) -> bool:
        """Whether it is sure that the recorded table is no longer there."""
        try:
            found = self._metadata(target)
        except Failure:
            return False
        return found is None or found[1]["table-uuid"] != recorded.identity.get("uuid")

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
        known, there = identity_of(recorded.identity), self._metadata(target)
        uuid = known.uuid
        notes: tuple[str, ...] = ()
        if there is None:
            hidden = refuse_elsewhere(self._connections, target, uuid, known.location or "")
            last = last_metadata(target, uuid, known.metadata_location, exact=known.last_is_known)
            self._writer(target).register(target, last.location, key)
            there, notes = self._metadata(target), (*last.notes, *hidden)
        if there is None or there[1]["table-uuid"] != uuid:
            return NotApplied(diagnostics=(name_taken(target),))
        return _revived(recorded, there, target, *notes)

    def measure(self, request: MeasureRequest) -> Attributes:
        """What its maintenance is decided by; reads metadata, never data files. Raises ``Failure``."""
        found: Attributes = encode_record(
            figures(request, self._listings, self._project.resolve, self._project.root)
        )
        return found

    def history(self, recorded: Recorded, references: References) -> Sequence[HistoryRow]:
        """The snapshots of the recorded table, newest first (see ``rows``). Raises ``Failure``."""
        target = target_of(recorded.attributes, references)
        return rows(self._own(target, recorded)[1])

    def statistics(self, request: StatisticsRequest) -> Statistics:
        """The figures of the recorded table. Raises ``Failure``."""
        target = target_of(request.recorded.attributes, request.references)
        found = self._metadata(target)
        figures = survey(found, target.full_name, request, reader_of(target.catalog))
        return statistics_of(figures, now=request.now)

    def way_back(
        self, table: RecordedResource, to: int | None, known: Sequence[EarlierState]
    ) -> RollbackPreview:
        """Which snapshot main (or the branch that was emptied) would go back to, and what that undoes. Raises
        ``Failure``.
        """
        target = target_of(table.recorded.attributes, table.references)
        metadata = self._own(target, table.recorded)[1]
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
            found = self._own(target, recorded)
            way = decode_way(found[1], target.full_name, request.action.payload)
            if stands(found[1], way):
                return _applied(
                    recorded.attributes,
                    found,
                    f"{request.address} stands at snapshot {way.target.id} already",
                )
            made = restore_updates(found[1], way, now=time.time())
        except Failure as failure:
            return NotApplied(
                diagnostics=tuple(item.at(address=request.address) for item in failure.diagnostics)
            )
        try:
            needs = restore_requirements(found[1], way)
            self._writer(target).commit(target, TableCommit(found=found, updates=made, needs=needs))
        except Conflict:
            return NotApplied(diagnostics=(_written_meanwhile(target),))
        except Failure as failure:
            done = self.settle(request)
            if not isinstance(done, Applied):
                return NotApplied(
                    diagnostics=tuple(item.at(address=request.address) for item in failure.diagnostics)
                )
        return _applied(recorded.attributes, self._own(target, recorded), *messages(request.address, way))

    def _own(self, target: Target, recorded: Recorded) -> tuple[str, Attributes]:
        """The recorded table's metadata. Raises ``Failure`` if it is gone or another one."""
        found = self._metadata(target)
        if found is None:
            raise Failure(gone_table(target.full_name))
        if found[1]["table-uuid"] != recorded.identity.get("uuid"):
            raise Failure(another_table(target.full_name))
        return found

    def foresee(self, request: ApplyRequest[Settleable]) -> Outcome | None:
        """See ``settle``, which reads only."""
        return self.settle(request)

    def settle(self, request: ApplyRequest[Settleable]) -> Outcome | None:
        """Whether an operation whose result was lost took effect: its mark, its absence, or nothing left to
        change.
        """
        match request.action:
            case Create(planned=planned):
                try:
                    found = self._metadata(target_of(planned, request.references))
                except NoCatalog:
                    return None  # to create the table would have made the catalog
                made = found is not None and created_by(found[1]) == request.key
                return _as_created(planned, found) if found is not None and made else None
            case Adopt() | Update() as change:
                found = self._metadata(target_of(change.planned, request.references))
                done = found is not None and _nothing_left(change, found)
                return _applied(change.planned, found) if found is not None and done else None
            case Delete(recorded=recorded, payload=payload):
                return self._gone(recorded, payload, request.references)
            case Revive(recorded=recorded):
                target = target_of(recorded.attributes, request.references)
                found = self._still(target, recorded)
                return _revived(recorded, found, target) if found is not None else None
            case CustomAction(recorded=recorded, payload=way):
                found = self._still(target_of(recorded.attributes, request.references), recorded)
                back = found is not None and is_back(found[1], way)
                return _applied(recorded.attributes, found) if found is not None and back else None
            case other:
                assert_never(other)

    def _gone(self, recorded: Recorded, payload: Data, references: References) -> Outcome | None:
        if self._still(target_of(recorded.attributes, references), recorded) is not None:
            return None
        known = identity_of(recorded.identity)
        # What was committed since it was recorded is in the metadata file that the plan saw.
        last = payload.get("metadata_location") or known.metadata_location
        identity = encode_record(replace(known, metadata_location=last))
        return Applied(
            attributes=recorded.attributes, identity=identity, revivable=payload["mode"] != "purge"
        )

    def _still(self, target: Target, recorded: Recorded) -> tuple[str, Attributes] | None:
        """The metadata of the recorded table; None where it is gone, or another one has its name."""
        found = self._metadata(target)
        same = found is not None and found[1]["table-uuid"] == identity_of(recorded.identity).uuid
        return found if same else None

    def _create(self, request: ChangeRequest, target: Target, planned: Attributes) -> Outcome:
        spec = spec_of(planned)
        location = (
            None
            if spec.location is None
            else absolute_location(spec.location, self._project.root) or spec.location
        )
        try:
            what, missing = definition(spec, request.key), partial(self._missing, target, planned)
            self._writer(target).create(target, what, location, request.key, missing)
            message = f"created {target.full_name}"
        except Exists:
            message = f"{target.full_name} had been created by this operation before"
        found = self._metadata(target)
        if found is None or created_by(found[1]) != request.key:
            return NotApplied(diagnostics=(_moved(target, "a table of this name has appeared"),))
        return self._completed(request, target, planned, message)

    def _completed(
        self, request: ChangeRequest, target: Target, planned: Attributes, message: str
    ) -> Outcome:
        """What a server did not take together with a new table follows in a commit of its own."""

        def missing(found: tuple[str, Attributes]) -> tuple[Change, ...]:
            return _lacking(planned, found[1], found[0])

        return self._in_one_commit(request, target, planned, missing, lambda _found: None, message, sent=True)

    def _missing(self, target: Target, planned: Attributes, metadata: Attributes) -> list[Attributes]:
        """The updates that make a new table with this metadata the planned one."""
        return self._updates(target, metadata, _lacking(planned, metadata, ""), planned)

    def _update(self, request: ChangeRequest, change: Adopt | Update, target: Target) -> Outcome:
        planned = change.planned
        steps = tuple(_filled(decode(item), planned) for item in change.payload["changes"])
        changes = tuple(item for item in steps if not isinstance(item, MoveTable))
        old = None
        if isinstance(change, Update) and len(changes) != len(steps):
            try:
                old = self._old_name(change, request.references, target)
            except Failure as failure:
                return NotApplied(diagnostics=failure.diagnostics)
            if old is not None:
                try:
                    self._writer(old).rename(old, target, request.key)
                except Exists:
                    self._old_name(change, request.references, target)

        def needed(found: tuple[str, Attributes]) -> tuple[Change, ...]:
            return () if _nothing_left(change, found) else changes

        def trouble(found: tuple[str, Attributes]) -> Diagnostic | None:
            return _requirements(change, target, found, changes)

        message = f"changed {target.full_name} in one commit"
        return self._in_one_commit(request, target, planned, needed, trouble, message, sent=old is not None)

    def _old_name(self, change: Update, references: References, target: Target) -> Target | None:
        """The name that the recorded table is to be moved from; None where it has the new one. Raises
        ``Failure`` if it has neither.
        """
        old = target_of(change.recorded.attributes, references)
        wanted = expected(change.payload)
        assert wanted is not None, "a table that is updated was there"
        uuid = wanted.uuid
        there = self._metadata(target)
        if there is not None:
            if there[1]["table-uuid"] != uuid:
                raise Failure(_name_taken(target))
            return None
        found = self._metadata(old)
        if found is None or found[1]["table-uuid"] != uuid:
            raise Failure(_moved(old, "it is gone" if found is None else "its uuid is another one"))
        return old

    def _in_one_commit(
        self,
        request: ChangeRequest,
        target: Target,
        planned: Attributes,
        needed: Callable[[tuple[str, Attributes]], tuple[Change, ...]],
        trouble: Callable[[tuple[str, Attributes]], Diagnostic | None],
        message: str,
        *,
        sent: bool,
    ) -> Outcome:
        """Commits what is needed on top of what is there, again and again while others commit first.

        ``sent``: something of the request was done already. Raises ``Failure`` only then, or once a commit
        was tried.
        """
        pause = _FIRST_PAUSE
        for attempt in range(ATTEMPTS):
            try:
                found = self._metadata(target)
            except Failure as failure:
                if sent or attempt:
                    raise
                return NotApplied(diagnostics=failure.diagnostics)
            if found is None:
                return NotApplied(diagnostics=(_moved(target, "it is gone"),))
            changes = needed(found)
            if not changes:
                return _applied(
                    planned,
                    found,
                    *([message] if attempt == 0 and isinstance(request.action, Create) else []),
                )
            problem = trouble(found)
            if problem is not None:
                return NotApplied(diagnostics=(problem,))
            try:
                self._commit(target, found, changes, planned, empty=request.action.payload["empty"])
            except Conflict:
                request.progress(
                    f"{target.full_name}: another writer committed first, trying again ({attempt + 1})"
                )
            else:
                return self._committed(target, planned, message)
            if request.cancel.wait(pause * random.uniform(0.5, 1.0)):  # noqa: S311  # spreads retries, guards nothing
                break
            pause = min(pause * 2, _LONGEST_PAUSE)
        return NotApplied(diagnostics=(_starved(target),))

    def _commit(
        self,
        target: Target,
        found: tuple[str, Attributes],
        changes: tuple[Change, ...],
        planned: Attributes,
        *,
        empty: bool,
    ) -> None:
        made = self._updates(target, found[1], changes, planned)
        needs = requirements(found[1], made, empty=empty)
        self._writer(target).commit(target, TableCommit(found=found, updates=made, needs=needs))

    def _updates(
        self, target: Target, metadata: Attributes, changes: tuple[Change, ...], planned: Attributes
    ) -> list[Attributes]:
        start = self._start(target, metadata, changes) if needs_start(changes, metadata) else None
        return updates(metadata, changes, start, planned["properties"] or ())

    def _start(self, target: Target, metadata: Attributes, changes: tuple[Change, ...]) -> Attributes:
        return empty_snapshot(self._connections, target, metadata, version_after(metadata, changes))

    def _committed(self, target: Target, planned: Attributes, message: str) -> Outcome:
        found = self._metadata(target)
        if found is None:
            return NotApplied(diagnostics=(_moved(target, "it was dropped right after the change"),))
        return _applied(planned, found, message)

    def _metadata(self, target: Target) -> tuple[str, Attributes] | None:
        """The location and content of the current metadata, or None if there is no such table. Raises
        ``Failure``, ``NoCatalog`` where there is no catalog.
        """
        pointer = tables_in(target.catalog, target.namespace).get(target.name)
        return None if pointer is None else load_entry(pointer, target.catalog)


def _applied(planned: Attributes, found: tuple[str, Attributes], *messages: str) -> Applied:
    _, identity = parse_metadata(found[1], found[0])
    return Applied(attributes=planned, identity=encode_record(identity), messages=messages)


def _as_created(planned: Attributes, found: tuple[str, Attributes]) -> Applied:
    """What is to be recorded of a table that this operation created, perhaps without what was to follow in a
    second commit.
    """
    there = layout_of(parse_metadata(found[1], found[0])[0])
    behind = [name for name in _FOLLOWS if planned[name] is not None and there[name] != planned[name]]
    return _applied(planned | {name: there[name] for name in behind}, found)


def _lacking(planned: Attributes, metadata: Attributes, location: str) -> tuple[Change, ...]:
    spec, identity = parse_metadata(metadata, location)
    observed = _known(spec, identity, metadata, planned, {})
    return difference(spec_of(planned), NOTHING, observed).changes


def _nothing_left(change: Adopt | Update, found: tuple[str, Attributes]) -> bool:
    """Whether the table is the one that was planned for and satisfies what was planned already."""
    planned, wanted = change.planned, expected(change.payload)
    if wanted is None or found[1]["table-uuid"] != wanted.uuid:
        return False
    spec, identity = parse_metadata(found[1], found[0])
    same = change.recorded is not None and identity_of(change.recorded.identity).uuid == wanted.uuid
    recorded = recorded_known(change.recorded) if same and change.recorded else NOTHING
    observed = _known(spec, identity, found[1], planned, recorded.tags)
    return not difference(spec_of(planned), recorded, observed).changes


def _known(
    spec: TableSpec,
    identity: TableIdentity,
    metadata: Attributes,
    planned: Attributes,
    tags: Mapping[str, int],
) -> Known:
    gone = frozenset(lost(wanted_snapshots(spec_of(planned), tags), metadata))
    return replace(known_of(spec, identity), gone=gone)


def _requirements(
    change: Adopt | Update, target: Target, found: tuple[str, Attributes], changes: tuple[Change, ...]
) -> Diagnostic | None:
    _, identity = parse_metadata(found[1], found[0])
    now, wanted = expected_of(identity), expected(change.payload)
    names = {"uuid": "uuid", "schema_id": "schema", "spec_id": "partitioning", "sort_id": "sort order"}
    moved = [text for name, text in names.items() if getattr(now, name) != getattr(wanted, name)]
    if moved:
        return _moved(target, f"its {' and '.join(moved)} changed since the plan was made")
    if change.payload["empty"] and identity.written:
        return _moved(
            target,
            "rows were written since the plan was made, and a not null column needs a table without rows",
        )
    against = contradiction(found[1], changes) or _overtaken(found[1].get("properties") or {}, changes)
    return None if against is None else _moved(target, against)


def _overtaken(properties: Attributes, changes: tuple[Change, ...]) -> str | None:
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


def _filled(change: Change, planned: Attributes) -> Change:
    """A change with a value that was unknown at plan time filled in."""
    match change:
        case SetProperty(name=name, new=new) if new is UNKNOWN:
            return replace(change, new=planned["properties"][name])
        case SetTag(name=name, new=new) if new is UNKNOWN:
            return replace(change, new=planned["tags"][name])
        case SetTableComment(new=new) if new is UNKNOWN:
            return replace(change, new=planned["comment"])
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


def _revived(recorded: Recorded, found: tuple[str, Attributes], target: Target, *notes: str) -> Applied:
    """It stays when its block is not written again: the apply after this must not drop it once more."""
    total = next((item.total for item in commits(found[1], 1)), 0)
    rows_text = "" if total is None else f", with {total} rows"
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


def _starved(target: Target) -> Diagnostic:
    return error(
        codes.OTHER_WRITERS_FIRST,
        f"Other writers of {target.full_name} committed first, {ATTEMPTS} times in a row. Nothing of this "
        "change took effect. Apply again when they are less busy, or stop them meanwhile.",
    )
