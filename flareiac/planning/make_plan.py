"""Builds the plan from desired, snapshot and observations. Pure: the time is an argument."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import field, replace
from enum import StrEnum
from fnmatch import fnmatchcase

from flareiac.kernel import codes
from flareiac.kernel.addresses import ModuleStep, module_text, parse_address
from flareiac.kernel.data import Attributes, Data, is_known
from flareiac.kernel.diagnostics import Diagnostic, Diagnostics, did_you_mean, error, warning
from flareiac.kernel.graph import Cycle, closure
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.model.applied_from import AppliedFrom
from flareiac.model.desired import Desired, OutputValue
from flareiac.model.plan import Operation, OutputChange, Plan, PlannedResource, PlannedTask
from flareiac.model.snapshot import Snapshot
from flareiac.planning import maintenance as maintaining
from flareiac.planning import usages as using
from flareiac.planning.conditions import decided
from flareiac.planning.contract_checks import second_round
from flareiac.planning.environments import Surroundings, with_strangers_blocked
from flareiac.planning.impacts import stopping_for, with_reactions
from flareiac.planning.order import order
from flareiac.planning.propose import Context, Unplanned, propose, propose_again, references_for
from flareiac.planning.readers import Readers, outside_readers
from flareiac.planning.relabelled import relabelled
from flareiac.planning.rival_writers import rivals
from flareiac.planning.settled import Settled
from flareiac.planning.shared_locations import occupied
from flareiac.sdk.changes import Action, Proposal, Usage
from flareiac.sdk.owner import Owner
from flareiac.sdk.project import Project
from flareiac.sdk.references import Resolved
from flareiac.sdk.resource_type import ResourceType
from flareiac.sdk.results import Observation
from flareiac.sdk.schema import sensitive_paths

_REMOVING = (Action.DELETE, Action.FORGET)


class Maintenance(StrEnum):
    """The treatment of due maintenance."""

    INCLUDE = "include"
    ONLY = "only"
    """Nothing else: what else would change is left as it is."""
    EXCLUDE = "exclude"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options of the command line for this plan. Targets and exclusions are addresses or globs."""

    targets: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    replace: frozenset[str] = frozenset()
    destroy: bool = False
    max_destroys: int | None = None
    maintenance: Maintenance = Maintenance.INCLUDE
    remediates: bool = False
    """True where the desired definitions are the recorded ones (see ``model.plan.Plan``)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The three sources of a plan and what it takes to read them. ``figures``: what was measured for
    maintenance, by address.
    """

    desired: Desired
    snapshot: Snapshot
    observations: Mapping[str, Observation]
    types: Mapping[str, ResourceType]
    project: Project
    time: float
    figures: Mapping[str, Attributes] = field(default_factory=dict)
    applied: AppliedFrom | None = None
    """The origin of this plan; None where that does not matter."""
    shared_state: bool = True
    """True where the state is in a place that other checkouts and folders may have, too."""
    former: Mapping[str, Observation] = field(default_factory=dict)
    """The observations of resources that left the state and can continue all the same, by address (see
    ``maintenance.former_questions``).
    """


