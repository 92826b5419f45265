"""A table of a format version that FlareIaC does not know is neither read nor changed by any command."""

import json
import sqlite3
from pathlib import Path

import pytest

from tests.iceberg.discovery.shapes import catalog_of
from tests.support.command_line import flareiac

PROJECT = """
catalog "lake" {}
table "orders" {
  namespace = "shop"
  column "id" { type = "long" }
  snapshot_expiry { older_than = "1d" }
}
"""
MORE = """
table "orders" {
  namespace = "shop"
  column "id"    { type = "long" }
  column "added" { type = "int" }
}
"""
COMMANDS = (
    (("plan",), 1),
    (("plan", "-json"), 1),
    (("plan", "-destroy"), 1),
    (("apply", "-auto-approve"), 1),
    (("drift",), 1),
    (("maintain", "-auto-approve"), 0),
    (("status",), 0),
    (("table", "snapshots", "table.orders"), 1),
    (("table", "rollback", "table.orders", "-to=1", "-auto-approve"), 1),
)


def made(folder: Path) -> tuple[Path, dict[str, object]]:
    (folder / "main.flare.hcl").write_text(PROJECT)
    done = flareiac(folder, "apply", "-auto-approve")
    assert done.code == 0, done.text
    catalog = catalog_of(folder)
    path = Path(catalog.load_table("shop.orders").metadata_location.removeprefix("file://"))
    catalog.close()
    return path, json.loads(path.read_text())


def commit(folder: Path, path: Path, metadata: dict[str, object]) -> None:
    """Commits as another program does that writes the next metadata file."""
    later = path.with_name(f"00007-{path.name.partition('-')[2]}")
    later.write_text(json.dumps(metadata))
    (database,) = folder.rglob("catalog.db")
    with sqlite3.connect(database) as connection:
        connection.execute("UPDATE iceberg_tables SET metadata_location = ?", (f"file://{later}",))
    connection.close()


@pytest.mark.parametrize("version", [0, 4])
def test_no_command_reads_or_changes_it(tmp_path: Path, version: int) -> None:
    path, metadata = made(tmp_path)
    commit(tmp_path, path, metadata | {"format-version": version, "schemas": "of another shape"})
    files = sorted(path.parent.iterdir())
    for command, code in COMMANDS:
        ended = flareiac(tmp_path, *command)
        assert f"format version {version}" in " ".join(ended.text.split()), (command, ended.text)
        assert (ended.code == 0) == (code == 0), (command, ended.text)
        assert "Traceback" not in ended.text
        assert "FIX099" not in ended.text
    (tmp_path / "main.flare.hcl").write_text(PROJECT.partition("table")[0] + MORE)
    assert flareiac(tmp_path, "apply", "-auto-approve").code == 1
    assert sorted(path.parent.iterdir()) == files


def test_neither_import_nor_data_nor_undrop_reads_it(tmp_path: Path) -> None:
    path, metadata = made(tmp_path)
    commit(tmp_path, path, metadata | {"format-version": 5})
    (tmp_path / "main.flare.hcl").write_text('catalog "lake" {}\n')
    for command in (("import", "table.other", "lake.shop.orders"), ("import", "-from-catalog=lake.*.*")):
        ended = flareiac(tmp_path, *command)
        assert "format version 5 is newer" in " ".join(ended.text.split()), ended.text
        assert ended.code != 0 or "import {" not in ended.text
    (tmp_path / "main.flare.hcl").write_text(PROJECT)
    (tmp_path / "data.flare.hcl").write_text(
        'data "table" "raw" {\n  namespace = "shop"\n  name      = "orders"\n}\n'
        'output "uuid" { value = data.table.raw.uuid }\n'
    )
    commit(tmp_path, path, metadata | {"format-version": 4})
    plan = flareiac(tmp_path, "plan")
    assert (plan.code, "with data.table.raw" in plan.err, "FII016" in plan.err) == (1, True, True), plan.text
    (tmp_path / "data.flare.hcl").unlink()
    commit(tmp_path, path, metadata)
    catalog = catalog_of(tmp_path)
    catalog.drop_table("shop.orders")
    catalog.close()
    # A later file of the same table may hold rows that an earlier one lacks.
    later = path.with_name(f"00007-{path.name.partition('-')[2]}")
    later.write_text(json.dumps(metadata | {"format-version": 4}))
    undrop = flareiac(tmp_path, "undrop", "table.orders")
    assert "format version 4" in " ".join(undrop.text.split()), undrop.text
    assert undrop.code != 0
