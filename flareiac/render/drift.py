"""Renders the result of ``drift``: the report for people, and the parts that other forms of it share."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

from flareiac.kernel.data import Absent, Data, Json
from flareiac.model.drift import DriftClass, DriftFinding, DriftReport, IgnoredFinding
from flareiac.render.control_characters import printable
from flareiac.render.json_values import place, plain
from flareiac.render.redaction import REDACTED, Schemas, hides
from flareiac.render.style import Style, Tone
from flareiac.render.value_text import inline
from flareiac.sdk.results import Trace, Writer
from flareiac.sdk.schema import sensitive_paths

HEADLINES: Final = {
    DriftClass.CHANGED: "has changed",
    DriftClass.MISSING: "is missing",
    DriftClass.UNMANAGED: "holds what is not declared",
    DriftClass.UNHEALTHY: "is unhealthy",
}
_ORDER: Final = (DriftClass.MISSING, DriftClass.UNHEALTHY, DriftClass.CHANGED, DriftClass.UNMANAGED)
"""Worst first."""


def drift_text(report: DriftReport, *, colour: bool = False, errored: bool = False) -> str:
    """Returns every finding, worst first, and a last line that counts; ``errored``: something could not be
    looked at.
    """
    style = Style(colour)
    parts = ["\n".join(_group(group, style)) for group in grouped(report)]
    if report.ignored:
        lines = [f"      {printable(ignored_text(ignored))}" for ignored in report.ignored]
        parts.append("\n".join(["  # ignored by drift_ignore", *lines]))
    parts.append(style.strong(verdict(report, errored=errored)))
    return "\n\n".join(parts) + "\n"


def verdict(report: DriftReport, *, errored: bool) -> str:
    """Returns the line that counts."""
    if not report.findings:
        nothing = "No drift was found, but not everything could be checked" if errored else "No drift"
        return f"{nothing}{':' if errored else '.'} {_counted(report)}."
    title = "Drift" if report.drifted else "No drift, but"
    rest = "not everything could be checked: " if errored else ""
    return f"{title}: {classes_text(report)}; {rest}{_counted(report)}."


def ignored_text(ignored: IgnoredFinding) -> str:
    """Returns an ignored finding in one line: what it is, why it is ignored, and until when."""
    rule, finding = ignored.rule, ignored.finding
    until = f", until {rule.until}" if rule.until else ""
    return f"{finding.address}: {finding.text} ({rule.reason}{until}; fingerprint {finding.fingerprint})"


def classes_text(report: DriftReport) -> str:
    """Returns the number of resources of each class that was found, worst first."""
    return ", ".join(f"{number} {kind.value}" for kind in _ORDER if (number := report.resources(kind)))


def grouped(report: DriftReport) -> Iterator[tuple[DriftFinding, ...]]:
    """Yields the findings of one resource and class at a time, worst first."""
    for kind in _ORDER:
        groups: dict[str, list[DriftFinding]] = {}
        for finding in report.findings:
            if finding.kind is kind:
                groups.setdefault(finding.address, []).append(finding)
        yield from map(tuple, groups.values())


def without_secrets(report: DriftReport, schemas: Schemas) -> DriftReport:
    """Returns the report with each attribute marked that a schema calls sensitive, without its value in the
    text.
    """
    return replace(
        report,
        findings=tuple(_without_secret(finding, schemas) for finding in report.findings),
        ignored=tuple(
            replace(ignored, finding=_without_secret(ignored.finding, schemas)) for ignored in report.ignored
        ),
    )


def _without_secret(finding: DriftFinding, schemas: Schemas) -> DriftFinding:
    kind = str(place(finding.address)["type"])
    hidden = bool(finding.path) and hides(sensitive_paths(schemas.get(kind)), finding.path)
    if not (finding.sensitive or hidden):
        return finding
    text = f"{finding.attribute} was changed outside of FlareIaC (its value is sensitive)"
    return replace(finding, sensitive=True, text=text)


def _group(findings: tuple[DriftFinding, ...], style: Style) -> Iterator[str]:
    first = findings[0]
    yield f"  {style.strong(f'# {printable(first.address)} {HEADLINES[first.kind]}')}"
    for finding in findings:
        yield f"      {printable(finding.text)}"
        if has_values(finding):
            yield f"      {_values_line(finding, style)}"
        traced = trace_text(finding.trace)
        marks = [*([traced] if traced else []), f"fingerprint {finding.fingerprint}"]
        yield f"        {style.quiet(printable('; '.join(marks)))}"


def has_values(finding: DriftFinding) -> bool:
    """Returns True if the finding is about an attribute of which the recorded or the live value is known."""
    return bool(finding.path) and not (isinstance(finding.old, Absent) and isinstance(finding.live, Absent))


def trace_text(trace: Trace) -> str:
    """Returns when and by whom, as part of a sentence; empty where neither is known."""
    parts = [] if trace.since is None else [f"since {moment(trace.since)}"]
    if trace.by is not None:
        parts.append(f"by {writer_text(trace.by)}")
    return " ".join(parts)


def writer_text(writer: Writer) -> str:
    """Returns the program with its version, the application and the user, as far as they are known."""
    parts = [f"{writer.program} {writer.version}".strip()] if writer.program or writer.version else []
    if writer.application:
        parts.append(f"application {writer.application}")
    if writer.user:
        parts.append(f"user {writer.user}")
    return ", ".join(parts)


def moment(seconds: float) -> str:
    """Returns a time in UTC as RFC 3339 writes it, to the second."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def values_text(finding: DriftFinding) -> str:
    """Returns the recorded and the live value in one line, empty where the finding has none."""
    return _values_line(finding, Style(colour=False)) if has_values(finding) else ""


def _values_line(finding: DriftFinding, style: Style) -> str:
    old, live = (REDACTED, REDACTED) if finding.sensitive else (finding.old, finding.live)
    label = printable(finding.attribute)
    if isinstance(finding.live, Absent):
        return f"{style.paint('-', Tone.REMOVE)} {label} = {inline(old)} (recorded), gone"
    if isinstance(finding.old, Absent):
        return f"{style.paint('+', Tone.ADD)} {label} = {inline(live)} (live)"
    return f"{style.paint('~', Tone.CHANGE)} {label} = {inline(old)} (recorded) -> {inline(live)} (live)"


def finding_json(finding: DriftFinding) -> dict[str, Json]:
    """Returns one finding as JSON data; sensitive values are left out."""

    def shown(value: Data) -> Json:
        hidden = finding.sensitive and value is not None and not isinstance(value, Absent)
        return plain(REDACTED if hidden else value)

    by, since = finding.trace.by, finding.trace.since
    return {
        "class": finding.kind.value,
        "attribute": finding.attribute or None,
        "path": list(finding.path),
        "old": shown(finding.old),
        "live": shown(finding.live),
        "sensitive": finding.sensitive,
        "text": finding.text,
        "since": None if since is None else moment(since),
        "by": None
        if by is None
        else {
            "engine": by.program or None,
            "version": by.version or None,
            "user": by.user or None,
            "application": by.application or None,
        },
        "fingerprint": finding.fingerprint,
    }


def _counted(report: DriftReport) -> str:
    unchecked = f", {report.unchecked} could not be" if report.unchecked else ""
    ignored = f", {_noun(len(report.ignored), 'finding')} ignored" if report.ignored else ""
    return f"{_noun(report.checked, 'resource')} checked{unchecked}{ignored}"


def _noun(count: int, noun: str) -> str:
    return f"{count} {noun if count == 1 else noun + 's'}"
