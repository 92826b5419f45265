"""The use cases of ``apply`` and ``destroy``: under the lock, plan (or take the saved plan), ask, carry
out.
"""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import StrEnum

from flareiac.app.bench import Bench
from flareiac.app.locate import located
from flareiac.app.lock import locked
from flareiac.app.plan import PlanReport, PlanRequest, plan
from flareiac.app.upkeep import Deciding
from flareiac.applying.apply import Ports, Report, settle_open
from flareiac.applying.apply import apply as carry_out
from flareiac.applying.maintain import Upkeep
from flareiac.config.load import Configuration
from flareiac.kernel import codes
from flareiac.kernel.data import is_known
from flareiac.kernel.diagnostics import Diagnostics, Failure, error
from flareiac.model.desired import OutputValue
from flareiac.model.events import Event
from flareiac.model.plan import Plan
from flareiac.model.snapshot import Snapshot
from flareiac.sdk.state import Conflict, Damaged, Lease, LockLost


class End(StrEnum):
    """How an apply ended."""

    NOTHING_TO_DO = "nothing to do"
    INVALID = "invalid"
    BLOCKED = "blocked"
    DECLINED = "declined"
    STALE = "stale"
    DONE = "done"
    PARTLY = "partly"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplyReport:
    """What came of it. ``planned`` holds the plan, its complaints and the texts they point into."""

    end: End
    planned: PlanReport
    report: Report = field(default_factory=Report)

    @property
    def begun(self) -> bool:
        """Whether there is something to sum up: operations were started or skipped, or there was nothing left
        to do.
        """
        tally = self.report.tally
        return bool(tally.done or tally.failed or tally.skipped) or self.end in (End.NOTHING_TO_DO, End.DONE)

    @property
    def outputs(self) -> Mapping[str, OutputValue]:
        """The outputs as they are now: recorded, or as far as the plan knows them."""
        if self.report.snapshot is not None:
            return self.report.snapshot.outputs
        assert self.planned.plan is not None, "an apply that has begun has a plan"
        changes = self.planned.plan.outputs
        found = {
            name: item.before if self.report.tally.failed else item.after for name, item in changes.items()
        }
        return {name: item for name, item in found.items() if item is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Conduct:
    """How an apply goes about it. ``approve`` is asked with the plan before anything happens."""

    approve: Callable[[PlanReport], bool]
    emit: Callable[[Event], None]
    cancel: threading.Event
    lock_timeout: float = 0.0
    parallelism: int = 10
    stop_on_error: bool = False


def apply_fresh(bench: Bench, request: PlanRequest, conduct: Conduct) -> ApplyReport:
    """Plans under the lock, asks, and carries the plan out."""
    operation = "destroy" if request.options.destroy else "apply"
    with locked(bench, operation, conduct.lock_timeout, conduct.emit) as lease, _state_trouble():
        loaded = bench.load_state()
        bench.recover(loaded.snapshot)
        loaded = settle_open(_ports(bench, lease, conduct), loaded)
        planned = plan(bench, request, loaded=loaded)
        early = _early_end(planned)
        if early is not None:
            return ApplyReport(end=early, planned=planned)
        if not conduct.approve(planned):
            return ApplyReport(end=End.DECLINED, planned=planned)
        assert planned.plan is not None, "a plan without errors exists"
        return _carry_out(bench, planned, planned.plan, lease, conduct, saved=False)


def apply_saved(bench: Bench, saved: Plan, conduct: Conduct) -> ApplyReport:
    """Carries out a saved plan, or goes on with it where an interrupted apply left off. Decides nothing."""
    planned = PlanReport(plan=saved, diagnostics=Diagnostics(), sources={})
    early = _early_end(planned)
    if early is not None:
        return ApplyReport(end=early, planned=planned)
    bench.lineage = saved.lineage
    if not conduct.approve(planned):
        return ApplyReport(end=End.DECLINED, planned=planned)
    with locked(bench, "apply", conduct.lock_timeout, conduct.emit) as lease, _state_trouble():
        return _carry_out(bench, planned, saved, lease, conduct, saved=True)


def _early_end(planned: PlanReport) -> End | None:
    if planned.plan is None or planned.plan.errored or planned.diagnostics.has_errors:
        return End.INVALID
    if planned.plan.blocked:
        return End.BLOCKED
    return End.NOTHING_TO_DO if planned.plan.empty else None


@contextmanager
def _state_trouble() -> Iterator[None]:
    """Trouble with the state before the first side effect, as diagnostics."""
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
    except OSError as trouble:
        raise Failure(
            error(
                codes.STATE_NOT_WRITTEN, f"{trouble.strerror or trouble}. Make room or restore access first."
            )
        ) from trouble


def _ports(bench: Bench, lease: Lease, conduct: Conduct) -> Ports:
    return Ports(
        store=bench.store,
        lease=lease,
        driver=bench.driver,
        types=bench.installed.registry.types,
        observe=bench.observe,
        upkeep=Upkeep(
            decide=Deciding(bench).decide, perform=bench.perform, outcome=bench.outcome, clock=time.time
        ),
        project=bench.project,
        emit=conduct.emit,
        cancel=conduct.cancel,
        clock=time.time,
    )


def _carry_out(
    bench: Bench, planned: PlanReport, chosen: Plan, lease: Lease, conduct: Conduct, *, saved: bool
) -> ApplyReport:
    report = carry_out(
        chosen,
        _ports(bench, lease, conduct),
        _outputs(bench, chosen),
        saved=saved,
        parallelism=conduct.parallelism,
        stop_on_error=conduct.stop_on_error,
    )
    end = _end(report)
    configuration = _configuration_of(bench, planned, chosen) if report.diagnostics else None
    if configuration is not None:
        placed = tuple(located(item, configuration.desired) for item in report.diagnostics)
        planned, report = replace(planned, sources=configuration.sources), replace(report, diagnostics=placed)
    return ApplyReport(end=end, planned=planned, report=report)


def _configuration_of(bench: Bench, planned: PlanReport, chosen: Plan) -> Configuration | None:
    """The configuration that a plan was made from, while it is still what the files say."""
    if planned.configuration is not None:
        return planned.configuration
    diagnostics = Diagnostics()
    try:
        configuration = bench.load_configuration(bench.load_state().snapshot, diagnostics)
    except (Failure, Damaged, OSError):  # the complaints are reported without their places then
        return None
    return (
        None
        if diagnostics.has_errors or configuration.desired.digest != chosen.configuration
        else configuration
    )


def _end(report: Report) -> End:
    tally = report.tally
    if report.stale:
        return End.STALE
    if tally.cancelled:
        return End.CANCELLED
    if tally.failed:
        return End.PARTLY if tally.done or tally.restored else End.FAILED
    return End.FAILED if report.snapshot is None else End.DONE


def _outputs(bench: Bench, chosen: Plan) -> Callable[[Snapshot], Mapping[str, OutputValue]]:
    """The outputs after an apply: as planned where they were known, evaluated again where the same
    configuration is still there.
    """

    def evaluate(snapshot: Snapshot) -> Mapping[str, OutputValue]:
        wanted = {name: change.after for name, change in chosen.outputs.items() if change.after is not None}
        if all(is_known(output.value) for output in wanted.values()):
            return wanted
        diagnostics = Diagnostics()
        configuration = bench.load_configuration(snapshot, diagnostics, data=bench.read_data)
        if not diagnostics.has_errors and configuration.desired.digest == chosen.configuration:
            fresh = {
                name: replace(item, description=None) for name, item in configuration.desired.outputs.items()
            }
            wanted |= {name: item for name, item in fresh.items() if is_known(item.value)}
        return {name: output for name, output in wanted.items() if is_known(output.value)}

    return evaluate
