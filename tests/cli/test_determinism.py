"""Equal inputs make equal plans, whatever order a process happens to keep its sets in."""

import json
from pathlib import Path
from typing import Any

from tests.support.command_line import flareiac

PROJECT = """
catalog "lake" {}
namespace "a" {}
table "t" {
  for_each  = toset(["x", "y", "z"])
  namespace = "a"
  name      = each.key
  column "id" { type = "long" }
  column "at" { type = "timestamptz" }
  partition_by = [day("at")]
  properties   = { "write.format.default" = "parquet", "k" = "v" }
}
thing "a" { value = "1" }
thing "b" {
  value = "2"
  needs = [thing.a]
}
output "names" { value = { for key, item in table.t : key => item.name } }
"""


def plan(root: Path, name: str, seed: str) -> tuple[str, dict[str, Any]]:
    """The output of a plan, and its file apart from the time it was made."""
    done = flareiac(root, "plan", f"-out={name}", PYTHONHASHSEED=seed)
    assert done.code == 0, done.text
    document = json.loads((root / name).read_text())
    return done.out.replace(name, "FILE"), {
        key: value for key, value in document.items() if key not in ("time", "digest")
    }


def test_a_plan_is_the_same_every_time(tmp_path: Path) -> None:
    (tmp_path / "main.flare.hcl").write_text(PROJECT)
    assert flareiac(tmp_path, "apply", "-auto-approve", "-target=thing.a").code == 0
    first, second = plan(tmp_path, "1.json", "1"), plan(tmp_path, "2.json", "2")
    assert first[0] == second[0]
    assert json.dumps(first[1]) == json.dumps(second[1])
