"""Each example is played when something of it has changed, and now and then without that."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.examples.depends import ROOT, files_of
from tests.examples.turns import IN_TURNS, SHORT, History, decided, history, is_turn


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Two commits; the second one changes ``examples/kafka/run.sh``."""
    root = tmp_path / "repository"
    (root / "examples" / "kafka").mkdir(parents=True)
    shutil.copy(ROOT / "pyproject.toml", root)
    git(root, "init", "-q", "-b", "main")
    for text in ("first", "second"):
        (root / "examples" / "kafka" / "run.sh").write_text(text)
        commit(root, text)
    return root


def git(root: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=root, check=True, capture_output=True)


def commit(root: Path, message: str) -> None:
    git(root, "add", "-A")
    git(root, "-c", "user.name=Ada", "-c", "user.email=ada@company.example", "commit", "-q", "-m", message)


def played(root: Path) -> set[str]:
    return set(decided(history(root)).played)


def test_every_example_has_its_turn() -> None:
    nothing = [History(head="a", commits=number, changed=frozenset()) for number in range(len(IN_TURNS))]
    turns = [list(decided(each).played) for each in nothing]
    assert sorted(turns) == [[name] for name in IN_TURNS]


@pytest.mark.parametrize("example", IN_TURNS)
def test_an_example_is_played_when_a_file_differs_that_it_needs(example: str) -> None:
    turn_of_another = IN_TURNS.index(example) + 1
    for path in files_of(example):
        changed = frozenset({str(path.relative_to(ROOT))})
        assert example in decided(History(head="a", commits=turn_of_another, changed=changed)).played, path


def test_what_differs_is_told_from_the_first_parent_and_the_working_tree(repository: Path) -> None:
    turn = IN_TURNS[2]
    assert played(repository) == {turn, "kafka"}
    commit_nothing = ("commit", "-q", "--allow-empty", "-m", "third")
    git(repository, "-c", "user.name=Ada", "-c", "user.email=ada@company.example", *commit_nothing)
    turn = IN_TURNS[3]
    assert played(repository) == {turn}
    (repository / "examples" / "cdc").mkdir()
    (repository / "examples" / "cdc" / "new.py").write_text("")
    assert played(repository) == {turn, "cdc"}


def test_other_dependencies_play_every_example_and_other_settings_of_a_linter_none(repository: Path) -> None:
    pyproject = repository / "pyproject.toml"
    pyproject.write_text(pyproject.read_text() + "\n[tool.other]\nlength = 3\n")
    commit(repository, "linter")
    assert len(played(repository)) == 1
    pyproject.write_text(pyproject.read_text().replace('"rich>=', '"rich>=1'))
    assert played(repository) == set(IN_TURNS)


def test_without_a_history_the_short_ones_and_another_one_are_played(
    repository: Path, tmp_path: Path
) -> None:
    git(tmp_path, "clone", "-q", "--depth=1", repository.as_uri(), "shallow")
    shutil.copytree(repository, tmp_path / "copy", ignore=shutil.ignore_patterns(".git"))
    for root, why in (("shallow", "HEAD's parent is not here"), ("copy", "no git history is here")):
        found = decided(history(tmp_path / root))
        assert set(SHORT) < set(found.played)
        assert len(found.played) == len(SHORT) + 1
        assert why in str(found)


def test_the_first_commit_plays_every_example(repository: Path) -> None:
    git(repository, "reset", "-q", "--hard", "HEAD^")
    assert played(repository) == set(IN_TURNS)


def test_samples_that_take_turns_leave_no_commit_without_one(monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(6):
        nothing = History(head="a", commits=number, changed=frozenset())
        assert _taken(monkeypatch, nothing) == [number % 3]
    changed = frozenset({"tests/examples/test_turns.py"})
    assert _taken(monkeypatch, History(head="a", commits=1, changed=changed)) == [0, 1, 2]
    assert _taken(monkeypatch, None) == [0]


def _taken(monkeypatch: pytest.MonkeyPatch, found: History | None) -> list[int]:
    monkeypatch.setattr("tests.examples.turns._history", lambda: found)
    return [turn for turn in range(3) if is_turn(Path(__file__), turn, 3)]
