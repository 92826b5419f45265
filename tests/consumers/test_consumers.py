"""Consumers from plan to plan, from the command line: whom a change hits is known after the block that named
them is gone, too.
"""

import json
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog

from tests.support.command_line import Ended, flareiac

LAKE = """
flareiac {
  owner = "data platform"
}
catalog "lake" {
  type      = "sql"
  uri       = "sqlite:///lake/catalog.db"
  warehouse = "lake/warehouse"
}
"""
ORDERS = """
table "orders" {
  namespace  = "demo"
  on_destroy = "drop"
  column "id"   { type = "long" }
  column "city" { type = "string" }
}
"""
BOARD = """
consumer "board" {
  owner   = { name = "BI", contact = "bi@example.org" }
  reads   = [table.orders]
  columns = ["city"]
}
"""


class Project:
    """A project of one file."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def write(self, *texts: str) -> None:
        (self.root / "main.flare.hcl").write_text(LAKE + "".join(texts))

    def run(self, *words: str, code: int = 0) -> Ended:
        done = flareiac(self.root, *words)
        assert done.code == code, done.text
        return done

    def apply(self) -> str:
        return self.run("apply", "-auto-approve").text

    def plan(self) -> str:
        return re.sub(r"\s+", " ", self.run("plan").out)

    def consumers(self) -> list[dict[str, Any]]:
        """Those in the state."""
        found: list[dict[str, Any]] = json.loads(self.run("state", "pull").out)["applied"].get("readers", [])
        return found


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path)
    made.write(ORDERS, BOARD)
    made.apply()
    return made


def test_a_consumer_that_goes_with_what_it_reads_is_named(project: Project) -> None:
    project.write()
    table = "removed {\n  from = table.orders\n  lifecycle {\n    destroy = true\n  }\n}\n"
    project.write(table)
    assert "Read by consumer.board (BI <bi@example.org>), as declared until now." in project.plan()
    project.apply()
    assert project.consumers() == []
    assert "No changes." in project.plan()


def test_a_column_that_leaves_table_and_consumer_in_one_change_names_it(project: Project) -> None:
    without = ORDERS.replace('  column "city" { type = "string" }\n', "")
    project.write(without, BOARD.replace('"city"', '"id"'))
    assert "consumer.board (BI <bi@example.org>): city, as declared until now." in project.plan()
    project.write(without, BOARD)
    assert "Read by consumer.board (BI <bi@example.org>): city." in project.plan()


def test_a_consumer_alone_is_no_change_and_is_remembered_by_the_next_apply(project: Project) -> None:
    project.write(ORDERS, BOARD, BOARD.replace('"board"', '"export"'))
    assert "No changes." in project.plan()
    project.apply()
    assert [each["address"] for each in project.consumers()] == ["consumer.board", "consumer.export"]


def test_a_resource_that_gets_another_address_keeps_its_consumers(project: Project) -> None:
    project.run("state", "mv", "table.orders", "table.sales")
    project.write("removed {\n  from = table.sales\n  lifecycle {\n    destroy = true\n  }\n}\n")
    assert "Read by consumer.board" in project.plan()


def test_a_part_of_a_plan_forgets_no_consumer(project: Project) -> None:
    project.write(ORDERS.replace("orders", "other"), ORDERS)
    project.run("apply", "-auto-approve", "-target=table.other")
    assert [each["address"] for each in project.consumers()] == ["consumer.board"]


def test_maintenance_and_a_state_without_consumers_name_none(tmp_path: Path) -> None:
    made = Project(tmp_path)
    made.write(ORDERS)
    made.apply()
    made.run("apply", "-auto-approve", "-maintenance=only")
    made.write(ORDERS.replace('  column "city" { type = "string" }\n', ""))
    assert "Read by" not in made.plan()


def test_instances_of_a_block_are_read_one_by_one(tmp_path: Path) -> None:
    made = Project(tmp_path)
    several = ORDERS.replace('"demo"', "each.key").replace("{\n", '{\n  for_each = toset(["eu", "us"])\n', 1)
    reads = BOARD.replace("table.orders", 'table.orders["eu"]')
    made.write(several, reads)
    made.apply()
    made.write(several.replace('  column "city" { type = "string" }\n', ""), reads)
    plan = made.plan()
    assert plan.count("Read by consumer.board") == 1
    assert plan.index('# table.orders["eu"] will be updated') < plan.index("Read by consumer.board")


def test_old_data_breaks_the_level_of_a_consumer_and_is_drift(project: Project) -> None:
    project.write(ORDERS, BOARD.replace("reads ", 'sla = { max_age = "1h" }\n  reads '))
    assert "No changes." in project.plan()
    project.apply()
    drift = project.run("drift", code=3).text
    assert "# consumer.board is unhealthy" in drift
    assert "table.orders: it holds no data, and max_age is 1h" in drift
    lake = project.root / "lake"
    catalog = SqlCatalog(
        "lake", uri=f"sqlite:///{lake}/catalog.db?timeout=15", warehouse=f"file://{lake}/warehouse"
    )
    table = catalog.load_table("demo.orders")
    table.append(pa.Table.from_pylist([{"id": 1, "city": "x"}], schema=table.schema().as_arrow()))
    catalog.close()
    assert "No drift." in project.run("drift").text
    (row,) = json.loads(project.run("status", "-json").out)["readers"]
    assert (row["verdict"], row["max_age_ms"]) == ("kept", 3_600_000)
    assert row["age_ms"] < 3_600_000
    project.write(ORDERS, BOARD)
    project.apply()
    (row,) = json.loads(project.run("status", "-json").out)["readers"]
    assert row["verdict"] is None
