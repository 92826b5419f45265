"""Commits the changes that an order needs on top of what a table is. Touches the world."""

from collections.abc import Callable

from flareiac.kernel.data import Attributes
from flareiac.kernel.diagnostics import Diagnostic, Failure
from flareiac.sdk.actions import Create
from flareiac.sdk.results import NotApplied, Outcome
from flareiac_iceberg.catalogs.connections import Connections
from flareiac_iceberg.catalogs.outcomes import Conflict
from flareiac_iceberg.catalogs.requests import TableCommit
from flareiac_iceberg.format.metadata import TableFile
from flareiac_iceberg.table.actions.attempts import attempts, starved
from flareiac_iceberg.table.actions.order import Order
from flareiac_iceberg.table.actions.results import applied, moved
from flareiac_iceberg.table.branches import needs_start
from flareiac_iceberg.table.changes import Change
from flareiac_iceberg.table.current import current
from flareiac_iceberg.table.empty_snapshot import empty_snapshot
from flareiac_iceberg.table.requirements import requirements
from flareiac_iceberg.table.schema_updates import updates, version_after


class TableCommitter:
    """Makes one commit of many changes. Safe to use from several threads."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def in_one_commit(
        self,
        order: Order,
        needed: Callable[[TableFile], tuple[Change, ...]],
        error: Callable[[TableFile], Diagnostic | None],
        message: str,
        *,
        sent: bool,
    ) -> Outcome:
        """Commits what is needed on top of what is there, again and again while others commit first.

        ``sent``: something of the request was done already. Raises ``Failure`` only then, or once a commit
        was tried.
        """
        request, target = order.request, order.target
        for attempt in attempts(request.cancel):
            try:
                table_file = current(target)
            except Failure as failure:
                if sent or attempt:
                    raise
                return NotApplied(diagnostics=failure.diagnostics)
            if table_file is None:
                return NotApplied(diagnostics=(moved(target, "it is gone"),))
            changes = needed(table_file)
            if not changes:
                created = attempt == 0 and isinstance(order.change, Create)
                return applied(order.change.planned, table_file, *([message] if created else []))
            problem = error(table_file)
            if problem is not None:
                return NotApplied(diagnostics=(problem,))
            try:
                self._commit(order, table_file, changes)
            except Conflict:
                request.progress(
                    f"{target.full_name}: another writer committed first, trying again ({attempt + 1})"
                )
            else:
                return _committed(order, message)
        return NotApplied(diagnostics=(starved(target),))

    def updates(self, order: Order, metadata: Attributes, changes: tuple[Change, ...]) -> list[Attributes]:
        """The updates in JSON form that make the changes on top of metadata. Raises ``Failure`` where a
        branch needs a first snapshot that cannot be written.
        """
        start = None
        if needs_start(changes, metadata):
            version = version_after(metadata, changes)
            start = empty_snapshot(self._connections, order.target, metadata, version)
        return updates(metadata, changes, start, order.planned.properties or ())

    def _commit(self, order: Order, table_file: TableFile, changes: tuple[Change, ...]) -> None:
        made = self.updates(order, table_file.metadata, changes)
        needs = requirements(table_file.metadata, made, empty=order.payload.empty)
        writer = self._connections.get(order.target.catalog)
        writer.commit(order.target, TableCommit(base=table_file, updates=made, needs=needs))


def _committed(order: Order, message: str) -> Outcome:
    table_file = current(order.target)
    if table_file is None:
        return NotApplied(diagnostics=(moved(order.target, "it was dropped right after the change"),))
    return applied(order.change.planned, table_file, message)
