"""A table of tombstones is one more output of its merge's query, and whatever asks about outputs sees it."""

from pathlib import Path

import pytest

from flareiac.sdk.changes import Relation
from flareiac_spark.checkpoint_files.query_positions import QueryPositions
from flareiac_spark.definition.build import query_digest, spec_of
from flareiac_spark.definition.usages import usages
from flareiac_spark.generation.snapshot_holds import holds
from flareiac_spark.observation.job import JobFacts
from flareiac_spark_runtime.control import ALL, job_spec_from_json, job_spec_to_json
from tests.spark.declared import LAKE, Loaded, loaded

KEPT = ", tombstones = table.deleted"
MERGING = (
    LAKE
    + """
table "deleted" {
  namespace = "demo"
  column "hour" { type = "timestamptz" }
  column "n"    { type = "long" }
}
job "x" {
  checkpoint = checkpoint.x
  input "orders" { stream = stream.orders }
  step "hourly" { sql = "SELECT ts AS hour, id AS n FROM orders" }
  output "hourly" {
    table = table.hourly
    mode  = "merge"
    merge = { on = ["hour"], latest_by = "n", delete_if = "s.n < 0"TOMBSTONES }
  }
}
"""
)


def merging(root: Path, *, kept: bool = True, together: bool = False) -> Loaded:
    text = MERGING.replace("TOMBSTONES", KEPT if kept else "")
    found = loaded(text.replace("  input", "  foreach_batch = true\n  input") if together else text, root)
    assert not found.diagnostics
    return found


@pytest.mark.parametrize(("together", "query"), [(False, "hourly"), (True, ALL)])
def test_they_share_the_query_and_the_checkpoint_of_their_merge(
    tmp_path: Path, together: bool, query: str
) -> None:
    project = merging(tmp_path, together=together)
    job = project.job()
    assert [job.query_of(name) for name in job.outputs] == [query, query]
    assert (job.query_names, list(job.declared_outputs)) == ([query], ["hourly"])
    spec = spec_of("job.x", project.attributes(), project.references(), project.project, analysis=True)
    assert list(spec.query_names.values()) == [query]
    assert [output.name for output in spec.outputs] == ["hourly", "tombstones.hourly"]
    kept = spec.tombstones("hourly")
    assert kept is not None
    assert kept.identifier[-1] == "deleted"
    assert job_spec_from_json(job_spec_to_json(spec)) == spec


def test_they_are_no_part_of_what_state_means(tmp_path: Path) -> None:
    found = [merging(tmp_path / str(kept), kept=kept) for kept in (True, False)]
    specs = [
        spec_of("job.x", item.attributes(), item.references(), item.project, analysis=True) for item in found
    ]
    assert query_digest(specs[0]) == query_digest(specs[1])
    assert "tombstones" not in str(job_spec_to_json(specs[1]))
    assert "tombstones" not in str(found[1].attributes())


def test_the_job_uses_and_holds_their_table_like_its_target(tmp_path: Path) -> None:
    project = merging(tmp_path)
    written = [
        (item.subject, item.reason, item.mode)
        for item in usages("job.x", project.attributes(), project.references())
        if item.relation is Relation.WRITES
    ]
    assert written == [
        ("table.hourly", "output hourly", "merge"),
        ("table.deleted", "tombstones of output hourly", "merge"),
    ]
    facts = JobFacts(stands={"hourly": QueryPositions(in_flight=4, begun_ms=7)})
    held = holds("job.x", project.attributes(), project.references(), facts)
    assert [(item.subject, item.since_ms) for item in held] == [("table.hourly", 7), ("table.deleted", 7)]
