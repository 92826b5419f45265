"""The use cases of ``apply`` and ``destroy``: under the lock, plan (or take the saved plan), ask, carry
out.
"""

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from enum import StrEnum

from flareiac.app.machine_needs import lacking
from flareiac.app.maintenance_recheck import MaintenanceRecheck
from flareiac.app.misshapen_parts import misshapen_plan
from flareiac.app.plan import PlanReport, PlanRequest, Refresh, plan
from flareiac.app.plan_origin import check_origin
from flareiac.app.protection import with_approvals
from flareiac.app.prove import Asking, ask, plan_with, provable, with_learned
from flareiac.app.source_spans import with_spans
from flareiac.app.state.lock import locked
from flareiac.app.state.recover import recover_waiting
from flareiac.app.state.single_operation import LockedState, write_state
from flareiac.app.state_place.seen import note_seen
from flareiac.app.workspace import Workspace
from flareiac.applying.apply import Report, settle_open, waiting_notes
from flareiac.applying.apply import apply as carry_out
from flareiac.applying.ports import MaintenancePorts, Ports
from flareiac.config.load import Configuration
from flareiac.kernel import codes
from flareiac.kernel.data import is_known
from flareiac.kernel.diagnostics import Diagnostic, Diagnostics, Failure, error
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.os_errors import first_step
from flareiac.model.conditions import ConditionResult, left_to_apply
from flareiac.model.desired import OutputValue
from flareiac.model.events import Event, Note
from flareiac.model.plan import Plan
from flareiac.model.policy import Answer, Enforcement
from flareiac.model.renaming import by_old_address
from flareiac.model.snapshot import Snapshot
from flareiac.sdk.capabilities import Preflight
from flareiac.sdk.changes import Effect
from flareiac.sdk.state import Conflict, Damaged, Lease, LockLost
from flareiac.state.read import Loaded


