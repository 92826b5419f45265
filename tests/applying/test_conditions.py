"""Conditions that a plan leaves to its apply, on the toy provider: ids are known once things are made."""

import subprocess
import time
from pathlib import Path

import pytest

from tests.support.command_line import arguments, environment, flareiac

MADE = """
thing "a" {{
  value = "1"
  lifecycle {{
    postcondition {{
      condition     = {after}
      error_message = "a is $${{self.id}}."
    }}
  }}
}}
thing "b" {{
  value = "2"
  lifecycle {{
    precondition {{
      condition     = {before}
      error_message = "a is not good for b."
    }}
  }}
}}
thing "c" {{
  value = "3"
  needs = [thing.b]
}}
output "id" {{
  value = thing.a.id
  precondition {{
    condition     = {shown}
    error_message = "The id of a is not to be shown."
  }}
}}
check "ids" {{
  assert {{
    condition     = thing.a.id == "x"
    error_message = "The id of a is not x."
  }}
}}
"""
HOLDS, FAILS = 'thing.a.id != ""', 'thing.a.id == ""'
OWN_HOLDS, OWN_FAILS = 'self.id != ""', 'self.id == ""'


def write(root: Path, *, after: str = OWN_HOLDS, before: str = HOLDS, shown: str = HOLDS) -> None:
    text = MADE.format(after=after, before=before, shown=shown).replace("$$", "$")
    (root / "main.flare.hcl").write_text(text)


def there(root: Path) -> list[str]:
    return sorted(path.stem for path in (root / ".toy").glob("*.json"))


def test_what_holds_is_not_mentioned_and_a_check_warns(tmp_path: Path) -> None:
    write(tmp_path)
    done = flareiac(tmp_path, "apply", "-auto-approve")
    assert done.code == 0, done.text
    assert there(tmp_path) == ["a", "b", "c"]
    assert "FIC068" in done.err
    assert "The id of a is not x." in done.err
    assert "FIC058" not in done.err
    again = flareiac(tmp_path, "plan", "-detailed-exitcode")
    assert again.code == 0, again.text
    assert "The id of a is not x." in again.err


@pytest.mark.parametrize(
    ("unmet", "code", "made", "said"),
    [
        ({"after": OWN_FAILS}, 7, ["a"], "FIC059"),
        ({"before": FAILS}, 7, ["a"], "FIC058"),
        ({"shown": FAILS}, 7, ["a", "b", "c"], "FIC053"),
    ],
)
def test_what_does_not_hold_ends_the_apply_and_what_was_done_is_recorded(
    tmp_path: Path, unmet: dict[str, str], code: int, made: list[str], said: str
) -> None:
    write(tmp_path, **unmet)
    assert flareiac(tmp_path, "plan", "-out=p").code == 0
    done = flareiac(tmp_path, "apply", "p")
    assert done.code == code, done.text
    assert said in done.err
    assert there(tmp_path) == made
    assert flareiac(tmp_path, "state", "list").out.split() == [f"thing.{name}" for name in made]
    assert flareiac(tmp_path, "output", "-raw", "id").code != 0
    blocked = flareiac(tmp_path, "apply", "-auto-approve")
    assert blocked.code == 1, blocked.text
    assert said in blocked.err
    write(tmp_path)
    assert flareiac(tmp_path, "apply", "-auto-approve").code == 0
    assert there(tmp_path) == ["a", "b", "c"]


def test_a_saved_plan_with_open_conditions_needs_its_files(tmp_path: Path) -> None:
    write(tmp_path)
    assert flareiac(tmp_path, "plan", "-out=p").code == 0
    write(tmp_path, before=FAILS)
    refused = flareiac(tmp_path, "apply", "p")
    assert refused.code == 1, refused.text
    assert "FIC069" in refused.err
    assert there(tmp_path) == []


def test_destroying_asks_for_no_condition(tmp_path: Path) -> None:
    write(tmp_path)
    assert flareiac(tmp_path, "apply", "-auto-approve").code == 0
    write(tmp_path, after=OWN_FAILS, before=FAILS, shown=FAILS)
    done = flareiac(tmp_path, "destroy", "-auto-approve")
    assert done.code == 0, done.text
    assert there(tmp_path) == []
    assert "FIC05" not in done.err


def test_files_that_change_during_an_apply_leave_a_condition_open(tmp_path: Path) -> None:
    write(tmp_path)
    file, log = tmp_path / "main.flare.hcl", tmp_path / "log"
    file.write_text(file.read_text().replace('value = "1"', 'value = "1"\n  wait_for = "go"'))
    with log.open("w") as output:
        process = subprocess.Popen(
            arguments("apply", "-auto-approve"),
            cwd=tmp_path,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )
        with process:
            try:
                deadline = time.monotonic() + 60
                while "thing.a: Creating" not in log.read_text():
                    assert time.monotonic() < deadline
                    time.sleep(0.02)
                write(tmp_path, after=OWN_FAILS)
                (tmp_path / "go").touch()
                assert process.wait(timeout=60) == 7, log.read_text()
            finally:
                process.kill()
    assert "FIC069" in log.read_text()
    assert "were changed while the plan was applied" in " ".join(log.read_text().replace("│", "").split())
    assert there(tmp_path) == ["a"]


def test_a_target_asks_for_its_own_conditions(tmp_path: Path) -> None:
    write(tmp_path)
    assert flareiac(tmp_path, "apply", "-auto-approve").code == 0
    write(tmp_path, before=FAILS)
    assert flareiac(tmp_path, "plan", "-target=thing.a").code == 0
    assert flareiac(tmp_path, "plan", "-target=thing.b").code == 1


@pytest.mark.parametrize("point", ["toy.after-write:1", "apply.result:1"])
@pytest.mark.parametrize("saved", [False, True], ids=["fresh", "saved"])
def test_a_kill_before_a_postcondition_does_not_pass_it_over(tmp_path: Path, point: str, saved: bool) -> None:
    write(tmp_path, after=OWN_FAILS)
    words = ["apply", "-auto-approve", "-parallelism=1"]
    if saved:
        assert flareiac(tmp_path, "plan", "-out=p").code == 0
        words.append("p")
    assert flareiac(tmp_path, *words, FLAREIAC_KILL_AT=point).killed
    again = flareiac(tmp_path, *words)
    assert again.code == (7 if saved else 1), again.text
    assert "FIC059" in again.err
    assert there(tmp_path) == ["a"]
    assert flareiac(tmp_path, "state", "list").out.split() == ["thing.a"]
