"""A table whose columns are other people's business: its layout may be declared all the same."""

from pathlib import Path

import pytest

from tests.iceberg.discovery.shapes import make_lake
from tests.support.command_line import flareiac

PROJECT = """
catalog "lake" {}
table "events" {
  namespace    = "sales"
  partition_by = [day("ts")]
  sort_by      = ["region"]
  identifier   = ["id"]
}
import {
  to = table.events
  id = "lake.sales.events"
}
"""


@pytest.mark.parametrize("refresh", ["changed", "full"])
def test_it_is_adopted_with_its_layout_and_plans_empty(tmp_path: Path, refresh: str) -> None:
    (tmp_path / "main.flare.hcl").write_text(PROJECT)
    make_lake(tmp_path)
    assert flareiac(tmp_path, "apply", "-auto-approve").code == 0
    plan = flareiac(tmp_path, "plan", "-detailed-exitcode", f"-refresh={refresh}")
    assert (plan.code, "No changes." in plan.out) == (0, True), plan.text
    (tmp_path / "main.flare.hcl").write_text(PROJECT.replace('"region"', '"id"'))
    assert flareiac(tmp_path, "apply", "-auto-approve").code == 0
    assert flareiac(tmp_path, "plan", "-detailed-exitcode").code == 0
    (tmp_path / "main.flare.hcl").write_text(PROJECT.replace('"region"', '"nothing"'))
    wrong = flareiac(tmp_path, "plan", "-refresh=full")
    assert (wrong.code, "FII035" in wrong.out) == (4, True), wrong.text
