"""``moved`` blocks from the plan to the state: one record, also when the apply is killed.

No JVM is needed.
"""

from pathlib import Path

import pytest

from flareiac.app.workspace import Workspace
from tests.cli.stream_project import TABLES, apply_tables, declare
from tests.cli.test_start_by_hand import STOPPED, record_job, want
from tests.cli.test_state_of_jobs import entries, entry_of
from tests.support.command_line import flareiac

MOVED_JOB = "moved {\n  from = job.r\n  to   = job.s\n}\n"
ROOT = """
catalog "lake" {}
module "sales" {
  source    = "./sales"
  catalog   = catalog.lake
}
moved {
  from = namespace.shop
  to   = module.sales.namespace.shop
}
moved {
  from = table.orders
  to   = module.sales.table.purchases
}
moved {
  from = checkpoint.c
  to   = module.sales.checkpoint.c
}
"""
FLAT = """
namespace "shop" { catalog = catalog.lake }
table "orders" {
  namespace = namespace.shop
  column "id" { type = "long" }
}
checkpoint "c" {}
"""


@pytest.fixture
def job(tmp_path: Path) -> Path:
    """A project with the record of a job that its application knows."""
    apply_tables(tmp_path)
    declare(tmp_path, TABLES + STOPPED)
    record_job(tmp_path)
    lineage = Workspace(root=tmp_path).load_state().snapshot.lineage
    want(tmp_path, lineage, state="stopped", address="job.r")
    return tmp_path


def addresses(project: Path) -> list[str]:
    return flareiac(project, "state", "list").out.split()


def test_a_project_is_split_into_modules_without_a_change(tmp_path: Path) -> None:
    (tmp_path / "main.flare.hcl").write_text('catalog "lake" {}\n' + FLAT)
    assert flareiac(tmp_path, "apply", "-auto-approve").code == 0
    (tmp_path / "sales").mkdir()
    inner = 'variable "catalog" {}\n' + FLAT.replace("catalog.lake", "var.catalog").replace(
        '"orders"', '"purchases"'
    )
    (tmp_path / "sales" / "main.flare.hcl").write_text(inner)
    (tmp_path / "main.flare.hcl").write_text(ROOT)
    planned = flareiac(tmp_path, "plan", "-detailed-exitcode")
    assert "# table.orders has moved to module.sales.table.purchases" in planned.out
    assert "No changes to what exists. In the state, 3 addresses change." in planned.out
    assert planned.code == 2
    applied = flareiac(tmp_path, "apply", "-auto-approve")
    assert applied.code == 0, applied.text
    moved = ["module.sales.checkpoint.c", "module.sales.namespace.shop", "module.sales.table.purchases"]
    assert addresses(tmp_path) == moved
    after = flareiac(tmp_path, "plan", "-detailed-exitcode")
    assert (after.code, "has moved" in after.out) == (0, False), after.text
    (tmp_path / "main.flare.hcl").write_text(ROOT.partition("moved {")[0])
    assert flareiac(tmp_path, "plan", "-detailed-exitcode").code == 0, "names stay when the blocks are gone"


@pytest.mark.parametrize("point", ["moves.renamed", "apply.before-snapshot", "apply.snapshot"])
def test_a_saved_plan_with_a_move_goes_on_after_a_kill(job: Path, point: str) -> None:
    declare(job, TABLES + STOPPED.replace('job "r"', 'job "s"') + MOVED_JOB)
    planned = flareiac(job, "plan", "-out=saved.plan")
    assert planned.code == 0, planned.text
    assert "# job.r has moved to job.s" in planned.out
    assert "will be" not in planned.out
    killed = flareiac(job, "apply", "saved.plan", FLAREIAC_KILL_AT=point)
    assert killed.killed, killed.text
    between = flareiac(job, "plan")
    assert between.code == 0, between.text
    assert "will be" not in between.out
    again = flareiac(job, "apply", "saved.plan" if point != "apply.snapshot" else "-auto-approve")
    assert again.code == 0, again.text
    assert addresses(job) == [each for each in addresses(job) if each != "job.r"]
    assert entries(job, "job.s") == {"job.r": ("d", "stopped", "job.s")}
    assert entry_of(job, "job.s") == "job.r"
    assert flareiac(job, "plan", "-detailed-exitcode").code == 0


def test_what_a_job_writes_moves(job: Path) -> None:
    text = (TABLES + STOPPED).replace("table.dst", "table.target").replace('table "dst"', 'table "target"')
    declare(job, text + "moved {\n  from = table.dst\n  to   = table.target\n}\n")
    applied = flareiac(job, "apply", "-auto-approve")
    assert applied.code == 0, applied.text
    assert "0 added, 0 changed, 0 destroyed" in applied.out
    shown = flareiac(job, "state", "show", "-json", "job.r").out
    assert "table.target" in shown
    assert "table.dst" not in shown
    assert flareiac(job, "plan", "-detailed-exitcode").code == 0


def test_drift_knows_a_move(tmp_path: Path) -> None:
    (tmp_path / "main.flare.hcl").write_text('catalog "lake" {}\n' + FLAT)
    assert flareiac(tmp_path, "apply", "-auto-approve").code == 0
    text = FLAT.replace('table "orders"', 'table "purchases"')
    moved = "moved {\n  from = table.orders\n  to   = table.purchases\n}\n"
    (tmp_path / "main.flare.hcl").write_text('catalog "lake" {}\n' + text + moved)
    drifted = flareiac(tmp_path, "drift")
    assert drifted.code == 0, drifted.text
    assert "3 resources" in drifted.out or "No drift" in drifted.out, drifted.text


def test_globs_move_and_forget_several_at_once(tmp_path: Path) -> None:
    (tmp_path / "main.flare.hcl").write_text(
        'catalog "lake" {}\n'
        + FLAT
        + FLAT.partition("{ catalog")[2]
        .partition("}\n")[2]
        .replace("orders", "raw")
        .replace('checkpoint "c" {}\n', "")
    )
    assert flareiac(tmp_path, "apply", "-auto-approve").code == 0
    before = addresses(tmp_path)
    shown = flareiac(tmp_path, "state", "mv", "-dry-run", "table.*", "module.sales.table.*")
    assert "table.orders would be recorded as module.sales.table.orders." in shown.out
    assert addresses(tmp_path) == before
    assert flareiac(tmp_path, "state", "mv", "table.*", "module.sales.table.*").code == 0
    assert addresses(tmp_path)[1:3] == ["module.sales.table.orders", "module.sales.table.raw"]
    assert flareiac(tmp_path, "state", "mv", "table.*", "table.x").code == 1
    assert "would leave" in flareiac(tmp_path, "state", "rm", "-dry-run", "module.sales").out
    assert flareiac(tmp_path, "state", "rm", "module.sales").code == 0
    assert addresses(tmp_path) == ["checkpoint.c", "namespace.shop"]
    assert flareiac(tmp_path, "state", "rm", "table.*").code == 1
