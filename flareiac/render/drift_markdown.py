"""The result of ``drift`` as Markdown, for an issue. Pure.

The first line is a marker that does not show: the workspace, and the fingerprints of all findings, by which a
scheduler knows an issue again.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from flareiac.kernel.data import Absent, Data
from flareiac.kernel.diagnostics import Diagnostic, Severity
from flareiac.model.drift import DriftFinding, DriftReport
from flareiac.render.drift import (
    HEADLINES,
    grouped,
    ignored_text,
    moment,
    verdict,
    writer_text,
)
from flareiac.render.marker import marker, place
from flareiac.render.redaction import REDACTED
from flareiac.render.report.budget import Entry, Part, fitted
from flareiac.render.report.escaping import code, prose
from flareiac.render.value_text import inline

MOST_CHARACTERS: Final = 65_000
"""GitHub refuses an issue of more than 65,536."""
_MOST_FINGERPRINTS: Final = 500
_LONGEST_NAME: Final = 40
_NO_RESULT: Final = "What drifted is not known."
_COLUMNS: Final = ("resource", "attribute", "recorded", "live", "since", "by", "fingerprint")


def drift_markdown(
    report: DriftReport | None,
    diagnostics: Iterable[Diagnostic],
    *,
    workspace: str,
    project: str = "",
    most: int = MOST_CHARACTERS,
) -> str:
    """Returns the report in at most so many characters (at least 20,000), without a line feed at its end.
    What is left out is counted and named. ``project`` names it in the marker. ``report`` None: it could not
    be made, and ``diagnostics`` say why.
    """
    complaints = list(diagnostics)
    errored = any(complaint.severity is Severity.ERROR for complaint in complaints)
    line = _NO_RESULT if report is None else verdict(report, errored=errored)
    first = f"{_marker(report, workspace, project)}\n{place(project, workspace)}**{prose(line)}**"
    parts = [
        _complaints(complaints, Severity.ERROR, "Errors"),
        *([] if report is None else _classes(report)),
        _complaints(complaints, Severity.WARNING, "Warnings"),
        *([] if report is None else [_ignored(report)]),
    ]
    return fitted(
        first,
        parts,
        most,
        trailer=lambda missing: (
            f"*Left out to stay within {most} characters:* {missing}. `flareiac drift` shows all of it."
        ),
        name=lambda text: code(text, _LONGEST_NAME),
    )


def _marker(report: DriftReport | None, workspace: str, project: str) -> str:
    prints = sorted(finding.fingerprint for finding in report.findings)[:_MOST_FINGERPRINTS] if report else []
    return marker("flareiac-drift", workspace=workspace, project=project, fingerprints=",".join(prints))


def _classes(report: DriftReport) -> Iterator[Part]:
    by_class: dict[str, list[DriftFinding]] = {}
    for group in grouped(report):
        by_class.setdefault(group[0].kind.value, []).extend(group)
    for name, findings in by_class.items():
        headline = HEADLINES[findings[0].kind]
        yield Part(
            noun=name,
            head=f"### {name.capitalize()}: what {headline}\n\n{_row(_COLUMNS)}\n{_row(['---'] * 7)}",
            entries=tuple(
                Entry(text=_row(_cells(finding)), names=(finding.address,)) for finding in findings
            ),
            vital=True,
        )


def _cells(finding: DriftFinding) -> list[str]:
    trace = finding.trace
    return [
        code(finding.address),
        code(finding.attribute) if finding.path else prose(finding.text),
        _value(finding.old, finding),
        _value(finding.live, finding),
        "" if trace.since is None else moment(trace.since),
        "" if trace.by is None else prose(writer_text(trace.by)),
        code(finding.fingerprint),
    ]


def _value(value: Data, finding: DriftFinding) -> str:
    if isinstance(value, Absent):
        return ""
    return code(inline(REDACTED if finding.sensitive else value))


def _ignored(report: DriftReport) -> Part:
    return Part(
        noun="ignored",
        head="### Ignored\n",
        entries=tuple(
            Entry(text=f"- {prose(ignored_text(ignored))}", names=(ignored.finding.address,))
            for ignored in report.ignored
        ),
    )


def _complaints(complaints: Iterable[Diagnostic], severity: Severity, title: str) -> Part:
    entries = []
    for complaint in complaints:
        if complaint.severity is severity:
            where = f" {code(complaint.address)}" if complaint.address else ""
            detail = f": {prose(complaint.detail, 1500)}" if complaint.detail else ""
            text = f"- **{prose(complaint.summary)}** [{code(complaint.code)}]{where}{detail}"
            entries.append(Entry(text=text, names=(complaint.address or complaint.code,)))
    return Part(noun=title.lower(), head=f"### {title}\n", entries=tuple(entries))


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
