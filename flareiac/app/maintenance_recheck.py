"""Is a planned maintenance task still due, and what does it come to now? Looks again at the resource and at
everything that may hold a part of it.

A plan may be older than what it maintains: figures, holds and the maintenance task itself are of now; only
that something of this name is declared, and its settings, are the plan's.
"""

import time
from dataclasses import replace

from flareiac.app.workspace import Workspace
from flareiac.applying.ports import Asked
from flareiac.kernel import codes
from flareiac.kernel.data import references
from flareiac.kernel.diagnostics import Diagnostic, Failure, Severity, error
from flareiac.model.plan import PlannedResource
from flareiac.model.references import connections_in_use, planned_references, recorded_connections
from flareiac.model.snapshot import ResourceRecord
from flareiac.planning import maintenance as maintaining
from flareiac.planning.measure import Measurement
from flareiac.planning.shared_locations import occupied
from flareiac.planning.usages import recorded_usages
from flareiac.sdk.maintenance import MaintenanceTask, MeasureRequest
from flareiac.sdk.references import References
from flareiac.sdk.requests import Question, ReadRequest
from flareiac.sdk.resource_type import Kind
from flareiac.sdk.results import Observation, Present, Unreadable


class MaintenanceRecheck:
    """Decides for one plan. Safe to use from several threads."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._used: dict[str, tuple[ResourceRecord, frozenset[str]]] = {}

    def decide(self, asked: Asked) -> MaintenanceTask | None:
        """The maintenance task as it is now, None where it is no longer declared. Raises ``Failure``."""
        workspace, snapshot, address = self._workspace, asked.snapshot, asked.resource.address
        types, record = workspace.installed.registry.types, snapshot.resources[address]
        users = {address: record} | {
            other: held for other, held in snapshot.resources.items() if address in self._uses(asked, held)
        }
        users |= {
            other: held
            for other, held in snapshot.resources.items()
            if held.user and address in self._uses(asked, held.user)
        }
        references = {other: _references(asked, held) for other, held in users.items()} | {
            address: asked.request.references
        }
        observed = workspace.observe(
            [_question(user, references[user.address], user.address == address) for user in users.values()]
        )
        itself = observed.get(address)
        if not isinstance(itself, Present):
            raise Failure(_not_there(address, itself))
        resource = replace(asked.resource, identity=itself.identity)
        figures, problems = workspace.measure([self._measurement(asked, resource, record)])
        if address not in figures:
            raise Failure(*(replace(problem, severity=Severity.ERROR) for problem in problems))
        held_by = replace(snapshot, resources=users)
        former = workspace.observe(maintaining.former_questions(held_by))
        coming = [planned for planned in asked.plan.resources if planned.address not in snapshot.resources]
        around = maintaining.Around(
            types=types,
            holds=maintaining.holds(held_by, observed, types, references, former, coming),
            taken=occupied(asked.plan.references, snapshot, observed, types, workspace.project),
            project=workspace.project,
            time=time.time(),
        )
        tasks = maintaining.tasks_of(
            resource, figures[address], record.maintenance, asked.request.references, around
        )
        return next((task for task in tasks if task.name == asked.name), None)

    def _measurement(self, asked: Asked, resource: PlannedResource, record: ResourceRecord) -> Measurement:
        types = self._workspace.installed.registry.types
        dropped, known = asked.snapshot.dropped_by_name(), asked.plan.references
        request = MeasureRequest(
            address=resource.address,
            attributes=resource.proposal.planned or resource.desired or {},
            identity=resource.identity,
            references=asked.request.references,
            dropped={
                name: record.identity for name, record in dropped.items() if record.type == resource.type
            },
            declared={
                name: connection
                for name, connection in known.items()
                if types[connection.type].kind is Kind.CONNECTION
            },
            in_use=connections_in_use(known, asked.snapshot, types, self._workspace.project),
            runs=record.maintenance,
        )
        return Measurement(provider=resource.provider, type=resource.type, request=request)

    def _uses(self, asked: Asked, record: ResourceRecord) -> frozenset[str]:
        """Returns the addresses that a record uses; computed once for as long as the record stays as it
        is.
        """
        known = self._used.get(record.address)
        if known is not None and known[0] is record:
            return known[1]
        types = self._workspace.installed.registry.types
        usages = (
            recorded_usages(record.address, record, types, _references(asked, record))
            if record.type in types
            else ()
        )
        subjects = frozenset(usage.subject for usage in usages)
        self._used[record.address] = record, subjects
        return subjects


def _references(asked: Asked, record: ResourceRecord) -> References:
    """Returns the references of a recorded resource, as the plan knows them, else as they were recorded."""
    start = (*record.dependencies, *references(record.attributes))
    return {**recorded_connections(record), **planned_references(asked.plan, start, asked.snapshot.identity)}


def _question(record: ResourceRecord, references: References, itself: bool) -> Question:
    request = ReadRequest(
        address=record.address,
        desired=record.attributes,
        recorded=record.recorded(),
        references=references,
        cheap=not itself,
    )
    return Question(provider=record.provider, type=record.type, request=request)


def _not_there(address: str, observed: Observation | None) -> Diagnostic:
    if isinstance(observed, Unreadable):
        return observed.diagnostic.at(address=address)
    return error(
        codes.RESOURCE_GONE,
        f"{address} existed when the plan was made; flareiac plan shows what exists now.",
        address=address,
    )
