"""One changed attribute as lines: its sign, old -> new, where the difference comes from, and what the change
does.
"""

from collections.abc import Callable
from dataclasses import replace

from flareiac.kernel.data import Absent, Data
from flareiac.kernel.paths import Path, render_path
from flareiac.render.control_characters import printable
from flareiac.render.redaction import REDACTED, hide, hides
from flareiac.render.style import Style, Tone
from flareiac.render.value_text import aligned, assignment, inline, is_text_block, text_difference
from flareiac.sdk.changes import AttributeChange, Origin
from flareiac.sdk.schema import Pattern
from flareiac.sdk.validators import duration_text

_TONES = {"+": Tone.ADD, "-": Tone.REMOVE, "~": Tone.CHANGE}


def change_lines(
    changes: tuple[AttributeChange, ...],
    patterns: tuple[Pattern, ...],
    style: Style,
    width: int,
    indent: str,
    written_path: Callable[[Path], Path | None],
) -> list[str]:
    """Changed attributes in their order, with aligned equals signs. ``written_path``: of ``ResourceType``."""
    room = width - len(indent) - 2
    shown = [_Shown.of(change, patterns, place) for change in changes if (place := written_path(change.path))]
    bodies = aligned([change.lines(room) for change in shown])
    return [
        line
        for change, body in zip(shown, bodies, strict=True)
        for line in change.signed(body, style, indent)
    ]


def diff_lines(
    changes: tuple[AttributeChange, ...],
    patterns: tuple[Pattern, ...],
    width: int,
    written_path: Callable[[Path], Path | None],
) -> list[str]:
    """Changed attributes in their order as lines of a unified diff: each begins with ``-``, ``+`` or a
    blank, and another blank. ``written_path``: of ``ResourceType``.
    """
    shown = [_Shown.of(change, patterns, place) for change in changes if (place := written_path(change.path))]
    return [line for change in shown for line in change.unified(width - 2)]


def in_few_words(
    changes: tuple[AttributeChange, ...],
    patterns: tuple[Pattern, ...],
    written_path: Callable[[Path], Path | None],
) -> list[str]:
    """Changed attributes in their order, each as a part of a sentence. ``written_path``: of
    ``ResourceType``.
    """
    shown = [_Shown.of(change, patterns, place) for change in changes if (place := written_path(change.path))]
    return [change.in_few_words() for change in shown]


class _Shown:
    """A change with its values as they may be shown."""

    __slots__ = ("after", "before", "change", "place", "sign")

    def __init__(self, change: AttributeChange, before: Data, after: Data, place: Path) -> None:
        self.change, self.before, self.after, self.place = change, before, after, place
        self.sign = "+" if _is_nothing(before) else "-" if isinstance(after, Absent) else "~"

    @classmethod
    def of(cls, change: AttributeChange, patterns: tuple[Pattern, ...], place: Path) -> "_Shown":
        change, place = _in_units(change, place)
        before, after = before_of(change), change.new
        if change.sensitive or hides(patterns, change.path):
            return cls(
                change,
                before if _is_nothing(before) else REDACTED,
                after if isinstance(after, Absent) else REDACTED,
                place,
            )
        inner = [
            pattern[len(change.path) :] for pattern in patterns if pattern[: len(change.path)] == change.path
        ]
        return cls(change, hide(before, inner), hide(after, inner), place)

    def lines(self, width: int) -> list[str]:
        """The change without sign and indent."""
        label = printable(render_path(self.place))
        if self.sign == "+":
            return self._with_comment(assignment(label, self.after, width))
        if self.sign == "-":
            return self._with_comment([f"{label} = {_short(self.before)}"])
        if _differ_by_line(self.before, self.after):
            return self._text_block(label)
        flat = f"{label} = {inline(self.before)} -> {inline(self.after)}"
        if (
            len(flat) > width
            and isinstance(self.before, list | tuple)
            and isinstance(self.after, list | tuple)
        ):
            return self._with_comment(
                [f"{label} = [", *_element_difference(list(self.before), list(self.after)), "]"]
            )
        if len(flat) > width:
            return self._with_comment(
                [f"{label} =", f"    - {inline(self.before)}", f"    + {inline(self.after)}"]
            )
        return self._with_comment([flat])

    def signed(self, body: list[str], style: Style, indent: str) -> list[str]:
        """The lines with sign and indent, coloured."""
        sign = style.paint(self.sign, _TONES[self.sign])
        return [
            f"{indent}{sign} {_dimmed(body[0], style)}",
            *(f"{indent}  {_coloured(line, style)}".rstrip() for line in body[1:]),
        ]

    def unified(self, width: int) -> list[str]:
        """The lines of a unified diff; what is to be said about the change stands at its last value."""
        label = printable(render_path(self.place))
        if self.sign in ("+", "-"):
            value = self.after if self.sign == "+" else self.before
            return [f"{self.sign} {line}" for line in self._with_comment(assignment(label, value, width))]
        if _differ_by_line(self.before, self.after):
            first, last = self._with_comment([f"{label} = <<-EOT", "EOT"])
            body = [f"{sign}     {line}" for sign, line in text_difference(self.before, self.after)]
            if not any(line.startswith(("-", "+")) for line in body):
                body.append("      # (only line ends differ)")
            return [f"  {first}", *body, f"  {last}"]
        return [
            *(f"- {line}" for line in assignment(label, self.before, width)),
            *(f"+ {line}" for line in self._with_comment(assignment(label, self.after, width))),
        ]

    def in_few_words(self) -> str:
        """``retention: "5d" -> "7d"``."""
        label = printable(render_path(self.place))
        match self.sign:
            case "+":
                return f"{label} = {_short(self.after)}"
            case "-":
                return f"{label} removed"
            case _:
                return f"{label}: {_short(self.before)} -> {_short(self.after)}"

    def _text_block(self, label: str) -> list[str]:
        lines = [f"  {sign} {line}".rstrip() for sign, line in text_difference(self.before, self.after)]
        if not any(line.startswith(("  -", "  +")) for line in lines):
            lines.append("    # (only line ends differ)")
        return self._with_comment([f"{label} = <<-EOT", *lines, "EOT"])

    def _with_comment(self, lines: list[str]) -> list[str]:
        comment = ", ".join(_remarks(self.change, hidden=self.after is REDACTED or self.before is REDACTED))
        return [f"{lines[0]}  # {comment}", *lines[1:]] if comment else lines


