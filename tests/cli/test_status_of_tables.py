"""``status`` and ``show`` tell how much there is of recorded tables, from metadata alone."""

import json
from pathlib import Path

import pyarrow as pa
import pytest

from tests.iceberg.discovery.shapes import catalog_of
from tests.support.command_line import flareiac

PROJECT = """
catalog "lake" {}
table "orders" {
  namespace = "sales"
  column "id" { type = "long" }
}
table "lost" {
  namespace = "sales"
  column "id" { type = "long" }
}
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "main.flare.hcl").write_text(PROJECT)
    return tmp_path


def test_sizes_files_and_snapshots_are_those_of_now(project: Path) -> None:
    assert flareiac(project, "apply", "-auto-approve").code == 0
    catalog = catalog_of(project)
    for number in range(3):
        catalog.load_table("sales.orders").append(pa.table({"id": [number, number]}))
    catalog.drop_table("sales.lost")
    catalog.close()
    text = flareiac(project, "status")
    machine = json.loads(flareiac(project, "status", "-json").out)
    shown = flareiac(project, "show")
    state = json.loads(flareiac(project, "show", "-json").out)
    assert text.code == 0, text.text
    assert [line.split()[:2] for line in text.out.splitlines()[:3]] == [
        ["TABLE", "ROWS"],
        ["table.lost", "-"],
        ["table.orders", "6"],
    ]
    assert "table.lost: not known" in text.out
    lost, orders = machine["tables"]
    assert lost["trouble"].startswith("The table is gone: The catalog no longer has lake.sales.lost")
    assert (orders["rows"], orders["files"], orders["snapshots"], orders["delete_files"]) == (6, 3, 3, 0)
    assert (orders["small_files"], orders["looked_at_files"], orders["looked_at"]) == (3, 3, None)
    assert "(100% small)" in shown.out
    assert orders["bytes"] > 0
    assert orders["last_commit"] >= orders["oldest_snapshot"] > 0
    assert "# 6 rows, " in shown.out
    assert "# not known: " in shown.out
    found = {
        item["address"]: item["flareiac"].get("survey")
        for item in state["values"]["root_module"]["resources"]
    }
    assert found["table.orders"]["rows"] == 6


def test_a_catalog_that_is_gone_hides_nothing_that_is_recorded(project: Path) -> None:
    assert flareiac(project, "apply", "-auto-approve").code == 0
    (project / ".flareiac/lake/default/catalog.db").write_bytes(
        b"no database at all, and long enough to be looked at"
    )
    shown, status = flareiac(project, "show"), flareiac(project, "status")
    assert (shown.code, status.code) == (0, 0)
    assert 'table "orders" {' in shown.out
    assert "# not known: The catalog cannot be read: catalog.lake" in shown.out
    assert "Traceback" not in shown.text + status.text


def test_without_tables_and_jobs_there_is_nothing_to_tell(project: Path) -> None:
    assert flareiac(project, "status").out == "No jobs are recorded.\n"
    assert json.loads(flareiac(project, "status", "-json").out) == {
        "format_version": "1.0",
        "jobs": [],
        "tables": [],
        "things": [],
        "readers": [],
    }
