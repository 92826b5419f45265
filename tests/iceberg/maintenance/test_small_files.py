"""The share of small files: counted where a few manifests tell it, else as it was measured last."""

from typing import Any

import pytest

from flareiac.kernel.data import Attributes
from flareiac.sdk.statistics import ReportsStatistics, StatisticsRequest
from tests.iceberg.lake import Lake
from tests.iceberg.maintenance.maintenance import ORDERS, measured

COMPACTION: dict[str, Any] = {"compaction": {"run_if": {"small_files_over": 1}, "min_input_files": 2}}


@pytest.fixture
def written(lake: Lake) -> Lake:
    lake.apply("table.t", ORDERS)
    append(lake, 3)
    return lake


def append(lake: Lake, times: int) -> None:
    for number in range(times):
        lake.append("n.t", [{"id": number, "ts": None}])


def share(lake: Lake, known: Attributes | None = None) -> tuple[int | None, int | None, int | None]:
    driver = lake.session.driver("table")
    assert isinstance(driver, ReportsStatistics)
    request = StatisticsRequest(
        now=0.0,
        address="table.t",
        recorded=lake.state["table.t"],
        references=lake.references,
        known=known or {},
    )
    found = driver.statistics(request).figures
    return found["small_files"], found["looked_at_files"], found["looked_at"]


def test_files_are_counted_also_where_nobody_declared_a_compaction(written: Lake) -> None:
    assert share(written) == (3, 3, None)
    written.apply("table.t", ORDERS | {"properties": {"write.target-file-size-bytes": "10"}})
    assert share(written) == (0, 3, None)


def test_a_table_without_rows_has_no_share(lake: Lake) -> None:
    lake.apply("table.t", ORDERS)
    assert share(lake) == (None, None, None)


def remeasured(known: Attributes, figures: Attributes) -> Attributes:
    """Figures of the last time that tell something else of data files."""
    return known | {"kinds": {"compaction": known["kinds"]["compaction"] | figures}}


def test_what_was_measured_of_this_snapshot_is_not_counted_again(written: Lake) -> None:
    known = measured(written, COMPACTION)
    assert share(written, remeasured(known, {"small": 2})) == (2, 3, None)


def test_many_manifests_are_not_read_and_the_last_figure_tells_its_age(written: Lake) -> None:
    known = measured(written, COMPACTION)
    append(written, 1)
    assert share(written, known) == (4, 4, None)
    append(written, 8)
    assert share(written) == (None, None, None)
    assert share(written, known) == (3, 3, known["measured_ms"])
    assert share(written, known | {"uuid": "of another table"}) == (None, None, None)
