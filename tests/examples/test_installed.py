"""The program as its pages say to install it, used away from its source with nothing in the user's home."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.docs.fences import fences
from tests.docs.pages import DOCS
from tests.examples.depends import ROOT
from tests.examples.play import as_user, environment_of

pytestmark = pytest.mark.jvm

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def installed(environments: Path) -> Path:
    """The folder of the program ``flareiac``, installed by ``pip install '.[spark]'`` in this tree."""
    venv = environment_of([], environments)
    script = f'set -euo pipefail; source tests/setup/machine.sh; user_environment "{venv}"'
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=ROOT,
        env=as_user(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return venv / "bin"


@pytest.fixture
def run(installed: Path, tmp_path: Path, java_home: Path) -> Run:
    """Runs a program in a folder below an empty one; its exit code must be 0."""
    (tmp_path / "home").mkdir()
    user = as_user()
    environment = {
        "PATH": f"{installed}{os.pathsep}{user['PATH']}",
        "HOME": str(tmp_path / "home"),
        "JAVA_HOME": str(java_home),
        "LC_ALL": "C.UTF-8",
    }

    def run(*words: str, code: int = 0, folder: str = "") -> "subprocess.CompletedProcess[str]":
        done = subprocess.run(
            words,
            cwd=tmp_path / folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done

    return run


def test_the_program_is_the_one_of_the_wheel(run: Run, installed: Path) -> None:
    where = run("python", "-c", "import flareiac, flareiac_spark as s; print(flareiac.__file__, s.__file__)")
    for path in where.stdout.split():
        assert Path(path).is_relative_to(installed.parent)
    names = run("python", "-m", "pip", "list", "--format=freeze").stdout.lower()
    assert "pyspark==" in names
    assert not {"sqlalchemy", "pytest"} & {line.partition("==")[0] for line in names.splitlines()}


def test_a_first_table_as_the_start_page_says(run: Run, tmp_path: Path) -> None:
    first = next(fence for fence in fences(DOCS / "start.md") if fence.argument == "main.flare.hcl")
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "main.flare.hcl").write_text(first.text, encoding="utf-8")
    assert "FlareIaC is initialised here." in run("flareiac", "init", folder="own").stdout
    assert "Plan: 1 to add" in run("flareiac", "plan", folder="own").stdout
    assert "Resources: 1 added" in run("flareiac", "apply", "-auto-approve", folder="own").stdout
    assert "No changes." in run("flareiac", "plan", "-detailed-exitcode", folder="own").stdout


def test_new_writes_a_project_that_is_valid(run: Run, tmp_path: Path) -> None:
    run("flareiac", "new", "first")
    assert "Success!" in run("flareiac", "validate", folder="first").stdout
    assert "Plan: 3 to add" in run("flareiac", "plan", folder="first").stdout
    assert sorted(path.name for path in (tmp_path / "first").iterdir() if path.is_file()) == [
        ".gitignore",
        "main.flare.hcl",
    ]


def test_pages_and_references_are_in_it(run: Run) -> None:
    for name in ("start", "recovery", "table.partition_by", "job", "topic", "secret", "FIK902", "upper"):
        assert len(run("flareiac", "explain", name).stdout.splitlines()) > 2, name
