"""A plan for people: what needs a decision first, then what loses or reinterprets data, then restarts, then
the rest.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from flareiac.kernel.data import UNKNOWN, Data
from flareiac.model.plan import Operation, OutputChange, Plan, PlannedResource
from flareiac.render.control_characters import printable
from flareiac.render.cost_text import cost_lines
from flareiac.render.counts import counts, plan_line
from flareiac.render.diagnostics import page_hint
from flareiac.render.maintenance_text import due_section
from flareiac.render.policy_text import policy_section, refused_by
from flareiac.render.redaction import REDACTED
from flareiac.render.resource_text import Detail, RenderOptions, blocked_entry, entries, moved_line, wrapped
from flareiac.render.sections import Section, section_of
from flareiac.render.style import Style, Tone
from flareiac.render.summary_text import sentence
from flareiac.render.table_text import NARROW
from flareiac.render.value_text import inline
from flareiac.sdk.changes import Action, Effect
from flareiac.sdk.resource_type import ResourceType

_TITLES: Final = {
    Section.BLOCKED: "Blocked, a decision is needed:",
    Section.DESTRUCTIVE: "Destructive or state-changing:",
    Section.RESTARTS: "Restarts and stops:",
    Section.OTHERS: "Changes:",
}
_NOTICED = "Differences that FlareIaC does not manage:"
_SAYS_ITSELF: Final = frozenset({Effect.STARTS, Effect.STOPS, Effect.RESTART})
"""Effects that the text of an operation names with its first word."""
_HIDDEN: Final = re.compile(
    r"(# \((?P<number>\d+) (?:unchanged )?attributes?(?: with the default value)? hidden)\)"
)


def plan_text(
    plan: Plan,
    *,
    colour: bool,
    width: int,
    detail: Detail = "changes",
    show_steps: bool = False,
    types: Mapping[str, ResourceType] | None = None,
) -> str:
    """The whole plan: first one sentence, last one line that counts.

    ``width`` is in columns. ``detail``: ``summary`` names the resources, ``changes`` shows changed attributes
    and steps, ``full`` also what stays. ``show_steps`` adds the operations in order, with what each waits
    for. ``types`` tell what is sensitive, what is a default and where its author writes an attribute.
    Diagnostics are not part of it.
    """
    look = RenderOptions(style=Style(colour), width=width, detail=detail, types=types or {})
    parts = [
        *([look.style.strong(f"Workspace: {plan.workspace}")] if plan.workspace != "default" else []),
        *([wrapped(summary, width, "", "")] if (summary := sentence(plan)) else []),
        *_with_hint(_sections(plan, look)),
        *_moved_section(plan, look),
        *_output_section(plan.output_changes, look),
        *due_section(plan, look),
        *([_protection(plan, look)] if plan.protection else []),
        *([policy_section(plan.policy, look.style, width)] if plan.policy is not None else []),
    ]
    if plan.costs is not None:
        title, *lines = map(printable, cost_lines(plan.costs))
        shown = (wrapped(line, width, "  ", "    ") for line in lines)
        parts.append("\n".join([look.style.strong(title), "", *shown]))
    if show_steps and plan.operations:
        parts.append(_operations(plan.operations, look))
    parts.extend(_noticed(plan, look))
    recorded = [
        resource.address
        for resource in plan.resources
        if resource.action is Action.RECORD and not resource.proposal.blockers
    ]
    if recorded and not plan.blocked:
        parts.append(look.style.quiet(_recorded_line(recorded, look)))
    parts.extend(look.style.quiet(wrapped(line, look.width, "", "  ")) for line in unproven(plan))
    parts.extend(look.style.quiet(page_hint(code)) for code in _codes(plan)[:1])
    parts.append(_last_line(plan, look))
    return "\n\n".join(parts) + "\n"


def _sections(plan: Plan, look: RenderOptions) -> list[str]:
    groups: dict[Section, list[PlannedResource]] = {section: [] for section in Section}
    for resource in plan.resources:
        if (section := section_of(resource)) is not None:
            groups[section].append(resource)
    blocked = [blocked_entry(resource, look) for resource in groups.pop(Section.BLOCKED)]
    drawn = [
        (Section.BLOCKED, blocked),
        *((name, entries(resources, look)) for name, resources in groups.items()),
    ]
    return [_section(_TITLES[name], entry_lines, look) for name, entry_lines in drawn if entry_lines]


def notices(plan: Plan) -> list[str]:
    """The sentences about resources that apply leaves alone: drift that it does not heal, and changes
    without an effect.
    """
    return [
        f"{resource.address}: {text}"
        for resource in plan.resources
        if section_of(resource) is None
        for text in (
            *resource.proposal.drift,
            *(f"{step.text} [{step.effect.value}]" for step in resource.proposal.steps),
        )
    ]


def _with_hint(sections: Sequence[str]) -> list[str]:
    """The sections; the first line about hidden attributes says how to see them."""
    hinted_sections = list(sections)
    for number, section in enumerate(hinted_sections):
        text, hinted = _HIDDEN.subn(_full_hint, section, count=1)
        if hinted:
            hinted_sections[number] = text
            break
    return hinted_sections


def _full_hint(hidden: re.Match[str]) -> str:
    return f"{hidden[1]}; -detail=full shows {'it' if hidden['number'] == '1' else 'them'})"


def _codes(plan: Plan) -> list[str]:
    """The codes that the plan shows, in their order."""
    return [blocker.code for resource in plan.resources for blocker in resource.proposal.blockers]


def _noticed(plan: Plan, look: RenderOptions) -> list[str]:
    lines = [wrapped(printable(text), look.width, "  # ", "  #   ") for text in notices(plan)]
    return ["\n".join([look.style.strong(_NOTICED), "", *lines])] if lines else []


def _section(title: str, entry_lines: Sequence[list[str]], look: RenderOptions) -> str:
    separator = "\n" if look.detail == "summary" else "\n\n"
    return f"{look.style.strong(title)}\n\n" + separator.join("\n".join(lines) for lines in entry_lines)


def moved_alone(plan: Plan) -> list[tuple[str, str]]:
    """The old and the new address of all that moves and has no entry of its own in the plan."""
    listed = {resource.address for resource in plan.resources if section_of(resource) is not None}
    return sorted((old, new) for old, new in plan.moves.items() if new not in listed)


def _moved_section(plan: Plan, look: RenderOptions) -> list[str]:
    lines = [wrapped(moved_line(old, new), look.width, "  # ", "  #   ") for old, new in moved_alone(plan)]
    return ["\n".join([look.style.strong("Moved:"), "", *lines])] if lines else []


def _output_section(changes: Mapping[str, OutputChange], look: RenderOptions) -> list[str]:
    if not changes:
        return []
    shown = {printable(name): change for name, change in changes.items()}
    width = max(len(name) for name in shown)
    lines = [output_line(name.ljust(width), change, look.style) for name, change in shown.items()]
    return ["\n".join([look.style.strong("Changes to Outputs:"), *lines])]


def output_line(label: str, change: OutputChange, style: Style) -> str:
    """One changed output: its sign, and its values before and after."""
    sensitive = any(output is not None and output.sensitive for output in (change.before, change.after))

    def shown(value: Data) -> str:
        return inline(REDACTED if sensitive and value is not UNKNOWN else value)

    if change.before is None and change.after is not None:
        return f"  {style.paint('+', Tone.ADD)} {label} = {shown(change.after.value)}"
    if change.after is None and change.before is not None:
        return f"  {style.paint('-', Tone.REMOVE)} {label} = {shown(change.before.value)} -> null"
    assert change.before is not None, "an output that is neither before nor after is no change"
    assert change.after is not None, "an output that is neither before nor after is no change"
    return (
        f"  {style.paint('~', Tone.CHANGE)} {label} = {shown(change.before.value)} -> "
        f"{shown(change.after.value)}"
    )


def _operations(operations: Sequence[Operation], look: RenderOptions) -> str:
    lines = [look.style.strong("Operations, in order:")]
    numbers = {operation.id: number for number, operation in enumerate(operations, start=1)}
    digits = len(str(len(operations)))
    for operation in operations:
        indent = " " * (digits + 4)
        lines.append(
            wrapped(_operation_text(operation), look.width, f"  {numbers[operation.id]:>{digits}}. ", indent)
        )
        for edge in operation.edges:
            text = f"after {numbers[edge.after]}: {edge.reason}" if edge.after in numbers else edge.reason
            lines.append(look.style.quiet(wrapped(text, look.width, indent, f"{indent}  ")))
    return "\n".join(lines)


def _operation_text(operation: Operation) -> str:
    """Returns the words for an operation; those of the change where it has stages, which then name the
    address, with the label that a step has.
    """
    if not operation.text:
        return f"{operation.verb.value} {operation.address}" + (
            f": {operation.task}" if operation.task else ""
        )
    effect = operation.effect
    label = f" [{effect.value}]" if effect is not None and effect not in _SAYS_ITSELF else ""
    return f"{printable(operation.text)}{label}"


def unproven(plan: Plan) -> list[str]:
    """Renders what a plan has not checked."""
    unchecked = Counter(
        (resource.type, resource.proposal.unproven)
        for resource in plan.resources
        if resource.proposal.unproven and not resource.proposal.blockers
    )
    wanted = Counter(
        (resource.type, resource.proposal.unproven)
        for resource in plan.resources
        if resource.proposal.provable
    )
    return [
        *(
            f"Not checked yet: the {what} of {number} {kind}{'' if number == 1 else 's'}. plan -prove checks "
            "it here. apply checks it first, and changes nothing if it is wrong."
            for (kind, what), number in unchecked.items()
        ),
        *(
            f"Blocked until proven: the {what} of {number} {kind}{'' if number == 1 else 's'}. plan -prove "
            "finds out here whether it means the same. So does apply, which then plans again."
            for (kind, what), number in wanted.items()
        ),
    ]


def _recorded_line(addresses: Sequence[str], look: RenderOptions) -> str:
    named = (
        ", ".join(addresses)
        if len(addresses) <= 5 or look.detail == "full"
        else f"{len(addresses)} resources"
    )
    return wrapped(f"Only what the state records changes for {named}.", look.width, "", "  ")


def _not_known(unknown: Iterable[str], due: str) -> str:
    names = ", ".join(printable(address) for address in unknown)
    planned = "Only maintenance is" if due else "No changes are"
    return f"{planned} planned, but not everything is known: see the warnings about {names}.{due}"


def protection_line(plan: Plan) -> str:
    """The change of the protection of the workspace, as a sentence."""
    if plan.protection == "on":
        return f"The workspace {plan.workspace} becomes protected: from then on it takes saved plans alone."
    return f"The workspace {plan.workspace} is no longer protected."


def _protection(plan: Plan, look: RenderOptions) -> str:
    tone = Tone.CHANGE if plan.protection == "on" else Tone.BLOCKED
    return look.style.paint(wrapped(protection_line(plan), look.width, "  ~ ", "    "), tone)


def _due_alone(due: int) -> str:
    text = f"{due} maintenance {'task is' if due == 1 else 'tasks are'} due." if due else "Nothing is due."
    return f"{text} (Only maintenance was planned.)"


_PARTIAL: Final = {
    False: "This plan is partial: targets or exclusions left resources out.",
    True: "This plan is partial: it brings back what drifted, as it was last applied. Changes of the files "
    "are left out.",
}
"""By whether the plan remediates drift."""


def _last_line(plan: Plan, look: RenderOptions) -> str:
    partial = f"\n{_PARTIAL[plan.remediates]}" if plan.targeted else ""
    last = _conclusion(plan)
    # Tools look for this line, and read it from pipes: only a narrow terminal breaks it, between words.
    return look.style.strong(wrapped(last, look.width, "", "  ") if look.width < NARROW else last) + partial


def _conclusion(plan: Plan) -> str:
    """The result of the plan, in one line."""
    if plan.errored:
        return "Planning failed: this plan has errors and cannot be applied."
    if refused := refused_by(plan.policy):
        return f"{refused} Nothing can be applied. {plan_line(counts(plan))}"
    totals = counts(plan)
    nothing = not (plan.changes or plan.output_changes or totals.blocked or plan.protection)
    if nothing and totals.moved and not totals.due and not plan.unknown:
        addresses = "one address changes" if totals.moved == 1 else f"{totals.moved} addresses change"
        return f"No changes to what exists. In the state, {addresses}."
    if not nothing:
        return plan_line(totals)
    due = f" Due: {totals.due}." if totals.due else ""
    if plan.unknown:
        return _not_known(plan.unknown, due)
    if plan.destroy:
        return "No changes. Nothing is recorded, so there is nothing to destroy."
    if plan.maintenance_only:
        return _due_alone(totals.due)
    # Maintenance deletes, so a plan with some is not one without changes.
    return plan_line(totals) if totals.due else "No changes. Your resources match the configuration."
