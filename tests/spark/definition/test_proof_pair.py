"""Two definitions of a job, put together for Spark to compare."""

from pathlib import Path

import pytest

from flareiac_spark.definition.proof_pair import pair_of
from tests.spark.declared import LAKE, STATEFUL, loaded

BAD = """
table "bad" {
  namespace = "demo"
  column "raw"   { type = "binary" }
  column "error" { type = "string not null" }
  column "file"  { type = "string" }
  column "input" { type = "string" }
}
"""
QUARANTINED = LAKE.replace(
    '  watermark = { column = "ts"',
    '  bad_records = { quarantine = table.bad }\n  watermark = { column = "ts"',
)
DROPPED = QUARANTINED.replace("quarantine = table.bad", 'action = "drop"')


@pytest.mark.parametrize("after", [DROPPED, LAKE], ids=["dropped", "fails again"])
def test_a_quarantine_that_goes_with_its_table_hinders_no_proof(tmp_path: Path, after: str) -> None:
    """It is a query of its own, without state."""
    before = loaded(QUARANTINED + BAD + STATEFUL, tmp_path)
    now = loaded(after + STATEFUL, tmp_path)
    assert not before.codes, before.diagnostics
    pair = pair_of("job.x", before.attributes(), now.attributes(), now.references(), now.project)
    assert [output["name"] for output in pair.before["outputs"]] == ["hourly"]


def test_a_quarantine_that_stays_is_on_both_sides(tmp_path: Path) -> None:
    before = loaded(QUARANTINED + BAD + STATEFUL, tmp_path)
    pair = pair_of("job.x", before.attributes(), before.attributes(), before.references(), before.project)
    assert [len(side["outputs"]) for side in (pair.before, pair.after)] == [2, 2]
