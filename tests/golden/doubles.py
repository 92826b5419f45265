"""Applies a golden case's plan to a world of doubles, which become what is planned. Touches nothing real."""

import threading
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from flareiac.applying.apply import Report, apply
from flareiac.applying.ports import Asked, MaintenancePorts, Ports
from flareiac.kernel.codes import Code
from flareiac.kernel.data import Attributes
from flareiac.kernel.diagnostics import error
from flareiac.model.events import Completed, Event, Failed, Progressed
from flareiac.model.plan import Plan
from flareiac.planning.make_plan import Inputs
from flareiac.sdk.actions import Delete, PerformStage, Quiesce
from flareiac.sdk.maintenance import MaintenanceTask, PerformRequest
from flareiac.sdk.requests import ApplyRequest, ChangeRequest, ReadRequest
from flareiac.sdk.results import Applied, NotApplied, Observation, Outcome, StageDone
from flareiac.sdk.table_tasks import Performed
from flareiac.state.places import encode_state
from tests.golden.observed import identity
from tests.state.memory_store import MemoryStore

_REFUSED = Code("DBL001", "The change was refused")


@dataclass(frozen=True, slots=True, kw_only=True)
class Double:
    """A driver whose resources become what is planned, unless they are to fail."""

    inputs: Inputs
    fails: Collection[str] = ()

    def read(self, request: ReadRequest) -> Observation:
        return self.inputs.observations[request.address]

    def apply(self, request: ChangeRequest) -> Outcome:
        planned = request.action.planned
        if request.address in self.fails:
            return NotApplied(
                diagnostics=(error(_REFUSED, "The double refuses it.", address=request.address),)
            )
        return Applied(attributes=planned, identity=self._identity(request.address, planned))

    def perform(self, request: ApplyRequest[PerformStage]) -> StageDone:
        return StageDone(note={"stage": request.action.name})

    def delete(self, request: ApplyRequest[Delete]) -> Outcome:
        return Applied(attributes={}, identity={})

    def quiesce(self, request: ApplyRequest[Quiesce]) -> Outcome:
        recorded = request.action.recorded
        return Applied(attributes=recorded.attributes, identity=recorded.identity)

    def _identity(self, address: str, attributes: Attributes) -> Attributes:
        return getattr(self.inputs.observations[address], "identity", {}) | identity(address, attributes, {})


def apply_to_doubles(
    plan: Plan, inputs: Inputs, emit: Callable[[Event], None], *, fails: Collection[str] = ()
) -> Report:
    """Carries out a plan, one operation after the other; no event says that time has passed."""
    store = MemoryStore()
    lease = store.lock("apply", timeout=0.0, on_wait=print)
    store.write_snapshot(encode_state(inputs.snapshot, str(inputs.project.root)), expect=None, lease=lease)
    driver = Double(inputs=inputs, fails=fails)

    def decide(asked: Asked) -> MaintenanceTask | None:
        found = (
            item.task
            for item in plan.due
            if (item.address, item.task.name) == (asked.resource.address, asked.name)
        )
        return next(found, None)

    def perform(request: PerformRequest) -> Performed:
        forecast = next(item.task.forecast for item in plan.due if item.task.id == request.key)
        return Performed(result=dict(forecast))

    def clock() -> float:
        return inputs.time

    ports = Ports(
        store=store,
        lease=lease,
        driver=lambda _provider, _type: driver,
        types=inputs.types,
        observe=lambda questions: {item.request.address: driver.read(item.request) for item in questions},
        maintenance=MaintenancePorts(
            decide=decide, perform=perform, outcome=lambda _request: None, clock=clock
        ),
        project=inputs.project,
        emit=lambda event: emit(_without_time(event)),
        cancel=threading.Event(),
        clock=clock,
    )
    return apply(plan, ports, lambda _snapshot: {}, recheck=False, parallelism=1)


def _without_time(event: Event) -> Event:
    return replace(event, elapsed=0.0) if isinstance(event, Progressed | Completed | Failed) else event
