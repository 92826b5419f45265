"""Each document that a command prints with ``-json`` fits its schema, and each such command has one."""

import json
import subprocess
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from flareiac.app.provided_commands import provided_commands
from flareiac.cli.command_tree import CORE, LazyCommand
from flareiac.sdk.commands import Command, Commands, Group
from tests.formats.documents import PRINTED, Document
from tests.formats.printed_checks import check_lines, check_printed
from tests.iceberg.discovery.shapes import catalog_of
from tests.support.command_line import arguments, environment, flareiac

PROJECT = """
flareiac {
  owner = { name = "team", contact = "#team" }
  drift_ignore {
    address   = "table.u"
    attribute = "comment"
    reason    = "known"
    expires   = "2999-01-01"
  }
}
variable "word" { default = "w" }
catalog "lake" {}
namespace "web" {}
table "t" {
  namespace = namespace.web.name
  column "id" { type = "int" }
  compaction {}
}
table "u" {
  namespace  = namespace.web.name
  comment    = "u"
  on_destroy = "drop"
  column "id" { type = "int" }
}
table "each" {
  for_each  = toset(["eu", "us"])
  namespace = namespace.web.name
  name      = "each_${each.key}"
  column "id" { type = "int" }
}
checkpoint "c" {}
consumer "board" {
  reads = [table.t]
  sla   = { max_age = "1h" }
}
output "id" { value = table.t.uuid }
output "list" { value = [1, { a = var.word }] }
policy "p" {
  enforcement = "advisory"
  rule "owner" { use = "owner_required" }
  rule "destroys" {
    use = "destructive_change"
    exception {
      reason  = "test"
      expires = "2999-01-01"
    }
  }
  rule "names" {
    condition = change.name != "t"
    message   = "no t"
  }
}
"""
CHANGED = PROJECT.replace(
    'column "id" { type = "int" }\n  compaction', 'column "id" { type = "long" }\n  compaction'
).replace(
    'on_destroy = "drop"\n  column "id" { type = "int" }',
    'on_destroy = "drop"\n  column "other" { type = "int" }',
)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project that was applied twice; its last apply printed lines."""
    folder = tmp_path_factory.mktemp("printed")
    (folder / "main.flare.hcl").write_text(PROJECT, encoding="utf-8")
    check_lines("ui", flareiac(folder, "plan", "-json").out)
    check_lines("ui", flareiac(folder, "apply", "-json", "-auto-approve").out)
    return folder


def _printed(root: Path, *words: str) -> str:
    done = flareiac(root, *words)
    assert done.out, done.text
    return done.out


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("status", "status -json"),
        ("output", "output -json"),
        ("show-state", "show -json"),
        ("state-list", "state list -json"),
        ("state-show", "state show -json table.t"),
        ("state-show", "state show -json checkpoint.c"),
        ("state-history", "state history -json"),
        ("lock-status", "lock status -json"),
        ("workspace-list", "workspace list -json"),
        ("version", "version -json"),
        ("explain", "explain -json"),
        ("explain", "explain -json table.column"),
        ("table-snapshots", "table snapshots -json table.t"),
        ("checkpoint-show", "checkpoint show -json checkpoint.c"),
        ("validate", "validate -json"),
        ("graph", "graph -format=json"),
        ("graph", "graph -lineage -format=json"),
        ("doctor", "doctor -json"),
        ("failure", "state show -json table.nothing"),
        ("failure", "show -json nothing.plan"),
        ("failure", "status -json -nothing"),
    ],
)
def test_a_document_fits(root: Path, name: str, words: str) -> None:
    check_printed(name, _printed(root, *words.split()))


def test_lines_of_the_console_fit(root: Path) -> None:
    asked = "table.t\n1 +\n[sensitive(1), table.each]\ntype(1)\n\n"
    done = subprocess.run(
        arguments("console", "-json"),
        cwd=root,
        env=environment(),
        input=asked,
        capture_output=True,
        text=True,
    )
    check_lines("console", done.stdout)
    assert [sorted(json.loads(line)) for line in done.stdout.splitlines()] == [
        ["type", "value"],
        ["error"],
        ["sensitive", "type", "value"],
        ["type", "value"],
        ["error"],
    ]


def test_plans_fit(root: Path) -> None:
    (root / "main.flare.hcl").write_text(CHANGED, encoding="utf-8")
    lines = _printed(root, "plan", "-json", "-out=changed.plan", "-json-into=changed.json")
    check_lines("ui", lines)
    assert {"planned_change", "policy"} <= {json.loads(line)["type"] for line in lines.splitlines()}
    check_printed("show-plan", (root / "changed.json").read_text(encoding="utf-8"))
    check_printed("show-plan", _printed(root, "show", "-json", "changed.plan"))
    check_printed("report", _printed(root, "report", "-format=json", "changed.plan"))
    check_printed("why", _printed(root, "why", "-json", "-plan=changed.plan", "*"))
    check_printed("policy-check", _printed(root, "policy", "check", "-format=json", "changed.plan"))
    check_lines("ui", _printed(root, "plan", "-json", "-destroy"))


def test_a_wrong_configuration_fits(tmp_path: Path) -> None:
    (tmp_path / "main.flare.hcl").write_text('table "t" { colour = 1 }\ntable "t" {}\n', encoding="utf-8")
    for words in (["validate", "-json"], ["validate", "-json", "-nothing"]):
        text = _printed(tmp_path, *words)
        check_printed("validate", text)
        assert json.loads(text)["error_count"] >= 1
    check_lines("ui", _printed(tmp_path, "plan", "-json"))
    check_lines("ui", _printed(tmp_path, "apply", "-json", "-nothing"))


def test_drift_fits(root: Path) -> None:
    (root / "main.flare.hcl").write_text(PROJECT, encoding="utf-8")
    catalog = catalog_of(root)
    with catalog.load_table(("web", "t")).update_schema() as update:
        update.rename_column("id", "key")
    with catalog.load_table(("web", "u")).transaction() as change:
        change.set_properties(comment="other")
    catalog.drop_table(("web", "each_eu"))
    catalog.close()
    lines = _printed(root, "drift", "-json")
    check_lines("drift", lines)
    assert {json.loads(line)["type"] for line in lines.splitlines()} >= {
        "version",
        "resource_drift",
        "drift_ignored",
        "drift_summary",
    }
    check_lines("ui", _printed(root, "plan", "-json"))


def _commands(commands: Commands, before: str = "") -> Iterator[tuple[str, Command]]:
    for word, command in commands.items():
        if isinstance(command, Group):
            yield from _commands(command.commands, f"{word} ")
        else:
            yield f"{before}{word}", command


def _prints_json(name: str, command: Command) -> bool:
    """Returns True if the command takes -json, or json as a -format."""
    loaded: Any = LazyCommand(name, command, object).loaded()  # typer says of no option what it may be
    for option in loaded.params:
        if "--json" in option.opts:
            return True
        choices = typing.get_args(option.type_descriptor.annotation) if "--format" in option.opts else ()
        flat = [each for choice in choices for each in (choice, *typing.get_args(choice))]
        if "json" in flat:
            return True
    return False


def test_every_command_that_prints_json_has_a_schema() -> None:
    """``schema`` prints schemas themselves."""
    commands = dict(_commands({**CORE, **provided_commands()}))
    printing = {words for words, command in commands.items() if _prints_json(words, command)}
    described = {words for document in PRINTED for words in document.prints}
    assert printing - {"schema"} == described - {"every command"}


@pytest.mark.parametrize("document", PRINTED, ids=lambda document: document.name)
def test_what_a_schema_does_not_name_does_not_fit(document: Document) -> None:
    Draft202012Validator.check_schema(document.schema())
    with pytest.raises(AssertionError):
        check_printed(document.name, {"colour": 1})