def make_plan(inputs: Inputs, options: Options, diagnostics: Diagnostics) -> Plan:
    """The whole plan, also when it has errors or blocked resources: such a plan can be read but not
    applied.
    """
    references = _references(inputs)
    declared = _usages(inputs, options, references, diagnostics)
    # Nothing waits for a consumer and nothing is held for it: no planner hears of one.
    usages = tuple(usage for usage in declared if not usage.is_outside)
    by_subject = using.by_subject(usages)
    context = Context(
        desired=inputs.desired,
        snapshot=inputs.snapshot,
        types=inputs.types,
        project=inputs.project,
        observations=inputs.observations,
        replace=options.replace,
        destroy=options.destroy,
        usages=by_subject,
        previous_addresses={new: old for old, new in inputs.desired.moves.items()},
        settled=Settled(
            declared=references,
            types=inputs.types,
            project=inputs.project,
            usages=by_subject,
            imported=frozenset(import_block.to for import_block in inputs.desired.imports),
        ),
    )
    proposed = _proposed(context, inputs, references, diagnostics)
    planned = _chosen(proposed, inputs, options, diagnostics)
    if options.maintenance is not Maintenance.ONLY:
        around = Surroundings(
            shared=inputs.shared_state,
            project=inputs.project,
            snapshot=inputs.snapshot,
            observations=inputs.observations,
            types=inputs.types,
            references=references,
        )
        planned = with_strangers_blocked(planned, inputs.applied, around)
    readers = Readers.of(
        (*declared, *proposed.running),
        inputs.snapshot.applied.readers if inputs.snapshot.applied is not None else (),
        lambda address: _owner(inputs, address),
    )
    planned = readers.named_in(planned)
    _check_budget(planned, options, diagnostics)
    diagnostics.extend(_moved_apart(planned, inputs, options))
    if not options.destroy:
        diagnostics.extend(relabelled(planned))
    diagnostics.extend(_unmatched(inputs.observations, options))
    tasks = readers.named_in_tasks(_tasks(inputs, options, planned, references, diagnostics))
    due = tuple(task for task in tasks if task.task.due)
    alone = options.maintenance is Maintenance.ONLY
    conditions = decided(inputs.desired.conditions, planned, inputs.desired, whole=_is_whole(options))
    if not options.destroy and not alone:
        diagnostics.extend(each.problem for each in conditions if each.problem is not None)
    operations = _order({} if alone else planned, usages, proposed.running, due, diagnostics)
    if alone:
        planned = _untouched(planned, tasks)
    return Plan(
        lineage=inputs.snapshot.lineage,
        serial=inputs.snapshot.serial,
        workspace=inputs.project.workspace,
        time=inputs.time,
        configuration=inputs.desired.digest,
        destroy=options.destroy,
        targeted=bool(options.targets or options.exclude),
        maintenance_only=alone,
        remediates=options.remediates,
        resources=_with_sensitive_places(planned.values(), inputs),
        references=references,
        operations=operations,
        tasks=tasks,
        outputs=_outputs(inputs, options),
        diagnostics=tuple(diagnostics),
        variables=inputs.desired.variables,
        applied=_to_record(inputs, options, declared),
        moves=inputs.desired.moves,
        owners={
            usage.holder: owner
            for usage in declared
            if usage.is_outside and (owner := _owner(inputs, usage.holder)) is not None
        },
        types=_versions([*planned.values(), *references.values()], inputs),
        bound=inputs.desired.bound,
        made_in=str(inputs.project.root) if inputs.desired.bound else "",
        conditions=() if options.destroy or alone else conditions,
    )


def _is_whole(options: Options) -> bool:
    return not options.targets and not options.exclude


def _owner(inputs: Inputs, address: str) -> Owner | None:
    resource, record = inputs.desired.resources.get(address), inputs.snapshot.resources.get(address)
    return resource.owner if resource is not None else record.owner if record is not None else None


def _to_record(inputs: Inputs, options: Options, declared: Iterable[Usage]) -> AppliedFrom | None:
    """The origin that the apply records; None for maintenance alone, and for a part of a state that is not
    empty.
    """
    is_part = bool(options.targets or options.exclude) or options.destroy
    if options.maintenance is Maintenance.ONLY or (is_part and inputs.snapshot.resources):
        return None
    if inputs.applied is None:
        return None
    readers = outside_readers(() if options.destroy else declared, lambda address: _owner(inputs, address))
    return replace(inputs.applied, readers=readers)


def _usages(
    inputs: Inputs, options: Options, references: Mapping[str, Resolved], diagnostics: Diagnostics
) -> tuple[Usage, ...]:
    """Returns the usages that declared resources have of each other, and complains about those that exclude
    each other.
    """
    usages = using.collect(inputs.desired, inputs.types, references)
    seen = () if options.destroy else using.collect_seen(inputs.desired, inputs.types, inputs.observations)
    diagnostics.extend(using.conflicts((*usages, *seen), inputs.desired))
    if not options.destroy:
        diagnostics.extend(rivals(usages, inputs.desired))
    return usages


@dataclass(frozen=True, slots=True, kw_only=True)
class _Proposed:
    """Every resource after both rounds. ``running``: the usages of what runs and will not rest by itself."""

    context: Context
    planned: Mapping[str, PlannedResource]
    unplanned: Mapping[str, Unplanned]
    running: tuple[Usage, ...]


