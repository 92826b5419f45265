"""The example of one topic into two tables and another topic, with a real broker."""

from pathlib import Path

import pytest

from tests.examples.play import played

pytestmark = [pytest.mark.jvm, pytest.mark.example("fan-out")]


def test_every_order_is_where_it_belongs_though_the_driver_is_killed(
    tmp_path: Path, java_home: Path, environments: Path
) -> None:
    said = played("fan-out", tmp_path, environments=environments, JAVA_HOME=str(java_home))
    assert said.count("Every order is where it belongs.") == 2, said
    assert "at least once" in said
