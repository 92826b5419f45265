"""``drift -remediate``: a plan that brings back what drifted, from what was applied last, whatever the files
say by now.
"""

import json
from pathlib import Path

import pytest

from flareiac_state.local import LocalBackend
from tests.state.conformance import ignore_wait
from tests.support.command_line import Ended, flareiac

FOUR = "".join(f'thing "{name}" {{ value = "{name}" }}\n' for name in "abcd")
OUTPUT = 'output "said" { value = thing.a.value }\n'


def write(root: Path, text: str) -> None:
    (root / "main.flare.hcl").write_text(text)


def run(root: Path, *words: str, code: int = 0, **environment: str) -> Ended:
    done = flareiac(root, *words, **environment)
    assert done.code == code, done.text
    return done


def values(root: Path) -> dict[str, str]:
    return {
        path.stem: json.loads(path.read_text())["attributes"]["value"]
        for path in sorted((root / ".toy").glob("*.json"))
    }


def drifted(root: Path, name: str) -> None:
    path = root / ".toy" / f"{name}.json"
    path.write_text(path.read_text().replace(f'"value": "{name}"', '"value": "drifted"'))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A changed and a missing thing, a changed thing that a rule ignores, and pending changes of the files:
    a changed value, a new thing, a thing without its block and another output.
    """
    write(tmp_path, FOUR + OUTPUT)
    run(tmp_path, "apply", "-auto-approve")
    drifted(tmp_path, "a")
    (tmp_path / ".toy" / "b.json").unlink()
    drifted(tmp_path, "d")
    rule = 'flareiac {\n  drift_ignore {\n    address = "thing.d"\n    reason = "known"\n  }\n}\n'
    edited = FOUR.replace('value = "a"', 'value = "pending"').replace('thing "c" { value = "c" }\n', "")
    write(tmp_path, rule + edited + 'thing "new" {}\n' + OUTPUT.replace("said", "other"))
    return tmp_path


def test_what_drifted_comes_back_and_nothing_else_changes(root: Path) -> None:
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    made = run(root, "drift", "-remediate", "-out=fix.json", code=3)
    after = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    assert after.keys() - before.keys() <= {root / "fix.json"}
    assert {path: after[path] for path in before} == before
    text = " ".join(made.text.split())
    assert "This plan is partial: it brings back what drifted" in text
    assert "flareiac apply fix.json" in text
    assert (
        "Left out: changes of the configuration that were not applied yet: thing.c, thing.d, thing.new."
        in text
    )
    assert "Left out: what drift_ignore blocks name: thing.d." in text
    run(root, "apply", "fix.json")
    assert values(root) == {"a": "a", "b": "b", "c": "c", "d": "drifted"}
    assert run(root, "output", "-json").out.count("said") == 1
    assert run(root, "drift").code == 0
    assert run(root, "drift", "-remediate").code == 0
    state = json.loads(run(root, "state", "pull").out)
    assert state["serial"] == 2
    pending = run(root, "plan", "-detailed-exitcode", code=2)
    assert "thing.new" in pending.out
    assert "thing.c" in pending.out
    assert run(root, "apply", "fix.json", code=6).code == 6


def test_its_json_says_that_it_is_not_complete(root: Path) -> None:
    run(root, "drift", "-remediate", "-out=fix.json", code=3)
    shown = json.loads(run(root, "show", "-json", "fix.json").out)
    assert shown["complete"] is False
    assert "it brings back what drifted" in run(root, "show", "fix.json").out
    lines = [json.loads(line) for line in run(root, "drift", "-remediate", "-json", code=3).out.splitlines()]
    planned = [line["change"]["resource"]["addr"] for line in lines if line["type"] == "planned_change"]
    assert sorted(planned) == ["thing.a", "thing.b"]


def test_it_is_stale_when_the_world_moved(root: Path) -> None:
    run(root, "drift", "-remediate", "-out=fix.json", code=3)
    path = root / ".toy" / "a.json"
    path.write_text(path.read_text().replace("drifted", "again"))
    run(root, "apply", "fix.json", code=6)
    assert values(root)["a"] == "again"


def test_what_no_file_declares_any_more_comes_back_too(tmp_path: Path) -> None:
    write(tmp_path, FOUR)
    run(tmp_path, "apply", "-auto-approve")
    drifted(tmp_path, "c")
    write(tmp_path, FOUR.replace('thing "c" { value = "c" }\n', ""))
    run(tmp_path, "drift", "-remediate", "-out=fix.json", code=3)
    run(tmp_path, "apply", "fix.json")
    assert values(tmp_path)["c"] == "c"


def test_rules_of_the_team_apply_to_it(tmp_path: Path) -> None:
    write(tmp_path, FOUR)
    run(tmp_path, "apply", "-auto-approve")
    drifted(tmp_path, "a")
    rule = 'policy "still" {\n  rule "no_change" {\n    condition = length(plan.changes) == 0\n'
    write(
        tmp_path,
        FOUR + rule + '    enforcement = "mandatory"\n    message   = "Nothing may change."\n  }\n}\n',
    )
    assert "Nothing may change." in run(tmp_path, "drift", "-remediate", code=4).text


def test_a_protected_workspace_takes_it_from_a_file(tmp_path: Path) -> None:
    write(tmp_path, 'flareiac {\n  workspace "default" { protected = true }\n}\n' + FOUR)
    run(tmp_path, "plan", "-out=p.json")
    run(tmp_path, "apply", "p.json")
    drifted(tmp_path, "a")
    run(tmp_path, "plan", "-target=thing.a", "-out=part.json")
    run(tmp_path, "apply", "part.json", code=1)
    run(tmp_path, "drift", "-remediate", "-out=fix.json", code=3)
    run(tmp_path, "apply", "fix.json")
    assert values(tmp_path)["a"] == "a"
    run(tmp_path, "apply", "-auto-approve", code=1)


def test_while_another_command_is_at_work_no_plan_is_made(root: Path) -> None:
    store = LocalBackend().open({}, root=str(root), workspace="default", environment={})
    lease = store.lock("apply", timeout=0, on_wait=ignore_wait)
    try:
        run(root, "drift", "-remediate", "-out=fix.json", code=5)
    finally:
        lease.release()
    assert not (root / "fix.json").exists()


@pytest.mark.parametrize(
    "words", [("-out=fix.json",), ("-remediate", "-format=junit"), ("-remediate", "-format=markdown")]
)
def test_options_that_exclude_each_other(tmp_path: Path, words: tuple[str, ...]) -> None:
    write(tmp_path, FOUR)
    done = run(tmp_path, "drift", *words, code=64)
    assert "-remediate" in done.err
