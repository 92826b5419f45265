"""Renders the result of ``drift``: the report for people, and one changed attribute as JSON."""

from flareiac.kernel.data import Absent, Data, Json
from flareiac.kernel.paths import render_path
from flareiac.model.drift import DriftClass, DriftEntry, DriftReport
from flareiac.render.control_characters import printable
from flareiac.render.json_values import plain
from flareiac.render.redaction import REDACTED
from flareiac.render.style import Style, Tone
from flareiac.render.value_text import inline
from flareiac.sdk.changes import AttributeChange

_HEADLINES = {
    DriftClass.CHANGED: "has changed",
    DriftClass.MISSING: "is missing",
    DriftClass.UNMANAGED: "holds what is not declared",
    DriftClass.UNHEALTHY: "is unhealthy",
}
_ORDER = (DriftClass.MISSING, DriftClass.UNHEALTHY, DriftClass.CHANGED, DriftClass.UNMANAGED)
"""Worst first."""


def drift_text(report: DriftReport, *, colour: bool = False, errored: bool = False) -> str:
    """Every finding, worst first, and a last line that counts; ``errored``: something could not be looked
    at.
    """
    style = Style(colour)
    if not report.entries:
        nothing = "No drift was found, but not everything could be checked" if errored else "No drift"
        return style.strong(f"{nothing}{':' if errored else '.'} {_counted(report)}.") + "\n"
    parts = [
        "\n".join(_entry(entry, style)) for kind in _ORDER for entry in report.entries if entry.kind is kind
    ]
    found = [(kind, sum(item.kind is kind for item in report.entries)) for kind in _ORDER]
    classes = ", ".join(f"{number} {kind.value}" for kind, number in found if number)
    title = "Drift" if report.drifted else "No drift, but"
    rest = "not everything could be checked: " if errored else ""
    parts.append(style.strong(f"{title}: {classes}; {rest}{_counted(report)}."))
    return "\n\n".join(parts) + "\n"


def _entry(entry: DriftEntry, style: Style) -> list[str]:
    lines = [f"  {style.strong(f'# {printable(entry.address)} {_HEADLINES[entry.kind]}')}"]
    lines.extend(f"      {printable(text)}" for text in entry.texts)
    lines.extend(f"      {_change_line(change, style)}" for change in entry.changes)
    return lines


def _change_line(change: AttributeChange, style: Style) -> str:
    old, live = (REDACTED, REDACTED) if change.sensitive else (change.old, change.live)
    label = printable(render_path(change.path))
    if isinstance(live, Absent):
        return f"{style.paint('-', Tone.REMOVE)} {label} = {inline(old)} (recorded), gone"
    if isinstance(old, Absent):
        return f"{style.paint('+', Tone.ADD)} {label} = {inline(live)} (live)"
    return f"{style.paint('~', Tone.CHANGE)} {label} = {inline(old)} (recorded) -> {inline(live)} (live)"


def change_json(change: AttributeChange) -> dict[str, Json]:
    """One drifted attribute as JSON data; sensitive values are left out."""

    def shown(value: Data) -> Json:
        return plain(
            REDACTED if change.sensitive and value is not None and not isinstance(value, Absent) else value
        )

    return {
        "path": list(change.path),
        "attribute": render_path(change.path),
        "recorded": shown(change.old),
        "live": shown(change.live),
        "desired": shown(change.new),
        "sensitive": change.sensitive,
    }


def _counted(report: DriftReport) -> str:
    unchecked = f", {report.unchecked} could not be" if report.unchecked else ""
    return f"{_noun(report.checked, 'resource')} checked{unchecked}"


def _noun(count: int, noun: str) -> str:
    return f"{count} {noun if count == 1 else noun + 's'}"
