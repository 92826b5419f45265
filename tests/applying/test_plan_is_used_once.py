"""The promises of a saved plan, a target and a protection, on the toy provider."""

import json
from pathlib import Path

import pytest

from tests.support.command_line import flareiac

PAIR = 'thing "a" {{ value = "{a}" }}\nthing "b" {{\n  value = "2"\n  needs = [thing.a]\n}}\n'


def write(root: Path, text: str) -> None:
    (root / "main.flare.hcl").write_text(text)


def there(root: Path) -> list[str]:
    return sorted(path.stem for path in (root / ".toy").glob("*.json"))


def test_an_old_plan_is_stale_once_another_apply_has_begun(tmp_path: Path) -> None:
    write(tmp_path, PAIR.format(a="1") + 'output "o" { value = "1" }\n')
    assert flareiac(tmp_path, "plan", "-out=old.json").code == 0
    write(tmp_path, PAIR.format(a="1") + 'output "o" { value = "2" }\n')
    assert flareiac(tmp_path, "apply", "-auto-approve").code == 0
    stale = flareiac(tmp_path, "apply", "old.json")
    assert stale.code == 6, stale.text
    assert flareiac(tmp_path, "output", "-raw", "o").out.strip() == "2"


SWEPT = 'broom "b" {{}}\nthing "a" {{\n  value = "{a}"\n  sweep_over = 5\n}}\n'


def dusty(root: Path) -> None:
    """A thing that is to be swept."""
    (root / ".toy" / "a.dust").write_text("7")


def maintained(root: Path) -> None:
    done = flareiac(root, "maintain", "-auto-approve")
    assert "Maintained: 1." in done.out, done.text


def serial(root: Path) -> int:
    found: int = json.loads(flareiac(root, "state", "pull").out)["serial"]
    return found


@pytest.fixture
def swept(tmp_path: Path) -> Path:
    """A project with a saved plan of a change, after which it was maintained twice."""
    write(tmp_path, SWEPT.format(a="1"))
    assert flareiac(tmp_path, "apply", "-auto-approve").code == 0
    write(tmp_path, SWEPT.format(a="2"))
    assert flareiac(tmp_path, "plan", "-out=saved.json").code == 0
    write(tmp_path, SWEPT.format(a="1"))  # main, beside the branch that the plan is of
    for _ in range(2):
        dusty(tmp_path)
        maintained(tmp_path)
    assert serial(tmp_path) == 3
    return tmp_path


def test_a_plan_is_not_overtaken_by_maintenance(swept: Path) -> None:
    write(swept, SWEPT.format(a="2"))
    done = flareiac(swept, "apply", "saved.json")
    assert done.code == 0, done.text
    assert flareiac(swept, "plan", "-detailed-exitcode").code == 0
    again = flareiac(swept, "apply", "saved.json")
    assert again.code == 6, again.text


@pytest.mark.parametrize(
    "words", ["apply -auto-approve", "state rm thing.a", "state rollback -auto-approve 1"]
)
def test_a_plan_is_overtaken_by_whatever_else_writes_the_state(swept: Path, words: str) -> None:
    write(swept, SWEPT.format(a="3"))
    assert flareiac(swept, *words.split()).code == 0
    dusty(swept)
    flareiac(swept, "maintain", "-auto-approve")
    stale = flareiac(swept, "apply", "saved.json")
    assert stale.code == 6, stale.text
    assert "it was applied since" in stale.err


def test_a_plan_that_maintains_is_overtaken_by_maintenance(tmp_path: Path) -> None:
    write(tmp_path, SWEPT.format(a="1"))
    assert flareiac(tmp_path, "apply", "-auto-approve").code == 0
    dusty(tmp_path)
    write(tmp_path, SWEPT.format(a="2"))
    assert flareiac(tmp_path, "plan", "-out=saved.json").code == 0
    write(tmp_path, SWEPT.format(a="1"))
    maintained(tmp_path)
    dusty(tmp_path)
    write(tmp_path, SWEPT.format(a="2"))
    stale = flareiac(tmp_path, "apply", "saved.json")
    assert stale.code == 6, stale.text
    assert (tmp_path / ".toy" / "a.dust").read_text() == "7"


def test_a_saved_plan_of_maintenance_is_used_once(tmp_path: Path) -> None:
    write(tmp_path, SWEPT.format(a="1"))
    assert flareiac(tmp_path, "apply", "-auto-approve").code == 0
    dusty(tmp_path)
    assert flareiac(tmp_path, "plan", "-maintenance=only", "-out=saved.json").code == 0
    assert flareiac(tmp_path, "apply", "saved.json").code == 0
    dusty(tmp_path)
    again = flareiac(tmp_path, "apply", "saved.json")
    assert again.code == 6, again.text


def test_what_became_unreadable_is_not_written_over(tmp_path: Path) -> None:
    write(tmp_path, PAIR.format(a="1"))
    assert flareiac(tmp_path, "plan", "-out=plan.json").code == 0
    (tmp_path / ".toy").mkdir()
    (tmp_path / ".toy" / "a.json").write_text("{ not json")
    refused = flareiac(tmp_path, "apply", "plan.json")
    assert refused.code == 1, refused.text
    assert (tmp_path / ".toy" / "a.json").read_text() == "{ not json"


def test_destroying_a_target_spares_what_it_needs_and_takes_what_needs_it(tmp_path: Path) -> None:
    write(tmp_path, PAIR.format(a="1"))
    assert flareiac(tmp_path, "apply", "-auto-approve").code == 0
    assert flareiac(tmp_path, "destroy", "-auto-approve", "-target=thing.b").code == 0
    assert there(tmp_path) == ["a"]
    assert flareiac(tmp_path, "apply", "-auto-approve").code == 0
    assert flareiac(tmp_path, "destroy", "-auto-approve", "-target=thing.a").code == 0
    assert there(tmp_path) == []


def test_a_protection_that_was_just_written_holds(tmp_path: Path) -> None:
    write(tmp_path, PAIR.format(a="1"))
    assert flareiac(tmp_path, "apply", "-auto-approve").code == 0
    guard = "{\n  lifecycle {\n    prevent_destroy = true\n  }\n  value"
    write(tmp_path, PAIR.format(a="1").replace('thing "a" { value = "1" }', f'thing "a" {guard} = "1"\n}}'))
    assert flareiac(tmp_path, "destroy", "-auto-approve").code == 4
    assert there(tmp_path) == ["a", "b"]
    assert flareiac(tmp_path, "apply", "-auto-approve").code == 0
    serial = (tmp_path / ".flareiac" / "state" / "default" / "snapshot.json").read_text()
    assert flareiac(tmp_path, "apply", "-auto-approve").code == 0
    assert (tmp_path / ".flareiac" / "state" / "default" / "snapshot.json").read_text() == serial
