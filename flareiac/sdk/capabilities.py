"""Optional abilities of drivers, sessions and providers beyond their required interfaces. The core asks with
``isinstance``.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from enum import StrEnum
from pathlib import Path as FilePath
from typing import Protocol, runtime_checkable

from flareiac.kernel.data import Attributes
from flareiac.kernel.diagnostics import Diagnostic, Diagnostics
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.paths import Path
from flareiac.sdk.actions import Control, PerformStage, Quiesce, Revive, RunCommand, Settleable
from flareiac.sdk.references import References, Resolved
from flareiac.sdk.requests import ApplyRequest, ChangeRequest, ReadRequest, TraceRequest
from flareiac.sdk.results import Observation, Outcome, Recorded, StageDone, Trace
from flareiac.sdk.run_status import LogText, RunStatus


@runtime_checkable
class Prefetching(Protocol):
    """A driver that reads many at once: called before any ``read``, from one thread."""

    def prefetch(self, requests: Sequence[ReadRequest]) -> Mapping[str, Observation]:
        """The observations that are complete by now, by address; the others are read one by one."""
        ...


@runtime_checkable
class Tracing(Protocol):
    """A driver whose system keeps the past of its resources."""

    def trace(self, request: TraceRequest) -> Mapping[Path, Trace]:
        """Returns what the system tells about these attributes, and nothing of those about which it does not.
        Raises ``Failure``.
        """
        ...


@runtime_checkable
class Quiescable(Protocol):
    """A driver whose resources run and can be stopped and started without being changed."""

    def quiesce(self, request: ApplyRequest[Quiesce]) -> Outcome:
        """Stop it at a batch boundary as well as the system can; it stays recorded."""
        ...


@runtime_checkable
class Staged(Protocol):
    """A driver whose changes have stages (see ``Proposal.stages``)."""

    def perform(self, request: ApplyRequest[PerformStage]) -> StageDone:
        """Carries out this stage alone. Asked again after a crash, with the same request, it finds
        what was done and completes it. Raises ``Failure``.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Preflight:
    """``refuted``: identities to be recorded of resources whose changes are not what the plan took them for,
    by address: the next plan says what they are. ``left``: the same of resources that left the state, by the
    address of the one that keeps their record. ``blocks``: it will be blocked by them.
    """

    diagnostics: tuple[Diagnostic, ...] = ()
    refuted: Mapping[str, Attributes] = field(default_factory=dict)
    left: Mapping[str, Attributes] = field(default_factory=dict)
    blocks: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Proofs:
    """``diagnostics``: what is certainly wrong with the definitions. ``learned``: identities that hold what
    was proven or refuted, by address; ``left`` as in ``Preflight``. ``checked``: the addresses in which
    nothing is wrong.
    """

    diagnostics: tuple[Diagnostic, ...] = ()
    learned: Mapping[str, Attributes] = field(default_factory=dict)
    left: Mapping[str, Attributes] = field(default_factory=dict)
    checked: frozenset[str] = frozenset()


@runtime_checkable
class Preflighting(Protocol):
    """A driver that can prove a set of changes before the first side effect on data."""

    def preflight(self, requests: Sequence[ChangeRequest]) -> Preflight: ...


@runtime_checkable
class Proving(Protocol):
    """A driver that can say of changes what a plan alone cannot know, and changes nothing."""

    def prove(self, requests: Sequence[ChangeRequest], *, locally: bool) -> Proofs:
        """``locally``: on this machine, by what is declared, and without the systems that run the resources.
        Raises ``Failure``.
        """
        ...


@runtime_checkable
class Recoverable(Protocol):
    """A driver that can tell, by reading only, how an operation whose result was lost ended."""

    def settle(self, request: ApplyRequest[Settleable]) -> Outcome | None:
        """The recorded outcome if the operation was carried out, None if it left no trace and can be
        repeated.
        """
        ...


@runtime_checkable
class Foreseeing(Protocol):
    """A driver whose ``settle`` does nothing but reading: a plan after an interruption asks it, without
    holding the lock.
    """

    def foresee(self, request: ApplyRequest[Settleable]) -> Outcome | None:
        """Returns what ``settle`` will answer."""
        ...


@runtime_checkable
class Inspecting(Protocol):
    """A driver whose resources run: what one of them is doing now."""

    def inspect(self, address: str, recorded: Recorded, references: References) -> RunStatus:
        """Its status. Raises ``Failure``."""
        ...

    def log(self, address: str, recorded: Recorded) -> LogText | None:
        """Its log, None where nothing was written yet. Raises ``Failure``."""
        ...


