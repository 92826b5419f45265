"""The plan of a namespace: the changes that apply would make. Pure."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from flareiac.kernel.data import ABSENT, Attributes, Data
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import encode
from flareiac.sdk.changes import Action, AttributeChange, Blocker, Effect, Proposal, Step, blocker
from flareiac.sdk.classify import classify
from flareiac.sdk.on_change import ChangeClass
from flareiac.sdk.requests import PlanRequest
from flareiac.sdk.results import Present, Recorded
from flareiac_iceberg import codes
from flareiac_iceberg.catalogs.absence import absence
from flareiac_iceberg.format.spec import TableOutline
from flareiac_iceberg.namespace.spec import NamespaceDefinition, NamespaceFacts, PropertyChange, identity_of

_SHOWN: Final = 5


@dataclass(frozen=True, slots=True)
class NamespacePlanner:
    """Pure knowledge of namespaces."""

    def plan(self, request: PlanRequest) -> Proposal:
        """The proposal; what cannot be done as written is a blocker in it."""
        if request.desired is None:
            assert request.recorded is not None, "a namespace that is not declared is recorded"
            return _removal(request, NamespaceDefinition.of(request.recorded.attributes))
        case = _case(request, request.desired)
        if isinstance(request.observed, Present):
            return _update(case, request.observed)
        return _creation(case)

    def fingerprint(self, request: PlanRequest) -> Data:
        """The existence of the namespace, and the properties that are or were declared."""
        there = request.observed
        if request.desired is None:
            assert request.recorded is not None, "a namespace that is not declared is recorded"
            recorded = NamespaceDefinition.of(request.recorded.attributes)
            drops = isinstance(there, Present) and _drops(request, recorded)
            return {"namespace": "present"} if drops else None
        if not isinstance(there, Present):
            return absence("namespace", request)
        case, live = _case(request, request.desired), _properties(there)
        names = sorted({*(case.desired.properties or {}), *case.before})
        return {"namespace": "present", "properties": {name: live.get(name) for name in names}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A declared namespace, with what is recorded of it."""

    request: PlanRequest
    desired: NamespaceDefinition
    recorded: NamespaceDefinition | None

    @property
    def before(self) -> Mapping[str, Data]:
        """The properties that were declared when it was recorded."""
        return (self.recorded.properties or {}) if self.recorded is not None else {}


def _case(request: PlanRequest, desired: Attributes) -> Case:
    recorded = None if request.recorded is None else NamespaceDefinition.of(request.recorded.attributes)
    return Case(request=request, desired=NamespaceDefinition.of(desired), recorded=recorded)


def _properties(there: Present) -> Mapping[str, Data]:
    return NamespaceDefinition.of(there.attributes).properties or {}


def _drops(request: PlanRequest, recorded: NamespaceDefinition) -> bool:
    return request.destroy_object or recorded.on_destroy != "retain"


def _removal(request: PlanRequest, recorded: NamespaceDefinition) -> Proposal:
    if not isinstance(request.observed, Present):
        return Proposal(
            action=Action.FORGET, planned=None, drift=("the namespace was dropped outside of FlareIaC",)
        )
    if not _drops(request, recorded):
        return Proposal(
            action=Action.FORGET, planned=None, reasons=("on_destroy is retain: the namespace stays",)
        )
    if blocker := _not_empty(request, recorded, request.observed):
        return Proposal(action=Action.DELETE, planned=None, blockers=(blocker,), payload={})
    step = Step(text="drop the namespace", effect=Effect.METADATA, why="Only when it is empty.")
    return Proposal(action=Action.DELETE, planned=None, steps=(step,), payload={})


def _not_empty(request: PlanRequest, recorded: NamespaceDefinition, observed: Present) -> Blocker | None:
    """The blocker of a drop: tables that this plan does not drop. None where there are none."""
    leaving = [
        (TableOutline.of(change.recorded.attributes), change.destroy_object)
        for change in request.leaving
        if change.type == "table"
    ]
    going = {
        table.name
        for table, destroyed in leaving
        if (table.catalog, table.namespace) == (recorded.catalog, recorded.name)
        and (destroyed or table.on_destroy != "retain")
    }
    tables = observed.facts.tables if isinstance(observed.facts, NamespaceFacts) else ()
    staying = [name for name in tables if name not in going]
    if not staying:
        return None
    more = f" and {len(staying) - _SHOWN} more" if len(staying) > _SHOWN else ""
    removed = f"removed {{\n  from = {request.address}\n  lifecycle {{\n    destroy = false\n  }}\n}}"
    return blocker(
        codes.NAMESPACE_NOT_EMPTY,
        f"{recorded.name} holds {', '.join(staying[:_SHOWN])}{more}, and a catalog drops "
        "only empty namespaces.",
        (
            "drop or move these tables first",
            f"forget the namespace, and keep it, with this in place of its block:\n{removed}",
        ),
    )


