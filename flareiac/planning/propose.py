"""Asks the planners, in dependency order, about every resource that is desired or recorded. Pure."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import field, replace

from flareiac.kernel import codes
from flareiac.kernel.addresses import module_text, parse_address
from flareiac.kernel.data import Attributes, Data
from flareiac.kernel.diagnostics import Diagnostic, Diagnostics, warning
from flareiac.kernel.graph import topological
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.sources import Span
from flareiac.model.desired import Desired, DesiredResource
from flareiac.model.plan import PlannedResource
from flareiac.model.references import connections_of, reached_by_declaration, recorded_connections
from flareiac.model.snapshot import ResourceRecord, Snapshot
from flareiac.planning.contract_checks import violations
from flareiac.planning.replace_triggers import triggered_by
from flareiac.planning.settled import Settled
from flareiac.sdk.changes import Action, Impact, Proposal, Usage, blocker
from flareiac.sdk.project import Project
from flareiac.sdk.references import LastUser, Resolved
from flareiac.sdk.requests import Leaving, PlanRequest
from flareiac.sdk.resource_type import Kind, ResourceType
from flareiac.sdk.results import Observation, Present, Unreadable, history_of


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceCase:
    """One resource that a planner is asked about."""

    address: str
    desired: DesiredResource | None
    record: ResourceRecord | None
    observed: Observation
    declared_protected: bool = False
    """The protection in the configuration, also where everything is to be destroyed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """The context that all questions of one plan share."""

    desired: Desired
    snapshot: Snapshot
    types: Mapping[str, ResourceType]
    project: Project
    observations: Mapping[str, Observation]
    replace: frozenset[str] = frozenset()
    destroy: bool = False
    disturbances: Mapping[str, tuple[Impact, ...]] = field(default_factory=dict)
    usages: Mapping[str, tuple[Usage, ...]] = field(default_factory=dict)
    """By subject."""
    selected: Collection[str] | None = None
    """The addresses that the command line leaves in the plan, where they are known already; None: all."""
    previous_addresses: Mapping[str, str] = field(default_factory=dict)
    """The addresses that the state has for what has moved, by the new ones."""
    settled: Settled | None = None
    """The resources about which no planner is asked; None: every resource is asked about."""


def removal_requested(context: Context, address: str) -> bool | None:
    """Returns None if no ``removed`` block names this address, otherwise whether the block asks to destroy
    the object.
    """
    parsed = parse_address(address)
    if parsed is None or not context.desired.removed:
        return None
    modules = (module_text(parsed.module[: deep + 1]) for deep in range(len(parsed.module)))
    names = (address, str(parsed.block), *modules)
    return next((block.destroy for block in context.desired.removed if block.source in names), None)