def _differ_by_line(before: Data, after: Data) -> bool:
    """Returns True for two texts of which one has several lines."""
    return (
        isinstance(before, str) and isinstance(after, str) and (is_text_block(before) or is_text_block(after))
    )


def _in_units(change: AttributeChange, place: Path) -> tuple[AttributeChange, Path]:
    """A time in milliseconds under the name and in the unit that a file has."""
    name = place[-1]
    if not isinstance(name, str) or not name.endswith("_ms"):
        return change, place
    old, new, live = (_duration(value) for value in (change.old, change.new, change.live))
    return replace(change, old=old, new=new, live=live), (*place[:-1], name.removesuffix("_ms"))


def _duration(value: Data) -> Data:
    return duration_text(value) if isinstance(value, int) and not isinstance(value, bool) else value


def before_of(change: AttributeChange) -> Data:
    """The value that is replaced: what was recorded, or what is there where that is all we know or what has
    to be undone.
    """
    if isinstance(change.old, Absent) or change.origin is Origin.DRIFT:
        return change.live
    return change.old


def _remarks(change: AttributeChange, *, hidden: bool) -> list[str]:
    remarks = [printable(change.note)] if change.note else []
    match change.origin:
        case Origin.DRIFT:
            remarks.append("drift: changed outside of FlareIaC")
        case Origin.BOTH:
            live = "changed, too" if hidden else f"live is {_short(change.live)}"
            remarks.append(f"drift: {live}")
        case Origin.DEFAULT:
            remarks.append("default")
        case Origin.CONFIG:
            pass
    return remarks


def _element_difference(before: list[Data], after: list[Data]) -> list[str]:
    old, new = [inline(element) for element in before], [inline(element) for element in after]
    return [f"  {sign} {line},".rstrip() for sign, line in text_difference("\n".join(old), "\n".join(new))]


def _short(value: Data) -> str:
    text = inline(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _is_nothing(value: Data) -> bool:
    return value is None or isinstance(value, Absent)


def _dimmed(line: str, style: Style) -> str:
    """A first line, with the remark after it in a quiet tone."""
    head, mark, remark = line.partition("  # ")
    return f"{head}{style.quiet(mark + remark)}" if mark else head


def _coloured(line: str, style: Style) -> str:
    for sign, tone in (("-", Tone.REMOVE), ("+", Tone.ADD)):
        if line.lstrip().startswith(f"{sign} ") and line.startswith("  "):
            return style.paint(line, tone)
    return line
