"""With -json, standard output is JSON however a command ends: a version line and a diagnostic line, or one
object.
"""

import json
import shutil
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from flareiac.app.state_place.place import installed_backend
from tests.support.command_line import Ended, flareiac

GOOD = (
    'namespace "web" {}\ntable "t" {\n  namespace = namespace.web.name\n  column "id" { type = "int" '
    '}\n}\noutput "o" { value = "x" }\n'
)
STATE = ".flareiac/state/default/snapshot.json"
LINES = ("plan", "apply", "destroy", "maintain", "drift")
COMMANDS = [
    ("validate",),
    ("plan",),
    ("plan", "-destroy"),
    ("apply", "-auto-approve"),
    ("apply", "saved.plan"),
    ("destroy", "-auto-approve"),
    ("maintain", "-auto-approve"),
    ("drift",),
    ("show",),
    ("show", "saved.plan"),
    ("output",),
    ("output", "o"),
    ("status",),
    ("state", "list"),
    ("state", "show", "table.t"),
    ("checkpoint", "show", "checkpoint.c"),
    ("table", "snapshots", "table.t"),
    ("doctor",),
]


def parsed(done: Ended, command: tuple[str, ...]) -> list[Any]:
    told = f"$ {' '.join(command)}\n{done.text}"
    assert "Traceback" not in done.text, told
    assert "FIX099" not in done.text, told
    assert done.out.strip(), told
    if command[0] not in LINES:
        return [json.loads(done.out)]
    lines = [json.loads(line) for line in done.out.splitlines()]
    assert [item["type"] for item in lines].count("version") == 1, told
    assert lines[0]["type"] == "version", told
    return lines


def complaints(found: list[Any], command: tuple[str, ...]) -> list[Any]:
    if command[0] in LINES:
        return [item["diagnostic"] for item in found if item["type"] == "diagnostic"]
    return list(found[0].get("diagnostics", [])) if isinstance(found[0], dict) else []


@contextmanager
def damaged(root: Path) -> Iterator[None]:
    content = (root / STATE).read_bytes()
    (root / STATE).write_bytes(content[: len(content) // 2])
    yield
    (root / STATE).write_bytes(content)


@contextmanager
def missing_plan(root: Path) -> Iterator[None]:
    content = (root / "saved.plan").read_bytes()
    (root / "saved.plan").unlink()
    yield
    (root / "saved.plan").write_bytes(content)


@contextmanager
def truncated_plan(root: Path) -> Iterator[None]:
    content = (root / "saved.plan").read_bytes()
    (root / "saved.plan").write_bytes(content[:-100])
    yield
    (root / "saved.plan").write_bytes(content)


@contextmanager
def bad_configuration(root: Path) -> Iterator[None]:
    (root / "bad.flare.hcl").write_text('table "x" {\n', encoding="utf-8")
    yield
    (root / "bad.flare.hcl").unlink()


@contextmanager
def locked(root: Path) -> Iterator[None]:
    lease = (
        installed_backend("local")
        .open({}, root=str(root), workspace="default", environment={})
        .lock("test", timeout=1, on_wait=print)
    )
    yield
    lease.release()


@contextmanager
def unreachable(root: Path) -> Iterator[None]:
    lake = root / ".flareiac" / "lake"
    lake.rename(root / "gone")
    yield
    shutil.rmtree(lake, ignore_errors=True)  # a saved plan of a namespace alone makes a catalog of its own
    (root / "gone").rename(lake)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project for each test alone: commands that are not stopped by the fault change it."""
    root = tmp_path
    (root / "main.flare.hcl").write_text(GOOD, encoding="utf-8")
    assert flareiac(root, "apply", "-auto-approve").code == 0
    (root / "more.flare.hcl").write_text('namespace "more" {}\n', encoding="utf-8")
    assert flareiac(root, "plan", "-out=saved.plan").code == 0
    return root


@pytest.mark.parametrize(
    "error", [damaged, missing_plan, truncated_plan, bad_configuration, locked, unreachable]
)
def test_every_command_answers_in_json(project: Path, error: Any) -> None:
    with ExitStack() as stack:
        stack.enter_context(error(project))
        for command in COMMANDS:
            if "apply" in command and error in (missing_plan, truncated_plan) and "saved.plan" not in command:
                continue  # it would change what the other commands look at
            if command[0] == "destroy" and error in (missing_plan, truncated_plan):
                continue
            done = flareiac(project, *command, "-json")
            found = parsed(done, command)
            if done.code not in (0, 2, 3, 4, 6, 8):
                assert [
                    item for item in complaints(found, command) if item["severity"] == "error"
                ] or "checks" in found[0], (command, done)


def test_a_plan_that_cannot_be_saved_is_told_all_the_same(project: Path) -> None:
    done = flareiac(project, "plan", "-json", "-out=/no/such/folder/p")
    found = parsed(done, ("plan",))
    assert done.code == 1
    kinds = [item["type"] for item in found]
    assert "change_summary" in kinds
    assert kinds[-1] == "diagnostic"
    assert found[-1]["diagnostic"]["code"] == "FIX030"


def test_what_could_not_be_looked_at_has_no_summary(project: Path) -> None:
    with unreachable(project):
        for command in ("plan", "drift"):
            done = flareiac(project, command, "-json")
            assert done.code == 1, done.text
            assert not {item["type"] for item in parsed(done, (command,))} & {
                "change_summary",
                "drift_summary",
            }
            assert "No drift. " not in flareiac(project, "drift").out


def test_wrong_usage_is_json_too(project: Path) -> None:
    for command in ("plan", "show"):
        done = flareiac(project, command, "-json", "-zzz")
        assert done.code == 64
        assert complaints(parsed(done, (command,)), (command,))[0]["code"] == "FIX029"


def test_an_apply_tells_its_outputs(tmp_path: Path) -> None:
    text = 'output "o" { value = [1] }\noutput "s" {\n  value = "hidden"\n  sensitive = true\n}\n'
    (tmp_path / "main.flare.hcl").write_text(text, encoding="utf-8")
    for _ in range(2):
        done = flareiac(tmp_path, "apply", "-auto-approve", "-json")
        last = parsed(done, ("apply",))[-1]
        assert last["type"] == "outputs"
        assert last["outputs"]["o"]["value"] == [1]
        assert last["outputs"]["s"]["value"] is None
        assert "hidden" not in done.out


def test_a_wait_for_the_lock_is_a_line_after_the_version(tmp_path: Path) -> None:
    """The lock comes free or does not; ``parsed`` looks for one version line, the first one."""
    (tmp_path / "main.flare.hcl").write_text(GOOD, encoding="utf-8")
    command = ("apply", "-json", "-auto-approve", "-lock-timeout=20s")
    assert flareiac(tmp_path, *command).code == 0
    with locked(tmp_path):
        refused = flareiac(tmp_path, *command[:3], "-lock-timeout=1s")
    assert refused.code == 5
    kinds = [line["type"] for line in parsed(refused, command)]
    assert kinds == ["version", "log", "diagnostic"]
    holder = ExitStack()
    holder.enter_context(locked(tmp_path))
    release = threading.Timer(2, holder.close)
    release.start()
    done = flareiac(tmp_path, *command)
    release.join()
    assert done.code == 0
    assert [line["type"] for line in parsed(done, command)][:2] == ["version", "log"]
