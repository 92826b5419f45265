"""The fixtures that the tests of examples share."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def environments(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the Python environments that the stories of one test run share, those of all workers."""
    folder = tmp_path_factory.getbasetemp()
    return (folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder) / "environments"
