"""The result of ``drift`` for an issue, and for a reader of JUnit."""

from xml.etree import ElementTree as ET

from flareiac.kernel.codes import Code
from flareiac.kernel.diagnostics import error, warning
from flareiac.model.drift import DriftClass, DriftFinding, DriftIgnore, DriftReport, IgnoredFinding
from flareiac.render.drift_junit import drift_junit
from flareiac.render.drift_markdown import drift_markdown

HOSTILE = "a|b`c <script> @team #1 ]]>\n\x00\x1b[31m\ufffe </failure> -->"
BROKEN = error(Code("TOY001", "It cannot be read"), "The server is down.", address="table.c")
EXPIRED = warning(Code("TOY002", "It has expired"), HOSTILE)


def finding(kind: DriftClass, fingerprint: str, address: str = "table.a", text: str = "x") -> DriftFinding:
    return DriftFinding(
        address=address,
        kind=kind,
        text=text,
        path=("comment",),
        old=HOSTILE,
        live="b",
        fingerprint=fingerprint,
    )


def report(*findings: DriftFinding) -> DriftReport:
    rule = DriftIgnore(address="table.b", attribute="", reason=HOSTILE, until="2027-01-31")
    ignored = IgnoredFinding(finding=finding(DriftClass.CHANGED, "ff", "table.b"), rule=rule)
    return DriftReport(findings=findings, ignored=(ignored,), addresses=("table.a", "table.b", "table.d"))


def test_an_issue_names_all_fingerprints_in_a_line_that_is_not_seen() -> None:
    text = drift_markdown(
        report(finding(DriftClass.CHANGED, "02"), finding(DriftClass.UNMANAGED, "01")), [], workspace="a b"
    )
    lines = text.split("\n")
    assert lines[0] == "<!-- flareiac-drift workspace=a%20b fingerprints=01,02 -->"
    assert (
        lines[1]
        == "Workspace `a b`: **Drift: 1 changed, 1 unmanaged; 3 resources checked, 1 finding ignored.**"
    )
    assert not text.endswith("\n")


def test_no_text_of_a_user_leaves_its_cell() -> None:
    text = drift_markdown(
        report(finding(DriftClass.CHANGED, "1", text=HOSTILE)), [BROKEN, EXPIRED], workspace=HOSTILE
    )
    rows = [line for line in text.split("\n") if line.startswith("| `table.a`")]
    assert [row.count("|") for row in rows] == [8]
    assert "<script" not in text
    assert "@team" not in text


def test_what_could_not_be_read_comes_first_and_is_no_comfort() -> None:
    text = drift_markdown(report(), [BROKEN], workspace="default")
    assert "**No drift was found, but not everything could be checked" in text
    assert text.index("### Errors") < text.index("### Ignored")
    assert "What drifted is not known" in drift_markdown(None, [BROKEN], workspace="default")


def test_a_long_report_is_cut_and_counted() -> None:
    many = [finding(DriftClass.CHANGED, f"{number:016x}", f"table.t{number:04}") for number in range(2_000)]
    text = drift_markdown(report(*many), [BROKEN], workspace="default")
    assert len(text) <= 65_000
    assert "Left out to stay within 65000 characters" in text
    assert "### Errors" in text


def test_junit_has_a_test_for_each_finding_and_for_each_resource_without_one() -> None:
    drift = report(
        finding(DriftClass.CHANGED, "01", text=HOSTILE), finding(DriftClass.UNMANAGED, "02", "table.d")
    )
    root = ET.fromstring(drift_junit(drift, [BROKEN, EXPIRED]))
    suite = root.find("testsuite")
    assert suite is not None
    assert suite.attrib | {"name": ""} == {
        "name": "",
        "tests": "6",
        "failures": "1",
        "errors": "1",
        "skipped": "1",
    }
    kinds = {
        (test.get("classname"), part.tag)
        for test in suite
        for part in (*test, ET.Element("passes"))
        if part.tag != "properties"
    }
    assert {
        ("table.a", "failure"),
        ("table.b", "skipped"),
        ("table.c", "error"),
        ("table.d", "system-out"),
    } <= kinds
    prints = [each.get("value") for each in suite.iter("property")]
    assert prints == ["01", "02", "ff"]
    names = [test.get("name") for test in suite]
    assert "changed comment (01)" in names


def test_junit_without_a_result_has_an_error() -> None:
    for diagnostics in ([BROKEN], []):
        root = ET.fromstring(drift_junit(None, diagnostics))
        assert root.get("errors") == "1"
