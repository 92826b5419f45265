"""The use case of ``plan``: desired, recorded and observed into a plan. Takes no lock and writes nothing but
a cache.
"""

import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import field, replace
from enum import StrEnum
from typing import Literal

from flareiac.app.environment import environment_of
from flareiac.app.figures_cache import known_figures, remember
from flareiac.app.plan_origin import origin
from flareiac.app.policies import policy_results
from flareiac.app.workspace import Workspace
from flareiac.applying.recover import foresee
from flareiac.config.load import Configuration
from flareiac.kernel import codes
from flareiac.kernel.data import Attributes
from flareiac.kernel.diagnostics import Diagnostic, Diagnostics, Failure, Severity
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.sources import Source
from flareiac.model.applied_from import AppliedFrom
from flareiac.model.desired import Desired
from flareiac.model.journal import Interrupted
from flareiac.model.plan import Plan
from flareiac.model.references import connections_in_use
from flareiac.model.renaming import renamed
from flareiac.model.snapshot import Snapshot
from flareiac.planning.maintenance import former_questions
from flareiac.planning.make_plan import Inputs, Maintenance, Options, make_plan
from flareiac.planning.measure import Measurement
from flareiac.planning.propose import references_for
from flareiac.planning.usages import collect as usages
from flareiac.sdk.changes import Relation
from flareiac.sdk.maintenance import MeasureRequest
from flareiac.sdk.references import References
from flareiac.sdk.requests import Question, ReadRequest
from flareiac.sdk.resource_type import Kind, ResourceType
from flareiac.sdk.results import Missing, Observation, Present
from flareiac.state.read import Loaded


