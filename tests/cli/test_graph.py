"""``graph`` from the command line: dependencies, lineage down to columns, and the part around an address."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from tests.support.command_line import Ended, flareiac

SVG = {"svg": "http://www.w3.org/2000/svg"}
PROJECT = """
flareiac {
  owner = "data platform"
}
catalog "lake" {
  type      = "sql"
  uri       = "sqlite:///lake/catalog.db"
  warehouse = "lake/warehouse"
}
kafka "main" {
  bootstrap_servers = "broker:9092"
}
topic "orders" {
  partitions = 1
}
engine "local" {}
checkpoint "totals" {}
stream "orders" {
  kafka {
    topics = [topic.orders]
    format = "json"
  }
  column "city"  { type = "string" }
  column "total" { type = "double" }
}
table "totals" {
  for_each  = toset(["eu", "u\\"s"])
  namespace = "demo"
  column "city" { type = "string" }
  column "sum"  { type = "double" }
}
table "alone" {
  namespace = "demo"
  column "id" { type = "long" }
}
job "totals" {
  mode       = "stream"
  checkpoint = checkpoint.totals
  input "orders" { stream = stream.orders }
  step "grouped" { sql = "SELECT city, sum(total) AS sum FROM orders GROUP BY city" }
  output "totals" {
    from  = "grouped"
    table = table.totals["eu"]
    mode  = "complete"
  }
}
consumer "board" {
  reads = [table.totals["eu"]]
}
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "main.flare.hcl").write_text(PROJECT)
    return tmp_path


def run(root: Path, *words: str, code: int = 0) -> Ended:
    done = flareiac(root, "graph", *words)
    assert done.code == code, done.text
    return done


def drawn(root: Path, *words: str) -> dict[str, Any]:
    return dict(json.loads(run(root, "-format=json", *words).out))


def arrows(picture: dict[str, Any]) -> set[tuple[str, str]]:
    return {(arrow["source"], arrow["target"]) for arrow in picture["arrows"]}


FLOW = {
    ("topic.orders", "stream.orders"),
    ("stream.orders", "job.totals"),
    ("job.totals", 'table.totals["eu"]'),
    ('table.totals["eu"]', "consumer.board"),
}


def test_dependencies_point_to_what_a_block_refers_to(root: Path) -> None:
    picture = drawn(root)
    assert picture["kind"] == "dependencies"
    assert {("topic.orders", "kafka.main"), ("table.alone", "catalog.lake")} <= arrows(picture)
    assert ("job.totals", "checkpoint.totals") in arrows(picture)
    owners = {node["address"]: node["owner"] for node in picture["nodes"]}
    assert owners["table.alone"] == {"name": "data platform"}
    assert owners["consumer.board"] is None


def test_lineage_follows_the_data_down_to_columns(root: Path) -> None:
    picture = drawn(root, "-lineage")
    assert arrows(picture) == FLOW
    assert {node["address"] for node in picture["nodes"]} == {end for arrow in FLOW for end in arrow}
    assert picture["columns"] == [
        {
            "target": 'table.totals["eu"]',
            "column": column,
            "by": "job.totals",
            "sources": [{"address": "stream.orders", "column": source}],
            "is_certain": True,
        }
        for column, source in (("city", "city"), ("sum", "total"))
    ]


def test_a_focus_draws_what_leads_there_and_what_follows(root: Path) -> None:
    assert arrows(drawn(root, "-lineage", "-focus=job.totals", "-depth=1")) == {
        ("stream.orders", "job.totals"),
        ("job.totals", 'table.totals["eu"]'),
    }
    assert arrows(drawn(root, "-lineage", "-focus=topic.*")) == FLOW
    alone = drawn(root, "-lineage", "-focus=table.alone")
    assert (alone["nodes"], alone["arrows"]) == ([], [])
    around = drawn(root, "-focus=catalog.lake", "-depth=0")
    assert [node["address"] for node in around["nodes"]] == ["catalog.lake"]


def test_addresses_are_quoted(root: Path) -> None:
    text = run(root).out
    assert '"table.totals[\\"u\\\\\\"s\\"]" -> "catalog.lake"' in text
    text = run(root, "-format=mermaid", "-lineage").out
    assert text.startswith("flowchart LR\n")
    assert "n0[" in text
    assert "table.totals#91;#34;eu#34;#93;" in text


def test_a_drawing_is_one_file_with_every_node_in_its_bounds(root: Path) -> None:
    for words in ([], ["-lineage"]):
        tree = ET.fromstring(run(root, "-format=svg", *words).out)
        width, height = float(tree.attrib["width"]), float(tree.attrib["height"])
        titles = {title.text for title in tree.iterfind(".//svg:title", SVG)}
        assert titles == {node["address"] for node in drawn(root, *words)["nodes"]}
        boxes = tree.findall(".//svg:rect", SVG)
        assert len(boxes) == len(titles)
        for box in boxes:
            assert float(box.attrib["x"]) + float(box.attrib["width"]) <= width
            assert float(box.attrib["y"]) + float(box.attrib["height"]) <= height
        paths = tree.findall(".//svg:g[@class='links']/svg:path", SVG)
        assert len(paths) == len(arrows(drawn(root, *words)))
    assert "<rect" not in run(root, "-format=svg", "-lineage", "-focus=table.alone").out


def test_wrong_options_are_refused(root: Path) -> None:
    done = run(root, "-focus=tabel.alone", code=1)
    assert (
        '"tabel.alone" is not the address of anything that is declared. Did you mean "table.alone"?'
        in done.text
    )
    assert "-depth needs -focus" in run(root, "-depth=1", code=64).text
    assert "not one of" in run(root, "-format=png", code=64).text
    (root / "main.flare.hcl").write_text("table {")
    done = run(root, code=1)
    assert done.out == ""
