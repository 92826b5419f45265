"""The content of ``why``: the facts, rules and causes from which the plan of one address follows. Pure.

Nothing is judged again: actions, effects, reasons and rules are those of the plan, and the class of a change
is the one that ``report`` gives. What a plan does not hold is listed as such.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, Final

from flareiac.kernel.data import Data
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import OPTIONAL, SPARSE
from flareiac.model.plan import Plan, PlannedResource, PlannedTask
from flareiac.render.json_values import plain_object
from flareiac.render.redaction import REDACTED, hide_attributes, sensitive_in
from flareiac.render.report.content import ChangedAttribute, changed_attributes, notes_of
from flareiac.render.report.reasons import BLOCKED, decisive_effect, effect_reason, reason_of
from flareiac.render.resource_text import headline, written_path
from flareiac.render.sections import Section, section_of
from flareiac.render.why.alternatives import Alternative, alternatives, rules_quoted
from flareiac.render.why.causes import Cause, Causes
from flareiac.sdk.changes import Action, Effect
from flareiac.sdk.declared import in_units
from flareiac.sdk.documents import Topic
from flareiac.sdk.resource_type import ResourceType

FORMAT_VERSION: Final = 1
"""The version of ``why -json``."""
CLASSES: Final[Mapping[str, str]] = {
    "destroyed": "destroyed: the object and what it holds are gone afterwards",
    "forgotten": "forgotten: the object stays, and is no longer managed",
    "created": "created: it is declared and not there",
    "replaced_by_request": "replaced: -replace asked for it",
    "replaced": "replaced: it is destroyed and created again",
    "loses_data": "loses data: rows, records or files are gone afterwards",
    "new_generation": "new generation: the query starts in an empty folder, and its state is left behind",
    "results_change": "results change: rows before and after the change mean different things",
    "irreversible": "irreversible: there is no way back",
    "restart": "restart: the query stops, and starts with the offsets and state that it has",
    "stop": "stop: the query stops and does not start again by itself",
    "start": "start: something that does not run now is started",
    "renamed": "rename: the data stays, and readers that use the old name no longer find it",
    "rewrites_data": "rewrite: files of data are written again",
    "moves_files": "move: files are copied to another place",
    "new_snapshot": "new snapshot: one is added, and earlier rows stay",
    "imported": "import: an object that is there becomes managed as it is",
    "imported_and_changed": "import: an object that is there becomes managed, and is changed",
    "drift_restored": "in place: what was changed outside of FlareIaC is set back",
    "changed": "in place: nothing of it stops, and none of its data is rewritten or lost",
    "recorded": "only recorded: only the state of the project is brought up to date",
    "unchanged": "no change: apply does nothing to it",
}
"""The class of a change in words, by its reason (see ``report.reasons``)."""
_BLOCKED: Final = "blocked: apply carries out nothing of this plan before someone decides"


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotedRule:
    """A rule that a step or a blocker quotes, as ``explain`` prints it. ``known``: False where this release
    does not have it, so that the plan is of another one.
    """

    name: str
    known: bool = True
    subject: str = field(default="", metadata=SPARSE)
    change: str = field(default="", metadata=SPARSE)
    text: str = field(default="", metadata=SPARSE)
    consequence: str = field(default="", metadata=SPARSE)
    measured_on: str = field(default="", metadata=SPARSE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReasonedStep:
    """A step of the plan with what it rests on. ``decides``: its effect gives the change its class."""

    text: str
    effect: Effect
    why: str = field(default="", metadata=SPARSE)
    rules: tuple[str, ...] = field(default=(), metadata=SPARSE)
    decides: bool = field(default=False, metadata=SPARSE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReasonedBlocker:
    """A blocker of the plan with what it rests on."""

    code: str
    summary: str
    why: str
    ways_out: tuple[str, ...] = ()
    rules: tuple[str, ...] = field(default=(), metadata=SPARSE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReasonedTask:
    """A maintenance task. ``summary`` has the measured figure beside its limit; ``settings`` are those of its
    block, with defaults.
    """

    name: str
    due: bool
    summary: str
    effect: str = field(default="", metadata=SPARSE)
    settings: Mapping[str, Any] = field(default_factory=dict, metadata=SPARSE)
    forecast: Mapping[str, int] = field(default_factory=dict, metadata=SPARSE)
    held: tuple[str, ...] = field(default=(), metadata=SPARSE)
    performer: str = field(default="", metadata=SPARSE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """The comparison. ``unchanged``: the attributes without a difference. ``identity``: the observed
    object as its system names it.
    """

    declared: bool
    recorded: bool
    observed: bool
    unchanged: tuple[str, ...] = field(default=(), metadata=SPARSE)
    identity: Mapping[str, Any] = field(default_factory=dict, metadata=SPARSE)
    declared_at: str = field(default="", metadata=SPARSE)
    """File and line of its block; empty where only a saved plan was read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Why one address is planned as it is. ``reason``: as in ``report -format=json``, or ``recorded`` or
    ``unchanged``. ``in_words``: the class that it is.
    """

    address: str
    type: str
    action: Action
    section: Section | None = field(default=None, metadata=OPTIONAL)
    reason: str
    in_words: str
    headline: str
    compared: Compared
    attributes: tuple[ChangedAttribute, ...] = field(default=(), metadata=SPARSE)
    steps: tuple[ReasonedStep, ...] = field(default=(), metadata=SPARSE)
    blockers: tuple[ReasonedBlocker, ...] = field(default=(), metadata=SPARSE)
    notes: tuple[str, ...] = field(default=(), metadata=SPARSE)
    drift: tuple[str, ...] = field(default=(), metadata=SPARSE)
    unproven: str = field(default="", metadata=SPARSE)
    unknown: tuple[str, ...] = field(default=(), metadata=SPARSE)
    rules: tuple[QuotedRule, ...] = field(default=(), metadata=SPARSE)
    causes: tuple[Cause, ...] = field(default=(), metadata=SPARSE)
    maintenance: tuple[ReasonedTask, ...] = field(default=(), metadata=SPARSE)
    otherwise: tuple[Alternative, ...] = field(default=(), metadata=SPARSE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Why:
    """The answers about some addresses of one plan. ``time``: UTC seconds at which it was made. ``refresh``:
    how much the systems were asked then; empty where the plan does not say. ``saved_in``: its file; empty
    where it was made for the answer. ``not_in_plan``: what belongs to an answer and is not in this plan.
    """

    format_version: int
    flareiac_version: str
    workspace: str
    state: str
    serial: int
    time: float
    refresh: str
    saved_in: str = field(default="", metadata=SPARSE)
    destroy: bool = field(default=False, metadata=SPARSE)
    partial: bool = field(default=False, metadata=SPARSE)
    errored: bool = field(default=False, metadata=SPARSE)
    answers: tuple[Answer, ...]
    not_in_plan: tuple[str, ...] = field(default=(), metadata=SPARSE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lookups:
    """The knowledge beside a plan. ``rules``: those that can be quoted, by name. ``places``: file and
    line of each block, None where only a saved plan was read. ``saved_in``: the file of the plan.
    """

    types: Mapping[str, ResourceType]
    rules: Mapping[str, Topic]
    places: Mapping[str, str] | None = None
    saved_in: str = ""


def why_of(plan: Plan, addresses: Iterable[str], lookups: Lookups, *, tool_version: str) -> Why:
    """The answers of a plan about addresses of it."""
    by_address = {resource.address: resource for resource in plan.resources}
    causes = Causes(plan, lambda name: written_path(lookups.types.get(name)))
    tasks: dict[str, list[PlannedTask]] = {}
    for task in plan.tasks:
        tasks.setdefault(task.address, []).append(task)
    return Why(
        format_version=FORMAT_VERSION,
        flareiac_version=tool_version,
        workspace=plan.workspace,
        state=plan.lineage,
        serial=plan.serial,
        time=plan.time,
        refresh=plan.refresh,
        saved_in=lookups.saved_in,
        destroy=plan.destroy,
        partial=plan.targeted or plan.maintenance_only,
        errored=plan.errored,
        answers=tuple(
            _answer(by_address[address], tasks.get(address, ()), causes, lookups) for address in addresses
        ),
        not_in_plan=tuple(_not_in_plan(plan, lookups.places)),
    )


def _not_in_plan(plan: Plan, places: Mapping[str, str] | None) -> Iterator[str]:
    if places is None:
        yield "the file and line of each block"
    if not plan.refresh:
        yield "how much the systems were asked when it was made"
    if any(step.rules for resource in plan.resources for step in resource.proposal.steps):
        yield "the measurements that a rule rests on; their version stands beside it"


def _answer(
    resource: PlannedResource, tasks: Sequence[PlannedTask], causes: Causes, lookups: Lookups
) -> Answer:
    proposal, kind = resource.proposal, lookups.types.get(resource.type)
    patterns = sensitive_in(resource, {} if kind is None else {kind.name: kind.schema})
    reason, decisive = why_reason(resource), decisive_effect(resource)
    decides = not proposal.blockers and reason == effect_reason(decisive)
    return Answer(
        address=resource.address,
        type=resource.type,
        action=resource.action,
        section=section_of(resource),
        reason=reason,
        in_words=_BLOCKED if reason.startswith(BLOCKED) else CLASSES[reason],
        headline=f"{resource.address} is blocked" if proposal.blockers else headline(resource),
        compared=Compared(
            declared=resource.desired is not None,
            recorded=resource.recorded is not None,
            observed=resource.observed is not None,
            unchanged=_unchanged(resource),
            identity=plain_object(dict(_scalars(resource.identity))),
            declared_at=(lookups.places or {}).get(resource.address, ""),
        ),
        attributes=changed_attributes(resource, patterns),
        steps=tuple(
            ReasonedStep(
                text=step.text,
                effect=step.effect,
                why=step.why,
                rules=step.rules,
                decides=decides and step.effect is decisive,
            )
            for step in proposal.steps
        ),
        blockers=tuple(
            ReasonedBlocker(
                code=each.code, summary=each.summary, why=each.why, ways_out=each.ways_out, rules=each.rules
            )
            for each in proposal.blockers
        ),
        notes=notes_of(resource),
        drift=proposal.drift,
        unproven=proposal.unproven,
        unknown=proposal.unknown,
        rules=tuple(_rule(name, lookups.rules.get(name)) for name in rules_quoted(resource)),
        causes=causes.of(resource),
        maintenance=tuple(_task(task, hide_attributes(proposal.planned, patterns) or {}) for task in tasks),
        otherwise=tuple(alternatives(resource, tasks, kind, lookups.rules)),
    )


def why_reason(resource: PlannedResource) -> str:
    """The reason of ``report``, which has none for what stays as it is."""
    if section_of(resource) is None:
        return "recorded" if resource.action is Action.RECORD else "unchanged"
    return reason_of(resource)


def _unchanged(resource: PlannedResource) -> tuple[str, ...]:
    """The attributes with one value in all three, as far as something was there to compare with."""
    declared, recorded, live = resource.desired, resource.recorded, resource.observed
    if declared is None or recorded is None or resource.action is Action.REPLACE:
        return ()
    differ = {change.path[0] for change in resource.proposal.changes if change.path}
    return tuple(
        name
        for name, value in declared.items()
        if value not in (None, {}, [])
        and name not in differ
        and name in recorded
        and value == recorded[name]
        and (live is None or name not in live or live[name] == value)
    )


def _scalars(identity: Mapping[str, Data]) -> Iterator[tuple[str, Data]]:
    """The parts of an identity that name a place, without those that describe what is in it."""
    for name, value in sorted(identity.items()):
        if isinstance(value, str | int) and not isinstance(value, bool):
            yield name, value


def _rule(name: str, known_rule: Topic | None) -> QuotedRule:
    if known_rule is None:
        return QuotedRule(name=name, known=False)
    return QuotedRule(
        name=name,
        subject=known_rule.subject,
        change=known_rule.title,
        text=known_rule.text,
        consequence=known_rule.consequence,
        measured_on=known_rule.measured_on,
    )


def _task(planned_task: PlannedTask, attributes: Mapping[str, Any]) -> ReasonedTask:
    task = planned_task.task
    settings = settings_of(task.name, attributes)
    return ReasonedTask(
        name=task.name,
        due=task.due,
        summary=task.summary,
        effect=task.effect.value if task.effect is not None else "",
        settings={} if settings is REDACTED else plain_object(settings),
        forecast=dict(task.forecast),
        held=task.held,
        performer=task.performer.address if task.performer is not None else "",
    )


def settings_of(name: str, attributes: Mapping[str, Any]) -> Any:
    """The settings of a maintenance task, whose block is called like it; empty where there are none."""
    for value in (attributes, *(each for each in attributes.values() if isinstance(each, dict))):
        if isinstance(value.get(name), dict):
            return in_units(value[name])
    return {}