class Refresh(StrEnum):
    """The extent to which the systems are asked."""

    FULL = "full"
    CHANGED = "changed"
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRequest:
    """The request of a user for a plan."""

    options: Options = field(default_factory=Options)
    refresh: Refresh = Refresh.CHANGED
    confirm: bool = False
    """True where an object that looks unchanged must be proven to exist (see ``ReadRequest.confirm``)."""
    policies: bool = True
    """False where the plan is not for an apply: the rules of the team are about what would be done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanReport:
    """A plan (None when the configuration has errors), all complaints, and the texts that they point into."""

    plan: Plan | None
    diagnostics: Diagnostics
    sources: Mapping[str, Source]
    configuration: Configuration | None = None
    observations: Mapping[str, Observation] = field(default_factory=dict)
    recorded: int = 0
    """The number of resources in the state."""
    inputs: Inputs | None = None
    """The inputs that the plan was made from."""
    beside: tuple[Diagnostic, ...] = ()
    """The complaints from before it was made."""
    later: tuple[Diagnostic, ...] = ()
    """The complaints among them that a plan which blocks something says better."""
    refused: bool = False
    """True where an apply would refuse it: what it would run is wrong."""


def plan(workspace: Workspace, request: PlanRequest, *, loaded: Loaded | None = None) -> PlanReport:
    """Plans. Raises ``Failure`` when the state cannot be read."""
    diagnostics = Diagnostics()
    loaded = _resumed(workspace, loaded or workspace.load_state(), request, diagnostics)
    configuration = _configuration(workspace, loaded.snapshot, request, diagnostics)
    snapshot = configuration.snapshot
    if diagnostics.has_errors:
        return PlanReport(plan=None, diagnostics=diagnostics, sources=configuration.sources)
    desired = configuration.desired
    connections = _connections(workspace, desired, snapshot)
    observations = _observations(workspace, desired, snapshot, connections, request)
    figures, problems = _figures(workspace, desired, snapshot, connections, observations, request)
    diagnostics.extend(problems)
    started = time.perf_counter()
    inputs = Inputs(
        desired=desired,
        snapshot=snapshot,
        observations=observations,
        types=workspace.installed.registry.types,
        project=workspace.project,
        time=time.time(),
        figures=figures,
        applied=environment_of(workspace.root, desired, snapshot, workspace.workspace),
        shared_state=workspace.place.is_shared,
        former=_former(workspace, snapshot, request),
    )
    report = PlanReport(
        plan=None,
        diagnostics=diagnostics,
        sources=configuration.sources,
        configuration=configuration,
        observations=observations,
        recorded=len(snapshot.resources),
        inputs=inputs,
        beside=tuple(diagnostics),
        later=() if request.options.destroy else tuple(diagnostics.later),
    )
    report = _made(workspace, request, report, inputs)
    workspace.timings["planning"] = time.perf_counter() - started
    return report


def plan_again(
    workspace: Workspace, request: PlanRequest, planned: PlanReport, snapshot: Snapshot
) -> PlanReport:
    """The same plan where the state says more: nothing is read again."""
    assert planned.inputs is not None, "only a plan that was made is made again"
    types = workspace.installed.registry.types
    moved = renamed(snapshot, planned.inputs.desired.moves, types)
    return _made(workspace, request, planned, replace(planned.inputs, snapshot=moved))


def plan_instead(
    workspace: Workspace, request: PlanRequest, planned: PlanReport, desired: Desired
) -> PlanReport:
    """The plan of other definitions than those of the files: nothing is read again."""
    assert planned.inputs is not None, "only a plan that was made is made again"
    return _made(workspace, request, planned, replace(planned.inputs, desired=desired, figures={}))


def _made(workspace: Workspace, request: PlanRequest, report: PlanReport, inputs: Inputs) -> PlanReport:
    diagnostics = Diagnostics()
    diagnostics.extend(report.beside)
    made = make_plan(inputs, request.options, diagnostics)
    if request.refresh is not Refresh.NONE:
        diagnostics.extend(_disturbed_by_work(workspace, made, inputs))
    if not made.blocked:
        diagnostics.extend(report.later)
        diagnostics.take_later()
    made = replace(
        made,
        origin=origin(workspace, made.variables),
        diagnostics=tuple(diagnostics),
        refresh=request.refresh.value,
    )
    made = replace(made, protection=_protection(made.applied, inputs.snapshot.applied))
    if request.policies and not made.errored and (checked := policy_results(workspace.root, made)):
        made = replace(made, policy=checked.results)
    return replace(report, plan=made, diagnostics=diagnostics, inputs=inputs)


def _protection(now: AppliedFrom | None, before: AppliedFrom | None) -> Literal["", "on", "off"]:
    """The change of the protection of the workspace."""
    was = before is not None and before.protected
    if now is None or now.protected == was:
        return ""
    return "on" if now.protected else "off"


def _disturbed_by_work(workspace: Workspace, made: Plan, inputs: Inputs) -> Iterator[Diagnostic]:
    """Yields the effects on others of due maintenance where it is carried out. Where they are not known, the
    rest of the plan holds.
    """
    due = (task for task in made.tasks if task.task.due and task.task.performer is not None)
    for address, performer in dict.fromkeys((task.address, str(task.task.performer)) for task in due):
        references = references_for(inputs.desired, inputs.snapshot, address, inputs.observations)
        resolved = references.get(performer)
        if resolved is not None:
            try:
                yield from workspace.disturbed(address, resolved, references)
            except Failure as failure:
                yield from (
                    replace(diagnostic, severity=Severity.WARNING) for diagnostic in failure.diagnostics
                )


def _configuration(
    workspace: Workspace, snapshot: Snapshot, request: PlanRequest, diagnostics: Diagnostics
) -> Configuration:
    """Letting go of everything needs nothing of what others own; -refresh=none asks no system, but reads
    states.
    """
    if request.options.destroy:
        recorded = _recorded_data(snapshot)
        return workspace.load_configuration(snapshot, diagnostics, data=recorded, partial=True)
    if request.refresh is Refresh.NONE:
        known = _recorded_data(snapshot)
        return workspace.load_configuration(
            snapshot, diagnostics, data=lambda question: known(question) or workspace.read_values(question)
        )
    return workspace.load_configuration(snapshot, diagnostics, data=workspace.read_data)


def _resumed(workspace: Workspace, loaded: Loaded, request: PlanRequest, diagnostics: Diagnostics) -> Loaded:
    """The state as an apply will find it: what an interrupted one did is as good as recorded, unless one is
    at work now.
    """
    _warn_of_torn_record(loaded, diagnostics)
    interrupted = loaded.recovered.interrupted
    if interrupted is None:
        return loaded
    holder = workspace.store.lock_info()
    if holder is not None:
        diagnostics.warning(
            codes.COMMAND_RUNNING,
            f"{holder.owner} on {holder.host} runs {holder.operation} with process {holder.pid}. This plan "
            "shows what exists at this moment; plan again when that command has ended.",
        )
        return loaded
    if request.refresh is Refresh.NONE:
        _warn_of_interruption(interrupted, "", diagnostics)
        return loaded
    try:
        foreseen = foresee(interrupted, loaded.snapshot, workspace.driver, workspace.installed.registry.types)
    except Failure as failure:
        why = f" What it did is not known now: {failure.diagnostics[0].line}"
        _warn_of_interruption(interrupted, why, diagnostics)
        return loaded
    done = ", ".join(f"{address} ({verb})" for address, verb in foreseen.done)
    _warn_of_interruption(
        interrupted, f" It had done {done}; this plan goes on from there." if done else "", diagnostics
    )
    return replace(loaded, recovered=replace(loaded.recovered, snapshot=foreseen.snapshot))


def _warn_of_interruption(interrupted: Interrupted, sentence: str, diagnostics: Diagnostics) -> None:
    addresses = sorted({str(intent.operation["address"]) for intent in interrupted.open.values()})
    at = f" while it worked on {', '.join(addresses)}" if addresses else ""
    diagnostics.warning(
        codes.APPLY_INTERRUPTED,
        f"It ended{at} before it could record the result.{sentence} The next apply first finds out, by "
        "reading, what was done, and records it; applying its plan file again resumes it.",
    )


def _warn_of_torn_record(loaded: Loaded, diagnostics: Diagnostics) -> None:
    if loaded.torn:
        diagnostics.warning(
            codes.JOURNAL_CUT_OFF,
            "A crash or a full disk cut it off. What it was about is found out by reading; nothing else is "
            "lost.",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Connections:
    """The declared ones, and which of them keep something that is recorded."""

    declared: References
    in_use: frozenset[str]


def _connections(workspace: Workspace, desired: Desired, snapshot: Snapshot) -> _Connections:
    declared = {
        address: resource.resolved()
        for address, resource in desired.resources.items()
        if resource.kind is Kind.CONNECTION
    }
    types = workspace.installed.registry.types
    return _Connections(
        declared=declared, in_use=connections_in_use(declared, snapshot, types, workspace.project)
    )


def _observations(
    workspace: Workspace,
    desired: Desired,
    snapshot: Snapshot,
    connections: _Connections,
    request: PlanRequest,
) -> Mapping[str, Observation]:
    destroy = request.options.destroy
    managed = (
        []
        if destroy
        else [address for address, resource in desired.resources.items() if resource.kind is Kind.MANAGED]
    )
    addresses = list(dict.fromkeys([*managed, *snapshot.resources]))
    if request.refresh is Refresh.NONE:
        return {address: _as_recorded(snapshot, address) for address in addresses}
    streamed = () if destroy else streamed_from(desired, workspace.installed.registry.types)
    cheap = request.refresh is Refresh.CHANGED
    reading = Reading(
        cheap=cheap,
        confirm=request.confirm,
        destroy=destroy,
        streamed=streamed,
        in_use=connections.in_use,
        declared=connections.declared,
    )
    return workspace.observe(questions(desired, snapshot, addresses, reading))


def _former(workspace: Workspace, snapshot: Snapshot, request: PlanRequest) -> Mapping[str, Observation]:
    """Observes the resources that left the state and for which others hold data; without a refresh none is
    observed, and what they hold is unknown.
    """
    return {} if request.refresh is Refresh.NONE else workspace.observe(former_questions(snapshot))


def _figures(
    workspace: Workspace,
    desired: Desired,
    snapshot: Snapshot,
    connections: _Connections,
    observations: Mapping[str, Observation],
    request: PlanRequest,
) -> tuple[Mapping[str, Attributes], tuple[Diagnostic, ...]]:
    """Returns the figures that maintenance decides by, of everything that exists and has maintenance
    declared; and diagnostics for those whose figures are not known.
    """
    if (
        request.refresh is Refresh.NONE
        or request.options.destroy
        or request.options.maintenance is Maintenance.EXCLUDE
    ):
        return {}, ()
    known = known_figures(snapshot.lineage, workspace.project.workspace)
    dropped = snapshot.dropped_by_name()
    wanted: list[Measurement] = []
    for address, resource in desired.resources.items():
        kind, observed = workspace.installed.registry.types[resource.address.type], observations.get(address)
        if (
            kind.maintaining.maintainer is not None
            and isinstance(observed, Present)
            and kind.maintaining.maintainer().wants(resource.attributes)
        ):
            references = references_for(desired, snapshot, address, observations)
            asked = MeasureRequest(
                address=address,
                attributes=resource.attributes,
                identity=observed.identity,
                references=references,
                known=known.get(address, {}) if request.refresh is Refresh.CHANGED else {},
                dropped={name: each.identity for name, each in dropped.items() if each.type == kind.name},
                declared=connections.declared,
                in_use=connections.in_use,
                runs=record.maintenance if (record := snapshot.resources.get(address)) else {},
            )
            wanted.append(Measurement(provider=resource.provider, type=kind.name, request=asked))
    figures, problems = workspace.measure(wanted)
    if figures and snapshot.serial:  # a state that nothing was written to has another lineage with each plan
        remember(snapshot.lineage, workspace.project.workspace, figures)
    return figures, problems


def _recorded_data(snapshot: Snapshot) -> Callable[[Question], Present | None]:
    """Answers questions about data blocks with their attributes at the last apply of the resources that refer
    to them.
    """
    known = {
        address: attributes
        for record in snapshot.resources.values()
        for address, attributes in record.resolved.items()
    }

    def answer(question: Question) -> Present | None:
        attributes = known.get(question.request.address)
        return Present(attributes=attributes) if attributes is not None else None

    return answer


def _as_recorded(snapshot: Snapshot, address: str) -> Observation:
    record = snapshot.resources.get(address)
    if record is None:
        return Missing(reason="not looked for (-refresh=none)")
    return Present(attributes=record.attributes, identity=record.identity)


def streamed_from(desired: Desired, types: Mapping[str, ResourceType]) -> frozenset[str]:
    """The resources that declared jobs read as streams, or whose rows they count: what is left of them
    decides how these jobs start.
    """
    references = {address: resource.resolved() for address, resource in desired.resources.items()}
    return frozenset(
        usage.subject
        for usage in usages(desired, types, references)
        if usage.relation is Relation.STREAMS_FROM or usage.counts
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The settings that all reads of one command share. ``streamed``: see ``streamed_from``. ``cheap``,
    ``confirm``, ``in_use`` and ``declared``: as in ``ReadRequest``.

    ``destroy``: everything goes, and is asked about as what is no longer declared (a namespace, with the
    tables in it).
    """

    cheap: bool
    confirm: bool = False
    destroy: bool = False
    streamed: Collection[str] = ()
    in_use: frozenset[str] = frozenset()
    declared: References = field(default_factory=dict)


def questions(desired: Desired, snapshot: Snapshot, addresses: list[str], reading: Reading) -> list[Question]:
    """Returns a question about each address: as declared where it is, else as recorded."""
    imports = {import_block.to: import_block.id for import_block in desired.imports}
    asked: list[Question] = []
    for address in addresses:
        resource, record = desired.resources.get(address), snapshot.resources.get(address)
        kind = record.type if record else desired.resources[address].address.type
        provider = resource.provider if resource else snapshot.resources[address].provider
        request = ReadRequest(
            address=address,
            desired=resource.attributes if resource and not reading.destroy else None,
            recorded=record.recorded() if record else None,
            references=references_for(desired, snapshot, address),
            cheap=reading.cheap,
            confirm=reading.confirm,
            import_id=imports.get(address) if record is None else None,
            history=address in reading.streamed,
            in_use=reading.in_use,
            declared=reading.declared,
        )
        asked.append(Question(provider=provider, type=kind, request=request))
    return asked
