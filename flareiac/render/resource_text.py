"""One planned resource, or several that change alike, as an entry of the plan."""

import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import Final, Literal, TypeAlias

from flareiac.kernel.addresses import parse_address
from flareiac.kernel.data import Attributes
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.paths import Path
from flareiac.model.plan import PlannedResource
from flareiac.render.block_text import Declaration, declaration, inner_lines, with_defaults
from flareiac.render.change_text import change_lines, diff_lines
from flareiac.render.control_characters import printable
from flareiac.render.readers_text import readers_text
from flareiac.render.redaction import hide_attributes, sensitive_in
from flareiac.render.style import Style, Tone
from flareiac.render.value_text import quoted
from flareiac.sdk.changes import Action, Blocker, Effect, Step
from flareiac.sdk.importing import WrittenBlock
from flareiac.sdk.resource_type import ResourceType
from flareiac.sdk.schema import Pattern

_SIGNS = {
    Action.CREATE: ("+", Tone.ADD),
    Action.ADOPT: ("=", Tone.ADD),
    Action.UPDATE: ("~", Tone.CHANGE),
    Action.REPLACE: ("-/+", Tone.REMOVE),
    Action.DELETE: ("-", Tone.REMOVE),
    Action.FORGET: (".", Tone.QUIET),
    Action.RECORD: (" ", Tone.QUIET),
    Action.NO_OP: (" ", Tone.QUIET),
}
_EFFECT_TONES = {
    Effect.LOSES_DATA: Tone.REMOVE,
    Effect.IRREVERSIBLE: Tone.REMOVE,
    Effect.NEW_GENERATION: Tone.REMOVE,
    Effect.RESULTS_CHANGE: Tone.REMOVE,
    Effect.RESTART: Tone.CHANGE,
    Effect.STOPS: Tone.CHANGE,
    Effect.RENAMES: Tone.CHANGE,
    Effect.REWRITES_DATA: Tone.CHANGE,
    Effect.MOVES_FILES: Tone.CHANGE,
}
_WORST = 40

Detail: TypeAlias = Literal["summary", "changes", "full"]
"""The part of a plan that is shown: names; what changes; also what stays as it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderOptions:
    """The options for drawing entries."""

    style: Style
    width: int
    detail: Detail = "changes"
    types: Mapping[str, ResourceType]


@dataclass(slots=True, kw_only=True)
class _Group:
    """Resources that change alike, with the lines inside of their block."""

    alike: list[PlannedResource] = field(default_factory=list)
    inside: list[str]


def entries(resources: Sequence[PlannedResource], look: RenderOptions) -> list[list[str]]:
    """One entry for each group of resources that change alike, in the order of the first of each."""
    groups: dict[tuple[str, ...], _Group] = {}
    for resource in resources:
        inside = _block_body(resource, look)
        key = (resource.type, resource.action.value, *_beside(resource, look), *inside)
        groups.setdefault(key, _Group(inside=inside)).alike.append(resource)
    return [_entry(group, look) for group in groups.values()]


def blocked_entry(resource: PlannedResource, look: RenderOptions) -> list[str]:
    """Says why a resource cannot be applied as written, each way out to paste, and what it was about to
    become.

    What changed outside comes first: a decision about it may depend on that.
    """
    lines = [_titled(f"# {printable(resource.address)} is blocked", look)]
    if resource.previous_address:
        lines.append(f"  # (moved from {printable(resource.previous_address)})")
    lines.extend(look.style.paint(_drift_line(text, look), Tone.CHANGE) for text in resource.proposal.drift)
    for blocker in resource.proposal.blockers:
        lines.extend(_blocker_lines(blocker, look))
    if resource.proposal.changes:
        alone = _Group(alike=[resource], inside=_block_body(resource, look))
        lines.extend(["", *_attribute_block(alone, look)])
    return lines


def _titled(title: str, look: RenderOptions) -> str:
    """A headline in bold letters, line by line where it is broken."""
    lines = wrapped(title, look.width - 2, "", "#   ").split("\n")
    return "\n".join(f"  {look.style.strong(line)}" for line in lines)


def _replacement(resource: PlannedResource) -> str:
    if resource.triggered_by:
        return "will be replaced due to changes in replace_triggered_by"
    return "will be replaced, as requested" if resource.replace else "must be replaced"


def headline(resource: PlannedResource) -> str:
    """``ADDRESS will be created`` and the like, in Terraform's words where tools look for them."""
    address = printable(resource.address)
    match resource.action:
        case Action.ADOPT:
            return f"{address} will be imported{' and updated in-place' if resource.proposal.changes else ''}"
        case Action.REPLACE:
            return f"{address} {_replacement(resource)}"
        case Action.RECORD | Action.NO_OP if resource.previous_address:
            return moved_line(resource.previous_address, resource.address)
        case action:
            return f"{address} {_HEADLINES[action]}"


_HEADLINES: Final = {
    Action.CREATE: "will be created",
    Action.UPDATE: "will be updated in-place",
    Action.DELETE: "will be destroyed",
    Action.FORGET: "will be forgotten (no longer managed, not destroyed)",
    Action.RECORD: "is only recorded",
    Action.NO_OP: "stays as it is",
}


