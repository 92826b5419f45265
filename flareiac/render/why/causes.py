"""The chain from a planned change to the changes of other addresses that it follows from. Pure.

A cause is never guessed from names: it stands in the plan as an edge between operations, as a disturbance, or
as a reference beside the attribute that differs.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any

from flareiac.kernel.data import ABSENT, Data, Reference
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.paths import Path, render_path
from flareiac.kernel.records import SPARSE
from flareiac.model.plan import EdgeKind, Plan, PlannedResource
from flareiac.render.resource_text import headline
from flareiac.render.sections import section_of

Written = Callable[[str], Callable[[Path], Path | None]]
"""By a type's name, the place where an attribute is written (``Showing.written_path``)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """``address`` is a cause of what is planned for ``of``. ``why`` says by which part of the plan; ``what``
    is planned for the cause itself, empty of one that is declared and never planned, such as a stream.
    ``is_root``: nothing in the plan causes it in turn.
    """

    address: str
    of: str
    why: str
    what: str = field(default="", metadata=SPARSE)
    is_root: bool = field(default=False, metadata=SPARSE)


class Causes:
    """The causes of the changes of one plan. ``written``: by a type's name, where an attribute is written."""

    def __init__(self, plan: Plan, written: Written) -> None:
        self._references, self._written = plan.references, written
        self._planned = {each.address: each for each in plan.resources}
        owners = {operation.id: operation.address for operation in plan.operations}
        self._stopped_for: dict[str, list[tuple[str, str]]] = {}
        for operation in plan.operations:
            for edge in operation.edges:
                if edge.kind is EdgeKind.QUIESCE and edge.after in owners:
                    waited_for = self._stopped_for.setdefault(owners[edge.after], [])
                    waited_for.append((operation.address, edge.reason))

    def of(self, resource: PlannedResource) -> tuple[Cause, ...]:
        """The chain of causes of a planned resource, the nearest first."""
        chain: list[Cause] = []
        waiting, met = [resource], {resource.address}
        while waiting:
            current = waiting.pop(0)
            for address, why in self._direct(current).items():
                other = self._planned.get(address)
                chain.append(
                    Cause(
                        address=address,
                        of=current.address,
                        why=why,
                        what="" if other is None else headline(other),
                        is_root=other is None or not self._direct(other),
                    )
                )
                if other is not None and address not in met:
                    met.add(address)
                    waiting.append(other)
        return tuple(chain)

    def _direct(self, resource: PlannedResource) -> dict[str, str]:
        """Addresses from whose change that of a resource follows, each with the reason."""
        reasons: dict[str, list[str]] = {}
        for address, why in (
            *self._disturbing(resource),
            *self._stopped_for.get(resource.address, ()),
            *self._declaring(resource),
        ):
            if address != resource.address:
                reasons.setdefault(address, []).append(why)
        return {address: _joined(whys) for address, whys in reasons.items()}

    def _disturbing(self, resource: PlannedResource) -> Iterator[tuple[str, str]]:
        for impact in resource.disturbances:
            for address, other in self._planned.items():
                if impact in other.proposal.disturbs and _is_related(resource, other):
                    yield address, impact.reason

    def _declaring(self, resource: PlannedResource) -> Iterator[tuple[str, str]]:
        """Addresses whose blocks give an attribute its value."""
        planned, path_of = resource.proposal.planned or {}, self._written(resource.type)
        for change in resource.proposal.changes:
            place = path_of(change.path) or change.path
            outer, shown = planned.get(str(place[0])), render_path(place)
            if place[0] != change.path[0] and isinstance(outer, Reference):
                yield outer.address, f"{shown} is set there"
                continue
            for address in _referred_to(change.path, planned):
                other = self._planned.get(address)
                if other is None:
                    known = self._references.get(address)
                    if known is not None and _holds(known.attributes, change.path[-1], change.new):
                        yield address, f"{shown} is set there"
                elif section_of(other) is not None and _changes(other, change.path[-1]):
                    yield address, f"{shown} follows from it"


def _joined(reasons: Sequence[str]) -> str:
    """The reasons as one clause, without those that another one contains."""
    distinct = [
        why for why in dict.fromkeys(reasons) if not any(why != each and why in each for each in reasons)
    ]
    return "; ".join(distinct)


def _changes(resource: PlannedResource, name: str | int) -> bool:
    """Returns True if a changed attribute of the resource is about this name."""
    return any(name in change.path for change in resource.proposal.changes)


def _is_related(resource: PlannedResource, other: PlannedResource) -> bool:
    return other.address in resource.dependencies or resource.address in other.dependencies


def _referred_to(path: Path, planned: Mapping[str, Any]) -> Iterator[str]:
    """The addresses that the outermost object around an attribute refers to."""
    value: Any = planned
    for step in path[:-1]:
        value = value.get(step) if isinstance(value, dict) else None
        if not isinstance(value, dict):
            return
        references = [each.address for each in value.values() if isinstance(each, Reference)]
        if references:
            yield from references
            return


def _holds(value: Data, name: str | int, wanted: Data) -> bool:
    """Returns True if an object inside ``value`` has this attribute with this value."""
    if not isinstance(value, dict):
        return False
    if name in value and wanted is not ABSENT and value[name] == wanted:
        return True
    return any(_holds(each, name, wanted) for each in value.values())
