"""Rules that take known drift out of the report."""

import datetime as dt

import pytest

from flareiac.kernel.paths import Path
from flareiac.model.drift import DriftClass, DriftFinding, DriftIgnore, DriftReport
from flareiac.planning.drift_ignores import covers, ignore_warnings, with_ignores

NOW = dt.datetime(2027, 1, 31, 12, tzinfo=dt.UTC).timestamp()


def finding(address: str = "table.a", path: Path = ("properties", "write.x")) -> DriftFinding:
    return DriftFinding(
        address=address, kind=DriftClass.CHANGED, text="it was changed", path=path, fingerprint="f"
    )


def rule(address: str = "table.a", attribute: str = "", expires: float | None = None) -> DriftIgnore:
    until = "2027-01-31" if expires is not None else ""
    return DriftIgnore(address=address, attribute=attribute, reason="known", expires=expires, until=until)


@pytest.mark.parametrize(
    ("address", "attribute", "path", "covered"),
    [
        ("table.a", "", ("properties", "write.x"), True),
        ("table.*", "", (), True),
        ("table.b", "", (), False),
        ("table.a", "properties", ("properties", "write.x"), True),
        ("table.a", "properties", (), False),
        ("table.a", 'properties["write.x"]', ("properties", "write.x"), True),
        ("table.a", "properties.write.x", ("properties", "write.x"), True),
        ("table.a", "properties.write.*", ("properties", "write.x"), True),
        ("table.a", "properties.write", ("properties", "write.x"), False),
        ("table.a", "column.tags", ("column", "tags", "type"), True),
        ("table.a", "column.tag", ("column", "tags"), False),
        ("table.a", "column.*.comment", ("column", "tags", "comment"), True),
        ("table.a", "column.*.comment", ("column", "tags", "type"), False),
        ("table.a", "partition_by[0]", ("partition_by", 0), True),
        ("table.a", "Comment", ("comment",), False),
    ],
)
def test_a_rule_covers_an_attribute_and_what_is_in_it(
    address: str, attribute: str, path: Path, covered: bool
) -> None:
    assert covers(rule(address, attribute), finding(path=path)) is covered


def test_a_rule_for_a_block_covers_all_its_instances() -> None:
    assert covers(rule("table.a"), finding('table.a["eu"]'))
    assert not covers(rule('table.a["us"]'), finding('table.a["eu"]'))


def test_a_covered_finding_is_set_apart_until_its_rule_ends() -> None:
    report = DriftReport(findings=(finding(), finding("table.b")), addresses=("table.a", "table.b"))
    until = rule(expires=NOW + 1)
    kept = with_ignores(report, [until], NOW)
    assert [each.address for each in kept.findings] == ["table.b"]
    assert [(each.finding.address, each.rule) for each in kept.ignored] == [("table.a", until)]
    assert kept.drifted
    assert with_ignores(report, [until], NOW + 1).findings == report.findings


def test_an_expired_rule_is_reported_whether_or_not_something_drifts() -> None:
    expired = rule(expires=NOW)
    with_drift = list(ignore_warnings([expired], [finding()], ["table.a"], NOW))
    without = list(ignore_warnings([expired], [], ["table.a"], NOW))
    assert [each.code for each in (*with_drift, *without)] == ["FIP007", "FIP007"]
    assert "ended on 2027-01-31, and 1 finding is reported again" in with_drift[0].detail
    assert "nothing drifts there now" in without[0].detail


def test_a_rule_for_nothing_is_reported() -> None:
    assert [each.code for each in ignore_warnings([rule("table.typo")], [], ["table.a"], NOW)] == ["FIP008"]
    assert list(ignore_warnings([rule("table.*")], [], ["table.a"], NOW)) == []
