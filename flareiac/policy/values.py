"""A plan as values of the language: readings of the content of a report and of plan JSON, made as they are
asked for. ``config.policy_names`` lists the names.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, Final, NamedTuple

from flareiac.config.policy_names import Subject
from flareiac.config.symbols import LazyNames
from flareiac.kernel.data import Data, Reference, Unknown
from flareiac.kernel.diagnostics import Diagnostic
from flareiac.kernel.types import STRING
from flareiac.lang.values import (
    Value,
    from_data,
    lazy_object,
    null,
    object_value,
    string,
    tuple_value,
    unknown,
)
from flareiac.model.plan import Plan, PlannedResource
from flareiac.render.counts import counts
from flareiac.render.json_values import place, plain
from flareiac.render.plan_json import actions, after, before, shown_ends
from flareiac.render.redaction import Redacted, hide_attributes, sensitive_in
from flareiac.render.report.content import hit_by, interruption_of, notes_of, what_of
from flareiac.render.report.lineage import DRAWN, Uses
from flareiac.render.report.reasons import reason_of
from flareiac.render.sections import section_of
from flareiac.sdk.changes import AttributeChange
from flareiac.sdk.owner import Owner
from flareiac.sdk.references import Resolved
from flareiac.sdk.resource_type import ResourceType
from flareiac.sdk.schema import Pattern

_KEPT: Final = 200
"""So many resources that rules look up by address are kept as values."""


_NULL: Final = null()


def value_of(data: Data) -> Value:
    """Plain data as a value: references are their addresses, and what must not be shown is a sensitive value
    that is not known.
    """
    match data:
        case str():
            return Value(STRING, data)
        case dict():
            return object_value({str(name): value_of(member) for name, member in data.items()})
        case list() | tuple():
            return tuple_value([value_of(element) for element in data])
        case Reference(address):
            return Value(STRING, address)
        case Redacted():
            return unknown(sensitive=True)
        case Unknown():
            return unknown()
        case None:
            return _NULL
        case _:
            return from_data(plain(data))


class _Members(Mapping[str, Value]):
    """Values by name; each is made once, when it is asked for. Raises ``KeyError`` for other names."""

    def __init__(self, names: Sequence[str] | Mapping[str, object], make: Callable[[str], Value]) -> None:
        self._names, self._make = names, make
        self._made: dict[str, Value] = {}

    def __getitem__(self, name: str) -> Value:
        made = self._made.get(name)
        if made is None:
            if name not in self._names:
                raise KeyError(name)
            made = self._made[name] = self._make(name)
        return made

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


_CHANGE: Final[Mapping[str, Callable[["PlanValues", PlannedResource], Value]]] = {
    "address": lambda _, it: string(it.address),
    "type": lambda _, it: string(it.type),
    "name": lambda _, it: _part(it.address, "name"),
    "key": lambda _, it: _part(it.address, "index"),
    "action": lambda _, it: string(it.action.value),
    "actions": lambda _, it: value_of(actions(it)),
    "section": lambda _, it: value_of(section.value if (section := section_of(it)) is not None else None),
    "reason": lambda _, it: string(reason_of(it)),
    "what": lambda plan, it: string(
        what_of(it, section, plan.hidden(it), plan.types.get(it.type))
        if (section := section_of(it)) is not None
        else ""
    ),
    "before": lambda plan, it: value_of(hide_attributes(before(it), plan.hidden(it))),
    "after": lambda plan, it: value_of(hide_attributes(after(it), plan.hidden(it))),
    "owner": lambda _, it: _owner(it.owner),
    "steps": lambda _, it: value_of(
        [{"text": step.text, "effect": step.effect.value, "why": step.why} for step in it.proposal.steps]
    ),
    "readers": lambda _, it: value_of(
        [
            {
                "address": reader.address,
                "owner": reader.owner,
                "columns": list(reader.columns),
                "certain": reader.is_certain,
                "declared": reader.is_declared,
            }
            for reader in hit_by(it)[1]
        ]
    ),
    "attributes": lambda plan, it: tuple_value(
        _attribute(each, plan.hidden(it)) for each in it.proposal.changes
    ),
    "interruption": lambda _, it: _interruption(it),
    "previous_address": lambda _, it: value_of(it.previous_address or None),
    "notes": lambda _, it: value_of(list(notes_of(it))),
    "drift": lambda _, it: value_of(list(it.proposal.drift)),
    "blockers": lambda _, it: value_of(
        [{"code": each.code, "summary": each.summary, "why": each.why} for each in it.proposal.blockers]
    ),
}
_COMMON: Final = ("address", "type", "name", "key", "owner", "previous_address")
_RESOURCE: Final[Mapping[str, Callable[["PlanValues", PlannedResource], Value]]] = {
    **{name: _CHANGE[name] for name in _COMMON},
    "values": _CHANGE["after"],
    "depends_on": lambda _, it: value_of(list(it.dependencies)),
    "uses": lambda plan, it: value_of(plan.uses_of(it)),
    "change": lambda plan, it: null() if section_of(it) is None else plan.change_value(it),
    "complaints": lambda plan, it: value_of(plan.complaints_about(it.address)),
}


class Asked(NamedTuple):
    """One subject of a rule: its address and type (empty: the plan), and the symbol that stands for it."""

    address: str
    type: str
    value: Value


class PlanValues:
    """A plan as values. Each part is made when a rule asks for it, and once."""

    def __init__(self, plan: Plan, types: Mapping[str, ResourceType]) -> None:
        self.of: Plan = plan
        self.types: Mapping[str, ResourceType] = types
        self._uses = Uses(plan, types, most_asked=len(plan.resources))
        self._looked_up: dict[str, Value] = {}
        self._hidden: dict[str, tuple[Pattern, ...]] = {}

    def subjects(self, subject: Subject) -> Iterator[Asked]:
        """Everything that a rule about a subject is asked about, in the order of the plan."""
        match subject:
            case Subject.PLAN:
                yield Asked("", "", self.plan)
            case Subject.CHANGE:
                yield from (Asked(each.address, each.type, self.change_value(each)) for each in self.changed)
            case Subject.RESOURCE:
                yield from (
                    Asked(each.address, each.type, self.resource_value(each))
                    for each in self.planned.values()
                )
            case Subject.CONSUMER:
                yield from (
                    Asked(each.address, each.type, self.consumer_value(each)) for each in self.consumers
                )

    @cached_property
    def plan(self) -> Value:
        """The symbol ``plan``."""
        numbers = counts(self.of)
        make: dict[str, Callable[[], Value]] = {
            "workspace": lambda: string(self.of.workspace),
            "time": lambda: string(datetime.fromtimestamp(self.of.time, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")),
            "is_destroy": lambda: value_of(self.of.destroy),
            "is_partial": lambda: value_of(self.of.targeted or self.of.maintenance_only),
            **{
                name: lambda name=name: value_of(getattr(numbers, name))  # type: ignore[misc]  # it is bound here
                for name in (
                    *("add", "change", "destroy", "forget", "restart", "generation"),
                    *("lose_data", "blocked", "due"),
                )
            },
            "import": lambda: value_of(numbers.imported),
            "changes": lambda: tuple_value(self.change_value(each) for each in self.changed),
            "resources": lambda: lazy_object(LazyNames(self.planned, self.looked_up), "plan.resources"),
            "consumers": lambda: tuple_value(self.consumer_value(each) for each in self.consumers),
            "outputs": self._outputs,
            "maintenance": lambda: value_of(
                [
                    {
                        "address": each.address,
                        "name": each.task.name,
                        "what": each.task.summary,
                        "forecast": dict(each.task.forecast),
                    }
                    for each in self.of.due
                ]
            ),
            "complaints": lambda: value_of([_complaint(each) for each in self.of.diagnostics]),
        }
        return lazy_object(_Members(make, lambda name: make[name]()), "plan")

    @cached_property
    def changed(self) -> tuple[PlannedResource, ...]:
        """The resources that a report lists as changes."""
        return tuple(each for each in self.of.resources if section_of(each) is not None)

    @cached_property
    def planned(self) -> Mapping[str, PlannedResource]:
        """The resources that are there once the plan is applied, by address."""
        return {each.address: each for each in self.of.resources if after(each) is not None}

    @cached_property
    def consumers(self) -> tuple[Resolved, ...]:
        """The readers outside of the project that are declared."""
        return tuple(
            each
            for each in self.of.references.values()
            if (kind := self.types.get(each.type)) is not None and kind.declaring.is_outside
        )

    def change_value(self, resource: PlannedResource) -> Value:
        """The symbol ``change``."""
        return lazy_object(_Members(_CHANGE, lambda name: _CHANGE[name](self, resource)), "change")

    def resource_value(self, resource: PlannedResource) -> Value:
        """The symbol ``resource``."""
        return lazy_object(_Members(_RESOURCE, lambda name: _RESOURCE[name](self, resource)), "resource")

    def looked_up(self, address: str) -> Value:
        """A resource by its address; the last ones are kept."""
        if address not in self._looked_up:
            if len(self._looked_up) >= _KEPT:
                self._looked_up.clear()
            self._looked_up[address] = self.resource_value(self.planned[address])
        return self._looked_up[address]

    def consumer_value(self, consumer: Resolved) -> Value:
        """The symbol ``consumer``."""
        make: dict[str, Callable[[], Value]] = {
            "address": lambda: string(consumer.address),
            "name": lambda: _part(consumer.address, "name"),
            "key": lambda: _part(consumer.address, "index"),
            "owner": lambda: _owner(self.of.owners.get(consumer.address)),
            "values": lambda: value_of(consumer.attributes),
            "changes": lambda: tuple_value(map(self.change_value, self._noticed.get(consumer.address, ()))),
        }
        return lazy_object(_Members(make, lambda name: make[name]()), "consumer")

    def hidden(self, resource: PlannedResource) -> tuple[Pattern, ...]:
        """The places in the attributes of a resource that must not be shown."""
        known = self._hidden.get(resource.address)
        if known is None:
            kind = self.types.get(resource.type)
            known = sensitive_in(resource, {} if kind is None else {kind.name: kind.schema})
            self._hidden[resource.address] = known
        return known

    def uses_of(self, resource: PlannedResource) -> list[Data]:
        """Returns what a resource reads and writes."""
        return [
            {
                "address": usage.subject,
                "relation": usage.relation.value,
                "columns": None if usage.columns is None else list(usage.columns),
            }
            for usage in self._uses.by(resource.address)
            if usage.relation in DRAWN
        ]

    def complaints_about(self, address: str) -> list[Data]:
        """The warnings and errors of the plan about an address."""
        return self._complaints.get(address, [])

    @cached_property
    def _complaints(self) -> Mapping[str, list[Data]]:
        by_address: dict[str, list[Data]] = {}
        for each in self.of.diagnostics:
            by_address.setdefault(each.address or "", []).append(_complaint(each))
        return by_address

    @cached_property
    def _noticed(self) -> Mapping[str, list[PlannedResource]]:
        by_reader: dict[str, list[PlannedResource]] = {}
        for resource in self.changed:
            for reader in hit_by(resource)[1]:
                by_reader.setdefault(reader.address, []).append(resource)
        return by_reader

    def _outputs(self) -> Value:
        def end(output: Any) -> Value:
            if output is None:
                return null()
            return unknown(sensitive=True) if output.sensitive else value_of(output.value)

        return tuple_value(
            object_value({"name": string(name), "before": end(each.before), "after": end(each.after)})
            for name, each in self.of.output_changes.items()
        )


def _part(address: str, name: str) -> Value:
    return value_of(place(address).get(name))


def _owner(owner: Owner | None) -> Value:
    return null() if owner is None else value_of({"name": owner.name, "contact": owner.contact})


def _attribute(change: AttributeChange, patterns: tuple[Pattern, ...]) -> Value:
    old, new, live = map(value_of, shown_ends(change, patterns))
    return object_value(
        {
            "path": value_of(list(change.path)),
            "origin": string(change.origin.value),
            "old": old,
            "new": new,
            "live": live,
            "note": string(change.note),
        }
    )


def _interruption(resource: PlannedResource) -> Value:
    stop = interruption_of(resource)
    if stop is None:
        return null()
    return value_of(
        {
            "restarts": stop.restarts,
            "why": stop.why,
            "state": stop.state.value,
            "batch_seconds": stop.batch_seconds,
        }
    )


def _complaint(diagnostic: Diagnostic) -> Data:
    return {
        "severity": diagnostic.severity.value,
        "code": diagnostic.code,
        "summary": diagnostic.summary,
        "detail": diagnostic.detail,
        "address": diagnostic.address or "",
    }
