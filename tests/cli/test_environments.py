"""Two environments and one remote state, as a user meets them: a plan of one moves nothing of the other."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from tests.state.remote_places import s3_block, s3_server
from tests.support.command_line import Ended, flareiac

_LAKE: Final = """
variable "env" {{ type = string }}
variable "password" {{
  type      = string
  sensitive = true
  default   = "correct horse"
}}
catalog "lake" {{
  uri       = "sqlite:///{top}/catalog.db"
  warehouse = "{top}/warehouse"
}}
table "orders" {{
  catalog   = catalog.lake
  namespace = "site_${{var.env}}"
  column "id" {{ type = "long" }}
}}
"""


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    with s3_server() as address:
        yield address


def run(root: Path, *words: str, code: int = 0, **variables: str) -> Ended:
    done = flareiac(root, *words, **variables)
    assert done.code == code, done.text
    return done


def environments(repository: Path, backend: str, lake: Path) -> tuple[Path, Path]:
    """The folders of two environments in a repository, with links to one shared file."""
    (repository / "shared").mkdir(parents=True)
    text = f"flareiac {{\n  {backend}\n}}\n" + _LAKE.format(top=lake)
    (repository / "shared" / "lake.flare.hcl").write_text(text)
    for env in ("dev", "prod"):
        folder = repository / "env" / env
        folder.mkdir(parents=True)
        (folder / "lake.flare.hcl").symlink_to("../../shared/lake.flare.hcl")
        (folder / "flareiac.vars.hcl").write_text(f'env = "{env}"\n')
    subprocess.run(["git", "init", "-q", repository], check=True)
    return repository / "env" / "dev", repository / "env" / "prod"


def state(root: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run(root, "state", "pull").out)
    return found


def test_the_tables_of_one_environment_are_not_moved_into_the_other(tmp_path: Path, endpoint: str) -> None:
    backend = s3_block(endpoint, "environments")
    dev, prod = environments(tmp_path / "here", backend, tmp_path)
    run(dev, "apply", "-auto-approve")
    applied = state(dev)["applied"]
    assert applied["folder"] == "env/dev"
    assert applied["variables"].keys() == {"env", "password"}
    assert "correct horse" not in json.dumps(state(dev))
    run(prod, "init")
    refused = run(prod, "plan", "-out=plan.json", "-detailed-exitcode", code=4)
    assert "folder env/dev, and this is env/prod. The variable env has" in " ".join(refused.out.split())
    run(prod, "apply", "-auto-approve", code=4)
    # Another checkout of the same folder is the same environment, wherever it lies.
    other, _ = environments(tmp_path / "there" / "deeper", backend, tmp_path)
    run(other, "plan", "-detailed-exitcode")
    shared = tmp_path / "here" / "shared" / "lake.flare.hcl"
    shared.write_text(shared.read_text().replace('"site_${var.env}"', '"web_${var.env}"'))
    run(dev, "apply", "-auto-approve")
    # A workspace of its own is the way out
    run(prod, "workspace", "new", "prod")
    run(prod, "apply", "-auto-approve")
    assert state(prod)["applied"]["folder"] == "env/prod"


def test_a_state_of_an_earlier_version_records_where_it_is_applied_from(
    tmp_path: Path, endpoint: str
) -> None:
    dev, prod = environments(tmp_path / "here", s3_block(endpoint, "earlier"), tmp_path)
    run(dev, "apply", "-auto-approve")
    old = state(dev)
    del old["applied"], old["digest"]
    (dev / "old.json").write_text(json.dumps({**old, "serial": old["serial"] + 1}))
    run(dev, "state", "push", "old.json")
    assert "No changes" in run(dev, "plan", "-detailed-exitcode").out
    assert "FIS108" not in run(prod, "plan", "-detailed-exitcode", code=2).out
    assert "No changes" in run(dev, "apply", "-auto-approve").out
    after = state(dev)
    assert after["applied"]["folder"] == "env/dev"
    assert "No changes" in run(dev, "apply", "-auto-approve").out
    assert state(dev) == after
    assert "FIS108" in run(prod, "plan", "-detailed-exitcode", code=4).out


def test_a_local_state_moves_with_its_folder(tmp_path: Path) -> None:
    dev, _ = environments(tmp_path / "here", 'backend "local" {}', tmp_path)
    run(dev, "apply", "-auto-approve")
    moved = dev.rename(dev.with_name("test"))
    shared = tmp_path / "here" / "shared" / "lake.flare.hcl"
    shared.write_text(shared.read_text().replace('"site_${var.env}"', '"web_${var.env}"'))
    run(moved, "plan", "-detailed-exitcode", code=2)
    refused = run(moved, "plan", "-var", "env=prod", "-detailed-exitcode", code=4)
    assert "FIS108" in refused.out
    (moved / "owner.flare.hcl").write_text('flareiac { state_owner = "site" }\n')
    run(moved, "apply", "-auto-approve", "-var", "env=prod")
    assert state(moved)["applied"]["owner"] == "site"


@pytest.mark.parametrize(
    "line", ["state_owner = 1", 'state_owner = ""', 'state_owner = "${var.env}"', 'state_owner = "a b"']
)
def test_a_state_owner_is_a_plain_name(tmp_path: Path, line: str) -> None:
    (tmp_path / "main.flare.hcl").write_text(f'variable "env" {{ default = "a" }}\nflareiac {{ {line} }}\n')
    refused = run(tmp_path, "plan", code=1)
    assert refused.err.count("FIS107") in (1, 2), refused.text
