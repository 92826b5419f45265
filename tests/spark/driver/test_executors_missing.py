"""An application without executors, and what goes wrong on executors: what is said of it."""

import logging
from dataclasses import dataclass, field

import pytest

from flareiac_spark_runtime.driver.cluster_watch import ClusterWatch
from flareiac_spark_runtime.driver.executor_shortage import (
    ALIVE,
    Figures,
    MasterAnswer,
    Need,
    OtherApplication,
    Silence,
    Worker,
    is_forgotten,
    shortage,
)
from flareiac_spark_runtime.driver.master_port import await_master
from flareiac_spark_runtime.driver.refusal import Refusal
from flareiac_spark_runtime.driver.root_cause import Link, choose
from tests.support.ports import lasting_port

NEED = Need(master="spark://m:7077", cores=2, memory=1024)
BUSY = Worker(state=ALIVE, cores_free=1, memory_free=4096)
FREE = Worker(state=ALIVE, cores_free=2, memory_free=1024)
SMALL = Worker(state=ALIVE, cores_free=8, memory_free=512)
GONE = Worker(state="DEAD", cores_free=8, memory_free=8192)
ENDED = "ExecutorLostFailure (executor 3 exited caused by one of the running tasks) Reason:"
MISMATCH = (
    "org.apache.spark.api.python.PythonException: Traceback (most recent call last):\n  ...\n"
    "pyspark.errors.exceptions.base.PySparkRuntimeError: [PYTHON_VERSION_MISMATCH] Python in worker has "
    "different version: 3.9 than that in driver: 3.11, PySpark cannot run with different minor versions"
)
HOG = OtherApplication(name="nightly", cores=7)


def has(*workers: Worker, others: tuple[OtherApplication, ...] = (), granted: int = 0) -> MasterAnswer:
    figures = Figures(workers=workers, others=others, granted=granted)
    return MasterAnswer(status=ALIVE, knows=True, figures=figures)


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (Silence(why="Connection refused"), "spark://m:7077 does not answer: Connection refused. Start it"),
        (MasterAnswer(status="RECOVERING", knows=False), "says RECOVERING"),
        (MasterAnswer(status=ALIVE, knows=False), "does not know the application"),
        (MasterAnswer(status=ALIVE, knows=True), "has given none so far. Its web page lists the workers"),
        (has(), "no worker of spark://m:7077 is alive. Start workers"),
        (has(GONE), "no worker of spark://m:7077 is alive"),
        (has(FREE, granted=2), "none has reached the driver"),
        (
            has(BUSY, GONE, others=(HOG,)),
            "and 1024 MiB of memory, and 1 core of its 1 worker are free ('nightly' holds 7). Add workers",
        ),
        (
            has(SMALL),
            "no worker has more than 512 MiB of free memory. Add workers, end the other applications",
        ),
        (has(BUSY, FREE), "lists 2 workers with free cores"),
    ],
)
def test_why_there_is_no_executor_and_what_to_do(found: MasterAnswer | Silence, said: str) -> None:
    assert said in shortage(found, NEED)


def test_only_an_active_master_can_have_forgotten_an_application() -> None:
    assert is_forgotten(MasterAnswer(status=ALIVE, knows=False))
    assert not is_forgotten(MasterAnswer(status=ALIVE, knows=True))
    assert not is_forgotten(MasterAnswer(status="STANDBY", knows=False))
    assert not is_forgotten(Silence(why="Connection refused"))


@dataclass(slots=True)
class FakeCluster:
    """A cluster as a test sets it."""

    count: int = 1
    forever: bool = False
    stopped: bool = False
    asked: int = field(default=0)
    wants: bool = True

    def has_ended(self) -> bool:
        return self.stopped

    def executors(self) -> int:
        return self.count

    def wants_executors(self) -> bool:
        return self.wants

    def shortage(self) -> tuple[str, bool]:
        self.asked += 1
        return "why", self.forever


@dataclass(slots=True)
class Watched:
    """A watch of a fake cluster, and what it reported."""

    cluster: FakeCluster = field(default_factory=FakeCluster)
    notes: list[str] = field(default_factory=list)
    changes: list[None] = field(default_factory=list)

    def watch(self) -> ClusterWatch:
        log = logging.getLogger("tests.cluster")
        return ClusterWatch(self.cluster, log, self.notes.append, lambda: self.changes.append(None))


def test_a_shortage_is_told_once_it_lasts_and_until_it_ends() -> None:
    seen = Watched()
    watch, cluster = seen.watch(), seen.cluster
    watch.look(0.0)
    cluster.count = 0
    watch.look(1.0)
    watch.look(15.0)
    assert (watch.waiting, cluster.asked) == ("", 0), "executors may be lost and replaced"
    watch.look(16.5)
    watch.look(18.0)
    assert watch.waiting == "no executor runs: why"
    cluster.count = 1
    watch.look(20.0)
    assert watch.waiting == ""
    assert seen.notes == ["waiting: no executor runs: why", "executors are there again"]
    assert len(seen.changes) == 2
    cluster.count = 0
    watch.look(21.0)
    assert watch.waiting == "", "the next shortage has to last again"


