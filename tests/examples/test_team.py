"""The example of a team on a cluster: whatever works is lost once, and each flight is in the table once."""

from pathlib import Path

import pytest

from tests.docs.tour import assert_tour
from tests.examples.depends import EXAMPLES
from tests.examples.play import expect, played

pytestmark = [pytest.mark.jvm, pytest.mark.example("team")]


@pytest.mark.parametrize("flights", [3_000, pytest.param(336_776, marks=pytest.mark.slow)])
def test_a_team_streams_on_a_cluster_and_loses_no_flight(
    flights: int, tmp_path: Path, java_home: Path, environments: Path
) -> None:
    said = played(
        "team", tmp_path / "work", environments=environments, JAVA_HOME=str(java_home), FLIGHTS=str(flights)
    )
    portions = (flights // 3, flights // 3 * 2, flights)
    exact = [f"{portion:,} flights, each exactly once" for portion in portions]
    expect(
        said,
        *("##### 3. Checkout A plans", "Plan: 8 to add", "flareiac apply plan.json", "8 added", exact[0]),
        *("flareiac drift", "No drift. 8 resources checked.", "flareiac logs job.carriers"),
        *("##### 4.", "kill -9 WORKER", "host-1 is gone", exact[1], "flights.py host", "No drift."),
        *("##### 5.", "generation", "2 to change", "flareiac apply plan.json", "2 changed", exact[2]),
        *("##### 6.", "No changes.", "host-2 ends in order", "is not running", exact[2]),
    )
    assert_tour("team", said, EXAMPLES / "team" / "README.md")
