"""Columns of tables that the project declares: validate says which are none, and so does a plan that does not
block a change of the table for it.
"""

from pathlib import Path

from tests.support.command_line import Ended, flareiac

LAKE = """
catalog "lake" {
  type      = "sql"
  uri       = "sqlite:///lake/catalog.db"
  warehouse = "lake/warehouse"
}
table "orders" {
  catalog   = catalog.lake
  namespace = "demo"
  column "id"   { type = "long" }
  column "name" { type = "string" }
}
table "out" {
  catalog   = catalog.lake
  namespace = "demo"
  column "id"   { type = "long" }
  column "name" { type = "string" }
}
"""
JOB = """
stream "orders" {
  table {
    table = table.orders
  }
}
checkpoint "x" {}
job "x" {
  checkpoint = checkpoint.x
  input "orders" { stream = stream.orders }
  input "names" { table = table.orders }
  step "s" { sql = "SELECT o.id, n.name FROM orders o JOIN names n ON o.id = n.id" }
  output "out" {
    table = table.out
    mode  = "merge"
    merge = { on = ["id"], latest_by = "name", update_if = "s.id > t.id", delete_if = "t.name = s.name" }
  }
}
"""
MISTAKES = {
    "n.name FROM": ("N.nam AS name FROM", 'no column "N.nam" in what the step s reads'),
    "= n.id": ("= n.nid", 'no column "n.nid" in what the step s reads'),
    "s.id > t.id": ("s.id > t.idd", "update_if of output out reads t.idd, which table.out does not have"),
    "t.name = s.name": (
        "T.nom = s.name",
        "delete_if of output out reads T.nom, which table.out does not have",
    ),
}


def run(root: Path, text: str, *words: str, code: int) -> Ended:
    (root / "main.flare.hcl").write_text(text)
    done = flareiac(root, *words)
    assert done.code == code, done.text
    return done


def test_every_mistake_is_said_by_validate_and_by_plan(tmp_path: Path) -> None:
    text = LAKE + JOB
    for old, (new, _said) in MISTAKES.items():
        assert old in text
        text = text.replace(old, new)
    for words in (("validate",), ("plan", "-refresh=none")):
        said = " ".join(run(tmp_path, text, *words, code=1).err.replace("│", " ").split())
        assert said.count("Error: ") == len(MISTAKES), said
        assert all(each in said for _new, each in MISTAKES.values()), said
    run(tmp_path, text, "plan", "-destroy", code=0)


def test_what_may_be_there_is_no_mistake(tmp_path: Path) -> None:
    """Iceberg has columns beside those of a table, and a table whose columns others keep may have any."""
    hidden = "o.id, concat(n._file, n._pos) AS name FROM"
    run(tmp_path, LAKE + JOB.replace("o.id, n.name FROM", hidden), "validate", code=0)
    kept = LAKE.replace('"string" }', '"string" }\n  lifecycle {\n    ignore_changes = [column]\n  }')
    text = kept + JOB.replace("n.name FROM", "n.nam AS name FROM").replace(
        "t.name = s.name", "t.nom = s.name"
    )
    run(tmp_path, text, "validate", code=0)
