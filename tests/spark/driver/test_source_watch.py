"""While queries run, the driver asks whether their sources are still those that they began with."""

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest

from flareiac_spark.control import JobSpec, StreamInput
from flareiac_spark.driver import source_watch
from flareiac_spark.driver.refusal import Refusal
from flareiac_spark.driver.source_watch import SourceWatch
from flareiac_spark.sources.resolved import ResolvedSource, StartProblem

DEADLINE = 30.0
asked = threading.Semaphore(0)
answers: list[StartProblem | Exception | None] = []


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic(ResolvedSource):
    """A source whose answers a test gives."""

    kind: Literal["topic"] = "topic"

    def open(self, opening: Any, start: int | None) -> Any:
        raise NotImplementedError

    @property
    def can_be_replaced(self) -> bool:
        return True

    def prove_running(
        self, jvm: Callable[[], Any], checkpoints: Sequence[Path], others: Sequence[ResolvedSource]
    ) -> StartProblem | None:
        del jvm, checkpoints, others
        answer = answers.pop(0)
        asked.release()
        if isinstance(answer, Exception):
            raise answer
        return answer


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> SourceWatch:
    monkeypatch.setattr(source_watch, "ASKS_EVERY", 0.0)
    answers.clear()
    inputs = (StreamInput(name="raw", source=Topic()),)
    spec = JobSpec(address="job.a", mode="stream", inputs=inputs, steps=(), outputs=())
    return SourceWatch(spec, logging.getLogger("job.a"))


def look_until_asked(watch: SourceWatch, batch: int) -> None:
    watch.look([batch])
    assert asked.acquire(timeout=DEADLINE)
    assert watch._asking is not None
    watch._asking.join(DEADLINE)


def test_another_topic_ends_the_queries(watch: SourceWatch) -> None:
    answers.append(StartProblem(error_class="TOPIC_RECREATED", why="It is another one."))
    look_until_asked(watch, 1)
    with pytest.raises(Refusal, match="another one") as refused:
        watch.look([1])
    assert (refused.value.error_class, refused.value.permanent) == ("TOPIC_RECREATED", True)


def test_it_asks_again_only_after_another_batch(watch: SourceWatch) -> None:
    answers.extend([None, None])
    look_until_asked(watch, 1)
    watch.look([1])
    assert len(answers) == 1
    look_until_asked(watch, 2)
    assert answers == []


def test_notes_that_cannot_be_read_do_not_end_the_queries(watch: SourceWatch) -> None:
    answers.append(OSError("the disk is away"))
    look_until_asked(watch, 1)
    watch.look([1])
