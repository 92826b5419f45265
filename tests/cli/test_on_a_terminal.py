"""The view of a person on a terminal: operations in progress, and a plan's destroys before they are
approved.
"""

import re
import signal
from pathlib import Path

import pytest

from tests.support.command_line import flareiac
from tests.support.pseudo_terminal import on_terminal

SLOW = """
thing "a" {
  value    = "1"
  wait_for = "go"
}
thing "b" {
  value = "2"
  needs = [thing.a]
}
"""
COLOURS = re.compile(r"\x1b\[[\d;]*m")


def slow_project(root: Path) -> Path:
    (root / "main.flare.hcl").write_text(SLOW)
    return root


@pytest.mark.parametrize("columns", [100, 45], ids=["wide", "narrow"])
def test_operations_in_progress_are_drawn_until_they_end(tmp_path: Path, columns: int) -> None:
    with on_terminal(slow_project(tmp_path), "apply", "-auto-approve", columns=columns) as screen:
        screen.until(lambda: any(re.search("1 in progress, [1-9]", line) for line in screen.lines))
        drawn = [line for line in screen.lines if line]
        assert re.fullmatch(r"\S thing\.a: Creating \d+s", drawn[-2])
        assert re.fullmatch(r"0 of 2 changes done, 1 in progress, \d+s", drawn[-1])
        assert sum("in progress" in line for line in drawn) == 1
        (tmp_path / "go").touch()
        assert screen.end() == 0, screen.text
        left = [re.sub(r"\d+s$", "0s", line) for line in screen.lines]
        ended = ["thing.a: Creation complete after 0s", "thing.b: Creation complete after 0s"]
        assert [line for line in left if line.startswith("thing.")] == ended
        assert left.index(ended[0]) < next(
            at for at, line in enumerate(left) if line.startswith("Apply complete!")
        )
        assert not any("in progress" in line for line in left)
        assert COLOURS.search(screen.text)


@pytest.mark.parametrize(
    ("words", "variables"), [(("-no-color",), {}), ((), {"NO_COLOR": "1"})], ids=["-no-color", "NO_COLOR"]
)
def test_without_colour_it_is_drawn_without_colour(
    tmp_path: Path, words: tuple[str, ...], variables: dict[str, str]
) -> None:
    with on_terminal(slow_project(tmp_path), "apply", "-auto-approve", *words, variables=variables) as screen:
        screen.until(lambda: any("1 in progress" in line for line in screen.lines))
        (tmp_path / "go").touch()
        assert screen.end() == 0, screen.text
        assert COLOURS.search(screen.text) is None


@pytest.mark.parametrize("variables", [{"CI": "true"}, {"TERM": "dumb"}], ids=["CI", "dumb"])
def test_where_nothing_can_be_drawn_over_there_are_lines(tmp_path: Path, variables: dict[str, str]) -> None:
    (tmp_path / "go").touch()
    with on_terminal(
        slow_project(tmp_path), "apply", "-auto-approve", variables={"NO_COLOR": "1", **variables}
    ) as screen:
        assert screen.end() == 0, screen.text
    piped = tmp_path / "piped"
    piped.mkdir()
    (piped / "go").touch()
    plain = flareiac(slow_project(piped), "apply", "-auto-approve").out
    assert "thing.a: Creating..." in plain
    unwrapped = re.sub(r"\s+", " ", screen.text)
    assert re.sub(r"\d+s\b", "0s", unwrapped) == re.sub(r"\d+s\b", "0s", re.sub(r"\s+", " ", plain))


def test_a_cancelled_apply_leaves_a_readable_screen(tmp_path: Path) -> None:
    with on_terminal(slow_project(tmp_path), "apply", "-auto-approve") as screen:
        screen.until(lambda: any("1 in progress" in line for line in screen.lines))
        screen.process.send_signal(signal.SIGINT)
        screen.until(lambda: any(line.startswith("Cancelling:") for line in screen.lines))
        (tmp_path / "go").touch()
        assert screen.end() == 8, screen.text
        assert not any("in progress" in line for line in screen.lines)
        assert screen.text.count("\x1b[?25l") == screen.text.count("\x1b[?25h"), "the cursor is shown again"


def test_a_failing_apply_gives_the_terminal_back(tmp_path: Path) -> None:
    (tmp_path / "main.flare.hcl").write_text('thing "a" { fail = true }')
    with on_terminal(tmp_path, "apply", "-auto-approve") as screen:
        screen.end()
        assert not any("in progress" in line for line in screen.lines)
        assert screen.text.count("\x1b[?25l") == screen.text.count("\x1b[?25h")


@pytest.mark.parametrize(("answer", "code"), [("yes", 0), ("no", 8)])
def test_what_is_destroyed_is_listed_before_the_question(tmp_path: Path, answer: str, code: int) -> None:
    (tmp_path / "main.flare.hcl").write_text('thing "a" { value = "1" }\nthing "b" { value = "2" }')
    assert flareiac(tmp_path, "apply", "-auto-approve").code == 0
    with on_terminal(tmp_path, "destroy", "-no-color") as screen:
        screen.until(lambda: 'Only "yes" is accepted' in screen.text)
        asked = [line for line in screen.lines if line]
        assert asked[-5:-1] == [
            "This destroys or loses:",
            "  - thing.a is destroyed",
            "  - thing.b is destroyed",
            "Do you want to perform these actions?",
        ]
        screen.type(f"{answer}\n")
        assert screen.end() == code, screen.text
