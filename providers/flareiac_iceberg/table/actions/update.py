"""Changes and adopts tables: a rename first, where one is planned, then everything else in one commit.
Touches the world.
"""

from flareiac.kernel.diagnostics import Diagnostic, Failure, error
from flareiac.sdk.actions import Update
from flareiac.sdk.results import NotApplied, Outcome, Recorded
from flareiac_iceberg import codes
from flareiac_iceberg.catalogs.connections import Connections
from flareiac_iceberg.catalogs.outcomes import Conflict, Exists
from flareiac_iceberg.catalogs.resolve import target_of
from flareiac_iceberg.catalogs.target import Target
from flareiac_iceberg.format.metadata import TableFile
from flareiac_iceberg.table.actions.attempts import ATTEMPTS, starved
from flareiac_iceberg.table.actions.commit import TableCommitter
from flareiac_iceberg.table.actions.order import Order, nothing_left, steps_of
from flareiac_iceberg.table.actions.preconditions import broken_precondition
from flareiac_iceberg.table.actions.results import applied, moved
from flareiac_iceberg.table.changes import Change, MoveTable
from flareiac_iceberg.table.current import current


class TableUpdater:
    """Makes the planned changes of a table, or none of them."""

    def __init__(self, connections: Connections, committer: TableCommitter) -> None:
        self._connections = connections
        self._committer = committer

    def update(self, order: Order) -> Outcome:
        """Changes or adopts the table. The same request again finds what the first one did. Raises
        ``Failure`` where only ``settled`` can tell what was done.
        """
        target = order.target
        steps = steps_of(order)
        changes = tuple(step for step in steps if not isinstance(step, MoveTable))
        renamed = False
        if isinstance(order.change, Update) and len(changes) != len(steps):
            answer = self._renamed(order, order.change.recorded)
            if isinstance(answer, NotApplied):
                return answer
            renamed = answer

        def needed(table_file: TableFile) -> tuple[Change, ...]:
            return () if nothing_left(order, table_file) else changes

        def problem(table_file: TableFile) -> Diagnostic | None:
            return broken_precondition(order, table_file, changes)

        message = f"changed {target.full_name} in one commit"
        return self._committer.in_one_commit(order, needed, problem, message, sent=renamed)

    def _renamed(self, order: Order, recorded: Recorded) -> bool | NotApplied:
        """Returns True where the table had another name than the planned one, and has that now. Raises
        ``Failure`` where that is not known.
        """
        for _ in range(ATTEMPTS):
            try:
                old = _old_name(order, recorded)
            except Failure as failure:
                return NotApplied(diagnostics=failure.diagnostics)
            if old is None:
                return False
            try:
                writer = self._connections.get(old[0].catalog)
                writer.rename(old[0], order.target, old[1], order.request.key)
            except Exists:
                _old_name(order, recorded)
            except Conflict:
                continue  # another writer's commit came in between: nothing was renamed
            return True
        return NotApplied(diagnostics=(starved(order.target),))

    def settled(self, order: Order) -> Outcome | None:
        """The outcome if nothing is left to change, else None. Raises ``Failure``."""
        table_file = current(order.target)
        if table_file is None or not nothing_left(order, table_file):
            return None
        return applied(order.change.planned, table_file)


def _old_name(order: Order, recorded: Recorded) -> tuple[Target, str] | None:
    """The name that the recorded table is to be moved from, and its metadata file; None where it has the new
    one. Raises ``Failure`` if it has neither.
    """
    wanted = order.payload.requirements
    assert wanted is not None, "a table that is updated was there"
    there = current(order.target)
    if there is not None:
        if there.uuid != wanted.uuid:
            raise Failure(_name_taken(order.target))
        return None
    old = target_of(recorded.attributes, order.request.references)
    table_file = current(old)
    if table_file is None or table_file.uuid != wanted.uuid:
        raise Failure(moved(old, "it is gone" if table_file is None else "its uuid is another one"))
    return old, table_file.location


def _name_taken(target: Target) -> Diagnostic:
    return error(
        codes.NAME_TAKEN,
        f"The table cannot get the name {target.full_name}: another one has got it since the plan was made. "
        "Nothing was changed. Make a new plan and review it.",
    )
