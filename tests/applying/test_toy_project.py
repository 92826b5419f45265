"""The core from HCL to state, on a provider whose world is a directory of files."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.support.command_line import arguments, environment, flareiac

THREE = """
thing "a" { value = "1" }
thing "b" {
  value = "2"
  needs = [thing.a]
}
thing "c" { value = "3" }
output "a_id" { value = thing.a.id }
"""


def write(root: Path, text: str) -> None:
    (root / "main.flare.hcl").write_text(text)


def apply(root: Path, **extra: str) -> None:
    done = flareiac(root, "apply", "-auto-approve", **extra)
    assert done.code == 0, done.text


def things(root: Path) -> dict[str, str]:
    return {
        path.stem: json.loads(path.read_text())["attributes"]["value"]
        for path in sorted((root / ".toy").glob("*.json"))
    }


def writes(root: Path) -> int:
    log = root / ".toy" / "writes.log"
    return len(log.read_text().splitlines()) if log.exists() else 0


def test_a_second_apply_does_nothing(tmp_path: Path) -> None:
    write(tmp_path, THREE)
    planned = flareiac(tmp_path, "plan", "-detailed-exitcode")
    assert planned.code == 2
    assert "Plan: 3 to add, 0 to change, 0 to destroy." in planned.out
    apply(tmp_path)
    assert things(tmp_path) == {"a": "1", "b": "2", "c": "3"}
    again = flareiac(tmp_path, "plan", "-detailed-exitcode")
    assert again.code == 0, again.text
    assert "No changes." in again.out
    apply(tmp_path)
    assert writes(tmp_path) == 3
    assert flareiac(tmp_path, "output", "-raw", "a_id").out.strip().endswith("create:thing.a")


def test_plan_and_drift_write_nothing(tmp_path: Path) -> None:
    write(tmp_path, THREE)
    flareiac(tmp_path, "plan")
    flareiac(tmp_path, "drift")
    assert sorted(item.name for item in tmp_path.iterdir()) == ["main.flare.hcl"]


def test_drift_is_found_and_healed(tmp_path: Path) -> None:
    write(tmp_path, THREE)
    apply(tmp_path)
    path = tmp_path / ".toy" / "a.json"
    path.write_text(path.read_text().replace('"1"', '"changed"'))
    (tmp_path / ".toy" / "c.json").unlink()
    found = flareiac(tmp_path, "drift")
    assert found.code == 3
    assert "thing.a" in found.out
    assert "thing.c" in found.out
    assert "thing.b" not in found.out
    apply(tmp_path)
    assert things(tmp_path) == {"a": "1", "b": "2", "c": "3"}
    assert flareiac(tmp_path, "drift").code == 0


def test_a_failure_skips_only_its_dependents(tmp_path: Path) -> None:
    write(
        tmp_path, THREE.replace('thing "a" { value = "1" }', 'thing "a" {\n  value = "1"\n  fail = true\n}')
    )
    done = flareiac(tmp_path, "apply", "-auto-approve")
    assert done.code == 7, done.text
    assert things(tmp_path) == {"c": "3"}
    assert flareiac(tmp_path, "state", "list").out.split() == ["thing.c"]
    write(tmp_path, THREE)
    apply(tmp_path)
    assert things(tmp_path) == {"a": "1", "b": "2", "c": "3"}


def test_a_saved_plan_is_applied_as_it_is_and_once(tmp_path: Path) -> None:
    write(tmp_path, THREE)
    assert flareiac(tmp_path, "plan", "-out=plan.json").code == 0
    write(tmp_path, THREE.replace('"3"', '"later"'))
    first = flareiac(tmp_path, "apply", "plan.json")
    assert first.code == 0, first.text
    assert things(tmp_path)["c"] == "3"
    assert flareiac(tmp_path, "apply", "plan.json").code == 6


def test_a_plan_is_stale_when_what_it_relied_on_moved(tmp_path: Path) -> None:
    write(tmp_path, THREE)
    apply(tmp_path)
    write(tmp_path, THREE.replace('"3"', '"4"'))
    assert flareiac(tmp_path, "plan", "-out=plan.json").code == 0
    path = tmp_path / ".toy" / "c.json"
    path.write_text(path.read_text().replace('"3"', '"moved"'))
    stale = flareiac(tmp_path, "apply", "plan.json")
    assert stale.code == 6, stale.text
    assert "thing.c" in stale.err
    assert things(tmp_path)["c"] == "moved"


def test_a_plan_of_other_things_is_not_stale(tmp_path: Path) -> None:
    write(tmp_path, THREE)
    apply(tmp_path)
    write(tmp_path, THREE.replace('"3"', '"4"'))
    flareiac(tmp_path, "plan", "-out=plan.json")
    path = tmp_path / ".toy" / "a.json"
    path.write_text(path.read_text().replace('"1"', '"moved"'))
    flareiac(tmp_path, "plan", "-out=plan.json", "-target=thing.c")
    done = flareiac(tmp_path, "apply", "plan.json")
    assert done.code == 0, done.text
    assert things(tmp_path) == {"a": "moved", "b": "2", "c": "4"}


def test_removing_a_block_and_protecting_it(tmp_path: Path) -> None:
    write(
        tmp_path,
        THREE.replace(
            'thing "c" { value = "3" }',
            'thing "c" {\n value = "3"\n lifecycle {\n prevent_destroy = true\n }\n}',
        ),
    )
    apply(tmp_path)
    write(tmp_path, THREE.replace('thing "c" { value = "3" }', ""))
    blocked = flareiac(tmp_path, "apply", "-auto-approve")
    assert blocked.code == 4, blocked.text
    assert "prevent_destroy" in blocked.text
    write(tmp_path, THREE)
    apply(tmp_path)
    write(tmp_path, THREE.replace('thing "c" { value = "3" }', ""))
    apply(tmp_path)
    assert things(tmp_path) == {"a": "1", "b": "2"}


def test_destroy_goes_in_the_other_order(tmp_path: Path) -> None:
    write(tmp_path, THREE)
    apply(tmp_path)
    done = flareiac(tmp_path, "destroy", "-auto-approve")
    assert done.code == 0, done.text
    assert things(tmp_path) == {}
    assert done.out.index("thing.b: Destr") < done.out.index("thing.a: Destr")
    assert flareiac(tmp_path, "state", "list").out == ""


def test_what_exists_but_is_not_recorded_is_never_overwritten(tmp_path: Path) -> None:
    write(tmp_path, 'thing "a" { value = "1" }')
    apply(tmp_path)
    for item in (tmp_path / ".flareiac").rglob("*"):
        if item.is_file():
            item.unlink()
    blocked = flareiac(tmp_path, "apply", "-auto-approve")
    assert blocked.code == 4, blocked.text
    assert "import {" in blocked.text
    write(tmp_path, 'thing "a" { value = "1" }\nimport {\n  to = thing.a\n  id = "a"\n}\n')
    apply(tmp_path)
    assert flareiac(tmp_path, "plan", "-detailed-exitcode").code == 0


def test_two_of_one_name_are_refused(tmp_path: Path) -> None:
    write(tmp_path, 'thing "a" { value = "1" }\nthing "b" {\n  name = "a"\n}\n')
    done = flareiac(tmp_path, "apply", "-auto-approve")
    assert done.code == 1
    assert "FIP010" in done.text
    assert not (tmp_path / ".toy").exists()


KILL_POINTS = [
    "apply.intent:1",
    "apply.intent:2",
    "toy.before-write:1",
    "toy.after-write:1",
    "toy.after-write:3",
    "apply.before-result:2",
    "apply.result:1",
    "apply.result:3",
    "apply.before-snapshot:1",
    "apply.snapshot:1",
]


@pytest.mark.parametrize("point", KILL_POINTS)
@pytest.mark.parametrize("saved", [False, True], ids=["fresh", "saved"])
def test_a_kill_anywhere_loses_and_repeats_nothing(tmp_path: Path, point: str, saved: bool) -> None:
    write(tmp_path, THREE)
    words = ["apply", "-auto-approve", "-parallelism=1"]
    if saved:
        assert flareiac(tmp_path, "plan", "-out=plan.json").code == 0
        words.append("plan.json")
    killed = flareiac(tmp_path, *words, FLAREIAC_KILL_AT=point)
    assert killed.killed, killed.text
    again = flareiac(tmp_path, *words)
    used_up = saved and point in ("apply.before-snapshot:1", "apply.snapshot:1")
    assert again.code == (6 if used_up else 0), again.text
    assert things(tmp_path) == {"a": "1", "b": "2", "c": "3"}
    assert writes(tmp_path) == 3
    assert flareiac(tmp_path, "plan", "-detailed-exitcode").code == 0
    assert flareiac(tmp_path, "state", "list").out.split() == ["thing.a", "thing.b", "thing.c"]


@pytest.mark.parametrize(
    "point",
    ["apply.intent:1", "toy.before-sweep:1", "toy.after-sweep:1", "apply.before-result:1", "apply.result:1"],
)
def test_maintenance_that_was_killed_is_done_by_the_next_run_or_was_done(tmp_path: Path, point: str) -> None:
    write(tmp_path, 'broom "b" {}\nthing "a" {\n  value = "1"\n  sweep_over = 5\n}\n')
    assert flareiac(tmp_path, "apply", "-auto-approve").code == 0
    dust = tmp_path / ".toy" / "a.dust"
    dust.write_text("7")
    assert flareiac(tmp_path, "maintain", "-auto-approve", FLAREIAC_KILL_AT=point).killed
    again = flareiac(tmp_path, "maintain", "-auto-approve")
    assert again.code == 0, again.text
    assert dust.read_text() == "0"
    if point == "toy.after-sweep:1":
        assert (
            "thing.a: sweeping was done although the apply was interrupted; recorded. swept 7 grains, "
            "expected 7" in again.text
        )
    assert flareiac(tmp_path, "plan", "-detailed-exitcode").code == 0
    assert flareiac(tmp_path, "maintain", "-auto-approve").code == 0


def test_a_plan_says_what_due_maintenance_does_to_others(tmp_path: Path) -> None:
    """The resource that carries the maintenance out knows its effects; it is not asked where nothing is due,
    or no one is to be asked.
    """
    loud = 'broom "b" { strength = "loud" }\nthing "a" {\n  value = "1"\n  sweep_over = 5\n}\n'
    write(tmp_path, loud)
    assert flareiac(tmp_path, "apply", "-auto-approve").code == 0
    (tmp_path / ".toy" / "a.dust").write_text("7")
    assert "The broom is loud" in flareiac(tmp_path, "plan", "-out=plan.json").text
    assert "The broom is loud" in flareiac(tmp_path, "show", "plan.json").text
    assert "The broom is loud" in flareiac(tmp_path, "maintain", "-auto-approve").text
    assert "loud" not in flareiac(tmp_path, "plan", "-refresh=none").text
    write(tmp_path, loud.replace("5", "9"))
    (tmp_path / ".toy" / "a.dust").write_text("7")
    assert "loud" not in flareiac(tmp_path, "plan").text


def test_two_applies_at_once_do_everything_once(tmp_path: Path) -> None:
    write(tmp_path, THREE)
    running = [
        subprocess.Popen(
            arguments("apply", "-auto-approve", "-lock-timeout=60s"),
            cwd=tmp_path,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for _ in range(2)
    ]
    ended = [(process.communicate(timeout=120)[0], process.returncode) for process in running]
    assert [code for _text, code in ended] == [0, 0], ended
    assert writes(tmp_path) == 3


@pytest.mark.parametrize(("point", "shines"), [("toy.before-shine:1", []), ("toy.after-shine:1", [1])])
def test_a_command_of_a_provider_that_was_killed_is_settled_by_the_next_apply(
    tmp_path: Path, point: str, shines: list[int]
) -> None:
    write(tmp_path, 'thing "a" { value = "1" }')
    apply(tmp_path)
    assert flareiac(tmp_path, "thing", "polish", "thing.a", FLAREIAC_KILL_AT=point).killed
    unsettled = flareiac(tmp_path, "thing", "polish", "thing.a")
    assert unsettled.code == 1
    assert "FIP003" in unsettled.text
    apply(tmp_path)
    assert json.loads(flareiac(tmp_path, "thing", "shine", "thing.a", "-json").out)["shine"] == shines
