"""The services of the core for a command of a provider: its output, the recorded resources, and operations
with lock and journal. Protocols that the core implements; ``flareiac.sdk.commands`` says how a command is
declared.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol, TypeVar

from flareiac.kernel.data import Data
from flareiac.kernel.diagnostics import Diagnostic, Failure
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.actions import CustomAction
from flareiac.sdk.changes import Relation
from flareiac.sdk.driver import Driver
from flareiac.sdk.lakehouse import EarlierState
from flareiac.sdk.references import References
from flareiac.sdk.requests import ApplyRequest
from flareiac.sdk.results import Applied, Outcome, Recorded
from flareiac.sdk.run_status import RunStatus
from flareiac.sdk.text_table import TextTable

DriverT = TypeVar("DriverT")


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedResource:
    """One resource as the state holds it, with what it takes to reach it."""

    address: str
    type: str
    recorded: Recorded
    references: References


class RecordedProject(Protocol):
    """The content of the state. Every method that asks a system raises ``Failure``."""

    def resources(self) -> Sequence[RecordedResource]:
        """All of them, by address."""
        ...

    def resource(self, address: str) -> RecordedResource:
        """One of them. Raises ``Failure`` where the state does not hold it."""
        ...

    def driver(self, resource: RecordedResource) -> Driver:
        """The driver of a resource's type. ``isinstance`` tells a provider whether it is one of its own."""
        ...

    def dependents(self, address: str) -> Sequence[RecordedResource]:
        """Returns the resources that refer to this address, by address."""
        ...

    def users(self, address: str) -> Sequence[tuple[RecordedResource, Relation]]:
        """Returns the resources that write this address or stream from it, by address; one that does both is
        listed as a writer.
        """
        ...

    def running(self, resource: RecordedResource) -> RunStatus | None:
        """Returns the status of a resource; None for one that does not run."""
        ...

    def earlier_states(self, address: str) -> Sequence[EarlierState]:
        """Returns the states that other resources noted of this address before they emptied it."""
        ...


def driver_of(
    project: RecordedProject, resource: RecordedResource, kind: type[DriverT], refused: Diagnostic
) -> DriverT:
    """The driver of a resource that a provider's own command is about. Raises ``Failure`` with what is
    ``refused`` where it is of another kind.
    """
    driver = project.driver(resource)
    if isinstance(driver, kind):
        return driver
    raise Failure(refused)


class StateChange(RecordedProject, Protocol):
    """The state under its lock, with no interrupted apply in its journal."""

    def request(self, resource: RecordedResource, action: str, payload: Data) -> ApplyRequest[CustomAction]:
        """Builds a request to a driver. The driver's ``settle`` gets the same one if the command dies."""
        ...

    def carry_out(
        self,
        resource: RecordedResource,
        request: ApplyRequest[CustomAction],
        work: Callable[[ApplyRequest[CustomAction]], Outcome],
    ) -> Applied:
        """Journals the intent, does the work, records the result. Raises ``Failure`` where it was not
        done.
        """
        ...


class CommandLine(Protocol):
    """One run of a command."""

    def out(self, text: str) -> None:
        """Prints a part of the result: plain text, in which control characters are spelled out."""
        ...

    def out_table(self, table: TextTable) -> None:
        """Prints rows in columns."""
        ...

    def out_json(self, document: Mapping[str, Data]) -> None:
        """Prints the result of ``-json``."""
        ...

    def confirm(self, lines: Sequence[str], question: str, *, approved: bool) -> None:
        """Prints what would happen and asks, unless it is ``approved``. A no ends the command as
        cancelled.
        """
        ...

    def project(self) -> AbstractContextManager[RecordedProject]:
        """The recorded project, for a command that changes nothing."""
        ...

    def locked_project(self, command: str) -> AbstractContextManager[RecordedProject]:
        """The recorded project under the state lock, for a command that leaves the state as it is."""
        ...

    def state_change(self, command: str) -> AbstractContextManager[StateChange]:
        """The recorded project for a command that carries out operations. ``command`` is what others who wait
        for the lock are shown.
        """
        ...
