"""A driver whose control directory is in object storage: what it does when others empty it, take it over, or
when the storage does not answer for a while.
"""

import logging
import subprocess
import threading
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from flareiac_spark_runtime.control import ControlDirectory, Status, moment, this_process
from flareiac_spark_runtime.control.status import ApplicationStatus
from flareiac_spark_runtime.driver.leadership import Leadership, take_lease
from flareiac_spark_runtime.storage import remove_tree
from tests.support.object_storage import buckets

LOG = logging.getLogger("test.leadership")
STATUS = Status(
    application=ApplicationStatus(id="a", name="n", host="h", pid=1, pid_started="s"),
    heartbeat=1.5,
    observed_revision=3,
)


@pytest.fixture
def control(empty_cache: Path) -> Iterator[ControlDirectory]:
    del empty_cache
    with buckets("lake"):
        yield ControlDirectory(f"s3://lake/{uuid.uuid4().hex}")


def lead(control: ControlDirectory) -> Leadership:
    lease = take_lease(control, "a", threading.Event(), LOG)
    assert lease is not None
    found = Leadership(control, lease, lambda: STATUS, LOG, lambda: None)
    found.publish()
    assert control.read_status() == STATUS
    return found


def test_an_emptied_bucket_ends_it_with_the_reason(control: ControlDirectory) -> None:
    leadership = lead(control)
    remove_tree(control.place)
    leadership.publish()
    assert leadership.lost.is_set()
    assert "emptied" in leadership.why_lost
    assert control.read_status() is None, "nothing is written any more"


def test_a_driver_that_was_paused_while_another_took_over_writes_nothing(control: ControlDirectory) -> None:
    leadership = lead(control)
    other, watched = ControlDirectory(str(control.place)), control.read_lease()
    assert other.take_lease("b", this_process(), now=moment(), seconds=60, watched=watched) is not None
    newer = Status(application=STATUS.application, heartbeat=9.0, observed_revision=4)
    other.write_status(newer)
    leadership.publish()
    assert leadership.lost.is_set()
    assert "another driver" in leadership.why_lost
    leadership.publish()
    assert control.read_status() == newer


def test_it_goes_on_while_the_storage_does_not_answer(
    control: ControlDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    leadership = lead(control)

    def refuse(*_given: object) -> None:
        raise OSError("it does not answer")

    with monkeypatch.context() as away:
        away.setattr("flareiac_spark.s3_store.S3Store.swap", refuse)
        leadership.publish()
    assert not leadership.lost.is_set()
    leadership.publish()
    assert not leadership.lost.is_set()


def test_at_its_end_it_lets_the_next_one_in(control: ControlDirectory) -> None:
    """Also where a fence guards a JVM, which is not ended by that."""
    leadership = lead(control)
    with subprocess.Popen(["sleep", "600"]) as jvm:
        leadership.start()
        leadership.guard(jvm.pid)
        leadership.end()
        lease = control.read_lease()
        assert lease is not None
        assert lease.seconds == 0
        assert not leadership.lost.is_set()
        assert jvm.poll() is None
        jvm.kill()


def test_a_lease_of_a_newer_release_is_left_to_it(control: ControlDirectory) -> None:
    leadership = lead(control)
    control._files.write("lease.json", b'{"version":2,"holder":"x"}')
    leadership.publish()
    assert leadership.lost.is_set()


def test_logs_that_take_long_to_write_keep_no_lease_from_being_renewed(control: ControlDirectory) -> None:
    lease = take_lease(control, "a", threading.Event(), LOG)
    assert lease is not None
    begun, over = threading.Event(), threading.Event()

    def slow() -> None:
        begun.set()
        assert over.wait(60)

    leadership = Leadership(control, lease, lambda: STATUS, LOG, slow)
    leadership.start()
    assert begun.wait(60)
    at = leadership.renewed
    leadership.publish_soon()
    deadline = time.monotonic() + 60
    while leadership.renewed == at and time.monotonic() < deadline:
        time.sleep(0.1)
    assert leadership.renewed > at
    over.set()
    leadership.end()
