"""``init -migrate-state``: every workspace, byte for byte, whatever it is killed at; and never over another
state.
"""

import json
import shutil
from pathlib import Path

import pytest

from flareiac.app.state_place.place import StatePlace, installed_backend
from tests.support.command_line import flareiac

_THING = 'thing "a" {\n  name  = flareiac.workspace\n  value = "1"\n}\n'
_POINTS = ("before-mark", "after-mark", "after-snapshot", "before-mark:2", "after-mark:2")


def declare(root: Path, board: str, thing: str = _THING) -> None:
    block = f'flareiac {{\n  backend "shelf" {{\n    board = "{board}"\n  }}\n}}\n' if board else ""
    (root / "main.flare.hcl").write_text(block + thing, encoding="utf-8")


def contents(root: Path, board: str) -> dict[str, tuple[bytes | None, tuple[bytes, ...]]]:
    """The content of each workspace at a place, without the mark of a move."""
    kind, settings = ("shelf", {"board": board, "row": "main"}) if board else ("local", {})
    place = StatePlace(backend=installed_backend(kind), root=root, settings=settings)
    found = {}
    for name in place.workspaces():
        moment = place.open(name).read()
        records = tuple(item for item in moment.journal.records if b'"kind":"moved"' not in item)
        found[name] = (moment.snapshot.content if moment.snapshot else None, records)
    return found


def two_workspaces(root: Path, board: str = "") -> None:
    declare(root, board)
    assert flareiac(root, "apply", "-auto-approve").code == 0
    assert flareiac(root, "workspace", "new", "dev").code == 0
    # The journal of an interrupted apply moves, too.
    killed = flareiac(root, "apply", "-auto-approve", FLAREIAC_KILL_AT="toy.after-write")
    assert killed.killed, killed.text


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(Path(__file__).parents[1] / "support" / "toy_dist")
    two_workspaces(tmp_path)
    return tmp_path


@pytest.mark.parametrize("point", _POINTS)
def test_a_move_that_is_killed_is_finished_by_the_next_one(project: Path, point: str) -> None:
    before = contents(project, "")
    assert set(before) == {"default", "dev"}
    declare(project, "b")
    killed = flareiac(project, "init", "-migrate-state", FLAREIAC_KILL_AT=f"migrate.{point}")
    assert killed.killed, killed.text
    early = flareiac(project, "plan")
    assert early.code == (0 if point == "after-mark:2" else 1), early.text
    done = flareiac(project, "init", "-migrate-state")
    assert done.code == 0, done.text
    assert contents(project, "b") == before == contents(project, "")
    applied = flareiac(project, "apply", "-auto-approve")
    assert applied.code == 0, applied.text
    assert flareiac(project, "plan", "-detailed-exitcode", FLAREIAC_WORKSPACE="default").code == 0


