"""``lineage -openlineage`` from the command line: the declared datasets and jobs as events."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.command_line import Ended, flareiac
from tests.support.openlineage import judged, plain

PROJECT = """
flareiac {
  owner = { name = "data platform", contact = "data@example.org" }
}
catalog "lake" {
  type      = "sql"
  uri       = "sqlite:///lake/catalog.db"
  warehouse = "lake/warehouse"
}
catalog "server" {
  type       = "rest"
  uri        = "https://catalog.example.org/api"
  properties = { "header.x-client-version" = "1" }
}
kafka "main" {
  bootstrap_servers = "broker-1:9092,broker-2:9092"
}
topic "orders" {
  partitions = 1
}
engine "local" {}
checkpoint "totals" {}
stream "orders" {
  kafka {
    topics = [topic.orders, "late_orders"]
    format = "json"
  }
  column "city"  { type = "string" }
  column "total" { type = "double" }
}
stream "cities" {
  files {
    path   = "landing/*.json"
    format = "json"
  }
  column "city"   { type = "string" }
  column "people" { type = "long" }
}
table "cities" {
  catalog   = catalog.server
  namespace = "demo"
  comment   = "Cities, as they are written"
  column "city"   { type = "string" }
  column "people" {
    type    = "long"
    comment = "of the last census"
  }
}
table "totals" {
  for_each  = toset(["eu", "us"])
  name      = each.key
  catalog   = catalog.lake
  namespace = "demo"
  column "city" { type = "string" }
  column "sum"  { type = "double" }
}
job "totals" {
  mode       = "stream"
  checkpoint = checkpoint.totals
  input "orders" { stream = stream.orders }
  input "cities" { table = table.cities }
  step "grouped" {
    sql = "SELECT o.city, sum(o.total) AS sum FROM orders o JOIN cities c ON o.city = c.city GROUP BY o.city"
  }
  output "totals" {
    from  = "grouped"
    table = table.totals["eu"]
    mode  = "complete"
  }
}
checkpoint "cities" {}
job "cities" {
  checkpoint = checkpoint.cities
  input "cities" { stream = stream.cities }
  step "all" { sql = "SELECT city, people FROM cities" }
  output "cities" { table = table.cities }
}
"""
KAFKA = "kafka://broker-1:9092"
CATALOG = {"namespace": "https://catalog.example.org/api", "name": "demo.cities"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "main.flare.hcl").write_text(PROJECT)
    return tmp_path


def run(root: Path, *words: str, code: int = 0, workspace: str = "default") -> Ended:
    done = flareiac(root, "lineage", *words, FLAREIAC_WORKSPACE=workspace)
    assert done.code == code, done.text
    return done


def events(root: Path, workspace: str = "default") -> list[dict[str, Any]]:
    lines = run(root, "-openlineage", workspace=workspace).out.splitlines()
    return [plain(judged(json.loads(line))) for line in lines]


def by_name(root: Path) -> dict[str, Any]:
    parts = [event.get("dataset") or event["job"] | event for event in events(root)]
    return {part["name"]: part for part in parts}


def test_each_dataset_and_each_job_is_one_event_of_the_specification(root: Path) -> None:
    shown = [
        (event["dataset"]["namespace"], event["dataset"]["name"])
        if "dataset" in event
        else (event["job"]["namespace"], event["job"]["name"])
        for event in events(root)
    ]
    assert shown == [
        ("file", f"{root}/lake/warehouse/demo/eu"),
        ("file", f"{root}/lake/warehouse/demo/us"),
        ("file", f"{root}/landing"),
        (CATALOG["namespace"], CATALOG["name"]),
        (KAFKA, "late_orders"),
        (KAFKA, "orders"),
        ("flareiac-default", "job.cities"),
        ("flareiac-default", "job.totals"),
    ]


def test_a_dataset_says_what_is_declared_of_it(root: Path) -> None:
    datasets = by_name(root)
    owners = {"owners": [{"name": "data platform <data@example.org>", "type": "OWNER"}]}
    assert datasets["demo.cities"]["facets"] == {
        "dataSource": {"name": "server", "uri": CATALOG["namespace"]},
        "documentation": {"description": "Cities, as they are written"},
        "ownership": owners,
        "schema": {
            "fields": [
                {"name": "city", "type": "string"},
                {"name": "people", "type": "long", "description": "of the last census"},
            ]
        },
        "storage": {"storageLayer": "iceberg"},
    }
    table = datasets[f"{root}/lake/warehouse/demo/eu"]["facets"]
    known_as = {"namespace": f"sqlite:{root}/lake/catalog.db", "name": "demo.eu", "type": "TABLE"}
    assert table["symlinks"] == {"identifiers": [known_as]}
    fields = {"fields": [{"name": "city", "type": "string"}, {"name": "total", "type": "double"}]}
    assert datasets["orders"]["facets"]["schema"] == datasets["late_orders"]["facets"]["schema"] == fields


def test_a_job_says_what_it_reads_and_of_what_each_column_is_made(root: Path) -> None:
    job = by_name(root)["job.totals"]
    assert job["facets"]["jobType"] == {
        "processingType": "STREAMING",
        "integration": "FLAREIAC",
        "jobType": "JOB",
    }
    assert job["facets"]["sql"]["query"].startswith("-- grouped\nSELECT o.city")
    assert job["inputs"] == [
        CATALOG,
        {"namespace": KAFKA, "name": "orders"},
        {"namespace": KAFKA, "name": "late_orders"},
    ]
    [output] = job["outputs"]
    assert output["name"] == f"{root}/lake/warehouse/demo/eu"
    fields = output["facets"]["columnLineage"]["fields"]
    made_of = {
        column: {(each["name"], each["field"]) for each in field["inputFields"]}
        for column, field in fields.items()
    }
    assert made_of == {
        "city": {("orders", "city"), ("late_orders", "city")},
        "sum": {("orders", "total"), ("late_orders", "total")},
    }


def test_equal_declarations_make_equal_events_but_for_their_time(root: Path) -> None:
    first, again = (
        [{**event, "eventTime": ""} for event in map(json.loads, run(root, "-openlineage").out.splitlines())]
        for _turn in range(2)
    )
    assert first == again


def test_jobs_of_two_workspaces_have_two_names(root: Path) -> None:
    shown = {event["job"]["namespace"] for event in events(root, workspace="test") if "job" in event}
    assert shown == {"flareiac-test"}


def test_an_engine_may_name_the_namespace_of_its_jobs(root: Path) -> None:
    main = root / "main.flare.hcl"
    named = 'engine "local" {\n  openlineage = { namespace = "a-${flareiac.workspace}" }\n}'
    main.write_text(PROJECT.replace('engine "local" {}', named))
    shown = {event["job"]["namespace"] for event in events(root, workspace="test") if "job" in event}
    assert shown == {"a-test"}


def test_each_instance_of_a_block_is_a_job_of_its_own(root: Path) -> None:
    main = root / "main.flare.hcl"
    each = 'for_each   = toset(["eu", "us"])\n  checkpoint = checkpoint.totals[each.key]'
    text = PROJECT.replace("checkpoint = checkpoint.totals", each)
    text = text.replace(
        'checkpoint "totals" {}', 'checkpoint "totals" {\n  for_each = toset(["eu", "us"])\n}'
    )
    main.write_text(text.replace('table.totals["eu"]', "table.totals[each.key]"))
    jobs = {event["job"]["name"]: event for event in events(root) if "job" in event}
    assert sorted(jobs) == ["job.cities", 'job.totals["eu"]', 'job.totals["us"]']
    assert jobs['job.totals["us"]']["outputs"][0]["name"].endswith("/demo/us")


def test_a_configuration_with_errors_prints_no_event(root: Path) -> None:
    with (root / "main.flare.hcl").open("a") as file:
        file.write('table "x" { columns = 1 }\n')
    assert run(root, "-openlineage", code=1).out == ""


def test_without_a_form_the_command_names_the_picture() -> None:
    done = flareiac(Path.cwd(), "lineage")
    assert done.code == 64
    assert "graph -lineage" in done.err
