"""Small hand-made plans for the tests of rendering."""

import json
from typing import Any

from flareiac.kernel.data import Attributes, Data
from flareiac.kernel.paths import Path
from flareiac.model.plan import Edge, EdgeKind, Operation, OutputChange, Plan, PlannedResource, Verb
from flareiac.sdk.changes import Action, AttributeChange, Blocker, Origin, Proposal, Step

_VERBS = {
    Action.NO_OP: (),
    Action.CREATE: (Verb.CREATE,),
    Action.ADOPT: (Verb.ADOPT,),
    Action.UPDATE: (Verb.UPDATE,),
    Action.REPLACE: (Verb.DELETE, Verb.CREATE),
    Action.DELETE: (Verb.DELETE,),
    Action.FORGET: (Verb.FORGET,),
    Action.RECORD: (Verb.RECORD,),
}


def change(
    path: Path, old: Data, new: Data, *, live: Data = ..., origin: Origin = Origin.CONFIG, note: str = ""
) -> AttributeChange:
    """One changed attribute; it is live as it was recorded unless told otherwise."""
    return AttributeChange(
        path=path, origin=origin, old=old, new=new, live=old if live is ... else live, note=note
    )


def secret(path: Path, old: Data, new: Data) -> AttributeChange:
    """A changed attribute that must not be shown."""
    return AttributeChange(path=path, origin=Origin.CONFIG, old=old, new=new, live=old, sensitive=True)


def resource(
    address: str,
    action: Action,
    *,
    planned: Attributes | None = None,
    recorded: Attributes | None = None,
    observed: Attributes | None = None,
    changes: tuple[AttributeChange, ...] = (),
    steps: tuple[Step, ...] = (),
    reasons: tuple[str, ...] = (),
    blockers: tuple[Blocker, ...] = (),
    drift: tuple[str, ...] = (),
    import_id: str | None = None,
    replace: bool = False,
) -> PlannedResource:
    """One planned resource of a provider called ``toy``."""
    return PlannedResource(
        address=address,
        type=address.split("[")[0].split(".")[-2],
        provider="toy",
        proposal=Proposal(
            action=action,
            planned=planned,
            changes=changes,
            steps=steps,
            reasons=reasons,
            blockers=blockers,
            drift=drift,
        ),
        desired=planned,
        recorded=recorded,
        observed=recorded if observed is None and action is not Action.CREATE else observed,
        import_id=import_id,
        replace=replace,
    )


def plan(
    *resources: PlannedResource,
    outputs: dict[str, OutputChange] | None = None,
    destroy: bool = False,
    targeted: bool = False,
) -> Plan:
    """A plan with one operation for each verb, each waiting for the one before it."""
    operations: list[Operation] = []
    for item in resources:
        for verb in _VERBS[item.action]:
            after = operations[-1].id if operations else None
            edges = (Edge(after=after, kind=EdgeKind.REFERENCE, reason="it refers to it"),) if after else ()
            operations.append(
                Operation(id=f"{verb.value}:{item.address}", address=item.address, verb=verb, edges=edges)
            )
    return Plan(
        lineage="b2c0f9f4-0000-4000-8000-000000000000",
        serial=3,
        workspace="default",
        time=1_000_000_000.0,
        configuration="0123",
        destroy=destroy,
        targeted=targeted,
        maintenance_only=False,
        resources=resources,
        references={},
        operations=tuple(operations),
        outputs=outputs or {},
    )


def read(document: object) -> Any:
    """A document as a program reads it."""
    return json.loads(json.dumps(document))
