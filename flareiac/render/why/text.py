"""``why`` for people: the class first, then what was compared, what each step rests on, what caused it, and
what would make it another class. Pure.
"""

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from flareiac.model.plan import Plan, PlannedResource
from flareiac.render.change_text import change_lines
from flareiac.render.control_characters import printable
from flareiac.render.redaction import sensitive_in
from flareiac.render.report.content import ChangedAttribute
from flareiac.render.resource_text import Detail, RenderOptions, wrapped, written_path
from flareiac.render.style import Style
from flareiac.render.value_text import inline
from flareiac.render.why.alternatives import ALONE, Alternative
from flareiac.render.why.content import Answer, QuotedRule, ReasonedTask, Why
from flareiac.sdk.changes import Action, Origin
from flareiac.sdk.resource_type import ResourceType

_FEW: Final = 8
_NEW: Final = frozenset({Action.CREATE, Action.REPLACE})
"""The actions that make an object: every attribute of it is new."""
_ASKED: Final[Mapping[str, str]] = {
    "full": "every object was read from its system",
    "changed": "each system was asked; what its system reports as unchanged was not read again",
    "none": "no system was asked (-refresh=none): the values of the last apply stand in for live ones",
    "": "how much the systems were asked is not in this plan",
}
_SOURCES: Final[Mapping[Origin, str]] = {
    Origin.CONFIG: "declared differs from recorded; live is as recorded",
    Origin.DRIFT: "live differs from recorded; declared is as recorded",
    Origin.BOTH: "declared differs from recorded, and so does live",
    Origin.DEFAULT: "it has a default now that was not recorded",
}


def why_text(
    why: Why,
    plan: Plan,
    *,
    colour: bool,
    width: int,
    types: Mapping[str, ResourceType],
    detail: Detail = "changes",
) -> str:
    """All answers. ``width`` is in columns. ``detail``: ``summary`` has the class of each change alone,
    ``full`` all names where otherwise the first are shown.
    """
    look = RenderOptions(style=Style(colour), width=width, detail=detail, types=types)
    resources = {resource.address: resource for resource in plan.resources}
    parts = ["\n\n".join(_answer(why, each, resources[each.address], look)) for each in why.answers]
    if detail == "summary":
        return "\n\n".join(parts) + "\n"
    missing = f"Not in the plan: {'; '.join(why.not_in_plan)}."
    last = [look.style.quiet(wrapped(missing, width, "", "  "))] if why.not_in_plan else []
    return "\n\n\n".join([*parts, *last]) + "\n"


def _answer(why: Why, answer: Answer, resource: PlannedResource, look: RenderOptions) -> Iterator[str]:
    yield _verdict(answer, look)
    if look.detail == "summary":
        return
    width = look.width
    sections = (
        ("What was compared", [*_compared(why, answer, width), *_differences(answer, resource, look)]),
        ("What the system says", [_line(each, width) for each in answer.drift]),
        ("What blocks it", list(_blockers(answer, width))),
        ("Steps, and what they rest on", list(_steps(answer, width))),
        ("Notes of the plan", [_line(each, width) for each in _notes(answer)]),
        ("What caused it", list(_causes(answer, width))),
        ("Maintenance", [line for task in answer.maintenance for line in _task(task, width)]),
        ("What would make it something else", list(_otherwise(answer.otherwise, width))),
        ("What a change of its other attributes does", list(_by_class(answer, look))),
    )
    for title, lines in sections:
        if lines:
            yield "\n".join([look.style.strong(title), *lines])


def _line(text: str, width: int) -> str:
    return wrapped(printable(text), width, "  ", "    ")


def _verdict(answer: Answer, look: RenderOptions) -> str:
    due = sum(task.due for task in answer.maintenance)
    also = f"; {due} maintenance {'task is' if due == 1 else 'tasks are'} due" if due else ""
    lines = [
        look.style.strong(wrapped(printable(answer.headline), look.width, "", "  ")),
        _line(f"Class: {answer.in_words}{also}.", look.width),
    ]
    deciding = [str(number) for number, step in enumerate(answer.steps, start=1) if step.decides]
    if deciding:
        decide = "Steps {} decide" if len(deciding) > 1 else "Step {} decides"
        text = f"{decide.format(', '.join(deciding))} that: no step has a graver effect."
        lines.append(_line(text, look.width))
    if answer.unproven and not answer.blockers:
        what = answer.unproven
        text = f"Not checked yet: its {what}. plan -prove checks it here, and apply checks it first."
        lines.append(_line(text, look.width))
    return "\n".join(lines)


def _compared(why: Why, answer: Answer, width: int) -> Iterator[str]:
    """The three sides of the comparison: where each value is from, and of when."""
    compared = answer.compared
    at = f", at {compared.declared_at}" if compared.declared_at else ""
    no_block = "no: the plan removes everything" if why.destroy else "no: no block declares it"
    yield _line(f"declared: {'yes' + at if compared.declared else no_block}", width)
    recorded = f"in the state, serial {why.serial}" if compared.recorded else "not in the state"
    yield _line(f"recorded: {recorded}", width)
    there = "there" if compared.observed else "not there"
    yield _line(f"live: {there}, as of {_moment(why.time)}; {_ASKED[why.refresh]}", width)
    if compared.identity:
        parts = (f"{key} = {inline(value)}" for key, value in compared.identity.items())
        yield _line(f"identity: {', '.join(parts)}", width)


