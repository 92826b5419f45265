"""``data "state"``: outputs of another project, whatever backend keeps them, read without a trace."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.state.remote_places import BUCKET, postgresql_server, s3_server
from tests.support.command_line import Ended, flareiac

LAKE: Final = """
thing "a" {
  name  = flareiac.workspace
  value = "1"
}
output "bucket" { value = "s3://lake" }
output "regions" { value = toset(["us", "eu"]) }
output "workspace" { value = flareiac.workspace }
"""
USE: Final = """
thing "b" {
  for_each = data.state.lake.outputs.regions
  name     = each.key
  value    = data.state.lake.outputs.bucket
}
output "from" { value = data.state.lake.outputs.workspace }
"""


def write(root: Path, text: str) -> None:
    root.mkdir(exist_ok=True)
    (root / "main.flare.hcl").write_text(text, encoding="utf-8")


def run(root: Path, *words: str, code: int = 0, **variables: str) -> Ended:
    done = flareiac(root, *words, **variables)
    assert done.code == code, done.text
    return done


def said(done: Ended) -> str:
    """The complaint of a command, on one line."""
    return " ".join(done.err.replace("│", " ").split())


def data(backend: str, config: str, more: str = "") -> str:
    return f'data "state" "lake" {{\n  backend = "{backend}"\n  config = {{ {config} }}\n  {more}\n}}\n'


LOCAL: Final = data("local", 'path = "../lake"')


def files(root: Path) -> dict[str, tuple[int, bytes]]:
    return {
        str(path.relative_to(root)): (path.stat().st_mtime_ns, path.read_bytes())
        for path in root.rglob("*")
        if path.is_file()
    }


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    write(tmp_path / "lake", LAKE)
    run(tmp_path / "lake", "apply", "-auto-approve")
    return tmp_path / "lake"


@pytest.fixture
def use(lake: Path) -> Path:
    write(lake.parent / "use", LOCAL + USE)
    return lake.parent / "use"


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The settings of remote backends, by kind."""
    with s3_server() as endpoint, postgresql_server(tmp_path_factory.mktemp("server")) as server:
        s3 = [f'bucket = "{BUCKET}"', 'prefix = "lake"', f'endpoint = "{endpoint}"', 'region = "us-east-1"']
        yield {
            "s3": ",".join([*s3, "path_style = true"]),
            "postgresql": f'connection = "{server.uri("postgres")}"',
        }


@pytest.mark.parametrize("kind", ["s3", "postgresql"])
def test_outputs_come_from_every_remote_backend(tmp_path: Path, servers: dict[str, str], kind: str) -> None:
    settings = servers[kind].replace(",", "\n")
    lake, use = tmp_path / "lake", tmp_path / "use"
    write(lake, f'flareiac {{\nbackend "{kind}" {{\n{settings}\n}}\n}}\n{LAKE}')
    write(use, data(kind, servers[kind], 'workspace = "prod"') + USE)
    none = run(use, "plan", code=1)
    run(lake, "init")
    run(lake, "apply", "-auto-approve")
    unknown = run(use, "plan", code=1)
    run(lake, "workspace", "new", "prod")
    run(lake, "apply", "-auto-approve")
    run(use, "apply", "-auto-approve")
    assert "There is no state of another project in this place [FIS102]" in none.err or (
        "the tables of the state do not exist" in said(none)
    )
    assert "There are the workspaces default." in said(unknown)
    assert run(use, "output", "-raw", "from").out.strip() == "prod"
    assert run(use, "state", "list").out.split() == ['thing.b["eu"]', 'thing.b["us"]']
    write(use, data(kind, servers[kind].replace("127.0.0.1", "127.0.0.2"), 'workspace = "prod"') + USE)
    assert "The state of another project cannot be reached [FIS100]" in run(use, "plan", code=1).err


def test_reading_leaves_no_trace_and_what_is_not_used_is_no_change(lake: Path, use: Path) -> None:
    before = files(lake)
    run(use, "apply", "-auto-approve")
    run(use, "drift")
    assert "data.state.lake: can be read" in flareiac(use, "doctor").out
    assert files(lake) == before
    write(lake, LAKE + 'output "more" { value = 1 }\n')
    run(lake, "apply", "-auto-approve")
    assert "No changes." in run(use, "apply", "-auto-approve").out
    write(lake, LAKE.replace("s3://lake", "s3://sea"))
    run(lake, "apply", "-auto-approve")
    changed = run(use, "plan")
    assert '~ value = "s3://lake" -> "s3://sea"' in " ".join(changed.out.split())
    assert "Plan: 0 to add, 2 to change, 0 to destroy." in changed.out
    assert "s3://sea" in run(use, "plan", "-refresh=none").out


