"""Runs the graph: what is ready runs in parallel, a failure skips its dependents only, cancelling starts
nothing more.

Touches the world through drivers and the recording.
"""

import os
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import field
from functools import partial
from typing import TypeVar

from flareiac.applying.deferred_conditions import DeferredConditions, PostconditionUnmet
from flareiac.applying.maintain import MaintenanceRun, maintain
from flareiac.applying.ports import Ports
from flareiac.applying.requests import change_of, deletion_of, record_of, references_of, request_for
from flareiac.applying.staged_changes import StagedChanges
from flareiac.applying.state_writer import Recording
from flareiac.kernel import codes
from flareiac.kernel.diagnostics import Diagnostic, Failure, error
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.os_errors import first_step
from flareiac.model.conditions import Moment
from flareiac.model.events import Completed, Event, Failed, Progressed, Skipped, Started, is_cancelled
from flareiac.model.intents import StoredRequest, stored_request
from flareiac.model.plan import CHANGE_VERBS, Operation, Plan, PlannedResource, Verb
from flareiac.sdk.actions import Change, Delete, PerformStage, Quiesce
from flareiac.sdk.capabilities import Quiescable, Recoverable, Staged, Undroppable
from flareiac.sdk.driver import Driver
from flareiac.sdk.requests import ApplyRequest
from flareiac.sdk.results import Applied, NotApplied, Outcome
from flareiac.sdk.state import LockLost

ActionT = TypeVar("ActionT")


