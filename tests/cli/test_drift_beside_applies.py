"""Drift while other commands are at work: it says so, and never takes what they do by half for drift."""

import threading
from pathlib import Path
from typing import Final

import pytest

from flareiac_state.local import LocalBackend
from tests.state.conformance import ignore_wait
from tests.support.command_line import flareiac

_TABLE: Final = """
catalog "lake" {{}}
namespace "n" {{ properties = {{ "a" = "{value}" }} }}
table "a" {{
  namespace  = "n"
  column "id" {{ type = "long" }}
  properties = {{ "write.x" = "{value}" }}
}}
table "b" {{
  namespace  = "n"
  column "id" {{ type = "long" }}
  properties = {{ "write.x" = "{value}" }}
}}
"""


def write(root: Path, value: int) -> None:
    """Replaces the file at once: a drift may read it meanwhile."""
    new = root / "new"
    new.write_text(_TABLE.format(value=value))
    new.rename(root / "main.flare.hcl")


@pytest.mark.parametrize("count", [5, pytest.param(100, marks=pytest.mark.slow)])
def test_no_drift_beside_an_apply_is_false(tmp_path: Path, count: int) -> None:
    write(tmp_path, 0)
    assert flareiac(tmp_path, "apply", "-auto-approve").code == 0
    applied: list[int] = []
    is_over = threading.Event()

    def apply() -> None:
        for value in range(1, count + 1):
            write(tmp_path, value)
            applied.append(flareiac(tmp_path, "apply", "-auto-approve").code)
        is_over.set()

    applies = threading.Thread(target=apply)
    applies.start()
    drifts: list[int] = []
    while len(drifts) < count or not is_over.is_set():
        done = flareiac(tmp_path, "drift", "-format=json", "-lock-timeout=1s")
        drifts.append(done.code)
        assert done.code in (0, 5), done.text
        if done.code == 5:
            assert "Drift was not looked for" in done.text
    applies.join()
    assert applied == [0] * count
    assert flareiac(tmp_path, "drift").code == 0


@pytest.mark.parametrize("form", ["text", "json", "markdown", "junit"])
def test_drift_names_the_command_at_work_in_each_format(tmp_path: Path, form: str) -> None:
    write(tmp_path, 0)
    assert flareiac(tmp_path, "apply", "-auto-approve").code == 0
    store = LocalBackend().open({}, root=str(tmp_path), workspace="default", environment={})
    lease = store.lock("maintain", timeout=0, on_wait=ignore_wait)
    try:
        done = flareiac(tmp_path, "drift", f"-format={form}")
    finally:
        lease.release()
    assert done.code == 5
    text = done.err if form == "text" else done.out
    assert "Drift was not looked for" in text
    assert "runs maintain" in " ".join(text.replace("│", " ").split())
    assert flareiac(tmp_path, "drift", f"-format={form}").code == 0


def test_a_killed_apply_is_no_drift(tmp_path: Path) -> None:
    write(tmp_path, 0)
    assert flareiac(tmp_path, "apply", "-auto-approve").code == 0
    write(tmp_path, 1)
    killed = flareiac(tmp_path, "apply", "-auto-approve", FLAREIAC_KILL_AT="apply.before-result")
    assert killed.code not in (0, 1)
    done = flareiac(tmp_path, "drift", "-lock-timeout=90s")
    assert done.code == 0, done.text
    assert "The last apply was interrupted" in done.err