def _proposed(
    context: Context, inputs: Inputs, references: Mapping[str, Resolved], diagnostics: Diagnostics
) -> _Proposed:
    """Round one proposes. In round two those that others' changes disturb answer again, knowing that; more
    than two rounds are never needed, because a second answer may only add stops (``second_round``).
    """
    planned, unplanned = propose(context, diagnostics)
    proposals = {address: resource.proposal for address, resource in planned.items()}
    running = using.awake(using.collect_running(inputs.snapshot, inputs.types, references), proposals)
    disturbances = using.disturbed(proposals, running)
    if disturbances:
        context = replace(context, disturbances=disturbances)
        first, planned = planned, propose_again(context, planned, disturbances, diagnostics)
        for address in sorted(disturbances.keys() & planned.keys()):
            second, provider = planned[address].proposal, planned[address].provider
            diagnostics.extend(second_round(first[address].proposal, second, address, provider))
    return _Proposed(context=context, planned=planned, unplanned=unplanned, running=running)


def _chosen(
    proposed: _Proposed, inputs: Inputs, options: Options, diagnostics: Diagnostics
) -> dict[str, PlannedResource]:
    """Returns the part of the plan that the targets select, with its effects on running resources."""
    unplanned, running = proposed.unplanned, proposed.running
    selected = _selected(inputs.desired, proposed.planned, unplanned, options, running)
    lacking = [resource for address, resource in unplanned.items() if address in selected]
    diagnostics.extend(_complaints(lacking, inputs, options))
    planned = {address: resource for address, resource in proposed.planned.items() if address in selected}
    # A resource that is left out stays, so it may still need something of one that is removed
    if options.targets or options.exclude:
        going = [address for address, resource in planned.items() if resource.desired is None]
        planned = propose_again(replace(proposed.context, selected=selected), planned, going, diagnostics)
    return with_reactions(planned, running)


def _tasks(
    inputs: Inputs,
    options: Options,
    planned: Mapping[str, PlannedResource],
    resolved: Mapping[str, Resolved],
    diagnostics: Diagnostics,
) -> tuple[PlannedTask, ...]:
    """Declared maintenance of what is there, and of the targets alone where there are any."""
    if options.destroy or options.maintenance is Maintenance.EXCLUDE:
        return ()
    wanted = maintaining.wanting(planned, inputs.types)
    if options.targets:
        wanted = {
            address: resource
            for address, resource in wanted.items()
            if any(matches(address, pattern) for pattern in options.targets)
        }
    if options.maintenance is Maintenance.ONLY:
        changing = sorted(
            address
            for address, resource in wanted.items()
            if resource.action in (Action.UPDATE, Action.ADOPT)
        )
        why = (
            "Its block and what is there differ, so what is due of it is not known. Apply that first: "
            "flareiac plan shows it."
        )
        diagnostics.extend(_left_out(address, why) for address in changing)
        wanted = {address: resource for address, resource in wanted.items() if address not in changing}
    if inputs.figures.keys().isdisjoint(wanted):
        return ()
    references = {
        address: references_for(inputs.desired, inputs.snapshot, address, inputs.observations)
        for address in {**wanted, **inputs.snapshot.resources}
    }
    around = maintaining.Around(
        types=inputs.types,
        holds=maintaining.holds(
            inputs.snapshot, inputs.observations, inputs.types, references, inputs.former, planned.values()
        ),
        taken=occupied(resolved, inputs.snapshot, inputs.observations, inputs.types, inputs.project),
        project=inputs.project,
        time=inputs.time,
    )
    return maintaining.planned_tasks(wanted, inputs.figures, inputs.snapshot, references, around, diagnostics)


def _left_out(address: str, why: str) -> Diagnostic:
    return warning(codes.MAINTENANCE_LEFT_OUT, why, address=address)


def _complaints(unplanned: Collection[Unplanned], inputs: Inputs, options: Options) -> list[Diagnostic]:
    """Returns the diagnostics of resources that cannot be planned. Maintenance alone continues without them,
    and reports only those that are maintained.
    """
    if options.maintenance is not Maintenance.ONLY:
        return [unplanned_resource.diagnostic for unplanned_resource in unplanned]
    diagnostics: list[Diagnostic] = []
    for unplanned_resource in unplanned:
        resource = inputs.desired.resources.get(unplanned_resource.address)
        maintainer = inputs.types[resource.address.type].maintaining.maintainer if resource else None
        if resource and maintainer and maintainer().wants(resource.attributes):
            diagnostics.append(_left_out(unplanned_resource.address, unplanned_resource.diagnostic.line))
    return diagnostics