class ApplyOutcome(StrEnum):
    """The end of an apply."""

    NOTHING_TO_DO = "nothing to do"
    INVALID = "invalid"
    BLOCKED = "blocked"
    DECLINED = "declined"
    STALE = "stale"
    REFUTED = "refuted"
    """A change is not what the plan took it for. Nothing was done; the next plan says what it is."""
    REFUTED_AND_BLOCKED = "refuted and blocked"
    """The same, and the next plan is blocked by it."""
    DONE = "done"
    PARTLY = "partly"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplyReport:
    """The result of an apply. ``planned`` holds the plan, its diagnostics and the texts they point into."""

    end: ApplyOutcome
    planned: PlanReport
    report: Report = field(default_factory=Report)

    @property
    def begun(self) -> bool:
        """Returns True if there is something to sum up: operations were started or skipped, or there was
        nothing left to do.
        """
        tally = self.report.tally
        return bool(tally.done or tally.incomplete or tally.skipped) or self.end in (
            ApplyOutcome.NOTHING_TO_DO,
            ApplyOutcome.DONE,
        )

    @property
    def outputs(self) -> Mapping[str, OutputValue]:
        """The outputs as they are now: recorded, or as far as the plan knows them."""
        if self.report.snapshot is not None:
            return self.report.snapshot.outputs
        assert self.planned.plan is not None, "an apply that has begun has a plan"
        changes = self.planned.plan.outputs
        incomplete = self.report.tally.incomplete
        outputs = {name: change.before if incomplete else change.after for name, change in changes.items()}
        return {name: output for name, output in outputs.items() if output is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplyOptions:
    """The options of an apply. ``approve`` is called with the plan before anything happens."""

    approve: Callable[[PlanReport], bool]
    emit: Callable[[Event], None]
    cancel: threading.Event
    lock_timeout: float = 0.0
    parallelism: int = 10
    stop_on_error: bool = False


def apply_fresh(workspace: Workspace, request: PlanRequest, conduct: ApplyOptions) -> ApplyReport:
    """Plans under the lock, asks, and carries the plan out."""
    operation = "destroy" if request.options.destroy else "apply"
    with locked(workspace, operation, conduct.lock_timeout, conduct.emit) as lease, _state_errors(workspace):
        recover_waiting(workspace, lease, conduct.emit)
        loaded = workspace.load_state()
        workspace.recover(loaded.snapshot)
        loaded = settle_open(_ports(workspace, lease, conduct), loaded)
        planned = _startable(workspace, plan(workspace, request, loaded=loaded))
        if planned.plan is not None and (asked := provable(planned.plan)):
            state = LockedState(workspace=workspace, lease=lease, loaded=loaded)
            planned = _proven_first(request, planned, asked, state, conduct)
        early = _early_end(planned)
        if early is ApplyOutcome.NOTHING_TO_DO:
            _note_environment(workspace, planned, loaded, lease)
        if early is not None:
            return ApplyReport(end=early, planned=planned)
        if not conduct.approve(planned):
            return ApplyReport(end=ApplyOutcome.DECLINED, planned=planned)
        assert planned.plan is not None, "a plan without errors exists"
        unseen = request.refresh is Refresh.NONE
        return _carry_out(workspace, planned, planned.plan, lease, conduct, recheck=unseen)


def _startable(workspace: Workspace, planned: PlanReport) -> PlanReport:
    """The report of an invalid plan where this machine lacks something for what the plan starts: that is said
    before the plan is shown and asked for. A saved plan was approved, and may be stale: its drivers say it
    before the first effect.
    """
    problems = lacking(workspace, planned.plan) if planned.plan is not None else ()
    if not problems:
        return planned
    diagnostics = Diagnostics()
    diagnostics.extend(planned.diagnostics)
    diagnostics.extend(with_spans(problems, planned.configuration))
    return replace(planned, plan=None, diagnostics=diagnostics)


def _proven_first(
    request: PlanRequest, planned: PlanReport, asked: Sequence[str], state: LockedState, conduct: ApplyOptions
) -> PlanReport:
    """The plan that is left of one which is blocked for want of proofs. They are recorded, also those that
    leave it blocked: neither is asked for twice.
    """
    assert planned.plan is not None, "it is blocked"
    assert planned.inputs is not None, "it was made here"
    workspace, snapshot, moves = state.workspace, planned.inputs.snapshot, planned.plan.moves
    conduct.emit(Note(message=f"Checking {', '.join(asked)} (nothing is changed yet)..."))
    asking = Asking(locally=False, progress=waiting_notes(conduct.emit), cancel=conduct.cancel)
    proofs = ask(workspace, planned.plan, snapshot, asking, only=asked)
    if proofs.learned or proofs.left:
        learned, left = by_old_address(proofs.learned, moves), by_old_address(proofs.left, moves)
        write_state(state, with_learned(state.snapshot, learned, left))
        snapshot = workspace.load_state().snapshot
    return plan_with(workspace, request, planned, proofs, snapshot)


def _note_environment(workspace: Workspace, planned: PlanReport, loaded: Loaded, lease: Lease) -> None:
    """Records where this apply came from, although it changes nothing else: later plans compare with it."""
    applied = planned.plan.applied if planned.plan is not None else None
    if applied is None or loaded.revision is None or applied == loaded.snapshot.applied:
        return
    state = LockedState(workspace=workspace, lease=lease, loaded=loaded)
    write_state(state, replace(loaded.snapshot, applied=applied))


def allow_saved(workspace: Workspace, saved: Plan, environment: Mapping[str, str]) -> None:
    """Raises ``Failure`` for a saved plan that a protected workspace does not take."""
    if workspace.guard is None:
        return
    workspace.guard = replace(workspace.guard, saved=True)
    with _state_errors(workspace):
        snapshot = workspace.load_state().snapshot
    workspace.guard = with_approvals(workspace.guard, saved, snapshot, environment)


def apply_saved(workspace: Workspace, saved: Plan, file: str, conduct: ApplyOptions) -> ApplyReport:
    """Carries out a plan that was saved in ``file``, or goes on with it where an interrupted apply left off.
    Decides nothing.
    """
    if why := misshapen_plan(saved, workspace.installed.registry):
        way_out = f"Nothing was changed. Make the plan again: flareiac plan -out={file}."
        raise Failure(error(codes.NOT_A_PLAN_FILE, f"{file}: {why}. {way_out}"))
    planned = PlanReport(plan=saved, diagnostics=Diagnostics(), sources={})
    if (ended := _ended_exception(saved, file)) is not None:
        planned.diagnostics.add(ended)
        return ApplyReport(end=ApplyOutcome.BLOCKED, planned=planned)
    early = _early_end(planned)
    check_origin(workspace, saved)
    _check_decidable(workspace, saved, file)
    workspace.lineage = saved.lineage
    if early is ApplyOutcome.NOTHING_TO_DO and _is_interrupted(workspace, saved):
        # An interrupted apply has done all that was left to do; only its results are not recorded.
        with (
            locked(workspace, "apply", conduct.lock_timeout, conduct.emit) as lease,
            _state_errors(workspace),
        ):
            recover_waiting(workspace, lease, conduct.emit)
            settle_open(_ports(workspace, lease, conduct), workspace.load_state())
    if early is not None:
        return ApplyReport(end=early, planned=planned)
    if not conduct.approve(planned):
        return ApplyReport(end=ApplyOutcome.DECLINED, planned=planned)
    with locked(workspace, "apply", conduct.lock_timeout, conduct.emit) as lease, _state_errors(workspace):
        recover_waiting(workspace, lease, conduct.emit)
        return _carry_out(workspace, planned, saved, lease, conduct, recheck=True)


def _is_interrupted(workspace: Workspace, saved: Plan) -> bool:
    with _state_errors(workspace):
        loaded = workspace.load_state()
    return loaded.recovered.interrupted is not None and loaded.snapshot.lineage == saved.lineage


def _ended_exception(saved: Plan, file: str) -> Diagnostic | None:
    """The error where an exception that the plan needs has expired since it was made."""
    if saved.policy is None or saved.policy.until is None or time.time() < saved.policy.until:
        return None
    ended = ", ".join(
        f"{each.name} for {each.address or 'the plan'} ({each.expires})"
        for each in saved.policy.findings
        if each.answer is Answer.EXCEPTED and each.enforcement is Enforcement.MANDATORY
    )
    why = f"It was made with exceptions that have ended: {ended}. Plan again: flareiac plan -out={file}."
    return error(codes.EXCEPTION_EXPIRED, why)


def _early_end(planned: PlanReport) -> ApplyOutcome | None:
    if planned.plan is None or planned.plan.errored or planned.diagnostics.has_errors:
        return ApplyOutcome.INVALID
    if planned.plan.blocked or planned.plan.is_refused:
        return ApplyOutcome.BLOCKED
    return ApplyOutcome.NOTHING_TO_DO if planned.plan.empty else None


@contextmanager
def _state_errors(workspace: Workspace) -> Iterator[None]:
    """ErrorKind with the state before the first side effect, as diagnostics."""
    try:
        yield
    except Damaged as problem:
        raise Failure(error(codes.STATE_UNREADABLE, f"{problem.where}: {problem.why}.")) from problem
    except (Conflict, LockLost) as problem:
        raise Failure(
            error(
                codes.STATE_CHANGED_MEANWHILE,
                f"{problem}. Run the command again; it plans with what is there now.",
            )
        ) from problem
    except BrokenPipeError:
        raise  # about the output, not about the state
    except OSError as failure:
        raise Failure(
            error(
                codes.STATE_NOT_WRITTEN,
                f"{workspace.store.describe()}: {failure.strerror or failure}.{first_step(failure)}",
            )
        ) from failure


def _ports(workspace: Workspace, lease: Lease, conduct: ApplyOptions) -> Ports:
    return Ports(
        store=workspace.store,
        lease=lease,
        driver=workspace.driver,
        types=workspace.installed.registry.types,
        observe=workspace.observe,
        maintenance=MaintenancePorts(
            decide=MaintenanceRecheck(workspace).decide,
            perform=workspace.perform,
            outcome=workspace.outcome,
            clock=time.time,
        ),
        project=workspace.project,
        emit=conduct.emit,
        cancel=conduct.cancel,
        clock=time.time,
        seal=workspace.seal,
        remark=None if workspace.guard is None else workspace.guard.remark,
    )


def _carry_out(
    workspace: Workspace,
    planned: PlanReport,
    chosen: Plan,
    lease: Lease,
    conduct: ApplyOptions,
    *,
    recheck: bool,
) -> ApplyReport:
    report = carry_out(
        chosen,
        replace(_ports(workspace, lease, conduct), conditions=_conditions(workspace, chosen)),
        _outputs(workspace, chosen),
        recheck=recheck,
        parallelism=conduct.parallelism,
        stop_on_error=conduct.stop_on_error,
    )
    end = _end(report, chosen)
    if report.refuted.refuted or report.refuted.left:
        _note_refuted(workspace, report.refuted, chosen.moves, lease)
    if report.snapshot is not None:
        note_seen(workspace.place, workspace.workspace, report.snapshot.lineage)
    configuration = _configuration_of(workspace, planned, chosen) if report.diagnostics else None
    if configuration is not None:
        placed = with_spans(report.diagnostics, configuration)
        planned, report = replace(planned, sources=configuration.sources), replace(report, diagnostics=placed)
    return ApplyReport(end=end, planned=planned, report=report)


def _note_refuted(workspace: Workspace, outcome: Preflight, moves: Mapping[str, str], lease: Lease) -> None:
    """Records what was learned of resources that stay as they are. The journal of an interrupted apply is
    kept instead, which a new snapshot would end: its next attempt asks again.
    """
    loaded = workspace.load_state()
    if loaded.recovered.interrupted is None:
        state = LockedState(workspace=workspace, lease=lease, loaded=loaded)
        refuted, left = by_old_address(outcome.refuted, moves), by_old_address(outcome.left, moves)
        write_state(state, with_learned(state.snapshot, refuted, left))


def _configuration_of(workspace: Workspace, planned: PlanReport, chosen: Plan) -> Configuration | None:
    """The configuration that a plan was made from, while it is still what the files say."""
    if planned.configuration is not None:
        return planned.configuration
    diagnostics = Diagnostics()
    try:
        configuration = workspace.load_configuration(workspace.load_state().snapshot, diagnostics)
    except (Failure, Damaged, OSError):  # the complaints are reported without their places then
        return None
    return (
        None
        if diagnostics.has_errors or configuration.desired.digest != chosen.configuration
        else configuration
    )


def _end(report: Report, plan: Plan) -> ApplyOutcome:
    """A change that failed is not partly applied by its own stages, unless they destroyed something."""
    tally = report.tally
    if report.stale:
        return ApplyOutcome.STALE
    if report.refuted.refuted or report.refuted.left:
        return ApplyOutcome.REFUTED_AND_BLOCKED if report.refuted.blocks else ApplyOutcome.REFUTED
    if tally.cancelled:
        return ApplyOutcome.CANCELLED
    if report.unmet:
        return ApplyOutcome.PARTLY
    if tally.incomplete:
        return ApplyOutcome.PARTLY if _left_changed(plan, report) else ApplyOutcome.FAILED
    return ApplyOutcome.FAILED if report.snapshot is None else ApplyOutcome.DONE


def _left_changed(plan: Plan, report: Report) -> bool:
    """Returns True if an apply with failures has left something that was not so before."""
    tally = report.tally
    operations = {operation.id: operation for operation in plan.operations}
    failed = {operations[operation_id].address for operation_id in (*tally.failed, *tally.unconfirmed)}
    done = [operations[operation_id] for operation_id in tally.done]
    return bool(tally.restored or tally.unmet) or any(
        not operation.stage or operation.address not in failed or operation.effect is Effect.LOSES_DATA
        for operation in done
    )


def _conditions(workspace: Workspace, chosen: Plan) -> Callable[[Snapshot], Sequence[ConditionResult]]:
    """The answers of the conditions of the configuration that a plan was made from; none where the files are
    others by now (``_check_decidable`` has refused a plan that needs them).
    """

    def evaluate(snapshot: Snapshot) -> Sequence[ConditionResult]:
        diagnostics = Diagnostics()
        configuration = workspace.load_configuration(snapshot, diagnostics, data=workspace.read_data)
        if configuration.desired.digest != chosen.configuration:
            return ()
        if diagnostics.has_errors:
            raise Failure(*diagnostics, sources=configuration.sources)
        return configuration.desired.conditions

    return evaluate


def _check_decidable(workspace: Workspace, saved: Plan, file: str) -> None:
    """Raises ``Failure`` for a saved plan that leaves conditions to its apply, where the files are no longer
    those that it was made from.
    """
    deferred = left_to_apply(saved.conditions)
    if not deferred or saved.empty:
        return
    diagnostics = Diagnostics()
    configuration = workspace.load_configuration(
        workspace.load_state().snapshot, diagnostics, data=workspace.read_data
    )
    if configuration.desired.digest == saved.configuration:
        return
    first = deferred[0]
    why = (
        f"The {first.moment} of {first.address} is decided while the plan is applied, and the files here are "
        f"not those that it was made from. Nothing was changed. Plan again: flareiac plan -out={file}."
    )
    raise Failure(error(codes.CONDITION_LEFT_OPEN, why))


def _outputs(workspace: Workspace, chosen: Plan) -> Callable[[Snapshot], Mapping[str, OutputValue]]:
    """The outputs after an apply: as planned where they were known, evaluated again where the same
    configuration is still there.
    """

    def evaluate(snapshot: Snapshot) -> Mapping[str, OutputValue]:
        wanted = {name: change.after for name, change in chosen.outputs.items() if change.after is not None}
        if all(is_known(output.value) for output in wanted.values()):
            return wanted
        diagnostics = Diagnostics()
        configuration = workspace.load_configuration(snapshot, diagnostics, data=workspace.read_data)
        if not diagnostics.has_errors and configuration.desired.digest == chosen.configuration:
            # Known values stay as planned, whatever a data block says by now: resources were made from them
            wanted |= {
                name: replace(output, description=None)
                for name, output in configuration.desired.outputs.items()
                if name not in wanted or not is_known(wanted[name].value)
            }
        return {name: output for name, output in wanted.items() if is_known(output.value)}

    return evaluate
