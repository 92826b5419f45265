"""terraform-compliance, checkov, conftest and tf-summarize read every kind of plan, unchanged.

Installs them in an environment of its own, from PyPI and Go's module proxy, so only when FLAREIAC_TEST_READERS is set: to ``1``, or to a
directory that keeps what was installed.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.command_line import flareiac

WANTED = os.environ.get("FLAREIAC_TEST_READERS", "")
PYTHON = {"terraform-compliance": "terraform-compliance==1.16.0", "checkov": "checkov"}
GO = {
    "tf-summarize": "github.com/dineshba/tf-summarize@v0.3.14",
    "conftest": "github.com/open-policy-agent/conftest@v0.71.1",
}
pytestmark = pytest.mark.skipif(not WANTED, reason="set FLAREIAC_TEST_READERS to install what reads plans")

BASE = 'namespace "web" {}\ntable "t" {\n  namespace = namespace.web.name\n  column "id" { type = "int" }\n}\n'
MORE = 'table "u" {\n  namespace = namespace.web.name\n  column "id" { type = "int" }\n  on_destroy = "drop"\n}\n'
FEATURE = "Feature: f\n  Scenario: s\n    Given I have table defined\n    Then it must have column\n"
POLICY = """package main
import rego.v1

deny contains msg if {
  some item in input.resource_changes
  "delete" in item.change.actions
  msg := item.address
}
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the tools are installed."""
    found = tmp_path_factory.mktemp("readers") if WANTED == "1" else Path(WANTED).resolve()
    found.mkdir(parents=True, exist_ok=True)
    return found


def _python_tool(place: Path, name: str) -> str:
    program = place / name / "bin" / name
    if not program.exists():
        subprocess.run([sys.executable, "-m", "venv", str(place / name)], check=True)
        subprocess.run([str(place / name / "bin" / "pip"), "install", "-q", PYTHON[name]], check=True)
    return str(program)


def _go_tool(place: Path, name: str) -> str:
    program = place / name
    if not program.exists():
        if shutil.which("go") is None:
            pytest.skip("there is no go")
        if subprocess.run(["go", "install", GO[name]], check=False, env={**os.environ, "GOBIN": str(place)}).returncode:
            pytest.skip(f"{GO[name]} cannot be installed here")
    return str(program)


@pytest.fixture(scope="module")
def plans(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Plans that create, change, widen, lose, destroy and do nothing, as ``show -json`` writes them."""
    root = tmp_path_factory.mktemp("plans")
    texts = {
        "create": BASE + MORE,
        "nothing": BASE + MORE,
        "widen": (BASE + MORE).replace('"int"', '"long"'),
        "change": BASE + MORE + 'namespace "v" {}\n',
        "lose": BASE + MORE.replace('"id" { type = "int" }', '"other" { type = "int" }'),
        "forget": MORE + 'namespace "web" {}\n',
        "delete": BASE,
    }
    found: dict[str, Path] = {}
    for name, text in texts.items():
        (root / "main.flare.hcl").write_text(text, encoding="utf-8")
        assert flareiac(root, "plan", f"-out={name}.plan").code == 0
        found[name] = root / f"{name}.json"
        found[name].write_text(flareiac(root, "show", "-json", f"{name}.plan").out, encoding="utf-8")
        if name == "create":
            assert flareiac(root, "apply", f"{name}.plan").code == 0
    (root / "main.flare.hcl").write_text(BASE + MORE, encoding="utf-8")
    assert flareiac(root, "plan", "-destroy", "-out=destroy.plan").code == 0
    found["destroy"] = root / "destroy.json"
    found["destroy"].write_text(flareiac(root, "show", "-json", "destroy.plan").out, encoding="utf-8")
    return found


def _run(*command: str) -> "subprocess.CompletedProcess[str]":
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert "Traceback" not in done.stdout + done.stderr, done
    return done


def _actions(plan: Path) -> dict[str, list[str]]:
    return {item["address"]: item["change"]["actions"] for item in json.loads(plan.read_text(encoding="utf-8"))["resource_changes"]}


def test_the_plans_are_what_they_are_called(plans: dict[str, Path]) -> None:
    assert _actions(plans["widen"])["table.t"] == ["update"]
    assert _actions(plans["lose"])["table.u"] == ["delete", "create"]
    assert _actions(plans["delete"])["table.u"] == ["delete"]
    assert _actions(plans["forget"])["table.t"] == ["forget"]


def test_terraform_compliance(place: Path, plans: dict[str, Path], tmp_path: Path) -> None:
    (tmp_path / "x.feature").write_text(FEATURE, encoding="utf-8")
    for name, plan in plans.items():
        done = _run(_python_tool(place, "terraform-compliance"), "-p", str(plan), "-f", str(tmp_path))
        assert "1 features" in done.stdout, (name, done)


def test_checkov(place: Path, plans: dict[str, Path]) -> None:
    for name, plan in plans.items():
        done = _run(_python_tool(place, "checkov"), "-f", str(plan), "--framework", "terraform_plan", "-o", "json", "--compact")
        assert done.returncode in (0, 1), (name, done)
        json.loads(done.stdout)


def test_conftest(place: Path, plans: dict[str, Path], tmp_path: Path) -> None:
    (tmp_path / "deny.rego").write_text(POLICY, encoding="utf-8")
    for name, plan in plans.items():
        done = _run(_go_tool(place, "conftest"), "test", "--policy", str(tmp_path), "-o", "json", str(plan))
        denied = {item["msg"] for result in json.loads(done.stdout) for item in result.get("failures", [])}
        assert denied == {address for address, verbs in _actions(plan).items() if "delete" in verbs}, (name, done)


def test_tf_summarize(place: Path, plans: dict[str, Path]) -> None:
    for name, plan in plans.items():
        done = _run(_go_tool(place, "tf-summarize"), str(plan))
        assert done.returncode == 0, (name, done)
        for address, verbs in _actions(plan).items():
            if verbs not in (["no-op"], ["forget"]):
                assert address in done.stdout, (name, done)
