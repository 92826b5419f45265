"""``validate -sarif``: what code scanning takes."""

import json
from pathlib import Path
from typing import Any

from tests.support.command_line import flareiac

GOOD = """
catalog "lake" {
  type      = "sql"
  uri       = "sqlite:///lake/catalog.db"
  warehouse = "lake/warehouse"
}
"""
BAD = """
table "orders" {
  namespace = "demo"
  column "id" { type = "lang" }
}
consumer "board" {
  reads   = [table.orders]
  columns = ["nothing"]
}
"""


def run(root: Path, code: int) -> dict[str, Any]:
    done = flareiac(root, "validate", "-sarif")
    assert done.code == code, done.text
    document = json.loads(done.out)
    assert document["version"] == "2.1.0"
    (only,) = document["runs"]
    return dict(only)


def test_each_complaint_is_a_result_at_its_place(tmp_path: Path) -> None:
    (tmp_path / "a b#1.flare.hcl").write_text(GOOD + BAD)
    log = run(tmp_path, 1)
    (result,) = [each for each in log["results"] if each["level"] == "error"]
    rule = log["tool"]["driver"]["rules"][result["ruleIndex"]]
    assert rule["id"] == result["ruleId"]
    assert rule["id"] in rule["help"]["text"]
    assert "lang" in result["message"]["text"]
    physical = result["locations"][0]["physicalLocation"]
    assert physical["artifactLocation"]["uri"] == "a%20b%231.flare.hcl"
    lines = (GOOD + BAD).split("\n")
    region = physical["region"]
    assert lines[region["startLine"] - 1][region["startColumn"] - 1 : region["endColumn"] - 1] == '"lang"'


def test_a_complaint_that_moves_keeps_its_fingerprint(tmp_path: Path) -> None:
    def prints() -> list[str]:
        return [each["partialFingerprints"]["flareiac/v1"] for each in run(tmp_path, 1)["results"]]

    file = tmp_path / "main.flare.hcl"
    file.write_text(GOOD + BAD)
    before = prints()
    file.write_text(BAD + GOOD)
    assert prints() == before
    file.write_text(GOOD + BAD.replace("lang", "longer"))
    assert prints() != before


def test_a_valid_configuration_has_no_results(tmp_path: Path) -> None:
    (tmp_path / "main.flare.hcl").write_text(GOOD)
    assert run(tmp_path, 0)["results"] == []
    done = flareiac(tmp_path, "validate", "-sarif", "-json")
    assert done.code == 64, done.text
