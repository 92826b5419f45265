"""The answers of the rules of a team as text. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from flareiac.model.policy import Answer, Enforcement, Finding, PolicyResults, RuleResult
from flareiac.render.control_characters import printable
from flareiac.render.resource_text import wrapped
from flareiac.render.style import Style, Tone
from flareiac.render.table_text import table_lines
from flareiac.sdk.text_table import Column, TextTable

_MOST_IN_PLAN: Final = 10
"""Findings of one rule that a plan shows."""
_SAID: Final = {
    Answer.FAILED: "not met",
    Answer.UNKNOWN: "not known",
    Answer.ERROR: "cannot be evaluated",
    Answer.EXCEPTED: "excepted",
}


def refused_by(results: PolicyResults | None) -> str:
    """``Refused by the rule production.names.``, or an empty text."""
    names = [] if results is None else [result.name for result in results.failing]
    if not names:
        return ""
    listed = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    return f"Refused by the rule{'' if len(names) == 1 else 's'} {listed}."


def policy_section(results: PolicyResults, style: Style, width: int) -> str:
    """The part of a plan's text about rules: what is not met, and the counts."""
    lines = [style.strong("Rules of the team:"), ""]
    by_rule: dict[str, list[Finding]] = {}
    for finding in results.findings:
        by_rule.setdefault(finding.name, []).append(finding)
    for findings in sorted(by_rule.values(), key=lambda findings: not any(each.refuses for each in findings)):
        for finding in findings[:_MOST_IN_PLAN]:
            lines.extend(_finding(finding, style, width))
        if len(findings) > _MOST_IN_PLAN:
            more = len(findings) - _MOST_IN_PLAN
            lines.append(f"  ... and {more:,} more of {findings[0].name}; flareiac policy check shows them")
    lines.append(wrapped(counted(results), width, "  " if by_rule else "", "    "))
    return "\n".join(lines if by_rule else lines[:1] + lines[2:])


def counted(results: PolicyResults) -> str:
    """``3 rules: 2 met, 1 mandatory not met.``"""
    rules, idle = results.rules, sum(not result.checked for result in results.rules)
    met = sum(result.is_met for result in rules) - idle
    pieces = [
        f"{met} met",
        *([f"{len(results.failing)} mandatory not met"] if results.failing else []),
        *([f"{len(results.warning)} advisory not met"] if results.warning else []),
        *([f"{idle} about nothing in this plan"] if idle else []),
    ]
    excepted = sum(result.excepted for result in rules)
    beside = f" Exceptions used: {excepted}." if excepted else ""
    return f"{len(rules)} rule{'' if len(rules) == 1 else 's'}: {', '.join(pieces)}.{beside}"


def policy_text(results: PolicyResults, *, colour: bool, width: int | None) -> str:
    """The answers of all rules, for ``policy check``."""
    style = Style(colour)
    columns = (
        *(Column("RULE"), Column("ENFORCEMENT"), Column("RESULT")),
        *(Column("CHECKED", right=True), Column("NOT MET", right=True), Column("EXCEPTED", right=True)),
    )
    table = TextTable(columns=columns, rows=tuple(map(_row, results.rules)))
    lines = table_lines(table, width)
    for finding in results.findings:
        lines.extend(["", *_finding(finding, style, width or 100)])
    return "\n".join([*lines, "", style.strong(counted(results))])


def _row(result: RuleResult) -> tuple[str, ...]:
    unmet = result.failed + result.unknown + result.errors
    outcome = "met" if result.checked else "about nothing"
    return (
        result.name,
        result.enforcement.value,
        "NOT MET" if unmet else outcome,
        str(result.checked),
        str(unmet),
        str(result.excepted),
    )


def _finding(finding: Finding, style: Style, width: int) -> Iterator[str]:
    where = f" for {finding.address}" if finding.address else ""
    sign, tone = _sign(finding)
    head = f"{finding.name} ({finding.enforcement.value}) {_SAID[finding.answer]}{where} [{finding.code}]"
    yield f"  {style.paint(sign, tone)} {style.paint(printable(head), tone)}"
    yield wrapped(printable(finding.message), width, "      ", "      ")
    yield from (f"      {printable(line)}" for line in beside(finding))


def beside(finding: Finding) -> Sequence[str]:
    """The lines below the message: values, the exception, the place of the rule."""
    lines = [", ".join(f"{name} = {text}" for name, text in finding.values)] if finding.values else []
    if finding.reason:
        when = "expired on" if finding.is_expired else "until"
        lines.append(f"exception {when} {finding.expires}: {finding.reason}")
    return [*lines, f"{finding.path}:{finding.line}"]


def _sign(finding: Finding) -> tuple[str, Tone]:
    if finding.answer is Answer.EXCEPTED:
        return "-", Tone.QUIET
    return ("!", Tone.BLOCKED) if finding.enforcement is Enforcement.MANDATORY else ("~", Tone.CHANGE)


def finding_line(finding: Finding) -> str:
    """A finding as one line."""
    where = f"{finding.address}: " if finding.address else ""
    return f"{finding.name}: {where}{finding.message}"


def unmet(findings: Iterable[Finding]) -> list[Finding]:
    """The findings that no exception allows."""
    return [finding for finding in findings if finding.answer is not Answer.EXCEPTED]
