"""terraform-compliance, checkov, conftest, readtheplan, tfsumpy, tofui, tf-peek and tf-summarize read every
kind of plan, unchanged, and say of each resource what happens to it. SARIF is what its schema says.

Installs them in an environment of its own, from PyPI, npm and Go's module proxy, so only when
FLAREIAC_TEST_READERS is set: to ``1``, or to a directory that keeps what was installed. README.md says which
of them cannot be installed everywhere, and what one of them does not know.
"""

import html
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft4Validator

from flareiac.app.discovery import installed
from flareiac.render.plan_json import plan_json
from tests.golden.case import CASES, name_of, read_case
from tests.golden.outputs import outcome
from tests.iceberg.discovery.shapes import catalog_of, make_lake
from tests.support.command_line import flareiac

WANTED = os.environ.get("FLAREIAC_TEST_READERS", "")
PYTHON = {
    "terraform-compliance": "terraform-compliance==1.16.0",
    "checkov": "checkov==3.3.30",
    "readtheplan": "readtheplan==0.4.0",
    "tfsumpy": "tfsumpy==0.2.1",
    "tofui": "tofui==2.0.0",
    "tf-peek": "tf-peek==1.3.0",
}
SARIF = "@microsoft/jest-sarif@1.0.0-beta.0"
"""It brings the schema of SARIF 2.1.0; its scripts are not run."""
GO = {
    "tf-summarize": "github.com/dineshba/tf-summarize@v0.3.14",
    "conftest": "github.com/open-policy-agent/conftest@v0.71.1",
}
pytestmark = pytest.mark.skipif(not WANTED, reason="set FLAREIAC_TEST_READERS to install what reads plans")

VALUE = "hunter2"
BASE = """
variable "word" {
  default   = "hunter2"
  sensitive = true
}
catalog "lake" {}
namespace "web" {}
table "t" {
  namespace = namespace.web.name
  column "id" { type = "int" }
}
output "word" {
  value     = var.word
  sensitive = true
}
"""
MORE = """
table "u" {
  namespace  = namespace.web.name
  on_destroy = "drop"
  column "id" { type = "int" }
}
table "each" {
  for_each  = toset(["eu", "us"])
  namespace = namespace.web.name
  name      = "each_${each.key}"
  column "id" { type = "int" }
}
"""
DATA = """
data "table" "raw" {
  namespace = "sales"
  name      = "events"
}
stream "raw" {
  table { table = data.table.raw }
}
checkpoint "copy" {}
job "copy" {
  checkpoint = checkpoint.copy
  input "raw" { stream = stream.raw }
  step "copy" { sql = "SELECT CAST(id AS INT) AS id FROM raw" }
  output "t" { table = table.t }
}
"""
IMPORT = """
import {
  to = table.events
  id = "lake.sales.events"
}
table "events" {
  namespace = "sales"
  column "id"     { type = "long not null" }
  column "ts"     { type = "timestamptz" }
  column "region" { type = "string" }
}
"""
PLANS = {
    "create": BASE + MORE,
    "nothing": BASE + MORE,
    "data": BASE + MORE + DATA,
    "import": BASE + MORE + IMPORT,
    "widen": (BASE + MORE).replace('"int"', '"long"'),
    "change": BASE + MORE + 'namespace "v" {}\n',
    "lose": BASE + MORE.replace('"id" { type = "int" }', '"other" { type = "int" }'),
    "forget": MORE + 'catalog "lake" {}\nnamespace "web" {}\n',
    "delete": BASE,
    "drift": BASE + MORE,
}
RULES = """
policy "p" {
  rule "owner" { use = "owner_required" }
  rule "named" {
    condition = change.name != "t"
    message   = "no t"
    exception {
      reason  = "later"
      expires = "2999-01-01"
    }
  }
}
"""
POLICY = """package main
import rego.v1

deny contains msg if {
  some item in input.resource_changes
  "delete" in item.change.actions
  msg := item.address
}
"""
FEATURE = """Feature: f
  Scenario: tables keep their name
    Given I have table defined
    Then it must have name
"""
CHECK = """metadata:
  id: CKV2_FLAREIAC_1
  name: A table is retained
  category: GENERAL_SECURITY
definition:
  cond_type: attribute
  resource_types: [table]
  attribute: on_destroy
  operator: equals
  value: retain
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which the tools are installed."""
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
        install = ["go", "install", GO[name]]
        done = subprocess.run(
            install, capture_output=True, text=True, check=False, env={**os.environ, "GOBIN": str(place)}
        )
        if done.returncode:
            pytest.skip(f"{GO[name]} cannot be installed here: {done.stderr.strip().rpartition(': ')[2]}")
    return str(program)


