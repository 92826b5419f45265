"""A plan that is made after an apply was killed goes on from what that one had done, and is itself applied
from its file.
"""

import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.support.command_line import arguments, environment, flareiac

TABLES = 'catalog "lake" {}\n' + "".join(
    f'table "t{number}" {{\n  namespace = "n"\n  format_version = {2 + number % 2}\n  column "id" {{ type '
    '= "long" }\n}\n'
    for number in range(4)
)


def _state(root: Path) -> dict[str, bytes]:
    """The state as it is stored."""
    folder = root / ".flareiac/state/default"
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("point", ["apply.before-result:2", "apply.before-snapshot"])
def test_a_plan_file_made_after_a_kill_is_applied(tmp_path: Path, point: str) -> None:
    (tmp_path / "main.flare.hcl").write_text(TABLES, encoding="utf-8")
    assert flareiac(tmp_path, "apply", "-auto-approve", FLAREIAC_KILL_AT=point).killed
    before = _state(tmp_path)
    planned = flareiac(tmp_path, "plan", "-out=p")
    assert planned.code == 0, planned.text
    assert "Blocked" not in planned.text
    assert "import" not in planned.out
    assert _state(tmp_path) == before, "a plan writes nothing"
    applied = flareiac(tmp_path, "apply", "p")
    assert applied.code == 0, applied.text
    again = flareiac(tmp_path, "plan", "-detailed-exitcode")
    assert (again.code, "interrupted" in again.text) == (0, False), again.text


def test_a_plan_file_without_changes_records_what_a_killed_apply_had_done(tmp_path: Path) -> None:
    (tmp_path / "main.flare.hcl").write_text(
        'catalog "lake" {}\ntable "t" {\n  namespace = "n"\n  column "id" { type = "long" }\n}\n',
        encoding="utf-8",
    )
    assert flareiac(tmp_path, "apply", "-auto-approve", FLAREIAC_KILL_AT="apply.before-result").killed
    planned = flareiac(tmp_path, "plan", "-out=p")
    assert "No changes." in planned.out
    assert "interrupted" in planned.text
    assert flareiac(tmp_path, "apply", "p").code == 0
    again = flareiac(tmp_path, "plan", "-detailed-exitcode")
    assert (again.code, "interrupted" in again.text) == (0, False), again.text


def test_a_table_that_another_made_meanwhile_is_not_taken_for_its_own(tmp_path: Path) -> None:
    from pyiceberg.catalog.sql import SqlCatalog

    (tmp_path / "main.flare.hcl").write_text(TABLES, encoding="utf-8")
    assert flareiac(
        tmp_path, "apply", "-auto-approve", "-parallelism=1", FLAREIAC_KILL_AT="apply.before-result:2"
    ).killed
    lake = tmp_path / ".flareiac/lake/default"
    catalog = SqlCatalog("lake", uri=f"sqlite:///{lake}/catalog.db", warehouse=(lake / "warehouse").as_uri())
    last = max(name for _, name in catalog.list_tables("n"))  # it was made, and its result was not recorded
    own = catalog.load_table(f"n.{last}")
    catalog.drop_table(f"n.{last}")
    catalog.create_table(f"n.{last}", own.schema(), location=f"{lake}/elsewhere")
    catalog.close()
    planned = flareiac(tmp_path, "plan")
    assert planned.code == 4, planned.text
    assert f"table.{last} is blocked" in planned.text


def test_a_plan_beside_a_running_apply_names_it(tmp_path: Path) -> None:
    (tmp_path / "main.flare.hcl").write_text(
        'thing "a" {\n  value = "1"\n  wait_for = "go"\n}\n', encoding="utf-8"
    )
    with subprocess.Popen(
        arguments("apply", "-auto-approve"),
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        journal = tmp_path / ".flareiac/state/default/journal.jsonl"
        deadline = time.monotonic() + 60
        while not (journal.exists() and b"intent" in journal.read_bytes()) and time.monotonic() < deadline:
            time.sleep(0.05)
        told = " ".join(flareiac(tmp_path, "plan").err.replace("│", " ").split())
        process.send_signal(signal.SIGKILL)
    assert "Another command is running" in told
    assert f"process {process.pid}" in told
    assert "Another command is running" not in flareiac(tmp_path, "plan").err
