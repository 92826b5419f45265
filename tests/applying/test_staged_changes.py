"""Changes whose effects are operations of their own: their order, their notes, and how they end when they are
killed, fail or are cancelled in the middle.
"""

import json
from pathlib import Path

import pytest

from tests.support.command_line import flareiac

STAGES = '["early.a", "wipe.b", "start"]'
ONE = f'thing "a" {{\n  value = "1"\n  stages = {STAGES}\n}}\n'
ORDER = ["early.a", "wipe.b", "start"]


def write(root: Path, text: str) -> None:
    (root / "main.flare.hcl").write_text(text)


def stages(root: Path) -> list[str]:
    """The stages that were carried out, each with the number of notes that it was handed."""
    log = root / ".toy" / "stages.log"
    return [line.split(" ", 1)[1] for line in log.read_text().splitlines()] if log.exists() else []


def value(root: Path) -> str | None:
    path = root / ".toy" / "a.json"
    return str(json.loads(path.read_text())["attributes"]["value"]) if path.exists() else None


def test_every_stage_is_an_operation_of_plan_apply_and_summary(tmp_path: Path) -> None:
    write(tmp_path, ONE)
    planned = flareiac(tmp_path, "plan", "-show-steps", "-out=plan.json").out
    shown = [line.strip() for line in planned.partition("Operations, in order:")[2].splitlines()]
    assert [line for line in shown if line[:1].isdigit()] == [
        "1. early.a thing.a",
        "2. wipe.b thing.a [loses data]",
        "3. start thing.a",
        "4. look at thing.a",
    ]
    done = flareiac(tmp_path, "apply", "plan.json")
    assert done.code == 0, done.text
    assert stages(tmp_path) == ["early.a 0", "wipe.b 1", "start 2"]
    lines = [line for line in done.out.splitlines() if line.startswith("thing.a: ")]
    assert [line.rpartition(" complete after")[0] for line in lines if "complete after" in line] == [
        "thing.a: Early.a thing.a:",
        "thing.a: Wipe.b thing.a:",
        "thing.a: Start thing.a:",
        "thing.a: Creation",
    ]
    assert "Resources: 1 added, 0 changed, 0 destroyed." in done.out


def test_the_plan_as_json_and_the_lines_of_an_apply_tell_stages_apart(tmp_path: Path) -> None:
    write(tmp_path, ONE)
    flareiac(tmp_path, "plan", "-out=plan.json")
    document = json.loads(flareiac(tmp_path, "show", "-json", "plan.json").out)
    operations = document["flareiac"]["operations"]
    assert [item["id"] for item in operations] == [f"stage:thing.a#{name}" for name in ORDER] + [
        "create:thing.a"
    ]
    assert operations[1]["effect"] == "loses data"
    lines = [json.loads(line) for line in flareiac(tmp_path, "apply", "-json", "plan.json").out.splitlines()]
    assert [line["type"] for line in lines].count("stage_complete") == 3
    assert [line["type"] for line in lines].count("apply_complete") == 1


def test_early_stages_come_before_and_others_after_what_is_referred_to(tmp_path: Path) -> None:
    two = 'thing "base" { value = "VALUE" }\n' + ONE.replace("stages =", "needs = [thing.base]\n  stages =")
    write(tmp_path, two.replace("VALUE", "1"))
    assert flareiac(tmp_path, "apply", "-auto-approve").code == 0
    write(tmp_path, two.replace("VALUE", "2").replace('value = "1"', 'value = "2"'))
    shown = flareiac(tmp_path, "plan", "-show-steps").out.partition("Operations, in order:")[2]
    order = [line.split(". ", 1)[1] for line in shown.splitlines() if line.strip()[:1].isdigit()]
    assert order == [
        "early.a thing.a",
        "update thing.base",
        "wipe.b thing.a [loses data]",
        "start thing.a",
        "look at thing.a",
    ]


POINTS = [
    "apply.intent:1",  # of the change
    "apply.intent:2",  # of its first stage
    "toy.before-stage:1",
    "toy.after-stage:1",
    "apply.before-result:1",
    "apply.result:1",
    "toy.before-stage:2",
    "toy.after-stage:2",
    "apply.result:2",
    "toy.after-stage:3",
    "apply.result:3",
    "toy.before-write:1",
    "toy.after-write:1",
    "apply.before-result:4",
    "apply.result:4",
]