@pytest.fixture(scope="module")
def plans(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Plans of a project as ``show -json`` writes them, and one golden case for each other set of things that
    can happen.
    """
    root = tmp_path_factory.mktemp("plans")
    make_lake(root)
    found: dict[str, Path] = {}
    for name, text in PLANS.items():
        (root / "main.flare.hcl").write_text(text, encoding="utf-8")
        if name == "drift":
            _alter(root)
        found[name] = _shown(root, name)
        if name == "create":
            assert flareiac(root, "apply", f"{name}.plan").code == 0
    found["destroy"] = _shown(root, "destroy", "-destroy")
    return {**found, **_golden(root, {_shape(path) for path in found.values()})}


def _shown(root: Path, name: str, *words: str) -> Path:
    made = flareiac(root, "plan", *words, f"-out={name}.plan")
    assert made.code == 0, made.text
    path = root / f"{name}.json"
    path.write_text(flareiac(root, "show", "-json", f"{name}.plan").out, encoding="utf-8")
    return path


def _alter(root: Path) -> None:
    """Somebody else changes one table and drops another."""
    catalog = catalog_of(root)
    with catalog.load_table(("web", "t")).update_schema() as update:
        update.rename_column("id", "key")
    catalog.drop_table(("web", "each_eu"))
    catalog.close()


def _golden(root: Path, known: set[frozenset[tuple[str, ...]]]) -> dict[str, Path]:
    schemas = {name: kind.schema for name, kind in installed().registry.types.items()}
    found: dict[str, Path] = {}
    for case in CASES:
        name = name_of(case)
        folder = root / name
        folder.mkdir(parents=True)
        _, made = outcome(read_case(case), folder)
        if made is None:
            continue
        path = root / f"{name}.json"
        path.write_text(json.dumps(plan_json(made, tool_version="0.0.0", schemas=schemas)), encoding="utf-8")
        if _shape(path) not in known:
            known.add(_shape(path))
            found[f"golden {name}"] = path
    return found


def _shape(plan: Path) -> frozenset[tuple[str, ...]]:
    """The actions on resources, and the parts beside them."""
    changes = _read(plan)["resource_changes"]
    return frozenset(
        (*item["change"]["actions"], *sorted(set(item) | set(item["change"]))) for item in changes
    )


def _read(plan: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(plan.read_text(encoding="utf-8"))
    return found


def _run(
    *command: str, folder: Path | None = None, may_break: bool = False
) -> "subprocess.CompletedProcess[str]":
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False, cwd=folder)
    assert may_break or "Traceback" not in done.stdout + done.stderr, done
    return subprocess.CompletedProcess(
        done.args, done.returncode, re.sub(r"\x1b\[[0-9;]*m", "", done.stdout), done.stderr
    )


def _actions(plan: Path) -> dict[str, list[str]]:
    return {item["address"]: item["change"]["actions"] for item in _read(plan)["resource_changes"]}


def _planned(plan: Path, kind: str) -> list[dict[str, Any]]:
    return [
        item for item in _read(plan)["planned_values"]["root_module"]["resources"] if item["type"] == kind
    ]


def test_the_plans_are_what_they_are_called(plans: dict[str, Path]) -> None:
    assert set(map(tuple, _actions(plans["nothing"]).values())) == {("no-op",)}
    assert _actions(plans["data"])["job.copy"] == ["create"]
    assert {*_actions(plans["data"])} >= {"table.t", 'table.each["eu"]'}
    assert _actions(plans["widen"])["table.t"] == ["update"]
    assert _actions(plans["lose"])["table.u"] == ["delete", "create"]
    assert _actions(plans["delete"])["table.u"] == ["delete"]
    assert _actions(plans["forget"])["table.t"] == ["forget"]
    assert {item["address"] for item in _read(plans["drift"])["resource_drift"]} == {
        "table.t",
        'table.each["eu"]',
    }
    assert (
        "importing"
        in next(
            item for item in _read(plans["import"])["resource_changes"] if item["address"] == "table.events"
        )["change"]
    )
    deleted = [
        item["change"]
        for plan in plans.values()
        for item in _read(plan)["resource_changes"]
        if item["change"]["after"] is None
    ]
    assert deleted
    assert all(item["after_unknown"] == {} for item in deleted)
    hidden = [
        plan.name
        for name, plan in plans.items()
        if "golden" not in name and VALUE in plan.read_text(encoding="utf-8")
    ]
    assert hidden == []


def test_terraform_compliance(place: Path, plans: dict[str, Path], tmp_path: Path) -> None:
    (tmp_path / "x.feature").write_text(FEATURE, encoding="utf-8")
    for name, plan in plans.items():
        done = _run(_python_tool(place, "terraform-compliance"), "-p", str(plan), "-f", str(tmp_path))
        assert "1 features" in done.stdout, (name, done)
        assert done.returncode == 0, (name, done)
        ran = (
            ("1 scenarios (1 passed)",)
            if _planned(plan, "table")
            else ("1 scenarios (1 passed)", "1 scenarios (0 passed, 1 skipped)")
        )
        assert any(text in done.stdout for text in ran), (name, done)  # what is destroyed is looked at, too


def test_checkov(place: Path, plans: dict[str, Path], tmp_path: Path) -> None:
    (tmp_path / "check.yaml").write_text(CHECK, encoding="utf-8")
    for name, plan in plans.items():
        words = (
            "--framework",
            "terraform_plan",
            "-o",
            "json",
            "--compact",
            "--skip-download",
            "--external-checks-dir",
            str(tmp_path),
        )
        done = _run(_python_tool(place, "checkov"), "-f", str(plan), *words)
        assert done.returncode in (0, 1), (name, done)
        results = json.loads(done.stdout).get("results", {})
        failed = {item["resource"] for item in results.get("failed_checks", ())}
        passed = {item["resource"] for item in results.get("passed_checks", ())}
        kept = {item["address"]: item["values"]["on_destroy"] == "retain" for item in _planned(plan, "table")}
        assert failed == {address for address, retained in kept.items() if not retained}, (name, done)
        assert passed == {address for address, retained in kept.items() if retained}, (name, done)


def test_conftest(place: Path, plans: dict[str, Path], tmp_path: Path) -> None:
    (tmp_path / "deny.rego").write_text(POLICY, encoding="utf-8")
    for name, plan in plans.items():
        done = _run(_go_tool(place, "conftest"), "test", "--policy", str(tmp_path), "-o", "json", str(plan))
        denied = {item["msg"] for result in json.loads(done.stdout) for item in result.get("failures", [])}
        assert denied == {address for address, verbs in _actions(plan).items() if "delete" in verbs}, (
            name,
            done,
        )


def test_the_rego_of_the_example(place: Path, plans: dict[str, Path]) -> None:
    """Each file says what its comment says, of every kind of plan."""
    policies = Path(__file__).parents[2] / "examples" / "ci" / "policy"
    seen: set[str] = set()
    for name, plan in plans.items():
        done = _run(_go_tool(place, "conftest"), "test", "--policy", str(policies), "-o", "json", str(plan))
        [result] = json.loads(done.stdout)
        denied = {item["msg"] for item in result.get("failures", [])}
        warned = {item["msg"].partition(": ")[0] for item in result.get("warnings", [])}
        document = _read(plan)
        destroyed = {address for address, verbs in _actions(plan).items() if "delete" in verbs}
        assert warned == destroyed, (name, done)
        ownerless = {
            f"{item['address']} has no owner"
            for item in document["resource_changes"]
            if "create" in item["change"]["actions"] and "owner" not in item["change"]["flareiac"]
        }
        assert {text for text in denied if text.endswith("has no owner")} == ownerless, (name, done)
        assert any("more than 3" in text for text in denied) == (len(destroyed) > 3), (name, done)
        assert any("partial" in text for text in denied) == (not document["complete"]), (name, done)
        lost = {
            f"{item['address']}: {step['text']}, which {reader['address']} reads"
            for item in document["resource_changes"]
            for step in item["change"]["flareiac"]["steps"]
            for reader in step.get("readers", [])
            if step["effect"] == "loses data" and not reader["address"].startswith("job.")
        }
        assert {text for text in denied if text.endswith(" reads")} == lost, (name, done)
        seen |= {text.rpartition(" ")[2] for text in denied} | ({"warned"} if warned else set())
    assert seen >= {"owner", "reads", "warned"}, "no plan has what a rule is about"


def test_tf_summarize(place: Path, plans: dict[str, Path]) -> None:
    for name, plan in plans.items():
        done = _run(_go_tool(place, "tf-summarize"), str(plan))
        assert done.returncode == 0, (name, done)
        for address, verbs in _actions(plan).items():
            if verbs not in (["no-op"], ["forget"]):
                assert address in done.stdout, (name, done)


_UNCHANGED = (["no-op"],)
_WORDS: dict[tuple[str, ...], str] = {("delete", "create"): "replace"}


def _wanted(plan: Path, *, without: tuple[list[str], ...] = _UNCHANGED) -> dict[str, str]:
    """One word for what happens to each resource, as readers say it."""
    return {
        address: _WORDS.get(tuple(verbs), verbs[0])
        for address, verbs in _actions(plan).items()
        if verbs not in without
    }


def test_readtheplan(place: Path, plans: dict[str, Path]) -> None:
    for name, plan in plans.items():
        done = _run(_python_tool(place, "readtheplan"), "analyze", str(plan))
        assert done.returncode == 0, (name, done)
        rows = [line.strip("| ").split(" | ") for line in done.stdout.splitlines() if line.startswith("| ")]
        named = {cells[2]: (cells[0], re.findall("[a-z-]+", cells[1])) for cells in rows[2:]}
        assert {address: verbs for address, (_, verbs) in named.items()} == _actions(plan), (name, done)
        mild = {address for address, (risk, _) in named.items() if risk in ("safe", "review")}
        losing = {address for address, verbs in _actions(plan).items() if "delete" in verbs}
        assert not losing & mild, (name, done)


def test_tfsumpy(place: Path, plans: dict[str, Path]) -> None:
    for name, plan in plans.items():
        done = _run(_python_tool(place, "tfsumpy"), "-o", "json", "--detailed", str(plan))
        assert done.returncode == 0, (name, done)
        named = {item["identifier"]: item["action"] for item in json.loads(done.stdout)["resources"]}
        assert named == _wanted(plan), (name, done)


def test_tofui(place: Path, plans: dict[str, Path], tmp_path: Path) -> None:
    """It leaves out what is forgotten, and lists outputs among the resources."""
    for number, (name, plan) in enumerate(plans.items()):
        words = (str(plan), "--build-name", f"plan{number}")
        done = _run(_python_tool(place, "tofui"), *words, folder=tmp_path)
        assert done.returncode == 0, (name, done)
        page = (tmp_path / f"plan{number}.html").read_text(encoding="utf-8")
        named = re.findall(r'data-action="([^"]+)" data-address="([^"]+)"', page)
        wanted = _wanted(plan, without=(*_UNCHANGED, ["forget"]))
        changes = {
            html.unescape(address): action
            for action, address in named
            if action != "no-op" and not address.startswith("output_")
        }
        assert changes == wanted, (name, named)
        assert VALUE not in page


def test_tf_peek(place: Path, plans: dict[str, Path]) -> None:
    """It does not know forget, of Terraform's plans either, and ends there."""
    ended = 0
    for name, plan in plans.items():
        wanted = _wanted(plan)
        done = _run(_python_tool(place, "tf-peek"), str(plan), may_break="forget" in wanted.values())
        if "forget" in wanted.values():
            ended += 1
            assert "KeyError: 'forget'" in re.sub(r"\s+", " ", done.stdout + done.stderr), (name, done)
            continue
        assert done.returncode == 0, (name, done)
        named: dict[str, str] = {}
        section = ""
        for line in done.stdout.partition("Resource Details")[2].splitlines():
            if heading := re.match(r"### \S+ (\w+)", line):
                section = heading[1].lower()
            elif address := re.fullmatch(r"\*`(.+)`\*", line):
                named[address[1]] = section
        assert named == wanted, (name, done)
        assert VALUE not in done.stdout
    assert 0 < ended < len(plans)


@pytest.fixture(scope="module")
def sarif_schema(place: Path) -> dict[str, Any]:
    path = place / "node_modules" / "@microsoft" / "jest-sarif" / "lib" / "schemas" / "sarif-2.1.0-rtm.5.json"
    if not path.exists():
        if shutil.which("npm") is None:
            pytest.skip("there is no npm")
        install = ["npm", "install", "--no-save", "--ignore-scripts", "--prefix", str(place), SARIF]
        subprocess.run(install, check=True, capture_output=True)
    return _read(path)


def test_sarif_is_what_its_schema_says(sarif_schema: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "main.flare.hcl").write_text(
        BASE + 'table "t" {}\ntable "x" { colour = "red" }\nvariable "y" {}\n', encoding="utf-8"
    )
    documents = {"validate": flareiac(tmp_path, "validate", "-sarif").out}
    (tmp_path / "main.flare.hcl").write_text(BASE + RULES, encoding="utf-8")
    documents["nothing"] = flareiac(tmp_path, "validate", "-sarif").out
    flareiac(tmp_path, "plan", "-out=saved.plan")
    documents["policy"] = flareiac(tmp_path, "policy", "check", "-format=sarif", "saved.plan").out
    for name, text in documents.items():
        document = json.loads(text)
        assert bool(document["runs"][0]["results"]) == (name != "nothing"), name
        errors = Draft4Validator(sarif_schema).iter_errors(document)
        assert [f"{error.json_path}: {error.message}" for error in errors] == [], name
