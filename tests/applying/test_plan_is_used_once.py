"""What a saved plan, a target and a protection promise, on the toy provider."""

from pathlib import Path

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
