"""Drops and purges tables. Touches the world."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from flareiac.kernel.diagnostics import Diagnostic, Failure
from flareiac.kernel.records import decode, encode
from flareiac.sdk.actions import Delete
from flareiac.sdk.changes import Blocker
from flareiac.sdk.references import References
from flareiac.sdk.requests import ApplyRequest
from flareiac.sdk.results import Applied, NotApplied, Outcome, Recorded
from flareiac_iceberg.catalogs.connections import Connections
from flareiac_iceberg.catalogs.outcomes import Conflict
from flareiac_iceberg.catalogs.resolve import target_of
from flareiac_iceberg.catalogs.target import Target
from flareiac_iceberg.format.identity import identity_of
from flareiac_iceberg.format.metadata import TableFile, managed_by
from flareiac_iceberg.table.actions.attempts import attempts, starved
from flareiac_iceberg.table.actions.results import moved
from flareiac_iceberg.table.current import current, still_there
from flareiac_iceberg.table.managed_by import another_state
from flareiac_iceberg.table.payloads import DeletePayload
from flareiac_iceberg.table.purge import delete as delete_files_of
from flareiac_iceberg.table.purge import files_of
from flareiac_iceberg.table.purge_check import PURGES
from flareiac_iceberg.table.purge_survey import PurgeSurvey
from flareiac_iceberg.table.shared_files import not_purged, shares_files, unsafe_purge


class TableDropper:
    """``lineage``: that of the state whose tables are dropped."""

    def __init__(self, connections: Connections, survey: PurgeSurvey, lineage: str) -> None:
        self._connections = connections
        self._survey = survey
        self._lineage = lineage

    def drop(self, request: ApplyRequest[Delete]) -> Outcome:
        """Drops or purges the recorded table, never another one of its name. Raises ``Failure`` where only
        ``settled`` can tell what was done.
        """
        mode = decode(DeletePayload, request.action.payload).mode
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
            table_file = current(target)
            if table_file is None:
                return Applied(
                    attributes=recorded.attributes, identity=recorded.identity, revivable=not purge
                )
            if table_file.uuid != identity_of(recorded.identity).uuid:
                return NotApplied(diagnostics=(moved(target, "its uuid is another one"),))
            other = another_state(managed_by(table_file.properties), self._lineage, recorded=True)
            if other:
                return NotApplied(diagnostics=(moved(target, f"the state {other} has taken it over"),))
            delete_files = self._deletion(target, table_file, mode) if purge else None
        except Failure as failure:
            return NotApplied(diagnostics=failure.diagnostics)
        try:
            exact = self._connections.get(target.catalog).drop(target, table_file.location, purge=purge)
        except Failure:
            if not _is_gone(target, recorded):
                raise
            exact = False
        known = identity_of(recorded.identity)
        identity = encode(replace(known, metadata_location=table_file.location, last_is_known=exact))
        gone = f"dropped {target.full_name}"
        back = f"flareiac undrop {request.address} brings it back"
        way = f"{gone}; its last metadata file is {table_file.location}; {back}"
        texts = (way,) if delete_files is None else (gone, *delete_files())
        return Applied(attributes=recorded.attributes, identity=identity, messages=texts, revivable=not purge)

    def _deletion(self, target: Target, table_file: TableFile, mode: str) -> Callable[[], Sequence[str]]:
        """The function that deletes the files of a table that is out of its catalog, and returns those that
        stay. Raises ``Failure`` if none may be.
        """
        if shares_files(table_file.properties):
            raise Failure(not_purged(target.full_name))
        unsafe = unsafe_purge(self._survey.doomed_now(target, table_file), mode)
        if unsafe:
            raise Failure(*(_not_purged(target, blocker) for blocker in unsafe))
        if target.catalog.is_server:
            return tuple  # the server does it
        return partial(delete_files_of, files_of(target, *table_file), target.catalog)

    def settled(self, action: Delete, references: References) -> Outcome | None:
        """The outcome if the table is gone, else None. Raises ``Failure``."""
        recorded, payload = action.recorded, decode(DeletePayload, action.payload)
        if still_there(target_of(recorded.attributes, references), recorded) is not None:
            return None
        known = identity_of(recorded.identity)
        # What was committed since it was recorded is in the metadata file that the plan saw.
        last = payload.metadata_location or known.metadata_location
        return Applied(
            attributes=recorded.attributes,
            identity=encode(replace(known, metadata_location=last)),
            revivable=payload.mode not in PURGES,
        )


def _is_gone(target: Target, recorded: Recorded) -> bool:
    """Returns True if it is sure that the recorded table no longer exists."""
    try:
        return still_there(target, recorded) is None
    except Failure:
        return False


def _not_purged(target: Target, why: Blocker) -> Diagnostic:
    return why.as_error(f"The table {target.full_name} was not purged. {why.why} Nothing was changed.")
