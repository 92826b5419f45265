"""Texts that Python's own parsers refuse with an exception of theirs: very long numbers, URIs with a lone
bracket.
"""

from pathlib import Path

import pytest

from tests.support.command_line import flareiac

LONG = "9" * 5000

PROJECT = """
flareiac { required_version = ">= 0.1" }
catalog "lake" {
  uri       = "sqlite:///lake/catalog.db"
  warehouse = "lake/warehouse"
}
engine "local" { master = "local[1]" }
stream "s" {
  files {
    path   = "landing"
    format = "json"
  }
  column "price" { type = "decimal(10,2)" }
  column "at"    { type = "timestamptz" }
}
table "t" {
  namespace = "demo"
  location  = "lake/warehouse/t"
  column "id" { type = "decimal(10, 3)" }
  compaction { target_file_size = "128MB" }
}
checkpoint "c" {}
job "j" {
  checkpoint = checkpoint.c
  trigger    = { processing_time = "2s" }
  input "s" { stream = stream.s }
  step "a" { sql = "SELECT window(at, '2 hours') AS w, CAST(price AS decimal(9,1)) AS id FROM s GROUP BY 1 LIMIT 3" }
  output "t" {
    table = table.t
    mode  = "complete"
  }
}
output "x" { value = format("%2d", 3) }
output "y" { value = parseint("11", 10) }
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (">= 0.1", f">= {LONG}"),
        ("decimal(10,2)", f"decimal({LONG},2)"),
        ("decimal(10, 3)", f"decimal(10, {LONG})"),
        ("128MB", f"{LONG}MB"),
        ('"2s"', f'"{LONG}s"'),
        ("2 hours", f"{LONG} hours"),
        ("decimal(9,1)", f"decimal({LONG},1)"),
        ("GROUP BY 1", f"GROUP BY {LONG}"),
        ("GROUP BY 1", "GROUP BY ²"),
        ("LIMIT 3", f"LIMIT {LONG}"),
        ("%2d", f"%{LONG}d"),
        ("%2d", f"%[{LONG}]d"),
        ('"11"', f'"{LONG}"'),
        ("= 0.1", f"= 0.1, < {LONG}.{LONG}"),
        ('"lake/warehouse"', '"s3://[bucket/warehouse"'),
        ('"lake/warehouse/t"', '"//[x"'),
        ('"landing"', '"file://[x"'),
        ('"sqlite:///lake/catalog.db"', '"postgresql://user@[host/db"'),
    ],
)
def test_they_are_diagnosed(tmp_path: Path, old: str, new: str) -> None:
    assert old in PROJECT
    (tmp_path / "main.flare.hcl").write_text(PROJECT.replace(old, new))
    (tmp_path / "landing").mkdir()
    planned = flareiac(tmp_path, "plan")
    assert planned.code in (0, 1), planned.text
    assert "FIX099" not in planned.text
    assert "Traceback" not in planned.text
