"""Shows the earlier states of a table, and sets it back to one. Touches the world."""

import time
from collections.abc import Sequence

from flareiac.kernel.diagnostics import Diagnostic, Failure, error
from flareiac.sdk.actions import CustomAction
from flareiac.sdk.command_line import RecordedResource
from flareiac.sdk.lakehouse import EarlierState
from flareiac.sdk.references import References
from flareiac.sdk.requests import ApplyRequest
from flareiac.sdk.results import NotApplied, Outcome, Recorded
from flareiac_iceberg import codes
from flareiac_iceberg.catalogs.connections import Connections
from flareiac_iceberg.catalogs.outcomes import Conflict
from flareiac_iceberg.catalogs.requests import TableCommit
from flareiac_iceberg.catalogs.resolve import target_of
from flareiac_iceberg.catalogs.target import Target
from flareiac_iceberg.table.actions.results import applied, not_applied
from flareiac_iceberg.table.current import managed, own, still_there
from flareiac_iceberg.table.rollback import (
    HistoryRow,
    RollbackPreview,
    decode_way,
    encode_way,
    is_back,
    messages,
    preview,
    requirements,
    rows,
    stands,
    updates,
    way_back,
)


class EarlierStates:
    """``lineage``: that of the state whose tables are set back."""

    def __init__(self, connections: Connections, lineage: str) -> None:
        self._connections = connections
        self._lineage = lineage

    def history(self, recorded: Recorded, references: References) -> Sequence[HistoryRow]:
        """The snapshots of the recorded table, newest first (see ``rows``). Raises ``Failure``."""
        target = target_of(recorded.attributes, references)
        return rows(own(target, recorded).metadata)

    def way_back(
        self, table: RecordedResource, to: int | None, known: Sequence[EarlierState]
    ) -> RollbackPreview:
        """The snapshot to which main (or the branch that was emptied) would go back, and the commits that
        this undoes. Raises ``Failure``.
        """
        target = target_of(table.recorded.attributes, table.references)
        metadata = managed(target, table.recorded, self._lineage).metadata
        way = way_back(metadata, target.full_name, to, known)
        if way.head == way.target.id:
            return RollbackPreview(
                texts=(f"{table.address} stands at snapshot {way.head} already",), payload=None, there=True
            )
        return RollbackPreview(texts=tuple(preview(table.address, metadata, way)), payload=encode_way(way))

    def restore(self, request: ApplyRequest[CustomAction]) -> Outcome:
        """Sets a branch back in one commit, which fails if anybody wrote since the way back was looked at.

        Raises ``Failure`` where only ``settled`` can tell what was done.
        """
        recorded = request.action.recorded
        try:
            target = target_of(recorded.attributes, request.references)
            table_file = managed(target, recorded, self._lineage)
            way = decode_way(table_file.metadata, target.full_name, request.action.payload)
            if stands(table_file.metadata, way):
                return applied(
                    recorded.attributes,
                    table_file,
                    f"{request.address} stands at snapshot {way.target.id} already",
                )
            made = updates(table_file.metadata, way, now=time.time())
        except Failure as failure:
            return not_applied(failure, request.address)
        try:
            needs = requirements(table_file.metadata, way)
            writer = self._connections.get(target.catalog)
            writer.commit(target, TableCommit(base=table_file, updates=made, needs=needs))
        except Conflict:
            return NotApplied(diagnostics=(_written_meanwhile(target),))
        except Failure as failure:
            if self.settled(request.action, request.references) is None:
                return not_applied(failure, request.address)
        return applied(recorded.attributes, own(target, recorded), *messages(request.address, way))

    def settled(self, action: CustomAction, references: References) -> Outcome | None:
        """The outcome if the branch stands where it was to be set back, else None. Raises ``Failure``."""
        recorded = action.recorded
        table_file = still_there(target_of(recorded.attributes, references), recorded)
        if table_file is None or not is_back(table_file.metadata, action.payload):
            return None
        return applied(recorded.attributes, table_file)


def _written_meanwhile(target: Target) -> Diagnostic:
    return error(
        codes.WRITTEN_MEANWHILE,
        f"Somebody else writes {target.full_name}. Nothing was changed. Find out who with flareiac table "
        "snapshots ADDRESS, stop that, and try again.",
    )
