"""One project with its Spark application for each module; the application ends with the module."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.kafka_project import LOGIN, KafkaLake, cluster
from tests.integration.project import LAKE, Project
from tests.support.command_line import flareiac
from tests.support.kafka_broker import Broker


@pytest.fixture(scope="session")
def jar_lock(tmp_path_factory: pytest.TempPathFactory, jars: tuple[Path, ...], java_home: Path) -> Path:
    """The lock file that ``init`` writes for the lake."""
    root = tmp_path_factory.mktemp("init")
    (root / "lake.flare.hcl").write_text(LAKE)
    done = flareiac(root, "init")
    assert done.code == 0, done.text
    return root / ".flareiac.lock.hcl"


def _made(root: Path, jar_lock: Path) -> Project:
    shutil.copy(jar_lock, root)
    project = Project(root)
    project.write(lake=LAKE)
    (root / "landing" / "rides").mkdir(parents=True)
    return project


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory, jar_lock: Path) -> Iterator[Project]:
    """A project that the tests of a module share."""
    made = _made(tmp_path_factory.mktemp("project"), jar_lock)
    try:
        yield made
    finally:
        made.close()


@pytest.fixture
def own_project(tmp_path: Path, jar_lock: Path) -> Iterator[Project]:
    """A project of one test alone."""
    made = _made(tmp_path, jar_lock)
    try:
        yield made
    finally:
        made.close()


@pytest.fixture(scope="module")
def kafka(
    tmp_path_factory: pytest.TempPathFactory, jars: tuple[Path, ...], java_home: Path
) -> Iterator[KafkaLake]:
    """A project of a module with a broker of its own."""
    project = Project(tmp_path_factory.mktemp("project"))
    with Broker(tmp_path_factory.mktemp("kafka"), java_home, login=LOGIN) as broker:
        project.write(lake=LAKE, kafka=cluster(broker.bootstrap))
        project.run("init")
        try:
            yield KafkaLake(project=project, broker=broker)
        finally:
            project.close()