def test_a_saved_plan_keeps_the_values_that_it_was_made_with(lake: Path, use: Path) -> None:
    write(
        use,
        LOCAL
        + USE
        + 'output "made" { value = thing.b["eu"].id }\n'
        + 'output "at" { value = data.state.lake.outputs.bucket }\n',
    )
    run(use, "plan", "-out=plan.json")
    write(lake, LAKE.replace("s3://lake", "s3://sea"))
    run(lake, "apply", "-auto-approve")
    run(use, "apply", "plan.json")
    assert run(use, "output", "-raw", "at").out.strip() == "s3://lake"
    assert "s3://lake" in run(use, "state", "show", 'thing.b["eu"]').out
    assert "Plan: 0 to add, 2 to change, 0 to destroy." in run(use, "plan").out


def test_only_who_needs_the_values_needs_the_state(lake: Path, use: Path) -> None:
    run(use, "apply", "-auto-approve")
    lake.rename(lake.with_name("away"))
    assert "Success!" in run(use, "validate").out
    plan = run(use, "plan", code=1)
    assert (plan.err.count("[FIS102]"), f"There is no folder {lake}." in said(plan)) == (1, True), plan.text
    assert "FIS102" in run(use, "doctor", code=1).err
    run(use, "destroy", "-auto-approve")
    assert run(use, "state", "list").out == ""


def test_a_state_that_cannot_be_read_is_named_with_the_reason(lake: Path, use: Path) -> None:
    snapshot = lake / ".flareiac" / "state" / "default" / "snapshot.json"
    whole = snapshot.read_text()
    newer = json.dumps(json.loads(whole) | {"format_version": 9})
    for text, why in (
        (newer, "A newer FlareIaC wrote it: use that version, or a later one."),
        (whole.replace("s3://lake", "s3://bake"), "it was edited, or damaged."),
        (whole[:100], "Restore it where that project is applied."),
    ):
        snapshot.write_text(text)
        plan = run(use, "plan", code=1)
        assert "The state of another project cannot be read [FIS101]" in plan.err
        assert why in said(plan)


def test_a_state_that_was_moved_names_its_new_place(lake: Path, use: Path, servers: dict[str, str]) -> None:
    settings = servers["s3"].replace(",", "\n").replace("lake", "moved")
    write(lake, f'flareiac {{\nbackend "s3" {{\n{settings}\n}}\n}}\n{LAKE}')
    run(lake, "init", "-migrate-state")
    moved = run(use, "plan", code=1)
    assert "The state of another project was moved [FIS103]" in moved.err
    assert f"s3 (s3://{BUCKET}/moved" in said(moved)
    (lake / ".flareiac" / "state").rename(lake / "old")
    assert f"The project of that folder keeps its state in s3 (s3://{BUCKET}/moved" in said(
        run(use, "plan", code=1)
    )


def test_an_encrypted_state_needs_its_passphrase_here(
    lake: Path, use: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(lake, 'flareiac {\nencryption { env = "LAKE_KEY" }\n}\n' + LAKE + 'output "x" { value = 1 }\n')
    monkeypatch.setenv("LAKE_KEY", "the passphrase of the lake")
    monkeypatch.setenv("OWN_KEY", "the passphrase of who uses it")
    run(lake, "apply", "-auto-approve")
    own = 'env = "OWN_KEY"'
    for encryption in ("", f"flareiac {{\nencryption {{ {own} }}\n}}\n"):
        write(use, encryption + LOCAL + USE)
        locked = run(use, "plan", code=1)
        assert "The state of another project cannot be decrypted [FIS104]" in locked.err
    theirs = 'fallback { env = "LAKE_KEY" }'
    write(use, f"flareiac {{\nencryption {{\n{own}\n{theirs}\n}}\n}}\n" + LOCAL + USE)
    run(use, "apply", "-auto-approve")
    kept = (use / ".flareiac" / "state" / "default" / "snapshot.json").read_text()
    assert "flareiac_encrypted" in kept


def test_an_apply_that_has_not_ended_hands_on_what_the_last_one_recorded(lake: Path, use: Path) -> None:
    write(lake, LAKE.replace('"1"', '"2"').replace("s3://lake", "s3://sea") + 'output "new" { value = 1 }\n')
    assert flareiac(lake, "apply", "-auto-approve", FLAREIAC_KILL_AT="toy.after-write").killed
    assert "s3://lake" in run(use, "plan").out
    write(use, LOCAL + USE + 'output "new" { value = data.state.lake.outputs.new }\n')
    assert "An apply of that project has not ended" in said(run(use, "plan", code=1))
