"""The conditions that a table must still meet before a planned change is made. Pure."""

from collections.abc import Mapping

from flareiac.kernel.diagnostics import Diagnostic
from flareiac_iceberg.format.metadata import TableFile
from flareiac_iceberg.table.actions.order import Order, taken_over
from flareiac_iceberg.table.actions.results import moved
from flareiac_iceberg.table.branches import contradiction
from flareiac_iceberg.table.changes import Change, RemoveProperty, SetProperty, TakeOver
from flareiac_iceberg.table.payloads import expected_of


def broken_precondition(
    order: Order, table_file: TableFile, changes: tuple[Change, ...]
) -> Diagnostic | None:
    """Complains of the first one that does not hold; None where all hold."""
    target, identity = order.target, table_file.read()[1]
    now, wanted = expected_of(identity), order.payload.requirements
    names = {"uuid": "uuid", "schema_id": "schema", "spec_id": "partitioning", "sort_id": "sort order"}
    others = [text for name, text in names.items() if getattr(now, name) != getattr(wanted, name)]
    if others:
        return moved(target, f"its {' and '.join(others)} changed since the plan was made")
    other = taken_over(order, table_file)
    if other and not any(isinstance(change, TakeOver) and change.old == other for change in changes):
        return moved(target, f"the state {other} has taken it over")
    if order.payload.empty and identity.written:
        return moved(
            target,
            "rows were written since the plan was made, and a not null column needs a table without rows",
        )
    against = contradiction(table_file.metadata, changes) or _overtaken(table_file.properties, changes)
    return None if against is None else moved(target, against)


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
