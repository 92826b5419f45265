"""The ports of an apply: the state, the systems, and the listeners to its events."""

import threading
from collections.abc import Callable, Mapping, Sequence

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.model.conditions import ConditionResult
from flareiac.model.events import Event
from flareiac.model.plan import Plan, PlannedResource
from flareiac.model.remark import Remark
from flareiac.model.snapshot import Snapshot
from flareiac.sdk.driver import Driver
from flareiac.sdk.maintenance import MaintenanceTask, PerformRequest
from flareiac.sdk.project import Project
from flareiac.sdk.requests import ApplyRequest, Question
from flareiac.sdk.resource_type import ResourceType
from flareiac.sdk.results import Observation
from flareiac.sdk.state import Lease, StateStore
from flareiac.sdk.table_tasks import Performed


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One maintenance task of a plan, and the state as it is recorded by now. ``request`` is what a driver
    would be asked about the resource.
    """

    plan: Plan
    resource: PlannedResource
    name: str
    request: ApplyRequest[object]
    snapshot: Snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class MaintenancePorts:
    """The ports of maintenance beside those of every operation.

    ``decide``: the maintenance task as it is now, None where it is no longer declared; raises ``Failure``.
    ``outcome``: what came of one that was asked for, None where that is not known. ``clock`` gives UTC
    seconds.
    """

    decide: Callable[[Asked], MaintenanceTask | None]
    perform: Callable[[PerformRequest], Performed]
    outcome: Callable[[PerformRequest], Performed | None]
    clock: Callable[[], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """The world as an apply sees it. ``observe`` reads the named questions; ``clock`` gives UTC seconds;
    ``seal`` encrypts what an emergency file holds, where the state is encrypted.
    """

    store: StateStore
    lease: Lease
    driver: Callable[[str, str], Driver]
    types: Mapping[str, ResourceType]
    observe: Callable[[Sequence[Question]], Mapping[str, Observation]]
    maintenance: MaintenancePorts
    project: Project
    emit: Callable[[Event], None]
    cancel: threading.Event
    clock: Callable[[], float]
    seal: Callable[[bytes], bytes] = bytes
    conditions: Callable[[Snapshot], Sequence[ConditionResult]] = lambda _snapshot: ()
    """The answers of all conditions, evaluated on a state; raises ``Failure``."""
    remark: Remark | None = None
    """What the command says of itself, for the state."""