def cases(context: Context) -> tuple[ResourceCase, ...]:
    """Every managed resource that is desired or recorded: dependencies first, then those that are only
    recorded.
    """
    dependencies: dict[str, tuple[str, ...]] = {}
    for address, resource in context.desired.resources.items():
        if resource.kind is Kind.MANAGED:
            dependencies[address] = resource.dependencies
    for address, record in sorted(context.snapshot.resources.items()):
        dependencies.setdefault(address, record.dependencies)
    return tuple(
        ResourceCase(
            address=address,
            desired=None if context.destroy else context.desired.resources.get(address),
            record=context.snapshot.resources.get(address),
            observed=context.observations[address],
            declared_protected=address in context.desired.resources
            and context.desired.resources[address].lifecycle.prevent_destroy,
        )
        for address in topological(dependencies)
        if address in context.observations and (not context.destroy or address in context.snapshot.resources)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Unplanned:
    """A resource that cannot be planned: it is unreadable itself, or depends on ``cause``, which is."""

    address: str
    diagnostic: Diagnostic
    cause: str | None = None


def propose(
    context: Context, diagnostics: Diagnostics
) -> tuple[dict[str, PlannedResource], dict[str, Unplanned]]:
    """Each case as a planned resource, or as one that cannot be planned: unreadable, or hanging on what
    is.
    """
    planned: dict[str, PlannedResource] = {}
    unplanned = {
        address: Unplanned(address=address, diagnostic=diagnostic)
        for address, diagnostic in context.desired.unread.items()
    }
    hidden = _hidden(context.desired)
    # Cases come after what they depend on: whatever is unplanned of that is known to be by now.
    for case in cases(context):
        cause = next(
            (
                hidden.get(dependency, dependency)
                for dependency in _dependencies(case)
                if dependency in unplanned or dependency in hidden
            ),
            None,
        )
        if isinstance(case.observed, Unreadable):
            diagnostic = case.observed.diagnostic.at(subject=_span(case), address=case.address)
            unplanned[case.address] = Unplanned(address=case.address, diagnostic=diagnostic)
        elif cause is not None:
            why = f"{case.address} depends on {cause}, about which nothing is known."
            diagnostic = warning(codes.NOT_PLANNED, why, address=case.address)
            unplanned[case.address] = Unplanned(address=case.address, diagnostic=diagnostic, cause=cause)
        else:
            planned[case.address] = _planned(context, case, planned, diagnostics)
    return planned, unplanned


def _hidden(desired: Desired) -> dict[str, str]:
    """Returns the declared things that are not resources of their own, such as a stream, and read something
    about which nothing is known, each with the address of that.
    """
    hidden: dict[str, str] = {}
    for address, resource in desired.resources.items():
        cause = next(
            (
                hidden.get(each, each)
                for each in resource.dependencies
                if each in desired.unread or each in hidden
            ),
            None,
        )
        if cause is not None and resource.kind is not Kind.MANAGED:
            hidden[address] = cause
    return hidden


def propose_again(
    context: Context,
    planned: Mapping[str, PlannedResource],
    concerned: Collection[str],
    diagnostics: Diagnostics,
) -> dict[str, PlannedResource]:
    """The same resources, with those asked once more that are ``concerned`` by what the context knows by
    now.
    """
    asked = {
        case.address: case for case in cases(context) if case.address in concerned and case.address in planned
    }
    return {
        address: _planned(context, asked[address], planned, diagnostics) if address in asked else resource
        for address, resource in planned.items()
    }


def _settled(context: Context, case: ResourceCase) -> PlannedResource | None:
    """A resource about which no planner has to be asked; None for one that is planned."""
    address, desired, record = case.address, case.desired, case.record
    if context.settled is None or desired is None or record is None:
        return None
    if address in context.replace or address in context.disturbances:
        return None
    if not context.settled.holds(address, desired, record, case.observed):
        return None
    return PlannedResource(
        address=address,
        type=record.type,
        provider=desired.provider,
        proposal=Proposal(action=Action.NO_OP, planned=desired.attributes),
        desired=desired.attributes,
        recorded=record.attributes,
        identity=_identity(case),
        observed=record.attributes,
        dependencies=desired.dependencies,
        protected=record.protected,
        owner=record.owner,
        schema_version=context.types[record.type].recording.schema_version,
        resolved=record.resolved,
        previous_address=context.previous_addresses.get(address, ""),
    )


def _planned(
    context: Context,
    case: ResourceCase,
    others: Mapping[str, PlannedResource],
    diagnostics: Diagnostics,
) -> PlannedResource:
    trigger = triggered_by(case.desired, others, context.types) if case.record is not None else ""
    if not trigger and (settled := _settled(context, case)) is not None:
        return settled
    request = _request(context, case)
    if trigger:
        request = replace(request, replace=True)
    kind = context.types[case.desired.address.type if case.desired else _recorded(case).type]
    assert kind.planning.planner is not None, f"{kind.name} is managed and has no planner"
    planner = kind.planning.planner()
    proposal = replace(planner.plan(request), fingerprint=planner.fingerprint(request))
    provider = case.desired.provider if case.desired else _recorded(case).provider
    diagnostics.extend(violations(request, proposal, kind, provider))
    span = _span(case)
    spans = case.desired.spans if case.desired else {}
    diagnostics.extend(
        diagnostic.at(subject=spans.get(diagnostic.attribute, span), address=case.address)
        for diagnostic in proposal.diagnostics
    )
    if trigger:
        proposal = _with_said(
            proposal, lambda text: text.replace("asked for with -replace", f"{trigger} changes")
        )
    proposal = _guard(context, case, _kept(context, case, proposal))
    if context.destroy and case.address in context.desired.resources:
        proposal = _on_request(proposal)
    elif case.desired is None and _block_of(case.address) in context.desired.disabled:
        proposal = _with_said(proposal, _of_disabled)
    if proposal.action is Action.NO_OP and _outdated(context, case, request):
        proposal = replace(proposal, action=Action.RECORD)
    return PlannedResource(
        address=case.address,
        type=kind.name,
        provider=provider,
        proposal=proposal,
        desired=request.desired,
        recorded=case.record.attributes if case.record else None,
        identity=_identity(case),
        observed=getattr(case.observed, "attributes", None),
        dependencies=_dependencies(case),
        protected=_protects(case),
        owner=case.desired.owner if case.desired else _recorded(case).owner,
        schema_version=kind.recording.schema_version,
        import_id=request.import_id if proposal.action is Action.ADOPT else None,
        destroy_object=request.destroy_object,
        replace=request.replace,
        triggered_by=trigger,
        disturbances=request.disturbances,
        resolved=case.record.resolved if case.record else {},
        previous_address=context.previous_addresses.get(case.address, ""),
    )


def _request(context: Context, case: ResourceCase) -> PlanRequest:
    desired, record = case.desired, case.record
    imported = next(
        (import_block for import_block in context.desired.imports if import_block.to == case.address), None
    )
    return PlanRequest(
        address=case.address,
        desired=_without_ignored(desired, record, case.observed) if desired else None,
        recorded=record.recorded() if record else None,
        observed=case.observed,
        references=references_for(context.desired, context.snapshot, case.address, context.observations),
        project=context.project,
        importing=record is None and imported is not None,
        import_id=None if imported is None else imported.id,
        takeover=imported is not None and imported.takeover,
        destroy_object=bool(removal_requested(context, case.address)),
        replace=case.address in context.replace,
        protected=_protects(case),
        disturbances=context.disturbances.get(case.address, ()),
        usages=_usages_of_others(context, case),
        leaving=_leaving(context, case) if desired is None else (),
    )


def _leaving(context: Context, case: ResourceCase) -> tuple[Leaving, ...]:
    return tuple(
        Leaving(
            type=record.type,
            recorded=record.recorded(),
            destroy_object=bool(removal_requested(context, address)),
        )
        for address, record in context.snapshot.resources.items()
        if address != case.address
        and (context.destroy or address not in context.desired.resources)
        and (context.selected is None or address in context.selected)
    )


def _usages_of_others(context: Context, case: ResourceCase) -> tuple[Usage, ...]:
    subjects = (case.address, *_dependencies(case))
    return tuple(
        usage
        for subject in subjects
        for usage in context.usages.get(subject, ())
        if usage.holder != case.address
    )


def references_for(
    desired: Desired, snapshot: Snapshot, address: str, observations: Mapping[str, Observation] | None = None
) -> dict[str, Resolved]:
    """All that a resource refers to, directly or through others: as desired where it is, else as recorded
    with it.

    Identities are those that were observed, where an observation is given and found it there, else the
    recorded ones.
    """
    resources, record = desired.resources, snapshot.resources.get(address)
    resolved: dict[str, Resolved] = {}
    if address in resources:
        start = resources[address].dependencies
    else:
        start = record.dependencies if record else ()
        resolved = recorded_connections(record) if record else {}
    for each in sorted(reached_by_declaration(start, resources)):
        known = resources[each].resolved()
        history = known.history or history_of((observations or {}).get(each))
        resolved[each] = replace(
            known,
            identity=_identity_of(each, snapshot, observations or {}),
            history=history,
            last_user=_last_user(snapshot.resources.get(each)),
        )
    return resolved


def _last_user(record: ResourceRecord | None) -> LastUser | None:
    user = record.user if record is not None else None
    if user is None:
        return None
    return LastUser(address=user.address, attributes=user.attributes, identity=user.identity)


def _identity_of(address: str, snapshot: Snapshot, observations: Mapping[str, Observation]) -> Attributes:
    observed, record = observations.get(address), snapshot.resources.get(address)
    if record is not None and isinstance(observed, Present):
        return observed.identity
    return record.identity if record else {}


def _without_ignored(
    desired: DesiredResource, record: ResourceRecord | None, observed: Observation
) -> Attributes:
    """The desired attributes with the ignored ones as they are there: changed outside of FlareIaC or not."""
    attributes, lifecycle = desired.attributes, desired.lifecycle
    if record is None or not lifecycle.ignore_changes:
        return attributes
    there = _as_there(record.attributes, observed)
    if lifecycle.ignores_all:
        return there
    for head, *rest in lifecycle.ignore_changes:
        for name in _canonical(str(head), attributes):
            if name in there:
                attributes = _put(attributes, [name, *rest], there)
        attributes = _ordered(str(head), attributes, there, whole=not rest)
    return attributes


def _as_there(recorded: Attributes, observed: Observation) -> Attributes:
    """The recorded attributes with the values that were observed. What others added is not taken over: it
    would be removed unasked once it is no longer ignored.
    """
    if not isinstance(observed, Present):
        return recorded
    live = observed.attributes
    return {name: _live(value, live[name]) if name in live else value for name, value in recorded.items()}


def _live(recorded: Data, live: Data) -> Data:
    if not isinstance(recorded, dict) or not isinstance(live, dict):
        return live
    return {name: _live(value, live[name]) for name, value in recorded.items() if name in live}


def _canonical(name: str, attributes: Attributes) -> tuple[str, ...]:
    """The attributes that hold what a configuration calls by a name: blocks with labels are one attribute, in
    the plural.
    """
    several = tuple(each for each in (f"{name}s", f"{name}es") if each in attributes)
    return several if name not in attributes and several else (name,)


def _ordered(name: str, attributes: Attributes, recorded: Attributes, *, whole: bool) -> Attributes:
    """With the order of blocks, which an attribute of its own says, for those that are there now: one that is
    kept stands behind the one that it was recorded behind. ``whole``: all are kept.
    """
    order, blocks = f"{name}_order", attributes.get(f"{name}s")
    if order not in attributes or not isinstance(blocks, dict):
        return attributes
    declared = () if whole else attributes[order] or ()
    ordered = [each for each in declared if each in blocks]
    before: list[Data] = []
    for each in recorded.get(order) or ():
        if each in blocks and each not in ordered:
            known = [ordered.index(other) for other in before if other in ordered]
            ordered.insert(known[-1] + 1 if known else 0, each)
        before.append(each)
    return {**attributes, order: ordered}


def _put(attributes: Attributes, path: list[Data], recorded: Data) -> Attributes:
    """``attributes`` with the value at ``path`` as it is recorded; without it where nothing is recorded
    there.
    """
    head = path[0]
    if not isinstance(recorded, dict) or head not in recorded:
        return {name: value for name, value in attributes.items() if name != head}
    inner, was = attributes.get(head), recorded[head]
    if len(path) > 1 and isinstance(inner or {}, dict):
        return {**attributes, head: _put(inner or {}, path[1:], was)}
    return {**attributes, head: was}


def _on_request(proposal: Proposal) -> Proposal:
    """With -destroy, what is declared all the same goes because that was asked for."""

    def said(text: str) -> str:
        kept = text.replace(
            "it is no longer declared; its files stay", "kept: destroy removes it from the state only"
        )
        return kept.replace("it is no longer declared", "destroy was asked for")

    return _with_said(proposal, said)


def _of_disabled(text: str) -> str:
    return text.replace("it is no longer declared", "its block says enabled = false")


def _block_of(address: str) -> str:
    parsed = parse_address(address)
    return str(parsed.block) if parsed is not None else address


def _with_said(proposal: Proposal, said: Callable[[str], str]) -> Proposal:
    """The proposal with other words for why."""
    steps = tuple(replace(step, why=said(step.why)) for step in proposal.steps)
    return replace(proposal, reasons=tuple(map(said, proposal.reasons)), steps=steps)


def _kept(context: Context, case: ResourceCase, proposal: Proposal) -> Proposal:
    """A ``removed`` block that does not ask to destroy keeps the object, whatever its on_destroy says; what
    has none is only running.
    """
    recorded = case.record.attributes if case.record else {}
    if (
        proposal.action is not Action.DELETE
        or "on_destroy" not in recorded
        or removal_requested(context, case.address) is not False
    ):
        return proposal
    return replace(
        proposal,
        action=Action.FORGET,
        steps=(),
        changes=(),
        blockers=(),
        disturbs=(),
        reasons=("its removed block keeps the object",),
    )


def _guard(context: Context, case: ResourceCase, proposal: Proposal) -> Proposal:
    """Protection holds whatever the planner says; it is kept in the state, so that removing the block does
    not remove it.
    """
    removing = proposal.action in (Action.DELETE, Action.REPLACE, Action.FORGET)
    if (
        not removing
        or not _protects(case)
        or (proposal.action is Action.FORGET and removal_requested(context, case.address) is False)
    ):
        return proposal
    protected = blocker(
        codes.PREVENT_DESTROY,
        f"The lifecycle of {case.address} says prevent_destroy = true, and that is kept in the state until "
        "an apply has recorded otherwise.",
        (
            (
                "keep its block; or set prevent_destroy = false in its lifecycle block, apply, and then "
                "remove it"
            ),
            f"to forget it and keep the object:\nremoved {{\n  from = {case.address}\n}}",
        ),
    )
    return replace(proposal, blockers=(*proposal.blockers, protected))


def _protects(case: ResourceCase) -> bool:
    if case.desired is not None:
        return case.desired.lifecycle.prevent_destroy
    return case.declared_protected or (case.record is not None and case.record.protected)


def _outdated(context: Context, case: ResourceCase, request: PlanRequest) -> bool:
    """Returns True if what the state holds around an unchanged resource (protection, owner, dependencies,
    connections) is outdated.
    """
    if case.record is None or case.desired is None:
        return False
    record, dependencies = case.record, case.desired.dependencies
    connections = connections_of(dependencies, record.attributes, request.references, context.types)
    return (record.protected, record.owner, record.dependencies, record.resolved) != (
        _protects(case),
        case.desired.owner,
        dependencies,
        connections,
    )


def _identity(case: ResourceCase) -> Attributes:
    if isinstance(case.observed, Present):
        return case.observed.identity
    return case.record.identity if case.record else {}


def _dependencies(case: ResourceCase) -> tuple[str, ...]:
    return case.desired.dependencies if case.desired else _recorded(case).dependencies


def _recorded(case: ResourceCase) -> ResourceRecord:
    assert case.record is not None, f"{case.address} is neither desired nor recorded"
    return case.record


def _span(case: ResourceCase) -> Span | None:
    return case.desired.span if case.desired else None
