"""The output of an apply while it runs: as text for people, or as JSON, one object a line."""

import threading
from typing import Protocol

import flareiac
from flareiac.app.apply import ApplyOutcome, ApplyReport
from flareiac.app.plan import PlanReport
from flareiac.cli.complaints import complain
from flareiac.cli.plan_options import DisplayOptions
from flareiac.cli.plan_output import print_report, print_report_json
from flareiac.cli.terminal import Terminal
from flareiac.model.events import Completed, Event, Failed, Skipped
from flareiac.model.plan import Plan
from flareiac.render.apply_text import (
    EndedOperations,
    apply_summary,
    cancelled_text,
    event_line,
    stale_diagnostic,
    stale_text,
)
from flareiac.render.counts import EndedChanges
from flareiac.render.ui_json import (
    diagnostic_record,
    event_record,
    outputs_record,
    summary_record,
    version_line,
)

_ENDED_BEFORE = (ApplyOutcome.INVALID, ApplyOutcome.BLOCKED)
"""Ends whose complaints are those of the plan."""


class ApplyOutput(Protocol):
    """The output of an apply, in this order."""

    def plan(self, planned: PlanReport) -> None:
        """Shows the plan that is about to be carried out, or the reason that none is."""

    def begin(self, plan: Plan) -> None:
        """The plan is approved and is carried out from now on."""

    def event(self, event: Event) -> None:
        """Shows an event."""

    def close(self) -> None:
        """Nothing more happens."""

    def conclusion(self, report: ApplyReport) -> None:
        """Shows the end of the apply."""


class TextOutput:
    """For people."""

    def __init__(self, terminal: Terminal, display: DisplayOptions) -> None:
        self._terminal, self._display = terminal, display

    def plan(self, planned: PlanReport) -> None:
        print_report(self._terminal, planned, self._display)

    def begin(self, plan: Plan) -> None:
        pass

    def event(self, event: Event) -> None:
        line = event_line(event, colour=self._terminal.colour())
        if line is not None:
            self._terminal.out(line)

    def close(self) -> None:
        pass

    def conclusion(self, report: ApplyReport) -> None:
        terminal, applied = self._terminal, report.report
        if report.end is ApplyOutcome.STALE:
            terminal.say(stale_text(_stale_rows(report)))
        if report.end not in _ENDED_BEFORE:
            complain(
                terminal,
                [diagnostic for diagnostic in applied.diagnostics if not diagnostic.cancelled],
                report.planned.sources,
            )
            if cancelled := cancelled_text(applied.diagnostics):
                terminal.say(cancelled)
        if report.planned.plan is not None and report.begun and report.end is not ApplyOutcome.NOTHING_TO_DO:
            tally = applied.tally
            summary = apply_summary(
                report.planned.plan,
                EndedOperations(
                    done=frozenset(tally.done),
                    failed=frozenset(tally.failed),
                    unconfirmed=frozenset(tally.unconfirmed),
                    skipped=frozenset(tally.skipped),
                ),
                outputs=applied.snapshot.outputs if applied.snapshot else {},
                colour=terminal.colour(),
            )
            terminal.out(summary)


class JsonOutput:
    """For programs. Safe to use from several threads."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self._lock = threading.Lock()
        self._changes = EndedChanges()

    def plan(self, planned: PlanReport) -> None:
        print_report_json(self._terminal, planned)

    def begin(self, plan: Plan) -> None:
        self._changes = EndedChanges(plan.operations)

    def event(self, event: Event) -> None:
        with self._lock:  # else a line could tell less than the one before it
            if isinstance(event, Completed | Failed | Skipped):
                self._changes.end(event.operation.id)
            record = event_record(event, changes=self._changes)
            if record is not None:
                if not self._terminal.json_begun:  # it waits for the lock before there is a plan
                    self._terminal.out_json(version_line(flareiac.__version__))
                self._terminal.out_json(record)

    def close(self) -> None:
        pass

    def conclusion(self, report: ApplyReport) -> None:
        terminal = self._terminal
        if report.end is ApplyOutcome.STALE:
            terminal.out_json(diagnostic_record(stale_diagnostic(_stale_rows(report)), {}))
        if report.end not in _ENDED_BEFORE:
            for diagnostic in report.report.diagnostics:
                terminal.out_json(diagnostic_record(diagnostic, report.planned.sources))
        if report.planned.plan is not None and report.begun:
            terminal.out_json(summary_record(report.planned.plan, frozenset(report.report.tally.done)))
            terminal.out_json(outputs_record(report.outputs))


def _stale_rows(report: ApplyReport) -> list[tuple[str, str, str, str]]:
    return [(stale.address, stale.what, stale.planned, stale.now) for stale in report.report.stale]
