"""Changes with stages. The intent of the change is in the journal before its first stage begins, so that a
crash between two stages leaves it open, and how it ended is found out by reading like that of any other.
"""

import threading
from collections.abc import Callable, Collection
from dataclasses import field

from flareiac.applying.state_writer import Recording
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.model.intents import StoredRequest
from flareiac.model.plan import CHANGE_VERBS, Operation, Plan


@dataclass(slots=True, kw_only=True)
class StagedChanges:
    """The changes that have stages, and which of them have begun. Safe to use from several threads.

    ``own``: the operation that completes the change, by address; ``stages``: those before it.
    """

    own: dict[str, Operation]
    stages: dict[str, tuple[Operation, ...]]
    _begun: set[str] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self, own: Operation, recording: Recording, stored: Callable[[], StoredRequest]) -> None:
        """Journals the intent of a change that is not open yet; ``stored`` makes it."""
        with self._lock:
            if own.address not in self._begun:
                recording.intend(own.id, stored())
                self._begun.add(own.address)

    def is_open(self, operation: Operation) -> bool:
        """Returns True if this is the own operation of a change of which a stage has begun."""
        own = self.own.get(operation.address)
        return own is not None and own.id == operation.id and operation.address in self._begun

    def completed(self, done: Collection[str]) -> frozenset[str]:
        """With each change that is done, its stages: nothing is left for them to do."""
        stage_ids = [
            stage.id for address, own in self.own.items() if own.id in done for stage in self.stages[address]
        ]
        return frozenset(done).union(stage_ids)


def staged_changes(plan: Plan) -> StagedChanges:
    """Returns the staged changes of a plan."""
    addresses = {resource.address for resource in plan.resources if resource.proposal.stages}
    own: dict[str, Operation] = {}
    stages: dict[str, list[Operation]] = {address: [] for address in addresses}
    for operation in plan.operations:
        if operation.address in addresses and operation.verb in CHANGE_VERBS:
            own[operation.address] = operation
        elif operation.address in addresses and operation.stage:
            stages[operation.address].append(operation)
    return StagedChanges(own=own, stages={address: tuple(stages[address]) for address in own})
