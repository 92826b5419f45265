"""The state as a document, earlier states, and the lock: what the commands refuse, and what a kill leaves."""

import json
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tests.support.command_line import Ended, arguments, environment, flareiac

ONE = 'thing "a" { value = "1" }\n'
TWO = 'thing "a" { value = "2" }\nthing "b" { value = "b" }\n'


def apply(root: Path, text: str) -> None:
    (root / "main.flare.hcl").write_text(text)
    done = flareiac(root, "apply", "-auto-approve")
    assert done.code == 0, done.text


def pulled(root: Path) -> dict[str, Any]:
    done = flareiac(root, "state", "pull")
    assert done.code == 0, done.text
    found: dict[str, Any] = json.loads(done.out)
    return found


def push(root: Path, document: dict[str, Any], *options: str, **extra: str) -> Ended:
    (root / "edited.json").write_text(json.dumps(document))
    return flareiac(root, "state", "push", *options, "edited.json", **extra)


def edited(document: dict[str, Any], **changes: object) -> dict[str, Any]:
    """As a person edits it: without the digest that vouches for what FlareIaC wrote."""
    return {name: value for name, value in {**document, **changes}.items() if name != "digest"}


def test_a_pushed_state_has_to_follow_the_one_that_is_there(tmp_path: Path) -> None:
    apply(tmp_path, TWO)
    state = pulled(tmp_path)
    serial = state["serial"]
    assert "the same already" in push(tmp_path, state).out
    only_a = [item for item in state["resources"] if item["address"] == "thing.a"]
    refused = {
        "it was edited, or damaged": {**state, "serial": serial + 1},
        f"its serial is {serial - 1}": edited(state, serial=serial - 1),
        "another content": edited(state, resources=only_a),
        "belongs to another state": edited(state, lineage="another", serial=serial + 1),
        "it is not": {"a": 1},
    }
    for why, document in refused.items():
        done = push(tmp_path, document)
        assert done.code == 1, done.text
        assert why in " ".join(done.err.replace("│", " ").split()) or why == "it is not", done.text
        assert pulled(tmp_path) == state
    done = push(tmp_path, edited(state, serial=serial + 1, resources=only_a))
    assert done.code == 0, done.text
    assert flareiac(tmp_path, "state", "list").out.split() == ["thing.a"]
    forced = push(tmp_path, edited(state, serial=1), "-force")
    assert forced.code == 0, forced.text
    assert pulled(tmp_path)["serial"] == serial + 2, "a plan made before must be stale"
    forced = push(tmp_path, edited(state, lineage="another"), "-force")
    assert forced.code == 0, forced.text
    assert pulled(tmp_path)["lineage"] == "another"


def test_a_state_is_pushed_where_there_is_none(tmp_path: Path) -> None:
    apply(tmp_path, ONE)
    state = pulled(tmp_path)
    (tmp_path / ".flareiac").rename(tmp_path / "lost")
    assert push(tmp_path, state).code == 0
    assert pulled(tmp_path) == state


def test_going_back_changes_the_record_and_nothing_else(tmp_path: Path) -> None:
    apply(tmp_path, ONE)
    first = pulled(tmp_path)
    apply(tmp_path, TWO)
    asked = flareiac(tmp_path, "state", "rollback", str(first["serial"]))
    assert asked.code == 8, asked.text
    for line in (
        "- thing.b is no longer recorded",
        "~ thing.a is recorded as it was: value",
        "stay as they are",
    ):
        assert line in asked.out
    done = flareiac(tmp_path, "state", "rollback", str(first["serial"]), "-auto-approve")
    assert done.code == 0, done.text
    after = pulled(tmp_path)
    assert after["resources"] == first["resources"]
    assert after["serial"] == first["serial"] + 2
    planned = flareiac(tmp_path, "plan")
    assert planned.code == 4, "thing.b is there and not recorded"
    listed = json.loads(flareiac(tmp_path, "state", "history", "-json").out)
    assert listed["serial"] == after["serial"]
    assert [item["serial"] for item in listed["history"]] == [first["serial"] + 1, first["serial"]]
    by_name = flareiac(tmp_path, "state", "rollback", listed["history"][0]["name"], "-auto-approve")
    assert by_name.code == 0, by_name.text
    assert flareiac(tmp_path, "plan", "-detailed-exitcode").code == 0


@pytest.mark.parametrize(
    ("words", "point"),
    [
        (("mv", "thing.a", "thing.z"), "state.before-snapshot"),
        (("rollback", "1"), "state.before-snapshot"),
        (("push", "edited.json"), "state.snapshot"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else value,
)
def test_a_killed_command_leaves_the_old_state_or_the_new_one(
    tmp_path: Path, words: tuple[str, ...], point: str
) -> None:
    apply(tmp_path, ONE)
    apply(tmp_path, TWO)
    before = pulled(tmp_path)
    (tmp_path / "edited.json").write_text(
        json.dumps(edited(before, serial=before["serial"] + 1, resources=[]))
    )
    if words[0] == "rollback":
        serial = json.loads(flareiac(tmp_path, "state", "history", "-json").out)["history"][0]["serial"]
        words = ("rollback", str(serial), "-auto-approve")
    done = flareiac(tmp_path, "state", *words, FLAREIAC_KILL_AT=point)
    assert done.killed, done.text
    after = pulled(tmp_path)
    assert (after == before) == (point == "state.before-snapshot")
    if after == before:
        again = flareiac(tmp_path, "state", *words)
        assert again.code == 0, again.text


def test_the_lock_is_shown_and_released_by_its_id(tmp_path: Path) -> None:
    (tmp_path / "main.flare.hcl").write_text('thing "a" {\n  value = "1"\n  wait_for = "go"\n}\n')
    with (tmp_path / "log").open("w") as log:
        command = arguments("apply", "-auto-approve")
        variables = environment(CI="true", CI_JOB_URL="https://ci/1")
        with subprocess.Popen(
            command, cwd=tmp_path, env=variables, stdin=subprocess.DEVNULL, stdout=log, stderr=log
        ) as process:
            try:
                deadline = time.monotonic() + 60
                while "thing.a: Creating" not in (tmp_path / "log").read_text():
                    assert time.monotonic() < deadline
                    time.sleep(0.02)
                _release(tmp_path)
                (tmp_path / "go").touch()
                assert process.wait(timeout=60) == 1
            finally:
                process.kill()
    text = (tmp_path / "log").read_text()
    assert "FIA010" in text
    file = text.splitlines()[-1]
    done = flareiac(tmp_path, "state", "recover", file)
    assert done.code == 0, done.text
    assert flareiac(tmp_path, "state", "list").out.split() == ["thing.a"]
    assert flareiac(tmp_path, "lock", "status").code == 0


def _release(root: Path) -> None:
    shown = flareiac(root, "lock", "status", "-json")
    assert shown.code == 5, shown.text
    held = json.loads(shown.out)["lock"]
    assert held["operation"] == "apply"
    assert "Operation: apply" in flareiac(root, "lock", "status").out
    wrong = flareiac(root, "lock", "release", "another")
    assert wrong.code == 1, wrong.text
    assert held["id"] in wrong.err
    done = flareiac(root, "lock", "release", held["id"])
    assert done.code == 0, done.text
    assert "Warning" in done.err
