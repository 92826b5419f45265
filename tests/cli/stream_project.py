"""A project of two tables, of which a job is to stream one into the other. No JVM is needed: nothing
starts.
"""

from pathlib import Path

import pyarrow as pa

from tests.iceberg.discovery.shapes import catalog_of
from tests.support.command_line import flareiac

TABLES = """
catalog "lake" {}
engine "local" {}
table "src" {
  namespace = "n"
  column "id" { type = "long" }
}
table "dst" {
  namespace = "n"
  column "id" { type = "long" }
}
stream "src" {
  table { table = table.src }
}
checkpoint "r" {}
"""
JOB = """
job "r" {
  checkpoint = checkpoint.r
  stopped    = false
  input "src" { stream = stream.src }
  step "s" { sql = "SELECT id FROM src" }
  output "dst" { table = table.dst }
}
"""


def declare(root: Path, text: str) -> None:
    (root / "main.flare.hcl").write_text(text, encoding="utf-8")


def apply_tables(root: Path) -> None:
    """Makes the tables and the checkpoint."""
    declare(root, TABLES)
    made = flareiac(root, "apply", "-auto-approve")
    assert made.code == 0, made.text


def commit(root: Path, commits: int, *, expired: int = 0) -> None:
    """Another program appends a row in each of so many commits, and expires the oldest of all snapshots."""
    catalog = catalog_of(root)
    table = catalog.load_table("n.src")
    for number in range(commits):
        table.append(pa.table({"id": pa.array([number], pa.int64())}))
    if expired:
        table.maintenance.expire_snapshots().by_ids(
            [item.snapshot_id for item in table.snapshots()][:expired]
        ).commit()
    catalog.close()
