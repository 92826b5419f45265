"""A plan for people: what needs a decision first, then what loses or reinterprets data, then restarts, then
the rest.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from flareiac.kernel.data import UNKNOWN, Data
from flareiac.model.plan import Operation, OutputChange, Plan, PlannedResource
from flareiac.render.control_characters import printable
from flareiac.render.counts import counts, plan_line
from flareiac.render.maintenance_text import due_section
from flareiac.render.redaction import REDACTED
from flareiac.render.resource_text import Detail, RenderOptions, blocked_entry, entries, wrapped
from flareiac.render.style import Style, Tone
from flareiac.render.summary_text import sentence
from flareiac.render.table_text import NARROW
from flareiac.render.value_text import inline
from flareiac.sdk.changes import Action, Effect
from flareiac.sdk.resource_type import ResourceType

DESTRUCTIVE = frozenset(
    {Effect.LOSES_DATA, Effect.IRREVERSIBLE, Effect.RESULTS_CHANGE, Effect.NEW_GENERATION}
)
"""Effects that put a resource into the first section of changes."""
_INTERRUPTING = frozenset({Effect.RESTART, Effect.STOPS})
_BLOCKED, _DESTRUCTIVE = "Blocked, a decision is needed:", "Destructive or state-changing:"
_RESTARTS, _OTHERS = "Restarts and stops:", "Changes:"
_NOTICED = "Differences that FlareIaC does not manage:"
_SHOWN = frozenset(Action) - {Action.NO_OP, Action.RECORD}


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
        *_sections(plan, look),
        *_output_section(plan.output_changes, look),
        *due_section(plan, look),
    ]
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
    parts.extend(look.style.quiet(wrapped(line, look.width, "", "  ")) for line in _unproven(plan))
    parts.append(_last_line(plan, look))
    return "\n\n".join(parts) + "\n"


def _sections(plan: Plan, look: RenderOptions) -> list[str]:
    groups: dict[str, list[PlannedResource]] = {
        title: [] for title in (_BLOCKED, _DESTRUCTIVE, _RESTARTS, _OTHERS)
    }
    for resource in plan.resources:
        if resource.action in _SHOWN or resource.proposal.blockers:
            groups[_title(resource)].append(resource)
    blocked = [blocked_entry(item, look) for item in groups.pop(_BLOCKED)]
    drawn = [(_BLOCKED, blocked), *((title, entries(items, look)) for title, items in groups.items())]
    return [_section(title, items, look) for title, items in drawn if items]


def _title(planned_resource: PlannedResource) -> str:
    """The section that a resource belongs to."""
    effects = {step.effect for step in planned_resource.proposal.steps}
    if planned_resource.proposal.blockers:
        return _BLOCKED
    if planned_resource.action in (Action.DELETE, Action.REPLACE) or effects & DESTRUCTIVE:
        return _DESTRUCTIVE
    return _RESTARTS if effects & _INTERRUPTING else _OTHERS


def _noticed(plan: Plan, look: RenderOptions) -> list[str]:
    """Renders the notices about resources that apply leaves alone: drift that it does not heal, and changes
    without an effect.
    """
    lines: list[str] = []
    for resource in plan.resources:
        if resource.action in _SHOWN or resource.proposal.blockers:
            continue
        texts = [
            *resource.proposal.drift,
            *(f"{step.text} [{step.effect.value}]" for step in resource.proposal.steps),
        ]
        lines.extend(
            wrapped(printable(f"{resource.address}: {text}"), look.width, "  # ", "  #   ") for text in texts
        )
    return ["\n".join([look.style.strong(_NOTICED), "", *lines])] if lines else []


def _section(title: str, items: Sequence[list[str]], look: RenderOptions) -> str:
    separator = "\n" if look.detail == "summary" else "\n\n"
    return f"{look.style.strong(title)}\n\n" + separator.join("\n".join(lines) for lines in items)


def _output_section(changes: Mapping[str, OutputChange], look: RenderOptions) -> list[str]:
    if not changes:
        return []
    shown = {printable(name): change for name, change in changes.items()}
    width = max(len(name) for name in shown)
    lines = [_output_line(name.ljust(width), change, look) for name, change in shown.items()]
    return ["\n".join([look.style.strong("Changes to Outputs:"), *lines])]


def _output_line(label: str, change: OutputChange, look: RenderOptions) -> str:
    sensitive = any(item is not None and item.sensitive for item in (change.before, change.after))

    def shown(value: Data) -> str:
        return inline(REDACTED if sensitive and value is not UNKNOWN else value)

    if change.before is None and change.after is not None:
        return f"  {look.style.paint('+', Tone.ADD)} {label} = {shown(change.after.value)}"
    if change.after is None and change.before is not None:
        return f"  {look.style.paint('-', Tone.REMOVE)} {label} = {shown(change.before.value)} -> null"
    assert change.before is not None, "an output that is neither before nor after is no change"
    assert change.after is not None, "an output that is neither before nor after is no change"
    return (
        f"  {look.style.paint('~', Tone.CHANGE)} {label} = {shown(change.before.value)} -> "
        f"{shown(change.after.value)}"
    )


def _operations(operations: Sequence[Operation], look: RenderOptions) -> str:
    lines = [look.style.strong("Operations, in order:")]
    numbers = {operation.id: number for number, operation in enumerate(operations, start=1)}
    digits = len(str(len(operations)))
    for item in operations:
        indent = " " * (digits + 4)
        lines.append(wrapped(_operation_text(item), look.width, f"  {numbers[item.id]:>{digits}}. ", indent))
        for edge in item.edges:
            text = (
                f"after {numbers[edge.after]}: {edge.reason} ({edge.kind.value})"
                if edge.after in numbers
                else edge.reason
            )
            lines.append(look.style.quiet(wrapped(text, look.width, indent, f"{indent}  ")))
    return "\n".join(lines)


def _operation_text(operation: Operation) -> str:
    """Returns the words for an operation; those of the change where it has stages, which then name the
    address.
    """
    if not operation.text:
        return f"{operation.verb.value} {operation.address}" + (
            f": {operation.task}" if operation.task else ""
        )
    effect = f" ({operation.effect.value})" if operation.effect is not None else ""
    return f"{printable(operation.text)}{effect}"


def _unproven(plan: Plan) -> list[str]:
    """Renders what a plan has not checked."""
    found = Counter(
        (resource.type, resource.proposal.unproven)
        for resource in plan.resources
        if resource.proposal.unproven and not resource.proposal.blockers
    )
    wanted = Counter((item.type, item.proposal.unproven) for item in plan.resources if item.proposal.provable)
    return [
        *(
            f"Not checked yet: the {what} of {number} {kind}{'' if number == 1 else 's'}. plan -prove checks "
            "it here. apply checks it first, and changes nothing if it is wrong."
            for (kind, what), number in found.items()
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
    return f"No changes are planned, but not everything is known: see the warnings about {names}.{due}"


def _due_alone(due: int) -> str:
    found = f"{due} maintenance {'task is' if due == 1 else 'tasks are'} due." if due else "Nothing is due."
    return f"{found} (Only maintenance was planned.)"


def _last_line(plan: Plan, look: RenderOptions) -> str:
    partial = "\nThis plan is partial: targets or exclusions left resources out." if plan.targeted else ""
    last = _conclusion(plan)
    # Tools look for this line, and read it from pipes: only a narrow terminal breaks it, between words.
    return look.style.strong(wrapped(last, look.width, "", "  ") if look.width < NARROW else last) + partial


def _conclusion(plan: Plan) -> str:
    """The result of the plan, in one line."""
    if plan.errored:
        return "Planning failed: this plan has errors and cannot be applied."
    found = counts(plan)
    nothing = not plan.changes and not plan.output_changes and not found.blocked
    if not nothing:
        return plan_line(found)
    due = f" Due: {found.due}." if found.due else ""
    if plan.unknown:
        return _not_known(plan.unknown, due)
    if plan.destroy:
        return "No changes. Nothing is recorded, so there is nothing to destroy."
    if plan.maintenance_only:
        return _due_alone(found.due)
    return f"No changes. Your resources match the configuration.{due}"
