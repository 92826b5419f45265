"""The story as a person plays it: the script itself, with the real data, in an environment that it makes."""

from pathlib import Path

import pytest

from tests.docs.tour import assert_tour
from tests.examples.play import played

pytestmark = pytest.mark.jvm


def test_the_script_plays_the_whole_story(tmp_path: Path, java_home: Path) -> None:
    said = played("quickstart", tmp_path, environments=None, JAVA_HOME=str(java_home), QUICKSTART_PACE="0.02")
    for line in (
        "FlareIaC is initialised here.",
        "Apply complete!",
        "No changes.",
        "job.delays kept its run id",
        "Plan: 0 to add, 2 to change, 0 to destroy.",
        "metadata only",
        "(exit code 3)",
        "(exit code 4)",
        "sum(CAST(dep_delay AS BIGINT)) -> max(CAST(dep_delay AS BIGINT))",
        "empties table.delays_per_hour before it starts",
        "write.parquet.compression-codec",
    ):
        assert line in said, f"{line!r} is missing in:\n{said}"
    assert said.count("336776") >= 2 or said.count("336,776") >= 2, said[-6000:]
    assert_tour("", said)