def _differences(answer: Answer, resource: PlannedResource, look: RenderOptions) -> Iterator[str]:
    kind = look.types.get(resource.type)
    patterns = sensitive_in(resource, {} if kind is None else {kind.name: kind.schema})
    path_of = written_path(kind)
    for change, shown in zip(resource.proposal.changes, answer.attributes, strict=True):
        yield from change_lines(
            (change,), patterns, look.style, look.width, "    ", lambda path: path_of(path) or path
        )
        said = _origin(shown, is_new=answer.action in _NEW)
        if path_of(change.path) is None:
            said.append("it follows from others, and no one writes it")
        if said:
            yield wrapped(printable("; ".join(said)), look.width, "        ", "          ")
    if same := answer.compared.unchanged:
        noun = "attribute" if len(same) == 1 else "attributes"
        yield _line(f"no difference in {len(same)} {noun}: {_names(same, look)}", look.width)
    for unknown in answer.unknown:
        yield _line(f"not known: {unknown}", look.width)


def _origin(shown: ChangedAttribute, *, is_new: bool) -> list[str]:
    """The origin of a difference; of a new object every attribute is declared and nothing else."""
    if shown.origin in (Origin.DRIFT, Origin.BOTH):
        return [f"{_SOURCES[shown.origin]} (live: {inline(shown.live)}; recorded: {inline(shown.old)})"]
    if is_new:
        return []
    if shown.origin is Origin.CONFIG and shown.old is None:
        return ["declared, and not recorded"]
    return [_SOURCES[shown.origin]]


def _blockers(answer: Answer, width: int) -> Iterator[str]:
    for blocker in answer.blockers:
        yield wrapped(f"{printable(blocker.summary)} [{blocker.code}]", width, "  ! ", "    ")
        yield wrapped(printable(blocker.why), width, "    ", "    ")
        yield from _quoting(blocker.rules, answer, "    ", width)


def _steps(answer: Answer, width: int) -> Iterator[str]:
    for number, step in enumerate(answer.steps, start=1):
        yield wrapped(f"{printable(step.text)} [{step.effect.value}]", width, f"  {number}. ", "     ")
        if step.why:
            yield wrapped(f"because: {printable(step.why)}", width, "     ", "       ")
        yield from _quoting(step.rules, answer, "     ", width)


def _quoting(rules: Sequence[str], answer: Answer, indent: str, width: int) -> Iterator[str]:
    """The rules behind a step; their sentences stand in its ``why``."""
    for rule in answer.rules:
        if rule.name in rules:
            yield wrapped(printable(_rule(rule)), width, indent, f"{indent}  ")


def _rule(rule: QuotedRule) -> str:
    if not rule.known:
        return f"rule {rule.name}: not among the rules of this release; the plan was made by another one"
    on = f", measured on {rule.measured_on}" if rule.measured_on else ""
    return f"rule {rule.name}{on} ({rule.subject}: {rule.change}): {rule.consequence}"


def _notes(answer: Answer) -> list[str]:
    said = {*answer.drift, *(step.why for step in answer.steps)}
    return [note for note in answer.notes if note not in said]


def _causes(answer: Answer, width: int) -> Iterator[str]:
    for cause in answer.causes:
        of = "" if cause.of == answer.address else f"{cause.of} follows from "
        what = f" ({cause.what.removeprefix(cause.address).strip()})" if cause.what else " (its block)"
        root = " Nothing in this plan causes that in turn." if cause.is_root and cause.what else ""
        yield wrapped(printable(f"{of}{cause.address}{what}: {cause.why}.{root}"), width, "  ", "    ")


def _task(task: ReasonedTask, width: int) -> Iterator[str]:
    effect = f" [{task.effect}]" if task.effect else ""
    due = "due" if task.due else "not due"
    yield wrapped(printable(f"{task.name} is {due}: {task.summary}{effect}"), width, "  ", "    ")
    if task.settings:
        yield wrapped(printable(f"settings: {inline(dict(task.settings))}"), width, "    ", "      ")
    for holder in task.held:
        yield wrapped(printable(f"held: {holder}"), width, "    ", "      ")


def _otherwise(others: Sequence[Alternative], width: int) -> Iterator[str]:
    for other in others:
        if other.how == ALONE:
            continue
        first, *rest = printable(other.how).split("\n")
        by_rule = other.source == "rules"
        names = f": {printable(', '.join(other.names))}" if other.names and not by_rule else ""
        source = f" [{', '.join(other.names) if by_rule else other.source}]" if other.source else ""
        yield wrapped(f"{other.outcome}: {first}{names}{source}", width, "  ", "    ")
        yield from (f"    {line}".rstrip() for line in rest)


def _by_class(answer: Answer, look: RenderOptions) -> Iterator[str]:
    """The attributes of its block by the class of their change."""
    for other in answer.otherwise:
        if other.how == ALONE:
            yield _line(f"{other.outcome}: {_names(other.names, look)}", look.width)


def _names(names: Sequence[str], look: RenderOptions) -> str:
    shown = names if look.detail == "full" or len(names) <= _FEW else names[:_FEW]
    more = f" and {len(names) - len(shown)} more" if len(names) > len(shown) else ""
    return ", ".join(shown) + more


def _moment(seconds: float) -> str:
    return dt.datetime.fromtimestamp(seconds, dt.UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
