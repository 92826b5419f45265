"""An apply on a terminal: what has ended is printed, what is in progress is drawn below it until it ends."""

import threading
import time
from contextlib import suppress
from dataclasses import replace

from rich.live import Live

from flareiac.cli.apply_output import TextOutput
from flareiac.cli.plan_options import DisplayOptions
from flareiac.cli.rich_console import live_view
from flareiac.cli.terminal import Terminal
from flareiac.model.events import Completed, Event, Failed, Note, Progressed, Skipped, Started
from flareiac.model.plan import Plan, Verb
from flareiac.render.counts import EndedChanges
from flareiac.render.progress import ProgressView, Running

_EVERY = 0.125
"""Seconds between two drawings: a spinner that turns."""


class LiveOutput(TextOutput):
    """For people at a terminal. Safe to use from several threads."""

    def __init__(self, terminal: Terminal, display: DisplayOptions) -> None:
        super().__init__(terminal, display)
        self._lock = threading.Lock()
        self._running: dict[str, Running] = {}
        self._changes = EndedChanges()
        self._since = 0.0
        self._note = ""
        self._live: Live | None = None

    def begin(self, plan: Plan) -> None:
        self._changes, self._since = EndedChanges(plan.operations), time.monotonic()
        self._live = live_view(self._terminal, self._view, transient=True, every=_EVERY)
        self._live.start()

    def event(self, event: Event) -> None:
        match event:
            case Started(operation=operation):
                if operation.verb is not Verb.RECORD:
                    with self._lock:
                        self._running[operation.id] = Running(operation=operation, since=time.monotonic())
                return
            case Progressed(operation=operation, message=message):
                with self._lock:
                    if operation.id in self._running:
                        self._running[operation.id] = replace(self._running[operation.id], step=message)
                return
            case Completed(operation=operation) | Failed(operation=operation) | Skipped(operation=operation):
                with self._lock:
                    self._running.pop(operation.id, None)
                    self._changes.end(operation.id)
            case Note(message=message):
                with self._lock:
                    self._note = message
        super().event(event)

    def close(self) -> None:
        if self._live is not None:
            with suppress(OSError):  # the terminal is gone, which ends nothing that is being done
                self._live.stop()

    def _view(self) -> ProgressView:
        with self._lock:
            return ProgressView(
                running=tuple(self._running.values()),
                ended=self._changes.ended,
                total=self._changes.total,
                note=self._note,
                since=self._since,
                now=time.monotonic(),
            )