def _creation(case: Case) -> Proposal:
    desired, again = case.request.desired or {}, case.recorded is not None
    return Proposal(
        action=Action.CREATE,
        planned=desired,
        changes=classify(desired, None, None),
        steps=(Step(text="create the namespace", effect=Effect.METADATA),),
        blockers=_moved(case),
        drift=("the namespace was dropped outside of FlareIaC",) if again else (),
        payload=encode(PropertyChange(set=case.desired.properties or {})),
    )


def _update(case: Case, observed: Present) -> Proposal:
    request, recorded, wanted = case.request, case.request.recorded, case.desired.properties
    planned = request.desired or {}
    changes = tuple(
        replace(
            attribute_change,
            note=ChangeClass.RECORDED
            if attribute_change.path == ("on_destroy",)
            else ChangeClass.METADATA_ONLY,
        )
        for attribute_change in classify(
            planned, recorded.attributes if recorded else None, observed.attributes
        )
    )
    change = _property_change(wanted, case.before, _properties(observed))
    kept = any(attribute_change.path == ("on_destroy",) for attribute_change in changes)
    if recorded is not None:
        changes = tuple(
            replace(attribute_change, drift=_drift(attribute_change))
            if attribute_change.has_drifted
            else attribute_change
            for attribute_change in changes
        )
    return Proposal(
        action=_action(recorded, worth=bool(change.set or change.remove or kept), record=bool(changes)),
        planned=planned,
        changes=changes,
        steps=_steps(change),
        blockers=(*_moved(case), *_foreign(case, observed)),
        drift=tuple(attribute_change.drift for attribute_change in changes if attribute_change.drift),
        payload=encode(change),
    )


def _property_change(
    wanted: Mapping[str, Data] | None, before: Mapping[str, Data], there: Mapping[str, Data]
) -> PropertyChange:
    if wanted is None:
        return PropertyChange()
    return PropertyChange(
        set={name: value for name, value in wanted.items() if there.get(name) != value},
        remove=tuple(name for name in before if name not in wanted and name in there),
    )


def _action(recorded: Recorded | None, *, worth: bool, record: bool) -> Action:
    if recorded is None:
        return Action.ADOPT
    if worth:
        return Action.UPDATE
    return Action.RECORD if record else Action.NO_OP


def _steps(change: PropertyChange) -> tuple[Step, ...]:
    texts = [f'set property {name} to "{value}"' for name, value in change.set.items()]
    texts += [f"remove property {name}" for name in change.remove]
    return tuple(Step(text=text, effect=Effect.METADATA) for text in texts)


def _drift(change: AttributeChange) -> str:
    name = change.path[-1]
    if change.live is ABSENT:
        return f'property "{name}" was removed outside of FlareIaC'
    return (
        f'property "{name}" was changed from "{_text(change.old)}" to "{_text(change.live)}" outside of '
        "FlareIaC"
    )


def _text(value: Data) -> str:
    return "" if value is ABSENT else str(value)


def _foreign(case: Case, observed: Present) -> tuple[Blocker, ...]:
    """A namespace that a table brought along is taken over silently; another one only when an import asks for
    it.
    """
    known = case.recorded is not None or case.request.importing
    if known or identity_of(observed.identity).created_by:
        return ()
    name = case.desired.import_id
    foreign = blocker(
        codes.NOT_ADOPTED,
        f"The namespace {name} exists, and FlareIaC changes only what it created or was asked to adopt.",
        (f'adopt it:\nimport {{\n  to = {case.request.address}\n  id = "{name}"\n}}',),
    )
    return (foreign,)


def _moved(case: Case) -> tuple[Blocker, ...]:
    recorded, desired = case.recorded, case.desired
    if recorded is None or (recorded.catalog, recorded.name) == (desired.catalog, desired.name):
        return ()
    moved = blocker(
        codes.NAMESPACE_RENAMED,
        f"{recorded.import_id} cannot become {desired.import_id}: catalogs do not rename namespaces.",
        ("write its old name again", "give the block another label; the old namespace is then forgotten"),
    )
    return (moved,)
