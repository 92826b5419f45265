"""A protected workspace: what each command may do there, what the state keeps, and how protection ends."""

import json
from pathlib import Path

import pytest

from flareiac.app.protection import TREATMENTS, Treatment
from flareiac.app.provided_commands import provided_commands
from flareiac.cli.command_tree import CORE
from flareiac.sdk.commands import Command, Group
from tests.docs.pages import DOCS
from tests.support.command_line import flareiac

LAKE = """
catalog "lake" {
  uri       = "sqlite:///lake/catalog.db"
  warehouse = "lake/warehouse"
}
namespace "web" {}
table "orders" {
  namespace = namespace.web.name
  column "id" { type = "long" }
}
"""
PROTECTED = """
flareiac {
  workspace "def*" { protected = true }
}
"""
REVIEWED = PROTECTED.replace(
    "{ protected = true }",
    '{\n    protected = true\n    require_reviewed_plan = { approvals = "env:CI_APPROVED_BY" }\n  }',
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project whose workspace is protected, by the configuration and by its state."""
    (tmp_path / "main.flare.hcl").write_text(LAKE)
    (tmp_path / "protection.flare.hcl").write_text(PROTECTED)
    planned = flareiac(tmp_path, "plan", "-out=p.json", "-detailed-exitcode")
    assert "The workspace default becomes protected" in planned.out
    assert planned.code == 2
    assert flareiac(tmp_path, "apply", "p.json").code == 0
    return tmp_path


def _serial(root: Path) -> int:
    return int(json.loads(flareiac(root, "state", "history", "-json").out)["serial"])


def test_only_a_saved_plan_is_applied(root: Path) -> None:
    (root / "main.flare.hcl").write_text(LAKE + 'namespace "more" {}\n')
    before = _serial(root)
    for words in (("apply",), ("apply", "-auto-approve"), ("destroy", "-auto-approve")):
        refused = flareiac(root, *words)
        assert (refused.code, "FIS111" in refused.err) == (1, True), words
    assert "flareiac plan -out=plan.json" in flareiac(root, "apply", "-auto-approve").err
    for words in (
        ("plan", "-target=namespace.more"),
        ("plan", "-destroy"),
        ("plan", "-exclude=table.orders"),
    ):
        assert flareiac(root, *words, "-out=part.json").code == 0
        refused = flareiac(root, "apply", "part.json")
        assert (refused.code, "FIS111" in refused.err) == (1, True), words
    assert _serial(root) == before
    assert flareiac(root, "plan", "-out=whole.json").code == 0
    assert flareiac(root, "apply", "whole.json").code == 0
    assert flareiac(root, "maintain", "-auto-approve").code == 0


def test_others_say_why_and_the_state_keeps_it(root: Path) -> None:
    for words in (
        ("stop", "table.orders"),
        ("restart", "table.orders"),
        ("state", "mv", "table.orders", "table.other"),
        ("state", "rm", "table.orders"),
        ("state", "rollback", "1", "-auto-approve"),
        ("undrop", "table.orders"),
    ):
        refused = flareiac(root, *words)
        assert (refused.code, "FIS111" in refused.err, "-reason=" in refused.err) == (1, True, True), words
    before = _serial(root)
    assert flareiac(root, "state", "mv", "table.orders", "table.other", "-reason=T-1:  renamed\n").code == 0
    history = flareiac(root, "state", "history")
    assert "(state mv: T-1: renamed)" in history.out
    assert flareiac(root, "state", "mv", "table.other", "table.orders", "-reason=T-2").code == 0
    assert f"{before + 1}: state mv: T-1: renamed" in flareiac(root, "state", "history").out
    # The remark of a command is not that of the next one
    assert flareiac(root, "plan", "-out=p.json", "-refresh=full").code == 0
    (root / "main.flare.hcl").write_text(LAKE + 'namespace "more" {}\n')
    assert flareiac(root, "plan", "-out=p.json").code == 0
    assert flareiac(root, "apply", "p.json").code == 0
    assert "(" not in flareiac(root, "state", "history").out.partition("Kept")[0]


def test_protection_is_lifted_by_a_change_of_its_own(root: Path) -> None:
    (root / "protection.flare.hcl").unlink()
    refused = flareiac(root, "apply", "-auto-approve")
    assert (refused.code, "FIS111" in refused.err) == (1, True)
    assert flareiac(root, "state", "rm", "table.orders").code == 1
    planned = flareiac(root, "plan", "-out=p.json", "-detailed-exitcode")
    assert planned.code == 2
    assert "The workspace default is no longer protected." in planned.out
    assert "No changes." not in planned.out
    assert json.loads(flareiac(root, "show", "-json", "p.json").out)["flareiac"]["protection"] == "off"
    assert "no longer protected" in flareiac(root, "report", "p.json").out
    assert flareiac(root, "apply", "p.json").code == 0
    assert "No changes." in flareiac(root, "plan").out
    assert flareiac(root, "apply", "-auto-approve").code == 0
    assert flareiac(root, "destroy", "-auto-approve").code == 0


def test_no_state_from_elsewhere_lifts_protection(root: Path) -> None:
    (root / "protection.flare.hcl").unlink()
    state = json.loads(flareiac(root, "state", "pull").out)
    state["serial"] += 1
    state.pop("digest")
    del state["applied"]["protected"]
    (root / "state.json").write_text(json.dumps(state))
    assert flareiac(root, "state", "push", "state.json").code == 1
    assert flareiac(root, "state", "push", "state.json", "-reason=T-3").code == 0
    assert "FIS111" in flareiac(root, "apply", "-auto-approve").err


def test_who_approved_is_kept_as_a_record(root: Path) -> None:
    (root / "protection.flare.hcl").write_text(REVIEWED)
    (root / "main.flare.hcl").write_text(LAKE + 'namespace "more" {}\n')
    assert flareiac(root, "plan", "-out=p.json").code == 0
    refused = flareiac(root, "apply", "p.json")
    assert (refused.code, "FIS112" in refused.err) == (1, True)
    assert flareiac(root, "apply", "p.json", CI_APPROVED_BY="ada, grace").code == 0
    assert "(apply, approved by ada, grace)" in flareiac(root, "state", "history").out


def test_a_protected_workspace_is_not_deleted(root: Path) -> None:
    (root / "protection.flare.hcl").write_text(PROTECTED.replace("def*", "prod-*"))
    assert flareiac(root, "workspace", "new", "prod-eu").code == 0
    assert flareiac(root, "workspace", "select", "default").code == 0
    refused = flareiac(root, "workspace", "delete", "prod-eu", "-force")
    assert (refused.code, "FIS111" in refused.err) == (1, True)
    assert flareiac(root, "workspace", "new", "dev").code == 0
    assert flareiac(root, "workspace", "select", "default").code == 0
    assert flareiac(root, "workspace", "delete", "dev").code == 0


def test_an_unprotected_workspace_is_as_before(tmp_path: Path) -> None:
    (tmp_path / "main.flare.hcl").write_text(LAKE)
    (tmp_path / "protection.flare.hcl").write_text(PROTECTED.replace("def*", "prod"))
    assert flareiac(tmp_path, "apply", "-auto-approve").code == 0
    assert flareiac(tmp_path, "state", "mv", "table.orders", "table.other").code == 0
    assert "protected" not in json.loads(flareiac(tmp_path, "state", "pull").out)["applied"]


@pytest.mark.parametrize(
    "block",
    [
        'workspace "prod" {}',
        'workspace "prod" { protected = var.x }',
        'workspace "prod" { protected = "yes" }',
        "workspace { protected = true }",
        'workspace "prod" { protectd = true }',
        'workspace "prod" {\n protected = true\n require_reviewed_plan = true\n}',
        'workspace "prod" {\n protected = true\n require_reviewed_plan = { approvals = "CI" }\n}',
        'workspace "prod" {\n protected = true\n require_reviewed_plan = { approval = "env:CI" }\n}',
    ],
)
def test_bad_protection_is_an_error_and_protects_nothing_by_chance(tmp_path: Path, block: str) -> None:
    (tmp_path / "main.flare.hcl").write_text(f"{LAKE}\nflareiac {{\n{block}\n}}\n")
    for words in (("validate",), ("plan",), ("apply", "-auto-approve")):
        ended = flareiac(tmp_path, *words)
        assert ended.code == 1, words
        assert "FIS110" in ended.err or "FIL201" in ended.err or "FIC" in ended.err, ended.err


def _commands() -> dict[str, Command]:
    found: dict[str, Command] = {}
    for word, each in {**CORE, **provided_commands()}.items():
        if isinstance(each, Group):
            found |= {f"{word} {inner}": command for inner, command in each.commands.items()}
        else:
            found[word] = each
    return found


def test_the_page_lists_every_command_that_changes_something() -> None:
    page = (DOCS / "environments.md").read_text(encoding="utf-8")
    table = page.partition("## Protected workspaces")[2]
    for words, command in _commands().items():
        if not command.reads_only:
            assert f"`{words}`" in table, words
    assert set(TREATMENTS) <= set(_commands())
    assert Treatment.SAVED in TREATMENTS.values()