@pytest.mark.parametrize("point", POINTS)
def test_a_saved_plan_goes_on_where_it_was_killed(tmp_path: Path, point: str) -> None:
    write(tmp_path, ONE)
    assert flareiac(tmp_path, "plan", "-out=plan.json").code == 0
    assert flareiac(tmp_path, "apply", "plan.json", FLAREIAC_KILL_AT=point).killed
    before = stages(tmp_path)
    again = flareiac(tmp_path, "apply", "plan.json")
    assert again.code == 0, again.text
    assert value(tmp_path) == "1"
    carried_out = stages(tmp_path)
    # Only the stage that was killed in the middle is performed twice, and each was handed the same notes
    assert list(dict.fromkeys(carried_out)) == ["early.a 0", "wipe.b 1", "start 2"]
    assert len(carried_out) <= 3 + (
        bool(before) and point.startswith(("toy.after-stage", "apply.before-result"))
    )
    assert flareiac(tmp_path, "plan", "-detailed-exitcode").code == 0


def test_what_a_stage_noted_of_places_is_true_in_a_moved_project(tmp_path: Path) -> None:
    before, after = tmp_path / "before", tmp_path / "after"
    before.mkdir()
    write(before, ONE)
    assert flareiac(before, "plan", "-out=plan.json").code == 0
    assert flareiac(before, "apply", "plan.json", FLAREIAC_KILL_AT="toy.before-stage:2").killed
    before.rename(after)
    again = flareiac(after, "apply", "plan.json")
    assert again.code == 0, again.text
    assert stages(after) == ["early.a 0", "wipe.b 1", "start 2"]


@pytest.mark.parametrize("point", [POINTS[0], *POINTS[2:5], *POINTS[10:14]])
def test_a_new_plan_after_a_kill_brings_it_to_the_same_end(tmp_path: Path, point: str) -> None:
    write(tmp_path, ONE)
    assert flareiac(tmp_path, "apply", "-auto-approve", FLAREIAC_KILL_AT=point).killed
    made = value(tmp_path) is not None
    again = flareiac(tmp_path, "apply", "-auto-approve")
    assert again.code == 0, again.text
    assert value(tmp_path) == "1"
    if made:  # what is there is found out by reading, and nothing is done to it
        assert len(stages(tmp_path)) == 3
    assert flareiac(tmp_path, "plan", "-detailed-exitcode").code == 0


@pytest.mark.parametrize(
    ("stages_of_it", "fails_in", "code"),
    [
        ('["early.a", "start"]', "start", 1),
        ('["wipe.b", "start"]', "start", 7),
        ('["wipe.b", "start"]', "wipe.b", 1),
    ],
    ids=["nothing lost", "lost before", "fails where it would lose"],
)
def test_a_change_that_failed_is_partly_applied_once_something_is_lost(
    tmp_path: Path, stages_of_it: str, fails_in: str, code: int
) -> None:
    write(
        tmp_path, f'thing "a" {{\n  value = "1"\n  stages = {stages_of_it}\n  fails_in = "{fails_in}"\n}}\n'
    )
    done = flareiac(tmp_path, "apply", "-auto-approve")
    assert done.code == code, done.text


def test_a_stage_that_fails_ends_the_change_and_leaves_nothing_open(tmp_path: Path) -> None:
    write(
        tmp_path, ONE.replace("stages =", 'fails_in = "wipe.b"\n  stages =') + 'thing "c" { value = "3" }\n'
    )
    done = flareiac(tmp_path, "apply", "-auto-approve")
    assert done.code == 7, done.text
    assert "Skipped (start thing.a)" in done.text
    assert "Skipped (create)" in done.text
    assert (value(tmp_path), stages(tmp_path)) == (None, ["early.a 0"])
    assert flareiac(tmp_path, "state", "list").out.split() == ["thing.c"]
    assert "interrupted" not in flareiac(tmp_path, "plan").text
    write(tmp_path, ONE + 'thing "c" { value = "3" }\n')
    assert flareiac(tmp_path, "apply", "-auto-approve").code == 0
    assert value(tmp_path) == "1"