@runtime_checkable
class Undroppable(Protocol):
    """A driver whose deleted resources can be brought back as long as what they were made of is there."""

    def revive(self, request: ApplyRequest[Revive]) -> Outcome:
        """``Applied`` also where it is there already. Its attributes are what is recorded from now on."""
        ...


@runtime_checkable
class Renaming(Protocol):
    """A driver whose resources may run while they get another address."""

    def rename(self, recorded: Recorded, old: str, new: str) -> Attributes:
        """Renames without stopping what runs; returns the identity as it is known under both addresses, which
        ``Recording.renamed`` then gets. Safe to repeat, also if the state was not written after the first
        call. Raises ``Failure``.
        """
        ...


@runtime_checkable
class Detachable(Protocol):
    """A driver whose resources are known by name to what runs them."""

    def at_work(self, address: str, recorded: Recorded) -> str | None:
        """Returns what runs under the address now, or would run again, as part of a sentence; None if nothing
        does. Raises ``Failure``.
        """
        ...

    def detach(self, address: str, recorded: Recorded) -> None:
        """Makes the system that runs the resource forget it; nothing else changes. Raises ``Failure``."""
        ...


@runtime_checkable
class RunControl(Protocol):
    """A driver whose resources can be stopped, started and restarted by hand, on their recorded
    definition.
    """

    def steer(self, request: ApplyRequest[Control]) -> Outcome: ...


@runtime_checkable
class Starting(Protocol):
    """A driver whose resources start by hand only where a plan would start them."""

    def starting(self, recorded: Recorded, observed: Observation, *, by_name: bool) -> Attributes | None:
        """The definition for which a plan is to be made before a start by hand; None if nothing would start.
        ``by_name``: this resource was asked for, and not the connection that runs it.
        """
        ...


@runtime_checkable
class ConnectionControl(Protocol):
    """A session whose connections run something of their own: an engine's application."""

    def steer_connection(
        self, verb: RunCommand, connection: Resolved, cancel: threading.Event, progress: Callable[[str], None]
    ) -> Sequence[str]:
        """Ends it, starts it or both, and says what came of it, in lines. What runs in it stays declared.
        Raises ``Failure``.
        """
        ...

    def connection_log(self, connection: Resolved) -> LogText | None:
        """The log of what runs, None where nothing was written yet. Raises ``Failure``."""
        ...


@runtime_checkable
class Recovering(Protocol):
    """A session that reaches a system through its files, and can finish what a writer that was killed left of
    them.
    """

    def recover(self, connections: Sequence[Resolved]) -> None:
        """Undoes half a write. Asked by commands that hold the lock, before they read; trouble is left to
        whatever reads next.
        """
        ...


class Verdict(StrEnum):
    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One line of ``doctor``: what was looked at, how it is, and what to do about it."""

    name: str
    verdict: Verdict
    text: str
    fix: str = ""


@runtime_checkable
class Diagnosing(Protocol):
    """A session that can examine what it needs. ``references`` are the declared connections and all else that
    is declared.
    """

    def checks(self, references: References) -> Sequence[Check]: ...


@runtime_checkable
class Initialising(Protocol):
    """A session that has something to fetch before its first use. Returns what it did, in lines, and adds
    its warnings to ``diagnostics``. Versions that it locked before stay, unless it is asked for an
    ``upgrade`` to its own choice. Raises ``Failure``.
    """

    def initialise(
        self,
        references: References,
        progress: Callable[[str], None],
        diagnostics: Diagnostics,
        *,
        upgrade: bool,
    ) -> Sequence[str]: ...


@runtime_checkable
class Preparing(Protocol):
    """A session whose resources, or the connections that carry maintenance out, need something on this
    machine before they start.
    """

    def lacking(self, starting: Resolved, references: References) -> Sequence[Diagnostic]:
        """Errors about what the start of a planned resource, or of a connection for the work on another's,
        needs and this machine does not have, from files of this machine alone. Nothing where that is not
        known yet.
        """
        ...


@runtime_checkable
class Serving(Protocol):
    """A provider that has a long-running process of its own, which ``flareiac driver LOCATION`` runs in the
    foreground.
    """

    def serve(self, location: str, root: FilePath, *, wait: bool) -> int:
        """Runs until asked to stop; returns the exit code. ``location``: an absolute path or a URI, ``root``:
        where the command runs. ``wait``: until there is something to run. Raises ``Failure``.
        """
        ...
