"""The results of a look at the systems of running jobs: one does not answer, or one has changed."""

import logging
from types import SimpleNamespace
from typing import Any

from flareiac_spark_runtime.control import StreamInput
from flareiac_spark_runtime.driver.source_watch import SourceWatch
from flareiac_spark_runtime.sources.resolved import StartProblem, StartRefused

AWAY = StartRefused(StartProblem(error_class="BROKER_UNREACHABLE", why="The brokers do not answer."))
ANOTHER = StartProblem(error_class="TOPIC_RECREATED", why="The topic is another one.")


class Runner:
    """A running job whose source gives these answers, one for each look."""

    def __init__(self, *answers: StartRefused | StartProblem | None) -> None:
        self.address, self.proven_at = "job.x", 1.0
        self.said: list[str] = []
        self.refused: list[str] = []
        left = list(answers)

        def prove_running(*_given: object) -> StartProblem | None:
            found = left.pop(0)
            if isinstance(found, StartRefused):
                raise found
            return found

        source: Any = SimpleNamespace(prove_running=prove_running)
        self.running: Any = SimpleNamespace(
            address="job.x", query_names={}, inputs=(StreamInput(name="raw", source=source),)
        )

    def wait_for(self, why: str) -> None:
        self.said.append(why)

    def refuse(self, problem: StartProblem) -> None:
        self.refused.append(problem.error_class)


def looks(runner: Any, count: int) -> None:
    watch = SourceWatch(lambda: [runner], logging.getLogger("test"))
    for _look in range(count):
        watch.look()


def test_a_system_that_does_not_answer_is_waited_for_and_stops_nothing() -> None:
    runner = Runner(AWAY, AWAY, None)
    looks(runner, 3)
    assert runner.said == ["The brokers do not answer.", "The brokers do not answer.", ""]
    assert runner.refused == []


def test_what_two_looks_in_a_row_find_ends_the_job() -> None:
    runner = Runner(ANOTHER, None, ANOTHER, ANOTHER)
    looks(runner, 4)
    assert runner.refused == ["TOPIC_RECREATED"]


def test_a_look_without_an_answer_is_no_second_finding() -> None:
    runner = Runner(ANOTHER, AWAY, ANOTHER)
    looks(runner, 3)
    assert runner.refused == []


def test_a_silent_system_hides_no_other_of_the_same_job() -> None:
    runner, other = Runner(AWAY, AWAY), Runner(ANOTHER, ANOTHER)
    runner.running.inputs = (*runner.running.inputs, *other.running.inputs)
    looks(runner, 2)
    assert runner.said == ["The brokers do not answer."] * 2
    assert runner.refused == ["TOPIC_RECREATED"]


def test_a_job_that_does_not_run_waits_for_nothing() -> None:
    runner = Runner(AWAY)
    looks(runner, 1)
    runner.running = None
    looks(runner, 1)
    assert runner.said == ["The brokers do not answer.", ""]
