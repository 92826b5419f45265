"""The rules of a team on the command line: plan, apply, report, and policy check with its forms."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.support.command_line import flareiac

LAKE = """
catalog "lake" {
  uri       = "sqlite:///lake/catalog.db"
  warehouse = "lake/warehouse"
}
namespace "web" {}
table "each" {
  for_each  = toset(["eu", "us"])
  namespace = namespace.web.name
  name      = "each_${each.key}"
  column "id" { type = "long" }
}
"""
POLICY = """
policy "production" {
  rule "comments" {
    use = "comment_required"
    exception {
      addresses = ["table.each[\\"us\\"]"]
      reason    = "T-1 <later> & \\"quoted\\""
      expires   = "2999-01-01"
    }
  }
  rule "few" {
    enforcement = "advisory"
    condition   = plan.add < 2
    message     = "adds ${plan.add}\\u0007 <resources>"
  }
  rule "owner" { use = "consumer_owner_required" }
}
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "main.flare.hcl").write_text(LAKE)
    (tmp_path / "policy.flare.hcl").write_text(POLICY)
    return tmp_path


def test_a_mandatory_rule_refuses_the_plan_everywhere(root: Path) -> None:
    planned = flareiac(root, "plan", "-out=p.json", "-json-into=whole.json", "-detailed-exitcode")
    assert planned.code == 4
    assert '! production.comments (mandatory) not met for table.each["eu"] [FIP040]' in planned.out
    assert "Refused by the rule production.comments. Nothing can be applied. Plan: 3 to add" in planned.out
    assert "It does not meet the rules of the team, so that no apply carries it out." in planned.out
    whole = json.loads((root / "whole.json").read_text())
    assert whole["applyable"] is False
    assert whole["flareiac"]["policy"]["passed"] is False
    assert [each["answer"] for each in whole["flareiac"]["policy"]["findings"]] == [
        "failed",
        "excepted",
        "failed",
    ]
    lines = [json.loads(line) for line in flareiac(root, "plan", "-json").out.splitlines()]
    assert [line["@level"] for line in lines if line["type"] == "policy"] == ["error", "info", "warn"]
    report = flareiac(root, "report", "p.json").out
    assert "**1 mandatory rule not met**" in report
    assert "### Rules of the team" in report
    for command in (("apply", "p.json"), ("apply", "-auto-approve"), ("apply", "p.json", "-json")):
        refused = flareiac(root, *command)
        assert refused.code == 4, command
    assert flareiac(root, "state", "list").out == ""
    assert flareiac(root, "show", "p.json").out.count("[FIP040]") == 3


def test_an_advisory_rule_and_a_fixed_one_refuse_nothing(root: Path) -> None:
    policy = POLICY.replace(
        'use = "comment_required"', 'use = "comment_required"\n    enforcement = "advisory"'
    )
    (root / "policy.flare.hcl").write_text(policy)
    assert flareiac(root, "plan", "-out=p.json", "-detailed-exitcode").code == 2
    assert flareiac(root, "policy", "check", "p.json").code == 0
    assert flareiac(root, "apply", "p.json").code == 0
    again = flareiac(root, "plan", "-detailed-exitcode", "-out=none.json")
    assert again.code == 0
    assert "No changes." in again.out
    # A plan that changes nothing is asked, too
    (root / "policy.flare.hcl").write_text(POLICY)
    assert flareiac(root, "policy", "check", "none.json").code == 4
    assert flareiac(root, "plan", "-detailed-exitcode").code == 4
    assert flareiac(root, "drift").code == 0