def moved_line(old: str, new: str) -> str:
    """``table.a has moved to table.b``: Terraform's words."""
    return f"{printable(old)} has moved to {printable(new)}"


def _entry(group: _Group, look: RenderOptions) -> list[str]:
    first = group.alike[0]
    lines = [_titled(f"# {headline(resource)}", look) for resource in group.alike]
    if first.previous_address:
        lines.append(f"  # (moved from {printable(first.previous_address)})")
    if first.action is Action.ADOPT and len(group.alike) == 1 and first.import_id:
        lines.append(f"  # (imported from {quoted(first.import_id)})")
    shown_below = set() if look.detail == "summary" else {step.why for step in first.proposal.steps}
    drift = [text for text in first.proposal.drift if text not in shown_below]
    reasons = [text for text in first.proposal.reasons if text not in {*shown_below, *drift}]
    lines.extend(wrapped(printable(reason), look.width, "  # (", "  #  ", ")") for reason in reasons)
    lines.extend(look.style.paint(_drift_line(text, look), Tone.CHANGE) for text in drift)
    if look.detail == "summary":
        return lines
    return [*lines, *_attribute_block(group, look), *_step_lines(first.proposal.steps, look)]


def _beside(resource: PlannedResource, look: RenderOptions) -> tuple[str, ...]:
    """Everything of an entry but the address and the body: what is equal here can be stated once."""
    proposal = resource.proposal
    imported = (resource.import_id,) if resource.import_id else ()
    moved = (resource.previous_address,) if resource.previous_address else ()
    return (*moved, *proposal.reasons, *proposal.drift, *_step_lines(proposal.steps, look), *imported)


def _attribute_block(group: _Group, look: RenderOptions) -> list[str]:
    first = group.alike[0]
    sign, tone = _SIGNS[first.action]
    name = quoted(parsed.name) if (parsed := parse_address(first.address)) else quoted(first.address)
    count = len(group.alike)
    title = f"{first.type} {name}" if count == 1 else f"{count} {first.type}s, all alike"
    inside = group.inside
    mark = " " * (3 - len(sign)) + look.style.paint(sign, tone)
    if not inside:
        return (
            []
            if first.action in (Action.FORGET, Action.DELETE, Action.ADOPT, Action.UPDATE)
            else [f"{mark} {title} {{}}"]
        )
    return [f"{mark} {title} {{", *inside, "    }"]


def _block_body(resource: PlannedResource, look: RenderOptions) -> list[str]:
    kind = look.types.get(resource.type)
    patterns = sensitive_in(resource, {} if kind is None else {kind.name: kind.schema})
    match resource.action:
        case Action.CREATE if look.detail != "full":
            return _declared(resource, patterns, look)
        case Action.CREATE:
            return _whole(resource, resource.proposal.planned, patterns, look, "+", Tone.ADD)
        case Action.DELETE if look.detail == "full":
            return _whole(resource, resource.recorded, patterns, look, "-", Tone.REMOVE)
        case Action.DELETE | Action.FORGET:
            return []
        case _:
            changed = change_lines(
                resource.proposal.changes, patterns, look.style, look.width, " " * 6, written_path(kind)
            )
            return (
                [*changed, *_unchanged(resource, patterns, look)] if changed or look.detail == "full" else []
            )


def diff_body(resource: PlannedResource, look: RenderOptions) -> list[str]:
    """The attributes as ``_block_body`` shows them, as lines of a unified diff; none of what is removed."""
    kind = look.types.get(resource.type)
    patterns = sensitive_in(resource, {} if kind is None else {kind.name: kind.schema})
    match resource.action:
        case Action.CREATE:
            declared = _declaration(resource, resource.proposal.planned, patterns, look)
            return [f"+ {line}" for line in inner_lines(declared.block, look.width - 2)]
        case Action.DELETE | Action.FORGET:
            return []
        case _:
            return diff_lines(resource.proposal.changes, patterns, look.width, written_path(kind))


def written_path(kind: ResourceType | None) -> Callable[[Path], Path | None]:
    """``Showing.written_path`` of a type; of one that is not installed (None), paths stay as they are."""
    return kind.showing.written_path if kind is not None else lambda path: path


def _unchanged(resource: PlannedResource, patterns: Sequence[Pattern], look: RenderOptions) -> list[str]:
    """In full detail what stays, in less how much of it there is."""
    kind = look.types.get(resource.type)
    changed = {change.path[0] for change in resource.proposal.changes if change.path}
    rest = {
        key: value
        for key, value in (resource.proposal.planned or {}).items()
        if value is not None and key not in changed
    }
    if not rest or resource.action is Action.NO_OP:
        return []
    if look.detail == "full":
        block = _block_of(resource, resource.proposal.planned, patterns, look)
        path_of = written_path(kind)
        touched = {place[0] for change in resource.proposal.changes if (place := path_of(change.path))}
        kept = {name: value for name, value in block.attributes.items() if name not in touched}
        inner = tuple(each for each in block.blocks if each.type not in touched)
        lines = inner_lines(replace(block, attributes=kept, blocks=inner), look.width - 8)
        return [f"        {line}".rstrip() for line in lines]
    noun = "attribute" if len(rest) == 1 else "attributes"
    return [" " * 8 + look.style.quiet(f"# ({len(rest)} unchanged {noun} hidden)")]


