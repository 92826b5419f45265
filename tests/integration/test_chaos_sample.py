"""A small share of the chaos: attempts of jobs and command lines die at points that a seed picks, and every
row is there once.
"""

from pathlib import Path

import pytest

from tests.bench.chaos import chaos
from tests.bench.chaos_scenarios import SCENARIOS

pytestmark = pytest.mark.jvm

SAMPLES = {1: ("pair", "changed", "carried"), 2: ("merge", "branch", "rebuilt")}
"""By seed: the scenarios."""


@pytest.mark.parametrize(
    "seed",
    [pytest.param(seed, marks=pytest.mark.turn(turn, len(SAMPLES))) for turn, seed in enumerate(SAMPLES)],
)
@pytest.mark.usefixtures("jars", "java_home")
def test_every_row_is_there_once(tmp_path: Path, seed: int) -> None:
    chosen = [item for item in SCENARIOS if item.name in SAMPLES[seed]]
    figures = list(chaos(tmp_path, 8, seed, scenarios=chosen, mild=True))
    assert [figure.value for figure in figures] == [0.0] * len(figures)
    assert figures[-1].detail["kills"] >= 8  # type: ignore[operator]
