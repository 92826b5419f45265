"""The use cases that commands of providers are written with: the recorded project, read or changed under its
lock. See ``flareiac.sdk.command_line``.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from flareiac.app.state.recorded import recorded
from flareiac.app.state.single_operation import LockedState, carry_out, locked_state
from flareiac.app.workspace import Workspace
from flareiac.kernel.data import Data
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.model.events import Event
from flareiac.model.references import recorded_references
from flareiac.model.snapshot import ResourceRecord, Snapshot
from flareiac.planning.usages import recorded_usages
from flareiac.sdk.actions import CustomAction
from flareiac.sdk.capabilities import Inspecting
from flareiac.sdk.changes import Relation
from flareiac.sdk.command_line import RecordedResource
from flareiac.sdk.driver import Driver
from flareiac.sdk.lakehouse import EarlierState
from flareiac.sdk.requests import ApplyRequest
from flareiac.sdk.results import Applied, Outcome
from flareiac.sdk.run_status import RunStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedView:
    """See ``flareiac.sdk.command_line.RecordedProject``."""

    workspace: Workspace
    snapshot: Snapshot

    def resources(self) -> Sequence[RecordedResource]:
        """Every recorded resource, by address."""
        return [self._resource(record) for _address, record in sorted(self.snapshot.resources.items())]

    def resource(self, address: str) -> RecordedResource:
        """One recorded resource. Raises ``Failure``."""
        return self._resource(recorded(self.snapshot, address))

    def driver(self, resource: RecordedResource) -> Driver:
        """The driver of its type. Raises ``Failure``."""
        return self.workspace.driver(self.snapshot.resources[resource.address].provider, resource.type)

    def dependents(self, address: str) -> Sequence[RecordedResource]:
        """Returns the resources that refer to it."""
        return [
            resource
            for resource in self.resources()
            if address in self.snapshot.resources[resource.address].dependencies
        ]

    def users(self, address: str) -> Sequence[tuple[RecordedResource, Relation]]:
        """Returns the resources that write it or stream from it, by the recorded definitions. Raises
        ``Failure``.
        """
        types = self.workspace.installed.registry.types
        relations: dict[str, Relation] = {}
        for relation in (Relation.STREAMS_FROM, Relation.WRITES):
            for holder, record in self.snapshot.resources.items():
                if record.type in types:
                    references = recorded_references(self.snapshot, record)
                    usages = recorded_usages(holder, record, types, references)
                    if any(usage.subject == address and usage.relation is relation for usage in usages):
                        relations[holder] = relation
        return [(self.resource(holder), relation) for holder, relation in sorted(relations.items())]

    def running(self, resource: RecordedResource) -> RunStatus | None:
        """Returns the status of a resource; None where it does not run. Raises ``Failure``."""
        driver = self.driver(resource)
        if not isinstance(driver, Inspecting):
            return None
        return driver.inspect(resource.address, resource.recorded, resource.references)

    def earlier_states(self, address: str) -> Sequence[EarlierState]:
        """Returns the states that the recorded resources noted of it before they emptied it."""
        types = self.workspace.installed.registry.types
        return [
            state
            for holder, record in sorted(self.snapshot.resources.items())
            if record.type in types
            for state in types[record.type].relations.earlier_states(holder, record.identity)
            if state.subject == address
        ]

    def _resource(self, record: ResourceRecord) -> RecordedResource:
        return RecordedResource(
            address=record.address,
            type=record.type,
            recorded=record.recorded(),
            references=recorded_references(self.snapshot, record),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LockedView(RecordedView):
    """See ``flareiac.sdk.command_line.StateChange``."""

    state: LockedState
    progress: Callable[[str], None]

    def request(self, resource: RecordedResource, action: str, payload: Data) -> ApplyRequest[CustomAction]:
        """An operation of a resource on its recorded definition."""
        snapshot = self.snapshot
        return ApplyRequest(
            key=f"{snapshot.lineage}/{snapshot.serial}/{action}/{resource.address}",
            address=resource.address,
            action=CustomAction(name=action, recorded=resource.recorded, payload=payload),
            references=resource.references,
            cancel=threading.Event(),
            progress=self.progress,
        )

    def carry_out(
        self,
        resource: RecordedResource,
        request: ApplyRequest[CustomAction],
        work: Callable[[ApplyRequest[CustomAction]], Outcome],
    ) -> Applied:
        """One operation with its intent and result in the journal. Raises ``Failure``."""
        record = self.snapshot.resources[resource.address]
        return carry_out(self.state, request.action.name, record, request, work)


@contextmanager
def state_change(
    workspace: Workspace,
    command: str,
    *,
    lock_timeout: float,
    emit: Callable[[Event], None],
    progress: Callable[[str], None],
) -> Iterator[LockedView]:
    """The recorded project for a command that carries out operations. Raises ``LockHeld``, ``Failure``."""
    with locked_state(workspace, command, lock_timeout, emit) as state:
        workspace.recover(state.snapshot)
        yield LockedView(workspace=workspace, snapshot=state.snapshot, state=state, progress=progress)
