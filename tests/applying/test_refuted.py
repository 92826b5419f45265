"""A change that is not what the plan took it for is not carried out, and the state tells the next plan."""

import json
from pathlib import Path

import pytest

from tests.support.command_line import flareiac

PAIR = 'thing "a" {{ value = "{value}" }}\nthing "b" {{\n  value = "{value}"\n  needs = [thing.a]\n}}\n'


@pytest.fixture
def planned(tmp_path: Path) -> Path:
    """A project of two things with a saved plan that changes both."""
    (tmp_path / "main.flare.hcl").write_text(PAIR.format(value="1"))
    assert flareiac(tmp_path, "apply", "-auto-approve").code == 0
    (tmp_path / "main.flare.hcl").write_text(PAIR.format(value="2"))
    assert flareiac(tmp_path, "plan", "-out=saved.json").code == 0
    return tmp_path


def values(root: Path) -> dict[str, str]:
    paths = sorted((root / ".toy").glob("?.json"))
    return {path.stem: json.loads(path.read_text())["attributes"]["value"] for path in paths}


def is_known(root: Path) -> bool:
    state = json.loads(flareiac(root, "state", "pull").out)
    return any("refuted" in item["identity"] for item in state["resources"])


def refute(root: Path, what: str) -> None:
    (root / ".toy" / "refute").write_text(what)


@pytest.mark.parametrize(("word", "code"), [("", 6), (" blocks", 4)])
@pytest.mark.parametrize("saved", [True, False])
def test_nothing_is_changed_and_the_state_knows_why(planned: Path, saved: bool, word: str, code: int) -> None:
    refute(planned, f"thing.b{word}")
    done = flareiac(planned, "apply", *(["saved.json"] if saved else ["-auto-approve"]))
    assert done.code == code, done.text
    assert "TOY012" in done.err
    assert values(planned) == {"a": "1", "b": "1"}
    assert is_known(planned)
    assert flareiac(planned, "apply", "saved.json").code == 6  # the state has gone on


def test_an_interrupted_apply_stays_open_where_its_rest_is_refuted(planned: Path) -> None:
    killed = flareiac(planned, "apply", "saved.json", FLAREIAC_KILL_AT="toy.after-write")
    assert killed.code == -9, killed.text
    refute(planned, "thing.b")
    assert flareiac(planned, "apply", "saved.json").code == 6
    (planned / ".toy" / "refute").unlink()
    done = flareiac(planned, "apply", "saved.json")
    assert done.code == 0, done.text
    assert values(planned) == {"a": "2", "b": "2"}
    writes = [line.split()[0] for line in (planned / ".toy" / "writes.log").read_text().splitlines()]
    assert sorted(writes) == ["thing.a", "thing.a", "thing.b", "thing.b"]  # each once for each value