def _untouched(
    planned: Mapping[str, PlannedResource], tasks: tuple[PlannedTask, ...]
) -> dict[str, PlannedResource]:
    """The resources that are maintained, with nothing about them to change."""
    maintained = {task.address for task in tasks}
    return {
        address: replace(
            resource,
            proposal=Proposal(
                action=Action.NO_OP,
                planned=resource.proposal.planned,
                fingerprint=resource.proposal.fingerprint,
            ),
        )
        for address, resource in planned.items()
        if address in maintained
    }


def _references(inputs: Inputs) -> dict[str, Resolved]:
    resolved: dict[str, Resolved] = {}
    for address, resource in inputs.desired.resources.items():
        if inputs.types[resource.address.type].declaring.values_only:
            continue
        record = inputs.snapshot.resources.get(address)
        resolved[address] = replace(resource.resolved(), identity=record.identity if record else {})
    return resolved


def matches(address: str, pattern: str) -> bool:
    """Returns True if a target names an address: exactly, by glob, as all instances of its block or of the
    modules around it (``module.sales.table.orders``), or as a module that it is in.
    """
    parsed = parse_address(address)
    if parsed is None:
        return pattern == address or ("*" in pattern and fnmatchcase(address, pattern))
    names = [address, str(parsed.block), *map(module_text, _leading(parsed.module))]
    if any(step.key is not None for step in parsed.module):
        keyless = tuple(ModuleStep(step.name) for step in parsed.module)
        bare = replace(parsed, module=keyless)
        names += [str(bare), str(bare.block), *map(module_text, _leading(keyless))]
    return pattern in names or ("*" in pattern and any(fnmatchcase(name, pattern) for name in names))


def _leading(steps: tuple[ModuleStep, ...]) -> list[tuple[ModuleStep, ...]]:
    """The modules that something is in, outermost first."""
    return [steps[: at + 1] for at in range(len(steps))]


def _selected(
    desired: Desired,
    planned: Mapping[str, PlannedResource],
    unplanned: Mapping[str, Unplanned],
    options: Options,
    running: tuple[Usage, ...],
) -> Collection[str]:
    """The addresses that the command line is about, with all that they cannot do without."""
    everything = [*planned, *unplanned]
    if not options.targets and not options.exclude:
        return everything
    hanging_on = _hanging_on(planned) | {
        address: [unplanned_resource.cause] if unplanned_resource.cause else []
        for address, unplanned_resource in unplanned.items()
    }
    for subject, holder in stopping_for(
        {address: resource.proposal for address, resource in planned.items()}, running
    ):
        if holder in planned:
            hanging_on[subject].append(holder)
    # A target brings along what it needs, an exclusion takes away what needs it: the same edges, followed
    # forwards for the one and backwards for the other.
    patterns = options.targets or ("*",)
    chosen = [
        address
        for address in everything
        if address not in desired.unread and any(matches(address, pattern) for pattern in patterns)
    ]
    left_out = [
        address for address in everything if any(matches(address, pattern) for pattern in options.exclude)
    ]
    turned = _turned(hanging_on)
    lost = set(closure(left_out, lambda address: turned.get(address, ())))
    return set(
        closure(
            [address for address in chosen if address not in lost],
            lambda address: hanging_on.get(address, ()),
        )
    )


def _hanging_on(planned: Mapping[str, PlannedResource]) -> dict[str, list[str]]:
    """Returns the addresses that each resource cannot do without: those it refers to where it is made, those
    that refer to it where it is removed.

    A change that a running query must stop for cannot do without that query either (added by the caller).
    """
    edges: dict[str, list[str]] = {address: [] for address in planned}
    for address, resource in planned.items():
        for other in resource.dependencies:
            if other in planned and planned[other].action in _REMOVING:
                edges[other].append(address)
            elif other in planned and resource.action not in _REMOVING:
                edges[address].append(other)
    return edges


