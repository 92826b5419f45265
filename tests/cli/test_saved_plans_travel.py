"""A plan that is made in one checkout is applied in another one with the same backend; what differs there is
refused by name before anything is done.
"""

import json
import shutil
from pathlib import Path

import pytest

from flareiac.kernel.data import digest
from tests.support.command_line import Ended, flareiac

_MAIN = 'variable "x" { default = "1" }\nthing "a" { value = var.x }\noutput "x" { value = var.x }\n'


def checkout(folder: Path, board: str) -> Path:
    folder.mkdir()
    block = f'flareiac {{\n  backend "shelf" {{\n    board = "{board}"\n  }}\n}}\n'
    (folder / "main.flare.hcl").write_text(block + _MAIN, encoding="utf-8")
    return folder


@pytest.fixture
def planned(tmp_path: Path) -> tuple[Path, Path]:
    """A checkout with a saved plan, and another one of the same project with a copy of it."""
    first, second = checkout(tmp_path / "a", f"{tmp_path}/b"), checkout(tmp_path / "c", f"{tmp_path}/b")
    made = flareiac(first, "plan", "-out=saved.plan", "-var=x=7")
    assert made.code == 0, made.text
    shutil.copy(first / "saved.plan", second / "saved.plan")
    return first, second


def refused(root: Path, *said: str, **variables: str) -> None:
    done = flareiac(root, "apply", "saved.plan", **variables)
    assert done.code == 1, done.text
    text = " ".join(done.err.replace("│", " ").split())
    assert [item for item in said if item not in text] == [], done.text
    assert not (root / ".toy").exists()


def applied(root: Path, **variables: str) -> Ended:
    done = flareiac(root, "apply", "saved.plan", **variables)
    assert done.code == 0, done.text
    return done


def test_it_is_applied_elsewhere_with_the_values_that_it_was_made_with(planned: tuple[Path, Path]) -> None:
    first, second = planned
    assert 'x = "7"' in applied(second).out
    assert flareiac(first, "output", "-raw", "x").out.strip() == "7"
    stale = flareiac(first, "apply", "saved.plan")
    assert stale.code == 6, stale.text


def test_another_backend_is_named(planned: tuple[Path, Path], tmp_path: Path) -> None:
    _, second = planned
    text = (second / "main.flare.hcl").read_text(encoding="utf-8")
    (second / "main.flare.hcl").write_text(text.replace(f"{tmp_path}/b", f"{tmp_path}/d"), encoding="utf-8")
    refused(second, "[FIS076]", f"shelf ({tmp_path}/b/main); here the state is in shelf ({tmp_path}/d/main)")
    (second / "main.flare.hcl").write_text(_MAIN, encoding="utf-8")
    refused(second, "[FIS076]", "here the state is in local files of the checkout")


def test_another_workspace_is_named(planned: tuple[Path, Path]) -> None:
    _, second = planned
    assert flareiac(second, "workspace", "new", "dev").code == 0
    refused(second, "[FIS076]", "It was made in the workspace default; commands here work in dev")
    applied(second, FLAREIAC_WORKSPACE="default")


def test_other_variables_are_named(planned: tuple[Path, Path]) -> None:
    _, second = planned
    refused(second, "[FIS078]", "FLAREIAC_VAR_x gives the variable x another value", FLAREIAC_VAR_x="8")
    (second / "some.auto.vars.hcl").write_text('x = "8"\n', encoding="utf-8")
    refused(second, "[FIS078]", "some.auto.vars.hcl was not there when the plan was made")
    (second / "some.auto.vars.hcl").unlink()
    applied(second, FLAREIAC_VAR_x="7")


def test_other_versions_are_named(planned: tuple[Path, Path]) -> None:
    _, second = planned
    document = json.loads((second / "saved.plan").read_text(encoding="utf-8"))
    document["origin"]["versions"] |= {"flareiac": "0.0.1", "flareiac-toy": "0.9"}
    del document["digest"]
    document["digest"] = digest(document)
    (second / "saved.plan").write_text(json.dumps(document), encoding="utf-8")
    refused(second, "[FIS077]", "made with flareiac 0.0.1;", "made with flareiac-toy 0.9; here is 1.0")


def test_another_lineage_is_named(planned: tuple[Path, Path]) -> None:
    first, second = planned
    applied(first)
    made = flareiac(second, "plan", "-var=x=9", "-out=saved.plan")
    assert made.code == 0, made.text
    shutil.rmtree(second.parent / "b")
    shutil.rmtree(first / ".toy")
    (first / ".flareiac" / "backend.json").unlink(missing_ok=True)
    assert flareiac(first, "apply", "-auto-approve", "-var=x=9").code == 0
    (second / ".flareiac" / "backend.json").unlink()
    refused(second, "The plan belongs to another state [FIA001]")
