"""What apply would do with a namespace. Pure."""

from dataclasses import dataclass
from typing import Final

from flareiac.kernel.data import ABSENT, Attributes, Data, Reference
from flareiac.kernel.records import decode
from flareiac.sdk.changes import Action, AttributeChange, Blocker, Effect, Origin, Proposal, Step, blocker
from flareiac.sdk.classify import classify
from flareiac.sdk.requests import PlanRequest
from flareiac.sdk.results import Present, Recorded
from flareiac_iceberg import codes
from flareiac_iceberg.catalogs.absence import absence

_SHOWN: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class NamespaceIdentity:
    """``created_by``: the key of the operation that made it, where FlareIaC did."""

    created_by: str | None = None


def identity_of(data: Attributes) -> NamespaceIdentity:
    """A namespace's identity as it was recorded or observed; release 0.1.0 recorded its tables, too."""
    lasting = {name: value for name, value in data.items() if name != "tables"}
    return decode(NamespaceIdentity, lasting, "identity")


@dataclass(frozen=True, slots=True, kw_only=True)
class NamespaceFacts:
    """``tables``: those in a namespace that is no longer declared."""

    tables: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NamespacePlanner:
    """Pure knowledge of namespaces."""

    def plan(self, request: PlanRequest) -> Proposal:
        """The proposal; what cannot be done as written is a blocker in it."""
        if request.desired is None:
            assert request.recorded is not None, "a namespace that is not declared is recorded"
            return _removal(request, request.recorded)
        if not isinstance(request.observed, Present):
            return _creation(request, request.desired)
        return _update(request, request.desired, request.observed)

    def fingerprint(self, request: PlanRequest) -> Data:
        """Whether it is there, and the properties that are or were declared."""
        there, recorded = request.observed, request.recorded
        if request.desired is None:
            drops = isinstance(there, Present) and recorded is not None and _drops(request, recorded)
            return {"namespace": "present"} if drops else None
        if not isinstance(there, Present):
            return absence("namespace", request)
        was = (recorded.attributes["properties"] or {}) if recorded else {}
        live = there.attributes["properties"]
        return {
            "namespace": "present",
            "properties": {
                name: live.get(name) for name in sorted({*(request.desired["properties"] or {}), *was})
            },
        }


def _drops(request: PlanRequest, recorded: Recorded) -> bool:
    return request.destroy_object or recorded.attributes["on_destroy"] != "retain"


def _removal(request: PlanRequest, recorded: Recorded) -> Proposal:
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


def _not_empty(request: PlanRequest, recorded: Recorded, observed: Present) -> Blocker | None:
    """Why it cannot be dropped: tables that this plan does not drop."""
    own = (recorded.attributes["catalog"], recorded.attributes["name"])
    going = {
        item.recorded.attributes["name"]
        for item in request.leaving
        if item.type == "table"
        and (item.recorded.attributes["catalog"], item.recorded.attributes["namespace"]) == own
        and (item.destroy_object or item.recorded.attributes["on_destroy"] != "retain")
    }
    tables = observed.facts.tables if isinstance(observed.facts, NamespaceFacts) else ()
    staying = [name for name in tables if name not in going]
    if not staying:
        return None
    more = f" and {len(staying) - _SHOWN} more" if len(staying) > _SHOWN else ""
    removed = f"removed {{\n  from = {request.address}\n  lifecycle {{\n    destroy = false\n  }}\n}}"
    return blocker(
        codes.NAMESPACE_NOT_EMPTY,
        f"{recorded.attributes['name']} holds {', '.join(staying[:_SHOWN])}{more}, and a catalog drops "
        "only empty namespaces.",
        (
            "drop or move these tables first",
            f"forget the namespace, and keep it, with this in place of its block:\n{removed}",
        ),
    )


def _creation(request: PlanRequest, desired: Attributes) -> Proposal:
    again = request.recorded is not None
    return Proposal(
        action=Action.CREATE,
        planned=desired,
        changes=classify(desired, None, None),
        steps=(Step(text="create the namespace", effect=Effect.METADATA),),
        blockers=_moved(request, desired),
        drift=("the namespace was dropped outside of FlareIaC",) if again else (),
        payload={"set": desired["properties"] or {}, "remove": []},
    )


def _update(request: PlanRequest, desired: Attributes, observed: Present) -> Proposal:
    recorded = request.recorded
    live = observed.attributes
    changes = classify(desired, recorded.attributes if recorded else None, live)
    there, wanted = live["properties"], desired["properties"] or {}
    was = (recorded.attributes["properties"] or {}) if recorded else {}
    put = {name: value for name, value in wanted.items() if there.get(name) != value}
    remove = [
        name for name in was if desired["properties"] is not None and name not in wanted and name in there
    ]
    kept = any(change.path == ("on_destroy",) for change in changes)
    return Proposal(
        action=_action(recorded, worth=bool(put or remove or kept), record=bool(changes)),
        planned=desired,
        changes=changes,
        steps=_steps(put, remove),
        blockers=(*_moved(request, desired), *_foreign(request, observed)),
        drift=tuple(map(_drift, (item for item in changes if item.origin in (Origin.DRIFT, Origin.BOTH))))
        if recorded
        else (),
        payload={"set": put, "remove": remove},
    )


def _action(recorded: Recorded | None, *, worth: bool, record: bool) -> Action:
    if recorded is None:
        return Action.ADOPT
    if worth:
        return Action.UPDATE
    return Action.RECORD if record else Action.NO_OP


def _steps(put: Attributes, remove: list[str]) -> tuple[Step, ...]:
    steps = [
        Step(text=f'set property {name} to "{value}"', effect=Effect.METADATA) for name, value in put.items()
    ]
    return (*steps, *(Step(text=f"remove property {name}", effect=Effect.METADATA) for name in remove))


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


def _foreign(request: PlanRequest, observed: Present) -> tuple[Blocker, ...]:
    """A namespace that a table brought along is taken over silently; another one only when an import asks for
    it.
    """
    if request.recorded is not None or request.importing or identity_of(observed.identity).created_by:
        return ()
    assert request.desired is not None, "only a declared namespace can be foreign"
    name = _import_id(request.desired)
    foreign = blocker(
        codes.NOT_ADOPTED,
        f"The namespace {name} exists, and FlareIaC changes only what it created or was asked to adopt.",
        (f'adopt it:\nimport {{\n  to = {request.address}\n  id = "{name}"\n}}',),
    )
    return (foreign,)


def _import_id(attributes: Attributes) -> str:
    catalog = attributes["catalog"]
    label = catalog.address.rpartition(".")[2] if isinstance(catalog, Reference) else str(catalog)
    return f"{label}.{attributes['name']}"


def _moved(request: PlanRequest, desired: Attributes) -> tuple[Blocker, ...]:
    recorded = request.recorded
    if recorded is None or all(recorded.attributes[name] == desired[name] for name in ("catalog", "name")):
        return ()
    moved = blocker(
        codes.NAMESPACE_RENAMED,
        f"{_import_id(recorded.attributes)} cannot become {_import_id(desired)}: catalogs do not rename "
        "namespaces.",
        ("write its old name again", "give the block another label; the old namespace is then forgotten"),
    )
    return (moved,)
