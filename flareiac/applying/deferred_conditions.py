"""The conditions that a plan left to its apply: each is decided on what is recorded by then."""

import threading
from collections.abc import Callable

from flareiac.applying.ports import Ports
from flareiac.kernel import codes
from flareiac.kernel.diagnostics import Diagnostic, Failure, error
from flareiac.model.conditions import Moment, Owning, Status, left_to_apply
from flareiac.model.plan import CHANGE_VERBS, Operation, Plan, Verb
from flareiac.model.snapshot import Snapshot

_WITHOUT_CHANGE = (Verb.FORGET, Verb.RECORD, Verb.MAINTAIN)


class PostconditionUnmet(Failure):
    """An operation did what it was asked for, and a postcondition of its resource does not hold."""


class DeferredConditions:
    """The pre- and postconditions of resources that the plan could not decide. ``snapshot`` gives the state
    as it is recorded by now.
    """

    def __init__(self, plan: Plan, ports: Ports, snapshot: Callable[[], Snapshot]) -> None:
        self._open = {
            (each.address, each.moment)
            for each in left_to_apply(plan.conditions)
            if each.owning is Owning.RESOURCE
        }
        self._ports, self._snapshot = ports, snapshot
        self._lock = threading.Lock()
        self._held: set[str] = set()

    def awaits(self, operation: Operation, moment: Moment) -> bool:
        """Returns True if a condition of this moment is decided with this operation."""
        verbs = CHANGE_VERBS if moment is Moment.AFTER else set(Verb) - set(_WITHOUT_CHANGE)
        return (operation.address, moment) in self._open and operation.verb in verbs

    def check(self, operation: Operation, moment: Moment) -> None:
        """Raises ``Failure`` where a condition does not hold: before the first operation of a resource, and
        ``PostconditionUnmet`` after its change.
        """
        if not self.awaits(operation, moment):
            return
        with self._lock:  # the configuration is evaluated once at a time
            if moment is Moment.BEFORE and operation.address in self._held:
                return
            problems = self._problems(operation.address, moment)
            if problems:
                raise (PostconditionUnmet if moment is Moment.AFTER else Failure)(*problems)
            if moment is Moment.BEFORE:
                self._held.add(operation.address)

    def _problems(self, address: str, moment: Moment) -> list[Diagnostic]:
        """The complaints of conditions that do not hold. One that gives no answer does not hold either."""
        answers = [
            each
            for each in self._ports.conditions(self._snapshot())
            if (each.address, each.moment) == (address, moment)
        ]
        problems = [each.problem for each in answers if each.problem is not None]
        if problems or (answers and all(each.status is Status.PASS for each in answers)):
            return problems
        reason = (
            "its value is still not known, though all that it depends on has been applied"
            if answers
            else "the files of configuration were changed while the plan was applied"
        )
        why = f"The {moment} of {address} cannot be decided: {reason}. Plan again: flareiac plan."
        return [error(codes.CONDITION_LEFT_OPEN, why, address=address)]
