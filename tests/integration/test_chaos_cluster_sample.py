"""A share of the chaos on a cluster: its master and workers, the driver and commands are killed as a seed
decides, and every row is there once.
"""

from pathlib import Path

import pytest

from tests.bench.chaos import CLUSTER_SCENARIOS, cluster_chaos

pytestmark = [pytest.mark.jvm, pytest.mark.slow]


@pytest.mark.usefixtures("jars", "java_home")
def test_every_row_is_there_once(tmp_path: Path, java_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(java_home))
    chosen = [item for item in CLUSTER_SCENARIOS if item.name in ("plain", "changed")]
    figures = list(cluster_chaos(tmp_path, 5, 1, scenarios=chosen))
    assert [figure.value for figure in figures] == [0.0] * len(figures)
    assert figures[-1].detail["two at once"] == 0
    assert figures[-1].detail["kills"] >= 5  # type: ignore[operator]
