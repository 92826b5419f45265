"""Looking needs no Java: plan and drift say the same on a machine that has none. Starting says which to
install.
"""

from pathlib import Path
from typing import TypedDict

import pytest

from tests.integration.project import Project, rides

pytestmark = pytest.mark.jvm

_HIDDEN = """
import flareiac_spark.runtime.java as java
for found in (java.find_java, java.require_java, java.installed_javas):
    found.__kwdefaults__["places"] = ()
"""


class Bare(TypedDict):
    """Environment variables."""

    PATH: str
    JAVA_HOME: str
    PYTHONPATH: str


@pytest.fixture
def bare(tmp_path: Path) -> Bare:
    """The environment of a machine without Java: none on the path, none in the usual places."""
    (tmp_path / "hidden").mkdir()
    (tmp_path / "hidden" / "sitecustomize.py").write_text(_HIDDEN)
    (tmp_path / "bin").mkdir()
    return {"PATH": str(tmp_path / "bin"), "JAVA_HOME": "", "PYTHONPATH": str(tmp_path / "hidden")}


def test_plan_and_drift_are_the_same_without_java(project: Project, bare: Bare) -> None:
    project.land(20)
    project.write(rides=rides("rides"))
    project.apply()
    project.expect_rides("rides")
    for words in (["plan"], ["drift"], ["validate"], ["show"], ["show", "-json"]):
        assert project.run(*words, **bare).out == project.run(*words).out
    project.edit("rides", ('"200ms"', '"1s"'))
    with_java = project.run("plan").out
    assert "starts on the same checkpoint" in with_java
    assert project.run("plan", **bare).out == with_java
    # An application that is up takes the change without a new JVM.
    project.run("apply", "-auto-approve", **bare)
    project.kill_driver()
    drifted = project.run("drift", code=3).out
    assert project.run("drift", code=3, **bare).out == drifted
    refused = project.run("apply", "-auto-approve", code=1, **bare)
    assert "No suitable Java was found" in refused.err
    assert "JAVA_HOME" in refused.err
    project.apply()
    project.run("drift")


def test_a_first_apply_without_java_changes_nothing(own_project: Project, bare: Bare) -> None:
    own_project.write(rides=rides("rides"))
    refused = own_project.run("apply", "-auto-approve", code=1, **bare)
    assert "No suitable Java was found" in refused.err
    assert own_project.run("state", "list").out == ""
    assert not (own_project.root / "lake" / "warehouse").exists()
