"""The state that manages a table, by the lineage that the table carries. Pure.

A table that FlareIaC creates carries the lineage of its state in the key of the operation that created it;
one that is adopted carries it in a property of its own, which counts more. So a block that is pasted into
another project, or a workspace that names the tables of another one, changes nothing that it does not manage.
"""

from collections.abc import Iterator

from flareiac.sdk.changes import Blocker, blocker
from flareiac.sdk.requests import PlanRequest
from flareiac.sdk.takeover import takes_over, ways_out
from flareiac_iceberg import codes
from flareiac_iceberg.format.metadata import Manager
from flareiac_iceberg.format.spec import TableDefinition
from flareiac_iceberg.table.changes import TakeOver
from flareiac_iceberg.table.observed import ObservedTable


def other_manager(request: PlanRequest, observed: ObservedTable) -> str:
    """The lineage of another state that manages the table; empty where none does, as far as is known."""
    manager = observed.facts.manager
    if manager is None:
        return ""
    return another_state(manager, request.project.lineage, recorded=request.recorded is not None)


def another_state(manager: Manager, own: str, *, recorded: bool) -> str:
    """The lineage of the state that manages a table where it is not ``own``. ``recorded``: whether the own
    state has the table. Empty where no other state manages it, or where the own lineage is not known yet.
    """
    # An early version did not mark what it adopted.
    lineage = manager.marked if recorded else manager.lineage
    return lineage if own and lineage != own else ""


def managed_elsewhere(
    request: PlanRequest, table: TableDefinition, observed: ObservedTable
) -> tuple[Blocker, ...]:
    """A blocker where another state manages the table, and no import block takes it over."""
    other = other_manager(request, observed)
    if not other or takes_over(request):
        return ()
    name = table.import_id
    detail = f"{name} is managed by the state {other}, and this one is {request.project.lineage}."
    if request.recorded is None:
        why = "It belongs to another project, to another workspace, or to a state that was lost."
    else:
        why = "That state has taken it over."
    ways = ways_out(request, name, "give the block another name, namespace or catalog")
    return (blocker(codes.MANAGED_ELSEWHERE, f"{detail} {why}", ways),)


def taken_over(request: PlanRequest, observed: ObservedTable) -> Iterator[str]:
    """That another state has taken over a table of this one, as a change behind the team's back."""
    if request.recorded is not None and (other := other_manager(request, observed)):
        yield f"the state {other} has taken the table over"


def taking_over(request: PlanRequest, observed: ObservedTable) -> Iterator[TakeOver]:
    """The change that makes this state the one that manages the table which it adopts."""
    manager, own = observed.facts.manager, request.project.lineage
    if manager is None or not own or not request.importing or manager.lineage == own:
        return
    other = other_manager(request, observed)
    if not other or takes_over(request):
        yield TakeOver(old=other, new=own)
