"""A job that changes and is stopped for the change of another stops once; its last batch tells how long."""

from flareiac.sdk.changes import Effect, Step
from flareiac_spark.job.plan_steps import _BESIDE, as_one_stop
from flareiac_spark.observation.job import JobFacts

_OWN = Step(
    text="stops after its current batch and starts on the same checkpoint: step clean changed",
    effect=Effect.RESTART,
    why="the query is another one",
)
_OTHER = Step(text=_BESIDE, effect=Effect.RESTART, why="city is renamed")
_KEEPS = Step(text="restarts after the change", effect=Effect.RESTART, why="more columns")


def test_two_reasons_to_stop_are_one_step() -> None:
    (step,) = as_one_stop([_OWN], [_OTHER], JobFacts())
    assert step.text == (
        "stops after its current batch, before the change, and starts after it on the same checkpoint: step "
        "clean changed"
    )
    assert step.why == "the query is another one; city is renamed"


def test_what_is_no_stop_stays_a_step() -> None:
    assert as_one_stop([_OWN], [_KEEPS], JobFacts()) == [_OWN, _KEEPS]
    assert as_one_stop([], [_OTHER], JobFacts()) == [_OTHER]


def test_the_last_batch_tells_how_long_a_stop_waits() -> None:
    running = JobFacts(alive=True, batch_seconds=72.4)
    for own, others in (([_OWN], []), ([_OWN], [_OTHER]), ([], [_OTHER])):
        (step,) = as_one_stop(list(own), list(others), running)
        assert step.why.endswith("; its last batch took 1m12s")
    assert as_one_stop([], [_KEEPS], running) == [_KEEPS]


def test_nothing_is_said_of_a_batch_that_is_not_known() -> None:
    for facts in (JobFacts(alive=True), JobFacts(batch_seconds=5.0)):
        assert as_one_stop([_OWN], [], facts) == [_OWN]
