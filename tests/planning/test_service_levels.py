"""The service levels of consumers: one is kept only where that is proven."""

from hypothesis import given
from hypothesis import strategies as st

from flareiac.model.applied_from import OutsideReader
from flareiac.model.service_levels import ReaderStatus, Verdict
from flareiac.planning.service_levels import status_of
from flareiac.sdk.freshness import Freshness, GroupLag
from flareiac.sdk.service_level import ServiceLevel

NOW = 1_790_000_000_000
HOUR = 3_600_000
LAGS = st.builds(
    GroupLag,
    group=st.sampled_from(["bi", "other"]),
    lag=st.none() | st.integers(0, 20),
    lost=st.integers(0, 2),
    why=st.just("a reason"),
)
ANSWERS = st.just("no answer") | st.builds(
    Freshness,
    newest_ms=st.none() | st.integers(NOW - 3 * HOUR, NOW + 3 * HOUR),
    is_older=st.booleans(),
    is_empty=st.booleans(),
    why=st.just("a reason"),
    lags=st.lists(LAGS, max_size=2),
)
LEVELS = st.builds(
    ServiceLevel, max_lag=st.none() | st.integers(0, 20), max_age_ms=st.none() | st.integers(1, 3 * HOUR)
)


def status(level: ServiceLevel | None, answer: Freshness | str) -> ReaderStatus:
    reader = OutsideReader(address="consumer.bi", subject="topic.t", known_as="bi", level=level)
    return status_of(reader, answer, NOW)


@given(LEVELS, ANSWERS)
def test_a_level_is_kept_only_where_the_answer_proves_it(
    level: ServiceLevel, answer: Freshness | str
) -> None:
    row = status(level, answer)
    if level.max_age_ms is None and level.max_lag is None:
        assert row.verdict is None
        return
    assert (row.verdict is Verdict.KEPT) == (row.reasons == ())
    if row.verdict is not Verdict.KEPT:
        return
    assert isinstance(answer, Freshness)
    if level.max_age_ms is not None:
        assert answer.newest_ms is not None
        assert not answer.is_empty
        assert not answer.is_older
        assert -HOUR < NOW - answer.newest_ms <= level.max_age_ms
    if level.max_lag is not None:
        first = next(each for each in answer.lags if each.group == "bi")
        assert first.lag is not None
        assert first.lag <= level.max_lag
        assert first.lost == 0


@given(ANSWERS)
def test_a_consumer_without_a_level_breaks_none(answer: Freshness | str) -> None:
    row = status(None, answer)
    assert row.verdict is None
    assert row.reasons == ()


def test_data_that_is_dated_ahead_of_the_clock_is_not_fresh() -> None:
    row = status(ServiceLevel(max_age_ms=HOUR), Freshness(newest_ms=NOW + 100 * HOUR))
    assert row.verdict is Verdict.UNKNOWN
    assert "100h00m ahead of this machine's clock" in row.reasons[0]
    row = status(ServiceLevel(max_age_ms=HOUR), Freshness(newest_ms=NOW + 1000))
    assert (row.verdict, row.age_ms) == (Verdict.KEPT, 0)
