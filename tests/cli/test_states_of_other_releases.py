"""A state of an earlier version of a type is read as today's, and one of a later version is refused before
anything happens.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flareiac.kernel.data import digest
from tests.support.command_line import flareiac

LAKE = """
catalog "x" {
  uri       = "sqlite:///lake.db"
  warehouse = "warehouse"
}
namespace "n" { catalog = catalog.x }
table "t" {
  catalog   = catalog.x
  namespace = "n"
  column "id" { type = "long" }
}
"""
MORE = LAKE + '\nnamespace "other" { catalog = catalog.x }\n'
STATE = Path(".flareiac/state/default/snapshot.json")


def _applied(root: Path) -> None:
    (root / "main.flare.hcl").write_text(LAKE, encoding="utf-8")
    done = flareiac(root, "apply", "-auto-approve")
    assert done.code == 0, done.text


def _records(root: Path) -> dict[str, Any]:
    return {item["address"]: item for item in json.loads((root / STATE).read_bytes())["resources"]}


def _written(root: Path, change: Callable[[dict[str, Any]], object]) -> bytes:
    """Changes the recorded resources as another release would have written them; returns the state."""
    document = json.loads((root / STATE).read_bytes())
    del document["digest"]
    for record in document["resources"]:
        change(record)
    document["digest"] = digest(document)
    content = json.dumps(document).encode()
    (root / STATE).write_bytes(content)
    return content


def _by_release_0_1_0(record: dict[str, Any]) -> None:
    record["schema_version"] = 1
    momentary = {"table": {"gone": [7], "destination_taken": False}, "namespace": {"tables": ["n.t"]}}
    record["identity"].update(momentary[record["type"]])


def _by_a_later_release(record: dict[str, Any]) -> None:
    if record["type"] == "table":
        record["schema_version"] = 99


def test_an_earlier_version_is_no_change(tmp_path: Path) -> None:
    _applied(tmp_path)
    today = _records(tmp_path)
    old = _written(tmp_path, _by_release_0_1_0)
    for words in (["plan", "-detailed-exitcode"], ["drift"], ["apply", "-auto-approve"]):
        done = flareiac(tmp_path, *words)
        assert done.code == 0, done.text
    assert (tmp_path / STATE).read_bytes() == old
    (tmp_path / "main.flare.hcl").write_text(MORE, encoding="utf-8")
    done = flareiac(tmp_path, "apply", "-auto-approve")
    assert done.code == 0, done.text
    assert "1 added, 0 changed, 0 destroyed" in done.out
    after = _records(tmp_path)
    assert {address: after[address] for address in today} == today


def test_an_earlier_version_is_shown_as_it_is_stored(tmp_path: Path) -> None:
    _applied(tmp_path)
    old = _written(tmp_path, _by_release_0_1_0)
    assert json.loads(flareiac(tmp_path, "state", "pull").out) == json.loads(old)
    shown = flareiac(tmp_path, "state", "show", "-json", "table.t")
    assert json.loads(shown.out)["schema_version"] == 1, shown.text
    (tmp_path / "copy.json").write_bytes(old)
    assert "the same already" in flareiac(tmp_path, "state", "push", "copy.json").out


@pytest.mark.parametrize(
    "words",
    [
        ["state", "mv", "table.t", "table.u"],
        ["state", "rm", "table.t"],
        ["maintain", "-auto-approve"],
        ["destroy", "-auto-approve"],
    ],
    ids=" ".join,
)
def test_commands_that_write_take_an_earlier_version(words: list[str], tmp_path: Path) -> None:
    _applied(tmp_path)
    _written(tmp_path, _by_release_0_1_0)
    done = flareiac(tmp_path, *words)
    assert done.code == 0, done.text
    known = {"table": 2, "namespace": 2}
    if json.loads((tmp_path / STATE).read_bytes())["serial"] > 1:
        assert all(each["schema_version"] == known[each["type"]] for each in _records(tmp_path).values())


def test_a_plan_over_an_earlier_version_is_saved_and_applied(tmp_path: Path) -> None:
    _applied(tmp_path)
    (tmp_path / "main.flare.hcl").write_text(MORE, encoding="utf-8")
    _written(tmp_path, _by_release_0_1_0)
    assert flareiac(tmp_path, "plan", "-out=saved.plan").code == 0
    done = flareiac(tmp_path, "apply", "saved.plan")
    assert done.code == 0, done.text
    assert "1 added, 0 changed, 0 destroyed" in done.out


def test_an_earlier_state_is_recorded_again(tmp_path: Path) -> None:
    _applied(tmp_path)
    _written(tmp_path, _by_release_0_1_0)
    (tmp_path / "main.flare.hcl").write_text(MORE, encoding="utf-8")
    assert flareiac(tmp_path, "apply", "-auto-approve").code == 0
    back = flareiac(tmp_path, "state", "rollback", "-auto-approve", "1")
    assert back.code == 0, back.text
    assert "table.t" not in back.out, "only the other namespace differs"
    assert {each["schema_version"] for each in _records(tmp_path).values()} == {2}


WRITING = [
    ["plan"],
    ["apply", "-auto-approve"],
    ["destroy", "-auto-approve"],
    ["maintain", "-auto-approve"],
    ["drift"],
    ["status"],
    ["state", "mv", "table.t", "table.u"],
    ["state", "rm", "table.t"],
    ["state", "push", "-force", "copy.json"],
    ["state", "rollback", "-auto-approve", "1"],
    ["start", "job.x"],
    ["stop", "job.x"],
    ["import", "table.u", "x.n.t"],
]


@pytest.mark.parametrize("words", WRITING, ids=" ".join)
def test_a_later_version_is_refused(words: list[str], tmp_path: Path) -> None:
    _applied(tmp_path)
    (tmp_path / "copy.json").write_bytes((tmp_path / STATE).read_bytes())
    later = _written(tmp_path, _by_a_later_release)
    (tmp_path / "lake.db").write_bytes(b"no system is asked")
    done = flareiac(tmp_path, *words)
    said = " ".join(done.text.replace("│", " ").split())
    assert done.code == 1, done.text
    assert "[FIS001]" in said, done.text
    assert "it holds table.t in version 99 of the type table" in said
    assert "install that release" in said
    assert (tmp_path / STATE).read_bytes() == later


def test_a_later_version_is_not_pushed(tmp_path: Path) -> None:
    _applied(tmp_path)
    before = (tmp_path / STATE).read_bytes()
    (tmp_path / "copy.json").write_bytes(_written(tmp_path, _by_a_later_release))
    (tmp_path / STATE).write_bytes(before)
    done = flareiac(tmp_path, "state", "push", "-force", "copy.json")
    assert done.code == 1, done.text
    assert "version 99 of the type table" in " ".join(done.text.replace("│", " ").split())
    assert (tmp_path / STATE).read_bytes() == before


def test_a_later_version_is_shown_as_it_is_stored(tmp_path: Path) -> None:
    _applied(tmp_path)
    later = _written(tmp_path, _by_a_later_release)
    assert flareiac(tmp_path, "state", "list").out.split() == ["namespace.n", "table.t"]
    assert json.loads(flareiac(tmp_path, "state", "pull").out) == json.loads(later)
