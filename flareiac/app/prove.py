"""Asks the drivers that can for what a plan alone cannot know: whether a text means the same, and whether
what runs it understands it. Changes no resource.
"""

import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace

from flareiac.app.plan import PlanReport, PlanRequest, Refresh, plan, plan_again
from flareiac.app.source_spans import with_spans
from flareiac.app.workspace import Workspace
from flareiac.applying.requests import references_of
from flareiac.kernel.data import Attributes, is_known
from flareiac.kernel.diagnostics import Diagnostic, Diagnostics, Failure
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.model.journal import Recovered
from flareiac.model.plan import Plan, PlannedResource
from flareiac.model.snapshot import Snapshot
from flareiac.sdk.actions import Create, Update
from flareiac.sdk.capabilities import Proofs, Proving
from flareiac.sdk.changes import Action
from flareiac.sdk.requests import ApplyRequest, ChangeRequest
from flareiac.state.read import Loaded


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """The manner in which drivers are asked. ``locally``: see ``Proving``; ``progress`` takes what holds up
    the answer.
    """

    locally: bool
    progress: Callable[[str], None]
    cancel: threading.Event


def prove_plan(workspace: Workspace, request: PlanRequest, planned: PlanReport, asking: Asking) -> PlanReport:
    """The plan with what was proven in it, and the errors in what it would run. The state is not touched."""
    if planned.plan is None or planned.plan.errored or planned.inputs is None:
        return planned
    snapshot = planned.inputs.snapshot
    proofs = ask(workspace, planned.plan, snapshot, asking)
    return plan_with(workspace, request, planned, proofs, with_learned(snapshot, proofs.learned, proofs.left))


def plan_with(
    workspace: Workspace, request: PlanRequest, planned: PlanReport, proofs: Proofs, snapshot: Snapshot
) -> PlanReport:
    """The same plan after what drivers said of it. ``snapshot``: the state that holds it."""
    again = plan_again(workspace, request, planned, snapshot)
    assert again.plan is not None, "it was a whole plan before"
    diagnostics = Diagnostics()
    diagnostics.extend((*again.diagnostics, *with_spans(proofs.diagnostics, planned.configuration)))
    resources = tuple(
        replace(resource, proposal=replace(resource.proposal, unproven=""))
        if resource.address in proofs.checked
        else resource
        for resource in again.plan.resources
    )
    made = replace(again.plan, resources=resources, diagnostics=tuple(diagnostics))
    return replace(again, plan=made, diagnostics=diagnostics, refused=bool(proofs.diagnostics))


@dataclass(frozen=True, slots=True, kw_only=True)
class Understood:
    """The outcome of a check of declared resources on this machine. ``checked``: how many of a type have
    nothing wrong in what was looked at, as in ``("job", "SQL")``; ``unknown``: those of which too little is
    declared.
    """

    diagnostics: tuple[Diagnostic, ...]
    checked: Mapping[tuple[str, str], int] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()


def prove_declared(workspace: Workspace, asking: Asking) -> Understood:
    """Checks what is declared as if nothing were there yet: without this state, and without any system but
    the states that data blocks read.
    """
    nothing = Loaded(recovered=Recovered(snapshot=Snapshot(lineage="")), revision=None)
    planned = plan(workspace, PlanRequest(refresh=Refresh.NONE, policies=False), loaded=nothing)
    if planned.plan is None or planned.plan.errored:
        return Understood(diagnostics=tuple(planned.diagnostics))
    proofs = ask(workspace, planned.plan, nothing.snapshot, asking)
    wanted = [resource for resource in planned.plan.resources if resource.proposal.unproven]
    wrong = {diagnostic.address for diagnostic in proofs.diagnostics}
    return Understood(
        diagnostics=tuple(with_spans(proofs.diagnostics, planned.configuration)),
        checked=Counter(
            (resource.type, resource.proposal.unproven)
            for resource in wanted
            if resource.address in proofs.checked
        ),
        unknown=tuple(
            resource.address for resource in wanted if resource.address not in proofs.checked | wrong
        ),
    )


def ask(
    workspace: Workspace,
    asked_of: Plan,
    snapshot: Snapshot,
    asking: Asking,
    *,
    only: Sequence[str] | None = None,
) -> Proofs:
    """Asks the drivers about the planned changes. ``only``: about these addresses alone."""
    by_driver: dict[tuple[str, str], list[ChangeRequest]] = {}
    for resource in asked_of.resources:
        if only is None or resource.address in only:
            asked = _request(asked_of, resource, snapshot, asking)
            if asked is not None:
                by_driver.setdefault((resource.provider, resource.type), []).append(asked)
    proofses: list[Proofs] = []
    for (provider, kind), requests in by_driver.items():
        driver = workspace.driver(provider, kind)
        if isinstance(driver, Proving):
            try:
                proofses.append(driver.prove(requests, locally=asking.locally))
            except Failure as failure:
                proofses.append(Proofs(diagnostics=failure.diagnostics))
    return Proofs(
        diagnostics=tuple(diagnostic for each in proofses for diagnostic in each.diagnostics),
        learned={address: identity for each in proofses for address, identity in each.learned.items()},
        left={address: identity for each in proofses for address, identity in each.left.items()},
        checked=frozenset().union(*(each.checked for each in proofses)),
    )


def with_learned(
    snapshot: Snapshot, learned: Mapping[str, Attributes], left: Mapping[str, Attributes]
) -> Snapshot:
    """The state with new identities of its resources, by address, and of what left it (see ``Preflight``)."""
    known = {
        address: replace(snapshot.resources[address], identity=identity)
        for address, identity in learned.items()
        if address in snapshot.resources
    }
    kept = {
        address: replace(record, user=replace(record.user, identity=left[address]))
        for address, record in {**snapshot.resources, **known}.items()
        if address in left and record.user is not None
    }
    return replace(snapshot, resources={**snapshot.resources, **known, **kept})


def provable(made: Plan) -> tuple[str, ...]:
    """The addresses that are blocked for want of a proof alone."""
    return tuple(resource.address for resource in made.resources if resource.proposal.provable)


def _request(
    made: Plan, planned_resource: PlannedResource, snapshot: Snapshot, asking: Asking
) -> ChangeRequest | None:
    planned, payload = planned_resource.proposal.planned, planned_resource.proposal.payload
    record = snapshot.resources.get(planned_resource.address)
    recorded = record.recorded() if record is not None else None
    if (
        planned is None
        or not is_known(planned)
        or planned_resource.action not in (Action.CREATE, Action.UPDATE)
    ):
        return None
    action = (
        Update(planned=planned, recorded=recorded, payload=payload)
        if recorded is not None
        else Create(planned=planned, payload=payload)
    )
    return ApplyRequest(
        key=f"prove/{made.lineage}/{planned_resource.address}",
        address=planned_resource.address,
        action=action,
        references=references_of(made, planned_resource, snapshot.identity),
        cancel=asking.cancel,
        progress=asking.progress,
    )
