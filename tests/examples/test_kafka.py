"""The Kafka example, with a real broker."""

from pathlib import Path

import pytest

from tests.docs.tour import assert_tour
from tests.examples.play import played

pytestmark = [pytest.mark.jvm, pytest.mark.example("kafka")]


def test_flights_go_through_a_topic_and_each_one_is_there_once(
    tmp_path: Path, java_home: Path, environments: Path
) -> None:
    said = played("kafka", tmp_path, environments=environments, JAVA_HOME=str(java_home))
    assert said.count("Every record is there exactly once.") == 4, said
    assert_tour("kafka", said)
