"""The stages of a batch tell how often its parts were computed."""

from hypothesis import given
from hypothesis import strategies as st

from flareiac_spark_runtime.driver.batch_scans import UNKNOWN, Computed, StageRun, computed, nodes_in

SOURCES = st.lists(st.integers(min_value=0, max_value=50), min_size=1, max_size=3)
TIMES = st.integers(min_value=1, max_value=4)


def _stages(sources: list[int], times: int, *, together: bool) -> list[StageRun]:
    """Stages that read sources of so many rows, so many times each."""
    if together:
        scans = frozenset(range(len(sources)))
        return [StageRun(records=sum(sources), whole=True, scans=scans)] * times
    return [
        StageRun(records=rows, whole=True, scans=frozenset({number}), states=frozenset({100 + number}))
        for number, rows in enumerate(sources)
        for _ in range(times)
    ]


@given(SOURCES, TIMES, st.booleans())
def test_rows_count_once_however_often_they_are_read(sources: list[int], times: int, together: bool) -> None:
    stages = _stages(sources, times, together=together)
    found = computed(sum(sources) * times, stages)
    assert found == Computed(rows=sum(sources), scans=times, states=None if together else times)


@given(SOURCES, TIMES, st.integers(min_value=1, max_value=60))
def test_rows_of_a_part_that_is_read_again_do_not_count(sources: list[int], times: int, part: int) -> None:
    """As a sort does that looks at its largest partition once more."""
    again = min(part, sources[0])
    stages = [*_stages(sources, times, together=False)]
    stages.append(StageRun(records=again, whole=True, scans=frozenset({0})))
    found = computed(sum(sources) * times + again, stages)
    assert found.rows == sum(sources)
    assert found.scans in (None, times + 1)


@given(SOURCES, TIMES, st.integers(min_value=1, max_value=9))
def test_an_account_that_is_cut_is_not_believed(sources: list[int], times: int, missing: int) -> None:
    stages = _stages(sources, times, together=False)
    assert computed(sum(sources) * times + missing, stages).rows is None
    assert computed(missing, []) == UNKNOWN
    beside = StageRun(records=sum(sources) + missing, whole=True, scans=frozenset({9}))
    assert computed(sum(sources), [beside]) == Computed(rows=None, scans=None, states=None)


def test_a_scan_that_failed_and_one_that_was_done() -> None:
    stages = [
        StageRun(records=3, whole=False, scans=frozenset({1})),
        StageRun(records=5, whole=True, scans=frozenset({1})),
    ]
    assert computed(8, stages) == Computed(rows=5, scans=None, states=None)
    assert computed(3, stages[:1]).rows is None


def test_a_stage_as_spark_draws_it() -> None:
    graph = """
    subgraph clusterstage_9 { label="Stage 9";
      subgraph cluster1 { label="MicroBatchScan[id#1] kafka"; 7 [label="DataSourceRDD [7]<br>start at X"]; }
      subgraph cluster2 { label="BatchScan lake.d.m"; 8 [label="DataSourceRDD [8]<br>start at X"]; }
      subgraph cluster3 { label="Scan json "; 9 [label="FileScanRDD [9]<br>start at X"]; }
      subgraph cluster4 { label="StateStoreSave"; 10 [label="StateStoreRDD [10]<br>start at X"]; }
      subgraph cluster5 { label="mapPartitionsInternal"; 11 [label="MapPartitionsRDD [11]"]; }
    }
    """
    assert nodes_in(graph) == (frozenset({7, 9}), frozenset({10}))
