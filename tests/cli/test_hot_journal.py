"""A writer of the SQLite catalog was killed inside a commit: commands that only read recover a private copy,
those that write the file.
"""

import sqlite3
import subprocess
import sys
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import pytest

from tests.support.command_line import flareiac

TABLES = """
catalog "lake" {}
table "a" {
  namespace = "n"
  column "id" { type = "long" }
}
"""
MORE = TABLES + 'table "b" {\n  namespace = "n"\n  column "id" { type = "long" }\n}\n'
KILLED = """
import os, sqlite3, sys
c = sqlite3.connect(sys.argv[1], isolation_level=None)
c.execute("PRAGMA journal_mode=" + sys.argv[2])
c.execute("PRAGMA cache_size=1")
c.execute("BEGIN IMMEDIATE")
c.execute("UPDATE iceberg_tables SET metadata_location = 'nowhere'")
for k in range(400):
    c.execute("INSERT INTO iceberg_namespace_properties VALUES('lake', 'n', ?, ?)", ("k%d" % k, "x" * 500))
os.kill(os.getpid(), 9)
"""


def _written(database: Path) -> dict[str, str]:
    """The content of the files that hold the database."""
    places = [Path(f"{database}{end}") for end in ("", "-journal", "-wal")]
    return {place.name: sha256(place.read_bytes()).hexdigest() for place in places if place.exists()}


def _kill_a_writer(database: Path, mode: str) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED, str(database), mode], check=False)
    assert done.returncode == -9


@pytest.fixture(autouse=True)
def _applied(tmp_path: Path) -> None:
    (tmp_path / "main.flare.hcl").write_text(TABLES, encoding="utf-8")
    assert flareiac(tmp_path, "apply", "-auto-approve").code == 0


@pytest.mark.parametrize("mode", ["delete", "persist", "wal"])
def test_a_killed_writer_is_undone(tmp_path: Path, mode: str) -> None:
    database = tmp_path / ".flareiac/lake/default/catalog.db"
    _kill_a_writer(database, mode)
    before = _written(database)
    assert len(before) == 2, "a journal or a log lies beside it"
    for words in (("plan", "-detailed-exitcode"), ("drift",)):
        done = flareiac(tmp_path, *words)
        assert done.code == 0, done.text
    assert "cannot be read" not in flareiac(tmp_path, "doctor").text
    assert _written(database) == before, "what only reads writes nothing"

    (tmp_path / "main.flare.hcl").write_text(MORE, encoding="utf-8")
    assert "Plan: 1 to add, 0 to change, 0 to destroy." in flareiac(tmp_path, "plan").out
    assert flareiac(tmp_path, "apply", "-auto-approve").code == 0
    with closing(sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True)) as connection:
        found = connection.execute(
            "SELECT table_name, metadata_location FROM iceberg_tables ORDER BY 1"
        ).fetchall()
    assert [name for name, location in found if Path(location.removeprefix("file://")).exists()] == ["a", "b"]
    assert flareiac(tmp_path, "plan", "-detailed-exitcode").code == 0


@pytest.mark.parametrize("mode", ["delete", "persist", "wal"])
def test_a_command_that_holds_the_lock_recovers_the_file_also_where_it_writes_nothing(
    tmp_path: Path, mode: str
) -> None:
    database = tmp_path / ".flareiac/lake/default/catalog.db"
    _kill_a_writer(database, mode)
    done = flareiac(tmp_path, "apply", "-auto-approve")
    assert done.code == 0, done.text
    assert "No changes." in done.out
    with closing(sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True)) as connection:
        assert connection.execute(
            "SELECT count(*) FROM iceberg_namespace_properties WHERE property_key LIKE 'k%'"
        ).fetchall() == [(0,)]
