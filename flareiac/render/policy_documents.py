"""The answers of the rules of a team for programs: JSON, JUnit's XML and SARIF. Pure."""

import re
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from typing import Final

from flareiac.kernel.data import Json
from flareiac.model.policy import Answer, BlockPlace, Enforcement, Finding, PolicyResults, RuleResult
from flareiac.render.plan_json import policy_json
from flareiac.render.policy_text import beside
from flareiac.render.sarif import document, fingerprint, location

FORMAT_VERSION: Final = 1
"""The version of ``policy check -format=json``."""
_NO_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that no XML document may hold."""


def check_json(results: PolicyResults, *, tool_version: str) -> dict[str, Json]:
    """All of it as JSON data."""
    return {"format_version": FORMAT_VERSION, "flareiac_version": tool_version, **policy_json(results)}


def junit(results: PolicyResults) -> str:
    """A suite for each policy. A rule that is met is one case, one that is not has a case for each subject.
    What does not keep the plan from being applied (advisory rules, exceptions) is skipped, not failed.
    """
    by_policy: dict[str, list[RuleResult]] = {}
    for result in results.rules:
        by_policy.setdefault(result.policy, []).append(result)
    findings: dict[str, list[Finding]] = {}
    for finding in results.findings:
        findings.setdefault(finding.name, []).append(finding)
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<testsuites name="flareiac policy check">']
    for policy, rules in by_policy.items():
        cases = [case for rule in rules for case in _cases(rule, findings.get(rule.name, []))]
        kinds = [kind for kind, _ in cases]
        counts = {
            "tests": len(cases),
            "failures": kinds.count("failure"),
            "errors": kinds.count("error"),
            "skipped": kinds.count("skipped"),
        }
        lines.append(_open("testsuite", {"name": policy, **{name: str(at) for name, at in counts.items()}}))
        lines.extend(line for _, case in cases for line in case)
        lines.append("</testsuite>")
    return "\n".join([*lines, "</testsuites>", ""])


def _cases(rule: RuleResult, findings: Iterable[Finding]) -> Iterator[tuple[str, list[str]]]:
    """The kind of each case (empty: passed), and its lines."""
    listed = list(findings)
    place = {"file": rule.path, "line": str(rule.line)}
    if rule.is_met:
        name = {"classname": rule.policy, "name": rule.rule, **place}
        if rule.checked or listed:
            yield "", [_open("testcase", name, end="/")]
        else:
            skipped = _open("skipped", {"message": "The rule is about nothing in this plan."}, end="/")
            yield "skipped", [_open("testcase", name), skipped, "</testcase>"]
    for finding in listed:
        kind = _kind(finding)
        subject = f"{rule.rule}: {finding.address}" if finding.address else rule.rule
        told = {"message": f"{_prefix(finding)}{finding.message}"}
        if kind != "skipped":
            told["type"] = finding.code
        inner = f"{_open(kind, told)}{_xml(chr(10).join(beside(finding)))}</{kind}>"
        case = _open("testcase", {"classname": rule.policy, "name": subject, **place})
        yield kind, [case, inner, "</testcase>"]


def _kind(finding: Finding) -> str:
    if not finding.refuses:
        return "skipped"
    return "error" if finding.answer is Answer.ERROR else "failure"


def _prefix(finding: Finding) -> str:
    if finding.answer is Answer.EXCEPTED:
        return f"excepted until {finding.expires}: "
    return "advisory: " if finding.enforcement is Enforcement.ADVISORY else ""


def _open(name: str, attributes: Mapping[str, str], *, end: str = "") -> str:
    written = "".join(f' {key}="{_xml(text)}"' for key, text in attributes.items())
    return f"<{name}{written}{end}>"


def _xml(text: str) -> str:
    return escape(_NO_XML.sub("\ufffd", text)).replace("\n", "&#10;")


def sarif(results: PolicyResults, places: Mapping[str, BlockPlace], *, tool_version: str) -> dict[str, Json]:
    """SARIF 2.1.0. ``places``: of the blocks of addresses; a subject without one (a resource that goes, the
    plan) is shown at the rule. An exception is a suppression.
    """
    numbers = {result.name: number for number, result in enumerate(results.rules)}
    return document(
        [_sarif_rule(result) for result in results.rules],
        [_sarif_result(finding, numbers, places) for finding in results.findings],
        tool_version=tool_version,
    )


def _sarif_rule(result: RuleResult) -> dict[str, Json]:
    text = result.description or result.name
    return {
        "id": result.name,
        "shortDescription": {"text": text},
        "defaultConfiguration": {"level": _level(result.enforcement)},
        "properties": {"enforcement": result.enforcement.value, "use": result.use},
    }


def _level(enforcement: Enforcement) -> str:
    return "error" if enforcement is Enforcement.MANDATORY else "warning"


def _sarif_result(
    finding: Finding, numbers: Mapping[str, int], places: Mapping[str, BlockPlace]
) -> dict[str, Json]:
    rule = location(finding.path, {"startLine": finding.line, "startColumn": finding.column})
    block = places.get(finding.address)
    at = rule if block is None else location(block.path, {"startLine": block.line})
    logical: list[Json] = [{"fullyQualifiedName": finding.address}]
    subject = f"{finding.address}: " if finding.address else ""
    exceptions: list[Json] = [
        {
            "kind": "external",
            "status": "accepted",
            "justification": f"until {finding.expires}: {finding.reason}",
        }
    ]
    return {
        "ruleId": finding.name,
        "ruleIndex": numbers[finding.name],
        "level": _level(finding.enforcement),
        "message": {"text": f"{subject}{finding.message}"},
        "locations": [{**at, **({"logicalLocations": logical} if finding.address else {})}],
        "relatedLocations": [{**rule, "message": {"text": "the rule"}}],
        "partialFingerprints": fingerprint(finding.name, finding.address),
        "properties": {"answer": finding.answer.value, "code": finding.code, "address": finding.address},
        **({"suppressions": exceptions} if finding.answer is Answer.EXCEPTED else {}),
    }
