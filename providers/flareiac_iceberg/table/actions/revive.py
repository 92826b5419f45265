"""Brings dropped tables back. Touches the world."""

from dataclasses import replace

from flareiac.kernel.diagnostics import Failure
from flareiac.sdk.actions import Revive
from flareiac.sdk.references import References, Resolved
from flareiac.sdk.requests import ApplyRequest
from flareiac.sdk.results import Applied, NotApplied, Outcome, Recorded
from flareiac_iceberg.catalogs.connections import Connections
from flareiac_iceberg.catalogs.outcomes import Exists
from flareiac_iceberg.catalogs.resolve import target_of
from flareiac_iceberg.catalogs.target import Target
from flareiac_iceberg.format.identity import identity_of
from flareiac_iceberg.format.metadata import TableFile
from flareiac_iceberg.format.snapshots import commits
from flareiac_iceberg.maintenance.humanize import count
from flareiac_iceberg.table.actions.results import applied, not_applied
from flareiac_iceberg.table.current import current, still_there
from flareiac_iceberg.table.undrop import last_metadata, name_taken, refuse_elsewhere, refuse_other_catalog


class TableReviver:
    """Enters tables in their catalogs again."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

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
            return not_applied(failure, request.address)

    def _entered(self, key: str, recorded: Recorded, target: Target) -> Outcome:
        known, there = identity_of(recorded.identity), current(target)
        uuid = known.uuid
        notes: tuple[str, ...] = ()
        if there is None:
            hidden = refuse_elsewhere(self._connections, target, uuid, known.location or "")
            last = last_metadata(target, uuid, known.metadata_location, exact=known.last_is_known)
            self._connections.get(target.catalog).register(target, last.location, key)
            there, notes = current(target), (*last.notes, *hidden)
        if there is None or there.uuid != uuid:
            return NotApplied(diagnostics=(name_taken(target),))
        return _revived(recorded, there, target, *notes)

    def settled(self, action: Revive, references: References) -> Outcome | None:
        """The outcome if the table is there again, else None. Raises ``Failure``."""
        target = target_of(action.recorded.attributes, references)
        table_file = still_there(target, action.recorded)
        return _revived(action.recorded, table_file, target) if table_file is not None else None


def _as_then(request: ApplyRequest[Revive]) -> dict[str, Resolved]:
    then = {
        each: replace(request.references[each], attributes=attributes)
        for each, attributes in request.action.then.items()
    }
    return {**request.references, **then}


def _revived(recorded: Recorded, table_file: TableFile, target: Target, *notes: str) -> Applied:
    """It stays when its block is not written again: the apply after this must not drop it once more."""
    total = next((commit.rows for commit in commits(table_file.metadata, 1)), 0)
    rows_text = "" if total is None else f", with {count(total, 'row')}"
    said = (
        f"{target.full_name} is back{rows_text}",
        *notes,
        "without its block, the next apply forgets it (and it stays)",
    )
    return applied({**recorded.attributes, "on_destroy": "retain"}, table_file, *said)
