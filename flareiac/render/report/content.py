"""The content of a report: all that is said of a plan for its review, typed, before it has a form. Pure.

``markdown``, ``html`` and ``json`` beside it are readings of it. Texts are as planners and users wrote them,
with sensitive values redacted as in the text of a plan: a reading escapes them for its form.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from enum import StrEnum
from typing import Any, Final

from flareiac.kernel.addresses import module_text, parse_address
from flareiac.kernel.data import UNKNOWN, Json
from flareiac.kernel.diagnostics import Severity
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import OPTIONAL, SPARSE, named
from flareiac.model.costs import Costs
from flareiac.model.plan import OutputChange, Plan, PlannedResource
from flareiac.model.policy import PolicyResults
from flareiac.render.change_text import in_few_words
from flareiac.render.cost_text import cost_lines
from flareiac.render.counts import counts
from flareiac.render.json_values import plain
from flareiac.render.plan_json import attribute_change
from flareiac.render.plan_text import moved_alone, notices, output_line, protection_line, unproven
from flareiac.render.redaction import REDACTED, sensitive_in
from flareiac.render.report.lineage import FOR_A_COMMENT, Lineage, Size, Uses, lineage
from flareiac.render.report.reasons import reason_of
from flareiac.render.resource_text import RenderOptions, diff_body, moved_line, written_path
from flareiac.render.sections import DESTRUCTIVE, INTERRUPTING, Section, section_of
from flareiac.render.style import Style
from flareiac.render.summary_text import many, sentence
from flareiac.sdk.changes import Action, Blocker, Effect, Origin
from flareiac.sdk.changes import Reader as PlannedReader
from flareiac.sdk.resource_type import ResourceType
from flareiac.sdk.schema import Pattern

FORMAT_VERSION: Final = 1
"""The version of ``report -format=json``."""
_WIDTH: Final = 100
_FEW: Final = 3
_SECTION_ORDER: Final = (Section.DESTRUCTIVE, Section.BLOCKED, Section.RESTARTS, Section.OTHERS)
_VERBS: Final[Mapping[Action, str]] = {
    Action.CREATE: "is created",
    Action.ADOPT: "is imported",
    Action.UPDATE: "is changed",
    Action.REPLACE: "is destroyed and created again",
    Action.DELETE: "is destroyed",
    Action.FORGET: "is forgotten: no longer managed, not destroyed",
    Action.RECORD: "is recorded",
    Action.NO_OP: "stays as it is",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """One that reads what a change breaks: a job, or a consumer outside of the project. ``columns``: of those
    that change, the ones that it is known to read. ``is_certain``: False where it may also read others alone.
    ``is_declared``: False where only the last apply knew it.
    """

    address: str
    owner: str = field(default="", metadata=SPARSE)
    columns: tuple[str, ...] = field(default=(), metadata=SPARSE)
    is_certain: bool = field(default=True, metadata=named("certain"))
    is_declared: bool = field(default=True, metadata=named("declared"))


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkStep:
    """One step of a change: what happens, its effect, and why."""

    text: str
    effect: Effect
    why: str = field(default="", metadata=SPARSE)
    rules: tuple[str, ...] = field(default=(), metadata=SPARSE)
    """The rules that ``why`` quotes, by the names that ``explain`` takes."""


class StateVerdict(StrEnum):
    """The fate of the state of a query that stops."""

    KEPT = "kept"
    KEPT_IF_PROVEN = "kept_if_proven"
    """Apply proves first that the other text means the same."""
    RESULTS_CHANGE = "kept_and_results_change"
    NEW_GENERATION = "new_generation"
    """It is left behind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interruption:
    """A running query stops. ``restarts``: it starts again. ``batch_seconds``: the duration of its last
    batch, so about the time until it has stopped; None where that is not known. ``replays``: the numbers of
    the batches that are done again.
    """

    restarts: bool
    why: str
    state: StateVerdict
    batch_seconds: float | None = field(default=None, metadata=OPTIONAL)
    replays: tuple[int, ...] = field(default=(), metadata=SPARSE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedAttribute:
    """One attribute that differs, with its values as they may be shown. ``path``: keys and indexes."""

    path: tuple[str | int, ...]
    origin: Origin
    old: Any
    new: Any
    live: Any
    note: str = field(default="", metadata=SPARSE)
    sensitive: bool = field(default=False, metadata=SPARSE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """The work of the plan on one resource, done or blocked.

    ``reason``: a stable word for programs. ``what``: the same for people, a part of a sentence.
    ``diff``: the attributes as lines of a unified diff, each with its sign and a blank.
    ``readers``: those that notice it. ``group``: the number of its group in ``Report.groups``.
    """

    address: str
    type: str
    module: str = field(default="", metadata=SPARSE)
    action: Action
    section: Section
    reason: str
    what: str
    group: int
    owner: str = field(default="", metadata=SPARSE)
    readers: tuple[Reader, ...] = field(default=(), metadata=SPARSE)
    steps: tuple[WorkStep, ...] = field(default=(), metadata=SPARSE)
    notes: tuple[str, ...] = field(default=(), metadata=SPARSE)
    drift: tuple[str, ...] = field(default=(), metadata=SPARSE)
    blockers: tuple[Blocker, ...] = field(default=(), metadata=SPARSE)
    interruption: Interruption | None = field(default=None, metadata=OPTIONAL)
    attributes: tuple[ChangedAttribute, ...] = field(default=(), metadata=SPARSE)
    diff: tuple[str, ...] = field(default=(), metadata=SPARSE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Changes that are alike in everything but the address."""

    section: Section
    addresses: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DueTask:
    """Maintenance that an apply does. ``forecast``: numbers by name. ``held``: who keeps it from doing
    more. ``readers``: those who may look for what it removes.
    """

    address: str
    name: str
    what: str
    forecast: Mapping[str, int] = field(default_factory=dict, metadata=SPARSE)
    held: tuple[str, ...] = field(default=(), metadata=SPARSE)
    readers: tuple[Reader, ...] = field(default=(), metadata=SPARSE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedOutput:
    """An output that differs, with its values as they may be shown; None: it is not there."""

    name: str
    before: Any
    after: Any
    line: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Complaint:
    """A warning or an error of the plan."""

    severity: Severity
    code: str
    summary: str
    detail: str = field(default="", metadata=SPARSE)
    address: str = field(default="", metadata=SPARSE)


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictPart:
    """One part of the verdict, in words. ``grave``: a reviewer must not miss it."""

    text: str
    grave: bool = field(default=False, metadata=SPARSE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The plan in one line, and the numbers of it. ``changes`` counts resources and outputs; those that are
    blocked count as ``blocked`` alone. ``applyable``: False where it is blocked, has errors, does nothing
    or does not meet a mandatory rule.
    """

    parts: tuple[VerdictPart, ...]
    sentence: str
    applyable: bool
    errored: bool
    partial: bool
    changes: int
    add: int
    change: int
    destroy: int
    imports: int = field(metadata=named("import"))
    forget: int
    restart: int
    generation: int
    lose_data: int
    blocked: int
    due: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """All of it. ``changes`` in the order of their sections, the most urgent first. ``time``: UTC seconds of
    the plan. ``notes``: what the plan says beside its changes.
    """

    format_version: int
    flareiac_version: str
    workspace: str
    state: str
    serial: int
    time: float
    verdict: Verdict
    changes: tuple[Change, ...]
    groups: tuple[Group, ...]
    maintenance: tuple[DueTask, ...]
    outputs: tuple[ChangedOutput, ...]
    complaints: tuple[Complaint, ...]
    notes: tuple[str, ...]
    lineage: Lineage
    policy: PolicyResults | None = field(default=None, metadata=OPTIONAL)
    """The answers of the rules of the team; None where there are none."""
    cost: Costs | None = field(default=None, metadata=OPTIONAL)
    """The costs of its actions; None where no prices were given."""


def report_of(
    plan: Plan, *, tool_version: str, types: Mapping[str, ResourceType], picture: Size = FOR_A_COMMENT
) -> Report:
    """The content of the report of a plan. ``types`` tell what is sensitive, how an attribute is written, and
    who uses what; ``picture`` is the size of the lineage.
    """
    uses = Uses(plan, types)
    by_section: dict[Section, list[PlannedResource]] = {section: [] for section in _SECTION_ORDER}
    for resource in plan.resources:
        if (section := section_of(resource)) is not None:
            by_section[section].append(resource)
    by_section[Section.DESTRUCTIVE].sort(key=_keeps_its_data)
    touched = [(section, resource) for section, resources in by_section.items() for resource in resources]
    groups: dict[tuple[Any, ...], _Alike] = {}
    changes = tuple(_change(resource, section, types, groups) for section, resource in touched)
    return Report(
        format_version=FORMAT_VERSION,
        flareiac_version=tool_version,
        workspace=plan.workspace,
        state=plan.lineage,
        serial=plan.serial,
        time=plan.time,
        verdict=_verdict(plan),
        changes=changes,
        groups=tuple(Group(section=it.section, addresses=tuple(it.addresses)) for it in groups.values()),
        maintenance=tuple(
            DueTask(
                address=due.address,
                name=due.task.name,
                what=due.task.summary,
                forecast=dict(due.task.forecast),
                held=due.task.held,
                readers=_readers(due.task.readers),
            )
            for due in plan.due
        ),
        outputs=tuple(_output(name, change) for name, change in plan.output_changes.items()),
        complaints=tuple(
            Complaint(
                severity=diagnostic.severity,
                code=diagnostic.code,
                summary=diagnostic.summary,
                detail=diagnostic.detail,
                address=diagnostic.address or "",
            )
            for diagnostic in sorted(
                plan.diagnostics, key=lambda diagnostic: diagnostic.severity is not Severity.ERROR
            )
        ),
        notes=(
            *([protection_line(plan)] if plan.protection else []),
            *(cost_lines(plan.costs) if plan.costs is not None else []),
            *(f"{moved_line(old, new)}." for old, new in moved_alone(plan)),
            *unproven(plan),
            *notices(plan),
        ),
        lineage=lineage(
            uses, (resource for _, resource in touched), {it.address: it.reason for it in changes}, picture
        ),
        policy=plan.policy,
        cost=plan.costs,
    )


@dataclass(slots=True, kw_only=True)
class _Alike:
    number: int
    section: Section
    addresses: list[str]


def _change(
    resource: PlannedResource,
    section: Section,
    types: Mapping[str, ResourceType],
    groups: dict[tuple[Any, ...], _Alike],
) -> Change:
    proposal, kind = resource.proposal, types.get(resource.type)
    patterns = sensitive_in(resource, {} if kind is None else {kind.name: kind.schema})
    look = RenderOptions(style=Style(False), width=_WIDTH, types=types)
    owner, readers = hit_by(resource)
    steps = tuple(
        WorkStep(text=step.text, effect=step.effect, why=step.why, rules=step.rules)
        for step in proposal.steps
    )
    interruption, diff = interruption_of(resource), tuple(diff_body(resource, look))
    what = what_of(resource, section, patterns, kind)
    alike = (
        *(section, resource.type, resource.action, owner, readers, steps, interruption, diff, what),
        *(notes_of(resource), proposal.drift, proposal.blockers),
    )
    group = groups.setdefault(alike, _Alike(number=len(groups), section=section, addresses=[]))
    group.addresses.append(resource.address)
    address = parse_address(resource.address)
    return Change(
        address=resource.address,
        type=resource.type,
        module="" if address is None else module_text(address.module),
        action=resource.action,
        section=section,
        reason=reason_of(resource),
        what=what,
        group=group.number,
        owner=owner,
        readers=readers,
        steps=steps,
        notes=notes_of(resource),
        drift=proposal.drift,
        blockers=proposal.blockers,
        interruption=interruption,
        attributes=changed_attributes(resource, patterns),
        diff=diff,
    )


def notes_of(resource: PlannedResource) -> tuple[str, ...]:
    """The sentences about a resource beside its steps."""
    moved = (f"moved from {resource.previous_address}",) if resource.previous_address else ()
    return (*moved, *resource.proposal.reasons)


def changed_attributes(
    resource: PlannedResource, patterns: tuple[Pattern, ...]
) -> tuple[ChangedAttribute, ...]:
    """The attributes of a resource that differ, with nothing in them that matches ``patterns``."""
    return tuple(_attribute(attribute_change(each, patterns)) for each in resource.proposal.changes)


def hit_by(resource: PlannedResource) -> tuple[str, tuple[Reader, ...]]:
    """The owner of a resource, and those that read what any of the steps of its change breaks."""
    owner = resource.owner.text if resource.owner is not None else ""
    return owner, _readers(reader for step in resource.proposal.steps for reader in step.readers)


def _readers(named_by_plan: Iterable[PlannedReader]) -> tuple[Reader, ...]:
    """Each reader once, with all its columns."""
    readers: dict[str, PlannedReader] = {}
    for each in named_by_plan:
        known = readers.get(each.address)
        readers[each.address] = each if known is None else known.joined(each)
    return tuple(
        Reader(
            address=address,
            owner=reader.owner.text if reader.owner is not None else "",
            columns=reader.columns,
            is_certain=reader.is_certain,
            is_declared=not reader.is_former,
        )
        for address, reader in sorted(readers.items())
    )


def what_of(
    resource: PlannedResource, section: Section, patterns: tuple[Pattern, ...], kind: ResourceType | None
) -> str:
    """The change in a few words: what it destroys or loses, else its attributes, else its steps."""
    steps = resource.proposal.steps
    if section is Section.DESTRUCTIVE:
        worst_first = sorted(steps, key=lambda step: step.effect is not Effect.LOSES_DATA)
        grave = [
            f"{step.text} [{step.effect.value}]"
            for step in worst_first
            if step.effect in DESTRUCTIVE or step.readers
        ]
        return ": ".join([*_when_gone(resource), *filter(None, ["; ".join(grave)])])
    if resource.action is not Action.UPDATE:
        others = (f"{it.text} [{it.effect.value}]" for it in steps if it.effect is not Effect.METADATA)
        return "; ".join([_VERBS[resource.action], *_first(others)])
    changed = _first(in_few_words(resource.proposal.changes, patterns, written_path(kind)))
    effects = [f"[{effect}]" for effect in dict.fromkeys(step.effect.value for step in steps)]
    if changed:
        return " ".join(["; ".join(changed), *effects])
    said = [f"{step.text} [{step.effect.value}]" for step in steps] or [*resource.proposal.reasons]
    return "; ".join(_first(said)) or _VERBS[resource.action]


def _keeps_its_data(resource: PlannedResource) -> bool:
    return not (resource.loses_data or resource.action in (Action.DELETE, Action.REPLACE))


def _when_gone(resource: PlannedResource) -> list[str]:
    return [_VERBS[resource.action]] if resource.action in (Action.DELETE, Action.REPLACE) else []


def _first(texts: Iterable[str]) -> list[str]:
    listed = list(texts)
    more = [f"and {len(listed) - _FEW} more"] if len(listed) > _FEW else []
    return [*listed[:_FEW], *more]


def interruption_of(resource: PlannedResource) -> Interruption | None:
    """The stop of a query that runs; None where nothing stops, or nothing is applied."""
    stops = [step for step in resource.proposal.steps if step.effect in INTERRUPTING]
    if not stops or resource.action is not Action.UPDATE or resource.proposal.blockers:
        return None
    return Interruption(
        restarts=resource.restarts,
        why=next((step.text for step in stops if not step.replays), stops[0].text),
        state=_state(resource),
        batch_seconds=next((step.batch_seconds for step in stops if step.batch_seconds is not None), None),
        replays=tuple(number for step in stops for number in step.replays),
    )


def _state(resource: PlannedResource) -> StateVerdict:
    effects = {step.effect for step in resource.proposal.steps}
    if Effect.NEW_GENERATION in effects:
        return StateVerdict.NEW_GENERATION
    if Effect.RESULTS_CHANGE in effects:
        return StateVerdict.RESULTS_CHANGE
    return StateVerdict.KEPT_IF_PROVEN if Effect.TAKEN in effects else StateVerdict.KEPT


def _attribute(change: Mapping[str, Any]) -> ChangedAttribute:
    values = {name: change[name] for name in ("old", "new", "live", "note", "sensitive")}
    return ChangedAttribute(path=tuple(change["path"]), origin=Origin(change["origin"]), **values)


def _output(name: str, change: OutputChange) -> ChangedOutput:
    def shown(value: Any) -> Json:
        return plain(REDACTED if sensitive and value is not UNKNOWN else value)

    ends = (change.before, change.after)
    sensitive = any(end is not None and end.sensitive for end in ends)
    before, after = (None if end is None else shown(end.value) for end in ends)
    line = output_line(name, change, Style(False)).strip()
    return ChangedOutput(name=name, before=before, after=after, line=line)


def _verdict(plan: Plan) -> Verdict:
    totals = counts(plan)
    changes = len(plan.output_changes) + sum(not resource.proposal.blockers for resource in plan.changes)
    return Verdict(
        parts=tuple(_verdict_parts(plan, changes)),
        sentence=sentence(plan),
        applyable=plan.applyable,
        errored=plan.errored,
        partial=plan.targeted or plan.maintenance_only,
        changes=changes,
        add=totals.add,
        change=totals.change,
        destroy=totals.destroy,
        imports=totals.imported,
        forget=totals.forget,
        restart=totals.restart,
        generation=totals.generation,
        lose_data=totals.lose_data,
        blocked=totals.blocked,
        due=totals.due,
    )


def _verdict_parts(plan: Plan, changes: int) -> Iterator[VerdictPart]:
    totals = counts(plan)
    errors = Counter(diagnostic.severity for diagnostic in plan.diagnostics)[Severity.ERROR]
    if errors:
        yield VerdictPart(text=f"planning failed with {many(errors, 'error')}", grave=True)
    yield VerdictPart(text=many(changes, "change") if changes else "no changes")
    parts = (
        (totals.restart, many(totals.restart, "restart"), False),
        (totals.destroy, f"{totals.destroy} destroyed", True),
        (totals.lose_data, f"{totals.lose_data} {'loses' if totals.lose_data == 1 else 'lose'} data", True),
        (totals.generation, many(totals.generation, "new generation"), True),
        (totals.due, f"{many(totals.due, 'maintenance task')} due", False),
    )
    yield from (VerdictPart(text=text, grave=grave) for number, text, grave in parts if number)
    if plan.unknown:
        yield VerdictPart(
            text=f"not everything is known of {many(len(plan.unknown), 'resource')}", grave=True
        )
    if plan.targeted:
        yield VerdictPart(text="partial: targets or exclusions left resources out", grave=True)
    if plan.maintenance_only:
        yield VerdictPart(text="maintenance alone was planned")
    if plan.policy is not None and (refusing := plan.policy.failing):
        yield VerdictPart(text=f"{many(len(refusing), 'mandatory rule')} not met", grave=True)
    yield VerdictPart(text=f"blocked: {totals.blocked or 'no'}", grave=bool(totals.blocked))