def test_a_move_that_is_cut_off_while_it_copies_the_journal_is_finished_by_the_next_one(
    project: Path,
) -> None:
    before = contents(project, "")
    declare(project, "b")
    killed = flareiac(project, "init", "-migrate-state", FLAREIAC_KILL_AT="migrate.before-mark:2")
    assert killed.killed, killed.text
    journal = project / "b" / "main" / ".flareiac" / "state" / "dev" / "journal.jsonl"
    whole = journal.read_bytes()
    assert len(before["dev"][1]) > 1
    for cut in range(0, len(whole), len(whole) // 5):
        (copy := project.parent / f"cut{cut}").mkdir()
        shutil.copytree(project, copy, dirs_exist_ok=True)
        (copy / journal.relative_to(project)).write_bytes(whole[:cut])
        done = flareiac(copy, "init", "-migrate-state")
        assert done.code == 0, done.text
        assert contents(copy, "b") == before == contents(copy, "")


def test_a_state_goes_there_and_back_and_further(project: Path) -> None:
    for board in ("b", "", "b", "c", ""):
        declare(project, board)
        moved = flareiac(project, "init", "-migrate-state")
        assert moved.code == 0, moved.text
        done = flareiac(project, "apply", "-auto-approve")
        assert done.code == 0, done.text
    assert json.loads(contents(project, "")["dev"][0] or b"{}")["resources"]
    assert not (project / ".flareiac" / "backend.json").exists()


def test_a_move_overwrites_no_other_state(project: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    declare(other, str(project / "b"))
    assert flareiac(other, "apply", "-auto-approve").code == 0
    declare(project, str(project / "b"))
    before = contents(project, ""), contents(project, str(project / "b"))
    refused = flareiac(project, "init", "-migrate-state")
    assert refused.code == 1, refused.text
    assert "The state cannot be moved there [FIS070]" in refused.err
    assert (contents(project, ""), contents(project, str(project / "b"))) == before


def test_a_newer_version_of_the_state_is_not_overwritten(project: Path, tmp_path: Path) -> None:
    declare(project, str(project / "b"))
    assert flareiac(project, "init", "-migrate-state").code == 0
    for value in ("2", "3"):
        declare(project, str(project / "b"), _THING.replace('"1"', f'"{value}"'))
        assert flareiac(project, "apply", "-auto-approve", FLAREIAC_WORKSPACE="default").code == 0
    # A checkout with the state as it was before the move.
    state = project / ".flareiac" / "state" / "default" / "journal.jsonl"
    state.unlink()
    (project / ".flareiac" / "backend.json").unlink()
    refused = flareiac(project, "init", "-migrate-state")
    assert refused.code == 1, refused.text
    assert "holds a newer version of it" in " ".join(refused.err.replace("│", "").split())


def test_another_lineage_in_the_place_is_named(project: Path, tmp_path: Path) -> None:
    declare(project, str(tmp_path / "b"))
    assert flareiac(project, "init", "-migrate-state").code == 0
    assert flareiac(project, "workspace", "select", "default").code == 0
    assert flareiac(project, "state", "list").code == 0
    other = tmp_path / "other"
    other.mkdir()
    declare(other, str(tmp_path / "c"))
    assert flareiac(other, "apply", "-auto-approve").code == 0
    (tmp_path / "b").rename(tmp_path / "away")
    (tmp_path / "c").rename(tmp_path / "b")
    refused = flareiac(project, "plan")
    assert refused.code == 1, refused.text
    assert "Another state is in this place [FIS068]" in refused.err
    assert flareiac(project, "init", "-reconfigure").code == 0
    assert flareiac(project, "state", "list").code == 0


def test_a_place_that_an_option_names_takes_the_same_option_to_move(tmp_path: Path) -> None:
    (tmp_path / "main.flare.hcl").write_text(
        f'flareiac {{\n  backend "shelf" {{}}\n}}\n{_THING}', encoding="utf-8"
    )
    assert flareiac(tmp_path, "init", "-backend-config=board=one").code == 0
    assert flareiac(tmp_path, "apply", "-auto-approve").code == 0
    before = contents_of(tmp_path, "one")
    refused = flareiac(tmp_path, "init", "-backend-config=board=the other")
    assert refused.code == 1
    said = " ".join(refused.err.replace("│", " ").split())
    for way in ("-migrate-state", "-reconfigure"):
        assert f"flareiac init -backend-config='board=the other' {way}" in said
    without = flareiac(tmp_path, "init", "-migrate-state")
    assert without.code == 0, without.text
    assert "Nothing was moved" in without.err
    done = flareiac(tmp_path, "init", "-backend-config=board=the other", "-migrate-state")
    assert done.code == 0, done.text
    assert contents_of(tmp_path, "the other") == before
    assert flareiac(tmp_path, "plan", "-detailed-exitcode").code == 0


def contents_of(root: Path, board: str) -> bytes:
    """The snapshot that a board holds."""
    return (root / board / "main" / ".flareiac" / "state" / "default" / "snapshot.json").read_bytes()
