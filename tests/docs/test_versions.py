"""The page of versions lists what tests install and fetch: ``python -m tests.docs.versions`` writes it, and
the file of constraints.
"""

import re
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

from tests.docs.pages import ROOT
from tests.docs.versions import PAGE, constraints, installed_versions, jars, normal, section

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
DECLARED = [
    ("tests" if extra == "dev" else "program", Requirement(line))
    for extra, lines in {"": PROJECT["dependencies"], **EXTRAS}.items()
    for line in lines
    if Requirement(line).name != "flareiac"
]


def _listed(name: str) -> dict[str, str]:
    rows = re.findall(r"^\| ([\w.-]+) \| (\d[^ ]*) \|$", section(PAGE.read_text("utf-8"), name), re.MULTILINE)
    return dict(rows)


@pytest.mark.parametrize(
    ("table", "requirement"), DECLARED, ids=[f"{table}-{line}" for table, line in DECLARED]
)
def test_each_declared_distribution_is_listed_with_a_version_that_is_allowed(
    table: str, requirement: Requirement
) -> None:
    listed = _listed("program") | (_listed("tests") if table == "tests" else {})
    assert requirement.specifier.contains(Version(listed[normal(requirement.name)]))


def test_tests_install_the_versions_of_the_page() -> None:
    assert constraints() == _listed("program") | _listed("tests")


def test_each_distribution_that_is_installed_with_the_project_has_one_exact_version() -> None:
    """Otherwise what CI installs would change without a commit."""
    assert set(installed_versions("all", "dev")) - set(constraints()) == set()


def test_each_jar_that_the_program_names_is_listed() -> None:
    assert re.findall(r"^- `(.+)`$", section(PAGE.read_text("utf-8"), "jars"), re.MULTILINE) == jars()
