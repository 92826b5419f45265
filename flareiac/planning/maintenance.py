"""Finds due maintenance: gathers the holds on each subject, and asks the maintainers. Pure: figures,
observations and time are arguments.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from flareiac.kernel.data import Attributes
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.model.plan import PlannedResource, PlannedTask
from flareiac.model.references import recorded_connections
from flareiac.model.snapshot import ResourceRecord, Snapshot
from flareiac.planning.shared_locations import Holder, neighbours
from flareiac.planning.usages import recorded_usages
from flareiac.sdk.changes import Action, Relation, Usage
from flareiac.sdk.locations import LocationIndex
from flareiac.sdk.maintenance import Hold, LastRun, MaintenanceTask, TasksRequest
from flareiac.sdk.project import Project
from flareiac.sdk.references import References
from flareiac.sdk.requests import Question, ReadRequest
from flareiac.sdk.resource_type import ResourceType
from flareiac.sdk.results import Missing, Observation, Present

KEPT = (Action.NO_OP, Action.RECORD, Action.UPDATE, Action.ADOPT)
"""The actions after which the object is there as before: only such an object can be maintained."""
_HOLDING = (Relation.WRITES, Relation.STREAMS_FROM)


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """The context that all maintenance tasks of one plan share. ``holds`` by subject, ``taken``: who has
    files where, ``time`` in UTC seconds.
    """

    types: Mapping[str, ResourceType]
    holds: Mapping[str, tuple[Hold, ...]]
    taken: LocationIndex[Holder]
    project: Project
    time: float


def holds(
    snapshot: Snapshot,
    observations: Mapping[str, Observation],
    types: Mapping[str, ResourceType],
    references: Mapping[str, References],
    former: Mapping[str, Observation] | None = None,
    coming: Iterable[PlannedResource] = (),
) -> dict[str, tuple[Hold, ...]]:
    """Returns what every recorded resource needs of others, by subject. The needs of a resource that cannot
    be read are unknown, so nothing may be removed for it.

    ``references`` are those of each recorded address. ``former``: what was observed of those that left the
    state, and for which another resource holds on (see ``ResourceRecord.user``), by address. ``coming``: what
    the plan makes.
    """
    holds_of: dict[str, list[Hold]] = {}
    for address, record in snapshot.resources.items():
        if record.type not in types:
            continue
        observed, around = observations.get(address), references.get(address, {})
        if isinstance(observed, Present):
            declared: Iterable[Hold] = types[record.type].relations.holds(
                address, record.attributes, around, observed.facts
            )
        else:
            declared = _unknown(address, recorded_usages(address, record, types, around))
        for hold in (*declared, *_of_user(record, types, former or {})):
            holds_of.setdefault(hold.subject, []).append(hold)
    for resource in coming:
        for hold in _of_coming(resource, snapshot, observations, types):
            holds_of.setdefault(hold.subject, []).append(hold)
    return {subject: tuple(subject_holds) for subject, subject_holds in holds_of.items()}


def _of_user(
    record: ResourceRecord, types: Mapping[str, ResourceType], former: Mapping[str, Observation]
) -> Iterator[Hold]:
    """Yields the holds of the resource that last used a record: it can continue from there, whether its own
    block still exists or not.
    """
    user = record.user
    if user is None or user.type not in types:
        return
    observed = former.get(user.address)
    facts = observed.facts if isinstance(observed, Present | Missing) else None
    for hold in types[user.type].relations.holds(user.address, user.attributes, {}, facts):
        reason = f"{user.address} is no longer declared, and can go on from it: {hold.reason}"
        release = f"remove the block of {record.address}: then nothing is held for it"
        yield replace(hold, holder=record.address, reason=reason, release=release)


def _of_coming(
    planned_resource: PlannedResource,
    snapshot: Snapshot,
    observations: Mapping[str, Observation],
    types: Mapping[str, ResourceType],
) -> Iterator[Hold]:
    """Yields the holds of a resource that is yet to be made: what it reads must not be removed in the
    meantime. If it was observed already, the observed facts give more precise holds.
    """
    if (
        planned_resource.address in snapshot.resources
        or planned_resource.action not in (Action.CREATE, Action.ADOPT)
        or planned_resource.type not in types
    ):
        return
    attributes = planned_resource.proposal.planned or planned_resource.desired or {}
    observed = observations.get(planned_resource.address)
    if isinstance(observed, Present):
        yield from types[planned_resource.type].relations.holds(
            planned_resource.address, attributes, {}, observed.facts
        )
        return
    usages = types[planned_resource.type].relations.usages(planned_resource.address, attributes, {})
    for subject in dict.fromkeys(
        usage.subject for usage in usages if usage.relation is Relation.STREAMS_FROM
    ):
        yield Hold(
            subject=subject,
            holder=planned_resource.address,
            reason="it has not begun, and what expires it would never read",
            unknown=True,
        )


def former_questions(snapshot: Snapshot) -> list[Question]:
    """Returns the questions about resources that left the state and for which another resource still holds
    data.
    """
    questions: list[Question] = []
    for record in snapshot.resources.values():
        if (user := record.user) is not None:
            references = {**recorded_connections(user), record.address: record.referenced()}
            request = ReadRequest(
                address=user.address, desired=None, recorded=user.recorded(), references=references
            )
            questions.append(Question(provider=user.provider, type=user.type, request=request))
    return questions


def _unknown(address: str, usages: Iterable[Usage]) -> Iterator[Hold]:
    for subject in dict.fromkeys(usage.subject for usage in usages if usage.relation in _HOLDING):
        yield Hold(subject=subject, holder=address, reason="its position could not be read", unknown=True)


def wanting(
    planned: Mapping[str, PlannedResource], types: Mapping[str, ResourceType]
) -> dict[str, PlannedResource]:
    """The resources for which maintenance is declared and that are there."""
    planned_resources: dict[str, PlannedResource] = {}
    for address, resource in planned.items():
        maintainer = types[resource.type].maintaining.maintainer
        if (
            maintainer is None
            or resource.observed is None
            or resource.action not in KEPT
            or resource.proposal.blockers
        ):
            continue
        if maintainer().wants(resource.proposal.planned or resource.desired or {}):
            planned_resources[address] = resource
    return planned_resources


def planned_tasks(
    wanted: Mapping[str, PlannedResource],
    figures: Mapping[str, Attributes],
    snapshot: Snapshot,
    references: Mapping[str, References],
    around: Around,
    diagnostics: Diagnostics,
) -> tuple[PlannedTask, ...]:
    """All declared maintenance of the resources that could be measured; complaints of what is due are
    reported.
    """
    due: list[PlannedTask] = []
    for address, resource in wanted.items():
        if address not in figures:
            continue
        record = snapshot.resources.get(address)
        tasks = tasks_of(
            resource, figures[address], record.maintenance if record else {}, references[address], around
        )
        due.extend(PlannedTask(address=address, task=task) for task in tasks)
        diagnostics.extend(each.at(address=address) for task in tasks for each in task.diagnostics)
    return tuple(due)


def tasks_of(
    planned_resource: PlannedResource,
    figures: Attributes,
    runs: Mapping[str, LastRun],
    references: References,
    around: Around,
) -> tuple[MaintenanceTask, ...]:
    """All declared maintenance of one resource, in the order in which it is done."""
    kind, attributes = (
        around.types[planned_resource.type],
        planned_resource.proposal.planned or planned_resource.desired or {},
    )
    maintainer = kind.maintaining.maintainer
    assert maintainer is not None, f"{planned_resource.type} is maintained and has no maintainer"
    own = tuple(
        map(around.project.resolve, kind.locating.own(attributes, planned_resource.identity, around.project))
    )
    return maintainer().tasks(
        TasksRequest(
            address=planned_resource.address,
            attributes=attributes,
            identity=planned_resource.identity,
            figures=figures,
            references=references,
            now_ms=int(around.time * 1000),
            holds=around.holds.get(planned_resource.address, ()),
            runs=runs,
            neighbours=neighbours(planned_resource.address, own, around.taken),
        )
    )