def test_policy_check_as_json_junit_and_sarif(root: Path) -> None:
    flareiac(root, "plan", "-out=p.json")
    for form in ("text", "json", "junit", "sarif"):
        assert flareiac(root, "policy", "check", "p.json", f"-format={form}").code == 4
    found = json.loads(flareiac(root, "policy", "check", "p.json", "-format=json").out)
    assert (found["format_version"], found["passed"]) == (1, False)
    suites = ET.fromstring(flareiac(root, "policy", "check", "p.json", "-format=junit").out)
    [suite] = suites
    assert suite.attrib == {
        "name": "production",
        "tests": "4",
        "failures": "1",
        "errors": "0",
        "skipped": "3",
    }
    assert [case.attrib["name"] for case in suite] == [
        *('comments: table.each["eu"]', 'comments: table.each["us"]', "few", "owner"),
    ]
    sarif = json.loads(flareiac(root, "policy", "check", "p.json", "-format=sarif").out)
    [run] = sarif["runs"]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == [
        *("production.comments", "production.few", "production.owner"),
    ]
    places = [
        (
            each["level"],
            each["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
            each["locations"][0]["physicalLocation"]["region"]["startLine"],
            "suppressions" in each,
        )
        for each in run["results"]
    ]
    assert places == [
        ("error", "main.flare.hcl", 7, False),
        ("error", "main.flare.hcl", 7, True),
        ("warning", "policy.flare.hcl", 13, False),
    ]


def test_policies_of_another_folder(root: Path) -> None:
    (root / "policy.flare.hcl").unlink()
    flareiac(root, "plan", "-out=p.json")
    missing = flareiac(root, "policy", "check", "p.json")
    assert (missing.code, "FIP043" in missing.err) == (1, True)
    (root / "rules").mkdir()
    (root / "rules" / "team.flare.hcl").write_text(POLICY)
    checked = flareiac(root, "policy", "check", "p.json", "-policy=rules")
    assert checked.code == 4
    assert "rules/team.flare.hcl:3" in checked.out
    (root / "rules" / "team.flare.hcl").write_text(POLICY.replace("plan.add", "plan.ad"))
    wrong = flareiac(root, "policy", "check", "p.json", "-policy=rules")
    assert (wrong.code, "FIC081" in wrong.err, 'Did you mean "add"' in wrong.err) == (1, True, True)
    assert flareiac(root, "policy", "check", "p.json", "-policy=nowhere").code == 1


def test_a_plan_that_cannot_be_read_is_no_plan_that_passes(root: Path) -> None:
    flareiac(root, "plan", "-out=p.json")
    whole = (root / "p.json").read_bytes()
    broken = {
        "cut.json": whole[: len(whole) // 2],
        "other.json": re.sub(rb'"format_version":\d+', b'"format_version":99', whole, count=1),
        "changed.json": whole.replace(b'"comment":null', b'"comment":"x"', 1),
        "bytes.json": b"\xff\xfe\x00",
        "empty.json": b"",
    }
    for name, content in broken.items():
        (root / name).write_bytes(content)
        refused = flareiac(root, "policy", "check", name)
        assert (refused.code, "FIX032" in refused.err, refused.out) == (1, True, ""), (name, refused.err)
    assert flareiac(root, "policy", "check", "nothing.json").code == 1


def test_an_exception_that_ends_between_plan_and_apply(root: Path) -> None:
    from datetime import UTC, datetime, timedelta
    from time import sleep

    ends = datetime.now(UTC) + timedelta(seconds=12)
    only = POLICY.replace('      addresses = ["table.each[\\"us\\"]"]\n', "")
    (root / "policy.flare.hcl").write_text(only.replace("2999-01-01", ends.isoformat()))
    planned = flareiac(root, "plan", "-out=p.json", "-detailed-exitcode")
    assert planned.code == 2, planned.out
    sleep(max(0.0, (ends - datetime.now(UTC)).total_seconds()) + 0.1)
    refused = flareiac(root, "apply", "p.json")
    assert (refused.code, "FIP045" in refused.err) == (4, True)
    assert flareiac(root, "state", "list").out == ""


def test_validate_and_explain_know_policies(root: Path) -> None:
    assert flareiac(root, "validate").code == 0
    (root / "policy.flare.hcl").write_text(POLICY.replace("comment_required", "comment_requird"))
    assert "FIC081" in flareiac(root, "validate").err
    for name in ("policy", "policy.change", "policy.plan", "tagged_column", "FIP041", "policy check"):
        assert flareiac(root, "explain", name).code == 0, name
    assert "object or null" in flareiac(root, "explain", "policy.change").out
