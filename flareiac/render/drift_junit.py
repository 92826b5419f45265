"""The result of ``drift`` as JUnit's XML: a test for each resource without a finding and for each finding.
Pure.

A finding is a failure; what is not declared passes, with a note; what a rule ignores is skipped; what could
not be read is an error.
"""

import re
from collections.abc import Iterable
from typing import Final
from xml.etree import ElementTree as ET

from flareiac.kernel.diagnostics import Diagnostic, Severity
from flareiac.model.drift import DriftClass, DriftFinding, DriftReport
from flareiac.render.control_characters import printable
from flareiac.render.drift import ignored_text, trace_text, values_text

_NOT_IN_XML: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def drift_junit(report: DriftReport | None, diagnostics: Iterable[Diagnostic]) -> str:
    """Returns the document. ``report`` None: it could not be made, and ``diagnostics`` say why."""
    suite = ET.Element("testsuite", name="flareiac drift")
    errors = 0
    for complaint in diagnostics:
        test = _test(suite, complaint.address or "flareiac", f"{complaint.code} {complaint.summary}")
        if complaint.severity is Severity.ERROR:
            errors += 1
            _part(test, "error", complaint.detail, message=complaint.summary, type=complaint.code)
        else:
            _part(test, "system-out", complaint.detail)
    if report is None and not errors:
        errors += 1
        _part(_test(suite, "flareiac", "drift"), "error", "What drifted is not known.")
    failures = 0
    for finding in report.findings if report is not None else ():
        test = _finding(suite, finding)
        if finding.kind is DriftClass.UNMANAGED:
            _part(test, "system-out", finding.text)
        else:
            failures += 1
            _part(test, "failure", _body(finding), message=finding.text, type=finding.kind.value)
    for ignored in report.ignored if report is not None else ():
        _part(_finding(suite, ignored.finding), "skipped", "", message=ignored_text(ignored))
    if report is not None:
        drifted = {finding.address for finding in report.findings}
        for address in report.addresses:
            if address not in drifted:
                _test(suite, address, "no drift")
    counts = {
        "tests": str(len(suite)),
        "failures": str(failures),
        "errors": str(errors),
        "skipped": str(len(report.ignored) if report is not None else 0),
    }
    suite.attrib.update(counts)
    root = ET.Element("testsuites", counts)
    root.append(suite)
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode")


def _finding(suite: ET.Element, finding: DriftFinding) -> ET.Element:
    what = f" {finding.attribute}" if finding.path else ""
    test = _test(suite, finding.address, f"{finding.kind.value}{what} ({finding.fingerprint})")
    properties = ET.SubElement(test, "properties")
    ET.SubElement(properties, "property", name="fingerprint", value=finding.fingerprint)
    return test


def _body(finding: DriftFinding) -> str:
    lines = [finding.text, values_text(finding), trace_text(finding.trace)]
    return "\n".join(line for line in lines if line)


def _test(suite: ET.Element, address: str, name: str) -> ET.Element:
    return ET.SubElement(suite, "testcase", classname=_text(address), name=_text(name))


def _part(test: ET.Element, tag: str, body: str, **attributes: str) -> None:
    part = ET.SubElement(test, tag, {name: _text(value) for name, value in attributes.items()})
    part.text = _text(body) or None


def _text(text: str) -> str:
    return _NOT_IN_XML.sub("", printable(text))