def _declared(resource: PlannedResource, patterns: Sequence[Pattern], look: RenderOptions) -> list[str]:
    """A new resource as its author would write it; the rest is counted."""
    declared = _declaration(resource, resource.proposal.planned, patterns, look)
    lines = _signed(inner_lines(declared.block, look.width - 8), look, "+", Tone.ADD)
    if not declared.left_out:
        return lines
    noun = "attribute" if len(declared.left_out) == 1 else "attributes"
    hidden = f"# ({len(declared.left_out)} {noun} with the default value hidden)"
    return [*lines, " " * 8 + look.style.quiet(hidden)]


def _declaration(
    resource: PlannedResource,
    attributes: Attributes | None,
    patterns: Sequence[Pattern],
    look: RenderOptions,
) -> Declaration:
    parsed = parse_address(resource.address)
    label = parsed.name if parsed is not None else resource.address
    return declaration(look.types.get(resource.type), label, hide_attributes(attributes, patterns) or {})


def _block_of(
    resource: PlannedResource,
    attributes: Attributes | None,
    patterns: Sequence[Pattern],
    look: RenderOptions,
) -> WrittenBlock:
    """The whole block, with its defaults, as it could be written."""
    declared = _declaration(resource, attributes, patterns, look)
    return with_defaults(declared, look.types.get(resource.type))


def _whole(
    resource: PlannedResource,
    attributes: Attributes | None,
    patterns: Sequence[Pattern],
    look: RenderOptions,
    sign: str,
    tone: Tone,
) -> list[str]:
    block = _block_of(resource, attributes, patterns, look)
    return _signed(inner_lines(block, look.width - 8), look, sign, tone)


def _signed(lines: Sequence[str], look: RenderOptions, sign: str, tone: Tone) -> list[str]:
    mark = look.style.paint(sign, tone)
    return [f"      {mark} {line}" if _starts(line) else f"        {line}".rstrip() for line in lines]


def _starts(line: str) -> bool:
    """Returns True if a line begins an attribute of the body (and does not continue or end a nested
    value).
    """
    return not line.startswith((" ", "}", "]")) and line not in ("", "EOT")


def _step_lines(steps: Sequence[Step], look: RenderOptions) -> list[str]:
    lines: list[str] = []
    for number, step in enumerate(steps, start=1):
        lines.append(labelled(step.text, step.effect, look, f"    {number}. ", "       "))
        if step.why:
            lines.append(look.style.quiet(wrapped(printable(step.why), look.width, "       ", "       ")))
        if step.readers:
            lines.append(wrapped(printable(readers_text(step.readers)), look.width, "       ", "       "))
    return lines


def labelled(text: str, effect: Effect, look: RenderOptions, first: str, following: str) -> str:
    """A text with the label of an effect, broken to the width."""
    label, tone = f"[{effect.value}]", _EFFECT_TONES.get(effect, Tone.QUIET)
    line = wrapped(f"{printable(text)} {label}", look.width, first, following)
    return line.removesuffix(label) + look.style.paint(label, tone) if line.endswith(label) else line


def _blocker_lines(blocker: Blocker, look: RenderOptions) -> list[str]:
    sign = look.style.paint("!", Tone.BLOCKED)
    title = wrapped(f"{printable(blocker.summary)} [{blocker.code}]", look.width - 4, "", "    ")
    title = title.replace(printable(blocker.summary), look.style.strong(printable(blocker.summary)), 1)
    lines = [f"  {sign} {title}"]
    lines.append(wrapped(printable(blocker.why), look.width, "    ", "    "))
    if blocker.ways_out:
        lines.extend(["", "    Ways out:" if len(blocker.ways_out) > 1 else "    Way out:"])
    for way in blocker.ways_out:
        first, *rest = printable(way).split("\n")
        lines.append(wrapped(first, look.width, "      - ", "        "))
        lines.extend(f"        {line}".rstrip() for line in rest)
    return lines


def _drift_line(text: str, look: RenderOptions) -> str:
    return wrapped(printable(text), look.width, "  # drift: ", "  #   ")


def wrapped(text: str, width: int, first: str, following: str, end: str = "") -> str:
    """Prose broken to a width, with an indent for the first line and one for the others; long words stay
    whole.
    """
    lines: list[str] = []
    for paragraph in text.split("\n"):
        lead = following if lines else first
        lines.extend(
            textwrap.wrap(
                paragraph,
                max(width, _WORST),
                initial_indent=lead,
                subsequent_indent=following,
                break_long_words=False,
                break_on_hyphens=False,
            )
            or [lead.rstrip()]
        )
    return "\n".join(lines) + end
