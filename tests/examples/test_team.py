"""The example of a team on a cluster: whatever works is lost once, and each flight is in the table once."""

from pathlib import Path

import pytest

from tests.docs.tour import assert_tour
from tests.examples.play import EXAMPLES, expect, played

pytestmark = pytest.mark.jvm


@pytest.mark.parametrize("flights", [4_000, pytest.param(336_776, marks=pytest.mark.slow)])
def test_a_team_streams_on_a_cluster_and_loses_no_flight(
    flights: int, tmp_path: Path, java_home: Path
) -> None:
    said = played("team", tmp_path / "work", JAVA_HOME=str(java_home), FLIGHTS=str(flights))
    exact = [f"{flights * quarter // 4:,} flights, each exactly once" for quarter in (1, 2, 3, 4)]
    expect(
        said,
        *("##### 3. Checkout A plans", "Plan: 8 to add", "flareiac apply plan.json", "8 added", exact[0]),
        *("flareiac drift", "No drift. 8 resources checked.", "flareiac logs job.carriers"),
        *("##### 4.", "kill -9 DRIVER WORKER", exact[1]),
        *("##### 5.", "host-1 is gone", exact[2], "No drift."),
        *("##### 6.", "max(CAST", "generation", "1 changed, 0 destroyed", exact[2], exact[3]),
        *("##### 7.", "No changes.", "host-2 ends in order", "is not running", exact[3]),
    )
    assert_tour("team", said, EXAMPLES / "team" / "README.md")