@dataclass(slots=True)
class Results:
    """The results of an execution, by operation id.

    ``unconfirmed``: operations that the user's own cancelling ended: what they asked for goes on, or is there
    by now. ``unsettled``: operations whose outcome could not be recorded; the journal must stay open for
    them. ``restored``: failed ones after which what was there before was put back. ``unmet``: failed ones
    that did all they were asked for, and whose postcondition does not hold.
    """

    done: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    unconfirmed: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    unsettled: list[str] = field(default_factory=list)
    restored: list[str] = field(default_factory=list)
    unmet: list[str] = field(default_factory=list)
    cancelled: bool = False
    lock_lost: bool = False

    @property
    def incomplete(self) -> bool:
        """Returns True where an operation that was begun is not known to have come to its end."""
        return bool(self.failed or self.unconfirmed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """The inputs of running one plan. ``resumed``: the operations that an interrupted apply of this plan has
    done.
    """

    plan: Plan
    recording: Recording
    ports: Ports
    parallelism: int = 10
    stop_on_error: bool = False
    resumed: frozenset[str] = frozenset()
    staged: StagedChanges


def execute(execution: Execution) -> Results:
    """Runs every operation whose edges allow it. Never raises for what a driver met."""
    tally = Results()
    resources = {resource.address: resource for resource in execution.plan.resources}
    resumed = execution.staged.completed(execution.resumed)
    deferred = DeferredConditions(execution.plan, execution.ports, lambda: execution.recording.snapshot)
    queue = _Queue(execution.plan.operations)
    running: dict[Future[_Answer], Operation] = {}
    emit_lock = threading.Lock()

    def emit(event: Event) -> None:
        with emit_lock:
            execution.ports.emit(event)

    with ThreadPoolExecutor(max_workers=max(1, execution.parallelism), thread_name_prefix="apply") as pool:
        while queue.waiting or running:
            if _starts_no_more(tally, execution):
                _skip(execution, queue.take_all(), _why_no_more(tally, execution), tally, emit)
            # No more than can run now: what waits in the pool could not be held back by a cancel or a
            # failure.
            while len(running) < max(1, execution.parallelism) and (operation := queue.next_ready()):
                if operation.id in resumed and not deferred.awaits(operation, Moment.AFTER):
                    emit(Completed(operation=operation, elapsed=0.0, resumed=True))
                    tally.done.append(operation.id)
                    queue.succeeded(operation)
                else:
                    emit(Started(operation=operation))
                    done_before = operation.id in resumed
                    task = partial(_run, execution, resources[operation.address], operation, emit)
                    running[pool.submit(task, deferred, done_before=done_before)] = operation
            finished, _ = wait(running, return_when=FIRST_COMPLETED, timeout=1.0) if running else ((), ())
            for future in finished:
                _account(execution, queue, running.pop(future), future.result(), tally, emit)
    tally.cancelled = execution.ports.cancel.is_set() and not tally.lock_lost
    return tally


def _starts_no_more(tally: Results, execution: Execution) -> bool:
    stopped = execution.ports.cancel.is_set() or execution.recording.failure is not None
    return stopped or (execution.stop_on_error and tally.incomplete)


def _why_no_more(tally: Results, execution: Execution) -> str:
    if tally.lock_lost:
        return "the state lock was lost"
    if execution.recording.failure is not None:
        return "the state can no longer be written"
    return "the apply was cancelled" if execution.ports.cancel.is_set() else "an earlier operation failed"


class _Queue:
    """The operations that have not started, with what each still waits for: linear in nodes and edges over a
    whole run.
    """

    def __init__(self, operations: Sequence[Operation]) -> None:
        self.waiting = {operation.id: operation for operation in operations}
        self._unmet = {
            operation.id: {edge.after for edge in operation.edges if edge.after in self.waiting}
            for operation in operations
        }
        self._dependents: dict[str, list[str]] = {operation.id: [] for operation in operations}
        for operation_id, needed in self._unmet.items():
            for earlier_id in needed:
                self._dependents[earlier_id].append(operation_id)
        self._ready = deque(operation.id for operation in operations if not self._unmet[operation.id])

    def next_ready(self) -> Operation | None:
        return self.waiting.pop(self._ready.popleft()) if self._ready else None

    def succeeded(self, operation: Operation) -> None:
        for dependent in self._dependents[operation.id]:
            self._unmet[dependent].discard(operation.id)
            if not self._unmet[dependent] and dependent in self.waiting:
                self._ready.append(dependent)

    def take_dependents(self, operation: Operation) -> list[Operation]:
        """Everything that waits for this one, directly or through others; it leaves the queue."""
        taken: list[Operation] = []
        stack = list(self._dependents[operation.id])
        while stack:
            dependent = self.waiting.pop(stack.pop(), None)
            if dependent is not None:
                taken.append(dependent)
                stack.extend(self._dependents[dependent.id])
        return taken

    def take_all(self) -> list[Operation]:
        taken = list(self.waiting.values())
        self.waiting.clear()
        self._ready.clear()
        return taken


def _skip(
    execution: Execution,
    operations: Sequence[Operation],
    reason: str,
    tally: Results,
    emit: Callable[[Event], None],
) -> None:
    for operation in operations:
        if execution.staged.is_open(operation) and (tally.lock_lost or not _given_up(execution, operation)):
            tally.unsettled.append(operation.id)
        tally.skipped.append(operation.id)
        emit(Skipped(operation=operation, reason=reason))


def _given_up(execution: Execution, operation: Operation) -> bool:
    """Ends a change that does not get as far as its own operation: what is there by now is recorded. False
    where that cannot be found out, so that the next apply has to.
    """
    recording = execution.recording
    resource = next(
        resource for resource in execution.plan.resources if resource.address == operation.address
    )
    change = _change(execution, resource, operation)
    request = _request(execution, resource, operation, change, lambda _text: None)
    driver = execution.ports.driver(resource.provider, resource.type)
    try:
        outcome = driver.settle(request) if isinstance(driver, Recoverable) else None
        references, types = request.references, execution.ports.types
        record = None if outcome is None else record_of(resource, outcome, references, types)
        recording.fail(operation.id, resource.address, "a stage before it did not succeed", record)
    except Exception:  # noqa: BLE001 - whatever is wrong with the system or the state, it is asked again later
        return False
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    elapsed: float
    messages: tuple[str, ...] = ()
    diagnostics: tuple[Diagnostic, ...] | None = None
    settled: bool = True
    restored: bool = False
    unmet: bool = False
    lock_lost: bool = False


class _Restored(Failure):
    """An operation failed, and what was there before was put back."""


class Unsettled(Exception):
    """An operation was begun and it is not known how it ended."""

    def __init__(self, diagnostics: tuple[Diagnostic, ...]) -> None:
        super().__init__()
        self.diagnostics = diagnostics


def _account(
    execution: Execution,
    queue: _Queue,
    operation: Operation,
    answer: _Answer,
    tally: Results,
    emit: Callable[[Event], None],
) -> None:
    if answer.diagnostics is None:
        tally.done.append(operation.id)
        emit(Completed(operation=operation, elapsed=answer.elapsed, messages=answer.messages))
        queue.succeeded(operation)
        return
    ended = tally.unconfirmed if is_cancelled(answer.diagnostics) else tally.failed
    ended.append(operation.id)
    if not answer.settled:
        tally.unsettled.append(operation.id)
    if answer.restored:
        tally.restored.append(operation.id)
    if answer.unmet:
        tally.unmet.append(operation.id)
    tally.lock_lost = tally.lock_lost or answer.lock_lost
    tally.diagnostics.extend(answer.diagnostics)
    emit(Failed(operation=operation, elapsed=answer.elapsed, diagnostics=answer.diagnostics))
    _skip(execution, queue.take_dependents(operation), f"{operation.id} did not succeed", tally, emit)


def _run(
    execution: Execution,
    resource: PlannedResource,
    operation: Operation,
    emit: Callable[[Event], None],
    deferred: DeferredConditions,
    *,
    done_before: bool,
) -> _Answer:
    """Carries out one operation between the conditions that were left to the apply. ``done_before``: an
    interrupted apply has done it, and its postcondition is still open.
    """
    started = time.monotonic()

    def elapsed() -> float:
        return time.monotonic() - started

    def progress(message: str) -> None:
        emit(Progressed(operation=operation, message=message, elapsed=elapsed()))

    try:
        if not done_before:
            deferred.check(operation, Moment.BEFORE)
        messages = () if done_before else _perform(execution, resource, operation, progress)
        deferred.check(operation, Moment.AFTER)
    except Failure as failure:
        placed = tuple(diagnostic.at(address=resource.address) for diagnostic in failure.diagnostics)
        return _Answer(
            elapsed=elapsed(),
            diagnostics=placed,
            restored=isinstance(failure, _Restored),
            unmet=isinstance(failure, PostconditionUnmet),
        )
    except Unsettled as problem:
        placed = tuple(diagnostic.at(address=resource.address) for diagnostic in problem.diagnostics)
        return _Answer(elapsed=elapsed(), diagnostics=placed, settled=False)
    except LockLost as lost:
        execution.ports.cancel.set()  # what still runs is not waited for any longer than it must be
        return _Answer(elapsed=elapsed(), diagnostics=(_lock_lost(str(lost)),), settled=False, lock_lost=True)
    except OSError as problem:
        return _Answer(
            elapsed=elapsed(),
            diagnostics=(_state_errors(execution.ports.store.describe(), resource.address, problem),),
            settled=False,
        )
    return _Answer(elapsed=elapsed(), messages=messages)


def _perform(
    execution: Execution, resource: PlannedResource, operation: Operation, progress: Callable[[str], None]
) -> tuple[str, ...]:
    match operation.verb:
        case Verb.FORGET:
            return _forget(execution, resource, operation)
        case Verb.RECORD:
            return _record(execution, resource, operation)
        case Verb.MAINTAIN:
            return _maintain(execution, resource, operation, progress)
        case _:
            return _carry_out(execution, resource, operation, progress)


def _carry_out(
    execution: Execution, resource: PlannedResource, operation: Operation, progress: Callable[[str], None]
) -> tuple[str, ...]:
    """Carries out one operation by a driver: its intent in the journal, then the work, then the result."""
    recording = execution.recording
    action = _action(execution, resource, operation)
    request = _request(execution, resource, operation, action, progress)
    own = execution.staged.own.get(resource.address)
    if own is not None:
        execution.staged.begin(own, recording, lambda: _own_intent(execution, resource, own, progress))
    # The intent of a change with stages is in the journal since its first stage.
    if own is None or own.id != operation.id:
        recording.intend(operation.id, stored_request(request, resource))
    if isinstance(action, PerformStage):
        return _perform_stage(execution, resource, operation, request.with_action(action))
    driver = execution.ports.driver(resource.provider, resource.type)
    outcome = call_driver(driver, request.with_action(action), resource.provider)
    if isinstance(outcome, NotApplied):
        kept = record_of(resource, outcome, request.references, execution.ports.types)
        recording.fail(operation.id, resource.address, _lines(outcome.diagnostics), kept)
        raise (_Restored if outcome.restored else Failure)(*outcome.diagnostics)
    deleted = isinstance(action, Delete)
    nothing = isinstance(action, Quiesce) or (deleted and not outcome.revivable)
    kept = None if nothing else record_of(resource, outcome, request.references, execution.ports.types)
    recording.succeed(operation.id, resource.address, kept, forgotten=deleted)
    return outcome.messages


def _own_intent(
    execution: Execution, resource: PlannedResource, own: Operation, progress: Callable[[str], None]
) -> StoredRequest:
    return stored_request(
        _request(execution, resource, own, _change(execution, resource, own), progress), resource
    )


def _action(
    execution: Execution, resource: PlannedResource, operation: Operation
) -> Change | PerformStage | Delete | Quiesce:
    if operation.verb is Verb.STAGE:
        own = execution.staged.own[resource.address]
        return PerformStage(name=operation.stage, change=_change(execution, resource, own))
    if operation.verb in CHANGE_VERBS:
        return _change(execution, resource, operation)
    record = execution.recording.record(resource.address)
    assert record is not None, "only what is recorded is stopped or deleted"
    if operation.verb is Verb.DELETE:
        return deletion_of(execution.plan, resource, record)
    return Quiesce(recorded=record.recorded())


def _change(execution: Execution, resource: PlannedResource, operation: Operation) -> Change:
    """The change that an operation completes, with what the stages before it have noted by now."""
    recording, stages = execution.recording, execution.staged.stages.get(resource.address, ())
    notes = {stage.stage: recording.note(stage.id) for stage in stages}
    record = recording.record(resource.address)
    return change_of(resource.proposal, operation.verb, record.recorded() if record else None, notes)


def _request(
    execution: Execution,
    resource: PlannedResource,
    operation: Operation,
    action: ActionT,
    progress: Callable[[str], None],
) -> ApplyRequest[ActionT]:
    identities = execution.recording.identity
    return request_for(
        execution.plan, resource, operation, action, identities, execution.ports.cancel, progress
    )


def _perform_stage(
    execution: Execution, resource: PlannedResource, operation: Operation, request: ApplyRequest[PerformStage]
) -> tuple[str, ...]:
    driver = execution.ports.driver(resource.provider, resource.type)
    assert isinstance(driver, Staged), "only a driver that performs stages is planned to"
    try:
        done = driver.perform(request)
    except Exception as problem:
        diagnostics = (
            problem.diagnostics
            if isinstance(problem, Failure)
            else (_provider_bug(resource.provider, problem),)
        )
        execution.recording.fail(operation.id, resource.address, _lines(diagnostics), None)
        raise Failure(*diagnostics) from problem
    execution.recording.stage_done(operation.id, resource.address, done.note)
    return done.messages


def _lines(diagnostics: Sequence[Diagnostic]) -> str:
    return "; ".join(diagnostic.line for diagnostic in diagnostics)


def _maintain(
    execution: Execution, resource: PlannedResource, operation: Operation, progress: Callable[[str], None]
) -> tuple[str, ...]:
    run = MaintenanceRun(
        plan=execution.plan,
        resource=resource,
        operation=operation,
        request=_request(execution, resource, operation, None, progress),
        recording=execution.recording,
        ports=execution.ports,
    )
    try:
        return maintain(run)
    except (Failure, LockLost, OSError):
        raise
    except Exception as bug:
        raise Failure(_provider_bug(resource.provider, bug)) from bug


def call_driver(driver: Driver, request: ApplyRequest[Change | Delete | Quiesce], provider: str) -> Outcome:
    """A driver's answer, also where it raised one. Raises ``Unsettled`` when even reading does not tell what
    was done.
    """
    action = request.action
    try:
        return _ask(driver, request)
    except Failure as failure:
        diagnostics = failure.diagnostics
    except Exception as bug:  # noqa: BLE001 - whatever a provider raises must not keep the other operations from being recorded
        diagnostics = (_provider_bug(provider, bug),)
    if isinstance(action, Quiesce) or not isinstance(driver, Recoverable):
        return NotApplied(diagnostics=diagnostics)
    try:
        outcome = driver.settle(request.with_action(action))
    except Exception as problem:
        raise Unsettled(diagnostics) from problem
    # A deleted resource counts as deleted, whatever the driver raised. A change that raised is reported as
    # failed even if all of it exists; what exists is recorded.
    match outcome:
        case Applied() if isinstance(action, Delete):
            return outcome
        case Applied():
            return NotApplied(
                diagnostics=diagnostics, attributes=outcome.attributes, identity=outcome.identity
            )
        case _:
            return outcome or NotApplied(diagnostics=diagnostics)


def _ask(driver: Driver, request: ApplyRequest[Change | Delete | Quiesce]) -> Outcome:
    match request.action:
        case Delete() as action:
            return driver.delete(request.with_action(action))
        case Quiesce() as action:
            assert isinstance(driver, Quiescable), "only what can be quiesced is planned to be"
            return driver.quiesce(request.with_action(action))
        case action:
            return driver.apply(request.with_action(action))


def _forget(execution: Execution, resource: PlannedResource, operation: Operation) -> tuple[str, ...]:
    # The object no longer exists: its record is kept, because nothing else tells undrop where it was.
    lost = resource.observed is None and isinstance(
        execution.ports.driver(resource.provider, resource.type), Undroppable
    )
    kept = execution.recording.record(resource.address) if lost else None
    execution.recording.succeed(operation.id, resource.address, kept, forgotten=True)
    return ()


def _record(execution: Execution, resource: PlannedResource, operation: Operation) -> tuple[str, ...]:
    recording, computed = execution.recording, execution.ports.types[resource.type].computed
    planned = resource.proposal.planned or {}
    outcome = Applied(
        attributes={name: value for name, value in planned.items() if name not in computed},
        identity={**recording.identity(resource.address), **resource.identity},
    )
    references = references_of(execution.plan, resource, recording.identity)
    kept = record_of(resource, outcome, references, execution.ports.types)
    recording.succeed(operation.id, resource.address, kept)
    return ()


def _provider_bug(provider: str, bug: Exception) -> Diagnostic:
    what = (
        "".join(traceback.format_exception(bug))
        if os.environ.get("FLAREIAC_DEBUG")
        else f"{type(bug).__name__}: {bug}"
    )
    return error(
        codes.PROVIDER_FAILED,
        f"The provider {provider} raised {what.strip()}. This is a bug of the provider, not of your "
        "configuration; please report it together with the output under FLAREIAC_DEBUG=1. What was done is "
        "found out by reading: run flareiac plan to see it.",
    )


def _lock_lost(text: str) -> Diagnostic:
    return error(
        codes.STATE_LOCK_LOST,
        f"Another process took it over, so nothing more is started and nothing more is recorded ({text}). "
        "Run flareiac plan to see what was done, and apply again.",
    )


def _state_errors(where: str, address: str, exc: OSError) -> Diagnostic:
    return error(
        codes.STATE_NOT_WRITTEN,
        f"{where}, while working on {address}: {exc.strerror or exc}. The journal says what was "
        f"begun, and the next apply settles it by reading.{first_step(exc)}",
        address=address,
    )
