"""Fixtures of the Iceberg provider's tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.iceberg.lake import Lake


@pytest.fixture
def lake(tmp_path: Path) -> Iterator[Lake]:
    """An empty project with the embedded catalog."""
    made = Lake(tmp_path)
    yield made
    made.close()