def _turned(edges: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """The same edges the other way round."""
    turned: dict[str, list[str]] = {address: [] for address in edges}
    for address, others in edges.items():
        for other in others:
            turned[other].append(address)
    return turned


def _unmatched(addresses: Collection[str], options: Options) -> list[Diagnostic]:
    """One error for each pattern of the command line that names nothing: what was meant would not happen, or
    happen to too much.
    """
    patterns = (*options.targets, *options.exclude)
    wrong = [pattern for pattern in patterns if not any(matches(address, pattern) for address in addresses)]
    wrong += [address for address in sorted(options.replace) if address not in addresses]
    return [
        error(
            codes.NO_SUCH_RESOURCE,
            f'"{pattern}" is not the address of a managed resource that is declared or recorded. Keys are '
            "written as in plan, within "
            f"quotes for the shell: 'table.orders[\"eu\"]'.{did_you_mean(pattern, addresses)}",
        )
        for pattern in wrong
    ]


def _moved_apart(planned: Collection[str], inputs: Inputs, options: Options) -> Iterator[Diagnostic]:
    """An error where targets leave out what has moved: a plan that knew only a part of the moves would take
    the others for removed, or for new.
    """
    lacking = sorted(
        new
        for new in inputs.desired.moves.values()
        if new in inputs.snapshot.resources and new not in planned
    )
    if lacking and not options.remediates and (options.targets or options.exclude):
        way_out = "take the exclusion away"
        if options.targets:
            options_to_add = (f"-target='{address}'" for address in lacking)
            way_out = f"add {' '.join(options_to_add)}"
        why = (
            f"The configuration gives {', '.join(lacking)} another address than the state has, and this plan "
            f"leaves that out. Plan everything, or {way_out}."
        )
        yield error(codes.MOVE_LEFT_OUT, why)


def _check_budget(planned: Mapping[str, PlannedResource], options: Options, diagnostics: Diagnostics) -> None:
    destroyed = [
        resource.address
        for resource in planned.values()
        if resource.action in (Action.DELETE, Action.REPLACE)
    ]
    if options.max_destroys is not None and len(destroyed) > options.max_destroys:
        diagnostics.error(
            codes.TOO_MANY_DESTROYED,
            f"The plan destroys {len(destroyed)} objects, and -max-destroys allows {options.max_destroys}: "
            f"{', '.join(sorted(destroyed))}. Raise the limit if that is intended, or look for the block "
            "that is missing.",
        )


def _order(
    planned: Mapping[str, PlannedResource],
    usages: tuple[Usage, ...],
    running: tuple[Usage, ...],
    due: tuple[PlannedTask, ...],
    diagnostics: Diagnostics,
) -> tuple[Operation, ...]:
    try:
        return order(tuple(planned.values()), usages, running, due)
    except Cycle as cycle:
        diagnostics.error(
            codes.OPERATION_CYCLE,
            f"No order satisfies {' -> '.join(cycle.nodes)}. What ends and reads what another one "
            "writes must not write what the other one reads.",
        )
        return ()


def _versions(typed: Iterable[PlannedResource | Resolved], inputs: Inputs) -> dict[str, int]:
    """The versions of the types of resources and references, by type."""
    names = sorted({each.type for each in typed} & inputs.types.keys())
    return {name: inputs.types[name].recording.schema_version for name in names}


def _with_sensitive_places(planned: Iterable[PlannedResource], inputs: Inputs) -> tuple[PlannedResource, ...]:
    listed = tuple(planned)
    hidden = {
        name: places
        for name in {each.type for each in listed}
        if (places := sensitive_paths(inputs.types[name].schema))
    }
    if not hidden:
        return listed
    return tuple(replace(each, sensitive=hidden.get(each.type, ())) for each in listed)


def _outputs(inputs: Inputs, options: Options) -> dict[str, OutputChange]:
    after: Mapping[str, OutputValue] = {} if options.destroy else inputs.desired.outputs
    if options.maintenance is Maintenance.ONLY or (options.destroy and (options.targets or options.exclude)):
        after = inputs.snapshot.outputs
    if inputs.desired.unread:  # what is not known for that stays as it was recorded
        before = inputs.snapshot.outputs
        after = {
            name: output if is_known(output.value) else before[name]
            for name, output in after.items()
            if is_known(output.value) or name in before
        }
    names: dict[str, Data] = dict.fromkeys([*inputs.snapshot.outputs, *after])
    return {
        name: OutputChange(before=_bare(inputs.snapshot.outputs.get(name)), after=_bare(after.get(name)))
        for name in sorted(names)
    }


def _bare(output: OutputValue | None) -> OutputValue | None:
    """An output as the state keeps it: no description."""
    return replace(output, description=None) if output else None
