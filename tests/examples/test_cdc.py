"""The example of change data capture, with a real broker and a registry."""

from pathlib import Path

import pytest

from tests.examples.play import played

pytestmark = [pytest.mark.jvm, pytest.mark.example("cdc")]


def test_the_table_is_what_the_source_is_after_each_part(
    tmp_path: Path, java_home: Path, environments: Path
) -> None:
    said = played("cdc", tmp_path, environments=environments, JAVA_HOME=str(java_home))
    assert said.count("orders of the source, row by row.") == 5, said
    assert 'column "note" { type = "string" }' in said