def test_an_idle_application_that_gave_its_executors_back_waits_for_none() -> None:
    seen = Watched()
    watch, cluster = seen.watch(), seen.cluster
    cluster.count, cluster.wants = 0, False
    for now in (0.0, 20.0, 40.0):
        watch.look(now)
    assert (watch.waiting, cluster.asked) == ("", 0)
    cluster.wants = True
    watch.look(41.0)
    assert watch.waiting == "", "the shortage has to last from now on"
    watch.look(56.5)
    assert watch.waiting == "no executor runs: why"


def test_only_a_master_that_twice_knows_nothing_of_it_makes_it_register_again() -> None:
    seen = Watched()
    watch, cluster = seen.watch(), seen.cluster
    cluster.count, cluster.forever = 0, True
    watch.look(0.0)
    watch.look(20.0)
    cluster.forever = False
    watch.look(22.0)
    cluster.forever = True
    watch.look(24.0)
    assert not watch.is_forgotten
    watch.look(26.0)
    assert watch.is_forgotten


def test_an_application_that_its_cluster_ended_is_told_apart_from_one_that_ends_itself() -> None:
    seen = Watched()
    watch = seen.watch()
    seen.cluster.stopped = True
    watch.look(0.0)
    assert "its cluster ended the application" in watch.ended
    other = seen.watch()
    other.end()
    other.look(0.0)
    assert other.ended == ""


def test_a_master_that_cannot_be_reached_is_refused_with_the_cause() -> None:
    master = f"spark://127.0.0.1:{lasting_port()}"
    with pytest.raises(Refusal, match=f"{master} cannot be reached: Connection refused") as refused:
        await_master(master, lambda _seconds: True)
    assert refused.value.error_class == "MASTER_UNREACHABLE"
    await_master("yarn", lambda _seconds: True)


def in_stage(what: str, executor: str = "3") -> list[Link]:
    text = (
        "Job aborted due to stage failure: Task 0 in stage 3.0 failed 4 times, most recent failure: Lost "
        f"task 0.3 in stage 3.0 (TID 9) (10.0.0.7 executor {executor}): {what}\nDriver stacktrace:"
    )
    outer = f"[STREAM_FAILED] {text}"
    return [
        Link(class_name="StreamingQueryException", condition="STREAM_FAILED", message=outer),
        Link(class_name="org.apache.spark.SparkException", condition=None, message=text),
    ]


@pytest.mark.parametrize(
    ("what", "error_class", "said"),
    [
        (
            "java.lang.OutOfMemoryError: Java heap space\n\tat a.B",
            "EXECUTOR_OUT_OF_MEMORY",
            ("executor 3 at 10.0.0.7: java.lang.OutOfMemoryError: Java heap space.", "executor = { memory"),
        ),
        (
            f"{ENDED} Command exited with code 52",
            "EXECUTOR_OUT_OF_MEMORY",
            ("exited with code 52", "executor = { memory"),
        ),
        (
            f"{ENDED} Remote RPC client disassociated.",
            "EXECUTOR_LOST",
            ("Remote RPC client disassociated", "stderr on the worker"),
        ),
        (
            'java.io.IOException: Cannot run program "/no/python": error=2, No such file\n\tat x',
            "EXECUTOR_WITHOUT_PYTHON",
            ("/no/python cannot be run on the executor 3 at 10.0.0.7: error=2", "spark.pyspark.python"),
        ),
        (
            MISMATCH,
            "EXECUTOR_PYTHON_DIFFERS",
            ("Python is 3.9 on the executor 3 at 10.0.0.7, and 3.11 in the driver.", "spark.pyspark.python"),
        ),
    ],
)
def test_what_goes_wrong_on_an_executor_is_named_with_a_way_out(
    what: str, error_class: str, said: tuple[str, ...]
) -> None:
    cause = choose(in_stage(what))
    assert cause.error_class == error_class
    assert all(text in cause.message for text in said), cause.message
    assert not cause.permanent


def test_a_task_that_reached_a_dying_executor_is_told_by_what_killed_that() -> None:
    asked: list[tuple[int, int]] = []

    def others(stage: int, attempt: int) -> list[str]:
        asked.append((stage, attempt))
        return ["java.lang.OutOfMemoryError: Java heap space\n\tat a.B"]

    chain = in_stage("java.util.concurrent.RejectedExecutionException: Task T rejected from P[Shutting down")
    assert choose(chain).error_class == "EXECUTOR_LOST"
    cause = choose(chain, others)
    assert (cause.error_class, asked) == ("EXECUTOR_OUT_OF_MEMORY", [(3, 0)])
    assert "Java heap space" in cause.message


def test_a_task_in_the_driver_is_no_executors() -> None:
    cause = choose(in_stage("java.lang.OutOfMemoryError: Java heap space", executor="driver"))
    assert "executor =" not in cause.message
    assert not cause.error_class.startswith("EXECUTOR_")
