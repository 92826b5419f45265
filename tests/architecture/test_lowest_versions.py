"""The lowest versions that pyproject.toml allows, installed together, read configuration, plan and apply."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Final

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

from tests.docs.versions import constraints, normal

ROOT: Final = Path(__file__).parents[2]
PROJECT: Final = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
REQUIRED: Final = tuple(
    Requirement(line)
    for extra, lines in {"": PROJECT["dependencies"], **PROJECT["optional-dependencies"]}.items()
    for line in lines
    if extra != "dev" and Requirement(line).name != "flareiac" and Requirement(line).specifier
)
TESTS: Final = (
    "tests/lang",
    "tests/golden/test_golden.py",
    "tests/spark/sql",
    "tests/conformance",
    "tests/kafka",
    "tests/applying",
    "tests/state/test_encryption.py",
    "tests/iceberg/data_table/test_data_tables.py",
)


def lower_bound(requirement: Requirement) -> str:
    """The version after ``>=``."""
    (bound,) = (each.version for each in requirement.specifier if each.operator == ">=")
    return bound


@pytest.mark.parametrize("requirement", REQUIRED, ids=lambda requirement: str(requirement.name))
def test_a_dependency_is_a_range_that_includes_the_version_of_the_tests(requirement: Requirement) -> None:
    exact = constraints()[normal(requirement.name)]
    assert Version(lower_bound(requirement)) <= Version(exact)
    assert requirement.specifier.contains(exact)
    assert {each.operator for each in requirement.specifier} <= {">=", "<"}


@pytest.fixture(scope="module")
def lowest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An interpreter with the lowest versions; tools that only tests need have the versions of every run."""
    folder = tmp_path_factory.mktemp("lowest")
    versions = {normal(each.name): lower_bound(each) for each in REQUIRED}
    wanted = [
        line
        for line in PROJECT["optional-dependencies"]["dev"]
        if Requirement(line).name not in ("flareiac", "import-linter", "mypy", "ruff")
    ]
    bounds = folder / "lowest.txt"
    bounds.write_text("".join(f"{name}=={version}\n" for name, version in versions.items()), encoding="utf-8")
    python = folder / "venv" / "bin" / "python"
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    install = [str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check", "-c", str(bounds)]
    subprocess.run([*install, "-e", f"{ROOT}[all]", *wanted], check=True)
    return python


@pytest.mark.slow
@pytest.mark.parametrize("tests", TESTS)
def test_the_lowest_versions_read_plan_and_apply(lowest: Path, tmp_path: Path, tests: str) -> None:
    own = [f"--basetemp={tmp_path / 'own'}", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [lowest, "-m", "pytest", "-q", "-m", "not jvm", *own, tests],
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr
