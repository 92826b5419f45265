"""The change of a table that is to be made, and what a table still lacks of it. Pure."""

from collections.abc import Mapping
from dataclasses import replace

from flareiac.kernel.data import UNKNOWN
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import decode as decode_record
from flareiac.sdk.actions import Adopt, Create, Settleable, Update
from flareiac.sdk.requests import ApplyRequest, ChangeRequest
from flareiac_iceberg.catalogs.resolve import target_of
from flareiac_iceberg.catalogs.target import Target
from flareiac_iceberg.format.metadata import TableFile, managed_by
from flareiac_iceberg.format.spec import TableDefinition
from flareiac_iceberg.table.branches import lost, wanted_snapshots
from flareiac_iceberg.table.changes import Change, SetProperty, SetTableComment, SetTag, TakeOver, decode
from flareiac_iceberg.table.diff import NOTHING, Known, difference, known_of
from flareiac_iceberg.table.managed_by import another_state
from flareiac_iceberg.table.observed import recorded_table
from flareiac_iceberg.table.payloads import UpdatePayload


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


def order_of(
    request: ApplyRequest[Settleable] | ChangeRequest, change: Create | Adopt | Update, lineage: str
) -> Order:
    """The order of a request. Raises ``Failure`` where the catalog is no longer known."""
    return Order(
        request=request,
        change=change,
        target=target_of(change.planned, request.references),
        planned=TableDefinition.of(change.planned),
        payload=decode_record(UpdatePayload, change.payload),
        lineage=lineage,
    )


def steps_of(order: Order) -> tuple[Change, ...]:
    """The planned changes, with the values that were unknown at plan time."""
    return tuple(_filled(decode(change), order.planned) for change in order.payload.changes)


def _filled(change: Change, planned: TableDefinition) -> Change:
    match change:
        case SetProperty(name=name, new=new) if new is UNKNOWN:
            return replace(change, new=(planned.properties or {})[name])
        case SetTag(name=name, new=new) if new is UNKNOWN:
            return replace(change, new=(planned.tags or {})[name])
        case SetTableComment(new=new) if new is UNKNOWN:
            return replace(change, new=planned.comment)
        case _:
            return change


def lacking(planned: TableDefinition, table_file: TableFile) -> tuple[Change, ...]:
    """The changes that make a new table the planned one."""
    return difference(planned, NOTHING, _known(planned, table_file, {})).changes


def nothing_left(order: Order, table_file: TableFile) -> bool:
    """Returns True if the table is the one that was planned for and satisfies what was planned already."""
    wanted, recorded = order.payload.requirements, NOTHING
    if wanted is None or table_file.uuid != wanted.uuid or _unmarked(order, table_file):
        return False
    if order.change.recorded is not None:
        known = recorded_table(order.change.recorded)
        if known.identity.uuid == wanted.uuid:
            recorded = known_of(known.definition, known.identity)
    return not difference(order.planned, recorded, _known(order.planned, table_file, recorded.tags)).changes


def _known(planned: TableDefinition, table_file: TableFile, tags: Mapping[str, int]) -> Known:
    gone = frozenset(lost(wanted_snapshots(planned, tags), table_file.metadata))
    return known_of(*table_file.read(), gone)


def _unmarked(order: Order, table_file: TableFile) -> bool:
    """Returns True if the table carries the lineage of another state, or is yet to carry that of this one."""
    marks = any(isinstance(decode(change), TakeOver) for change in order.payload.changes)
    there = managed_by(table_file.properties).lineage
    return bool(taken_over(order, table_file)) or (marks and there != order.lineage)


def taken_over(order: Order, table_file: TableFile) -> str:
    """The lineage of another state that manages the table; empty where none does."""
    recorded = order.change.recorded is not None
    return another_state(managed_by(table_file.properties), order.lineage, recorded=recorded)
