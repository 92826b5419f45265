"""``table snapshots`` and ``table rollback``: earlier states of a table, and the way back to one."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Final

import typer

from flareiac.kernel.diagnostics import Diagnostic, Failure, error
from flareiac.kernel.records import encode
from flareiac.sdk.actions import CustomAction
from flareiac.sdk.changes import Relation
from flareiac.sdk.command_line import CommandLine, RecordedProject, RecordedResource, driver_of
from flareiac.sdk.command_options import AutoApprove, Json
from flareiac.sdk.requests import ApplyRequest
from flareiac.sdk.results import Outcome
from flareiac.sdk.text_table import Column, TextTable
from flareiac_iceberg import codes
from flareiac_iceberg.table.actions.rollback import EarlierStates
from flareiac_iceberg.table.driver import TableDriver
from flareiac_iceberg.table.rollback import HistoryRow, clock

Address = Annotated[str, typer.Argument(help="The address of a table.", metavar="ADDRESS")]
Limit = Annotated[int, typer.Option("--limit", min=1, help="How many, from the newest on.")]
To = Annotated[
    int | None, typer.Option("--to", help="A snapshot id; without it, the one before the table was emptied.")
]
Users = Sequence[tuple[RecordedResource, Relation]]

_FORMAT_VERSION: Final = "1.0"
_AT_REST: Final = ("stopped", "completed")
_COLUMNS: Final = (
    Column("SNAPSHOT", right=True),
    Column("TIME (UTC)"),
    Column("OPERATION"),
    Column("ADDED", right=True),
    Column("DELETED", right=True),
    Column("TOTAL", right=True),
    Column("BY"),
)


def snapshots(line: CommandLine, address: Address, as_json: Json = False, limit: Limit = 20) -> None:
    """Lists the snapshots of a table."""
    with line.project() as project:
        table = project.resource(address)
        rows = _earlier_states(project, table).history(table.recorded, table.references)
    if as_json:
        document = {
            "format_version": _FORMAT_VERSION,
            "address": address,
            "snapshots": [encode(row) for row in rows[:limit]],
        }
        line.out_json(document)
    elif not rows:
        line.out(f"{address} has no snapshots: nothing was ever written into it.")
    else:
        line.out_table(TextTable(_COLUMNS, tuple(map(_cells, rows[:limit]))))
        if len(rows) > limit:
            line.out(f"({len(rows) - limit} older ones are not shown; -limit shows more)")


def _cells(row: HistoryRow) -> tuple[str, ...]:
    names = ", ".join(row.names)
    return (
        str(row.id),
        clock(row.at),
        row.operation or "-",
        *("-" if count is None else str(count) for count in (row.added, row.deleted, row.total)),
        row.writer + (f"  ({names})" if names else ""),
    )


def rollback(line: CommandLine, address: Address, to: To = None, auto_approve: AutoApprove = False) -> None:
    """Shows what the way back does, asks, and goes it.

    The intent is in the journal before the table is touched, so that the next apply finds out how a rollback
    ended that was interrupted.
    """
    with line.state_change("table rollback") as project:
        table = project.resource(address)
        earlier, users = _earlier_states(project, table), project.users(address)
        _refuse_running(project, address, users)
        way = earlier.way_back(table, to, project.earlier_states(address))
        if way.there:
            messages = way.texts
        else:
            consequences = tuple(map(_consequence, users))
            line.confirm((*way.texts, *consequences), "Do you want to set it back?", approved=auto_approve)
            request = project.request(table, "rollback", way.payload)
            outcome = project.carry_out(table, request, lambda asked: _restored(earlier, asked))
            messages = (*outcome.messages, *consequences)
    for message in messages:
        line.out(message)


def _restored(earlier: EarlierStates, request: ApplyRequest[CustomAction]) -> Outcome:
    try:
        return earlier.restore(request)
    except Failure as failure:
        raise Failure(*failure.diagnostics, _not_confirmed(request.address)) from failure


def _earlier_states(project: RecordedProject, resource: RecordedResource) -> EarlierStates:
    refused = error(
        codes.KEEPS_NO_EARLIER_STATES,
        f"{resource.address} cannot be rolled back. Only tables can: write the address of a table.",
    )
    return driver_of(project, resource, TableDriver, refused).earlier_states


def _refuse_running(project: RecordedProject, address: str, users: Users) -> None:
    diagnostics = list(_running(project, address, users))
    if diagnostics:
        raise Failure(*diagnostics)


def _running(project: RecordedProject, address: str, users: Users) -> Iterator[Diagnostic]:
    for user, relation in users:
        doing = project.running(user)
        if doing is None or doing.phase in _AT_REST:
            continue
        why = (
            "What it writes meanwhile would be lost or stand beside the old rows."
            if relation is Relation.WRITES
            else "It reads on from snapshots that the table would no longer have, and could not go on."
        )
        yield error(
            codes.TABLE_IN_USE,
            f"{user.address} {relation} {address} and has not stopped ({doing.phase}). {why} Nothing was "
            f"changed. Stop it first: flareiac stop {user.address}, or stopped = true in its block and an "
            "apply.",
            address=user.address,
        )


def _consequence(use: tuple[RecordedResource, Relation]) -> str:
    user, relation = use
    if relation is Relation.WRITES:
        return (
            f"{user.address} goes on where its checkpoint stands when it starts: what it wrote after that "
            "snapshot it does not write again, unless its checkpoint gets a new generation"
        )
    return (
        f"{user.address} cannot start if it has read later snapshots than that one: Spark does not find its "
        "place then. Its checkpoint needs a new generation"
    )


def _not_confirmed(address: str) -> Diagnostic:
    return error(
        codes.ROLLBACK_NOT_CONFIRMED,
        f"The catalog was asked to roll {address} back, did not confirm it and cannot be read. Run flareiac "
        "apply once it answers, which finds out.",
        address=address,
    )
