"""Logs of a driver in object storage: what it wrote is there in order, in few requests, and bounded; a
reader elsewhere sees what is added.
"""

import logging
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from flareiac.kernel.diagnostics import Failure
from flareiac_spark.job.log_text import log_text
from flareiac_spark_runtime.control import ControlDirectory, ControlError, ErrorKind
from flareiac_spark_runtime.control.log_chunks import CHUNK_BYTES, KEPT
from flareiac_spark_runtime.driver import logs
from flareiac_spark_runtime.driver.log_lines import LogLines
from flareiac_spark_runtime.driver.log_upload import LogUpload
from tests.support.object_storage import buckets

ADDRESS = 'job.a["x/y"]'
NAME = "job.a%5B%22x%2Fy%22%5D"


@pytest.fixture
def control(empty_cache: Path) -> Iterator[ControlDirectory]:
    del empty_cache
    with buckets("lake"):
        yield ControlDirectory(f"s3://lake/{uuid.uuid4().hex}")


def _log(control: ControlDirectory, upload: LogUpload, tmp_path: Path) -> logging.Logger:
    log = logs.logger(f"test.{tmp_path}", control.job_log(ADDRESS), LogLines())
    upload.follow(log, control.log_name(ADDRESS))
    upload.follow(log, control.log_name(ADDRESS))
    return log


def test_what_a_log_is_told_is_read_elsewhere_as_it_grows(control: ControlDirectory, tmp_path: Path) -> None:
    upload = LogUpload(control)
    log = _log(control, upload, tmp_path)
    assert log_text(control, ADDRESS) is None
    log.info("first ä")
    upload.flush()
    reader = log_text(ControlDirectory(str(control.place)), ADDRESS)
    assert reader is not None
    assert reader.read().endswith("INFO first ä\n")
    assert reader.read() == ""
    log.info("second")
    upload.flush()
    assert reader.read().endswith("INFO second\n")
    assert str(control.log_place(ADDRESS)) == f"{control.place}/logs/{NAME}"
    assert control.log_chunks(NAME) == [1]


def test_the_next_driver_goes_on_behind_what_earlier_ones_wrote(control: ControlDirectory) -> None:
    for number in range(3):
        upload = LogUpload(control)
        upload.add(NAME, f"driver {number}\n")
        upload.flush()
    reader = log_text(control, ADDRESS)
    assert reader is not None
    assert reader.read() == "driver 0\ndriver 1\ndriver 2\n"


def test_a_log_is_bounded_and_a_reader_that_was_slow_goes_on(control: ControlDirectory) -> None:
    upload, block = LogUpload(control), "x" * (CHUNK_BYTES - 1) + "\n"
    upload.add(NAME, "begun\n")
    upload.flush()
    reader = log_text(control, ADDRESS)
    assert reader is not None
    assert reader.read() == "begun\n"
    for _ in range(KEPT + 5):
        upload.add(NAME, block)
        upload.flush()
    upload.add(NAME, "end\n")
    upload.flush()
    assert len(control.log_chunks(NAME)) == KEPT
    text = reader.read()
    assert text.endswith(block + "end\n")
    assert len(text) <= KEPT * (CHUNK_BYTES + 10)


def test_what_cannot_be_written_now_is_written_later(
    control: ControlDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as away:
        away.setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:9")
        elsewhere = ControlDirectory("s3://other/control")
        upload = LogUpload(elsewhere)
        upload.add(NAME, "one\n")
        upload.flush()
        with pytest.raises(Failure):
            log_text(elsewhere, ADDRESS)
        for _ in range(6):
            upload.add(NAME, "y" * CHUNK_BYTES)
            upload.flush()
    upload._control = control
    upload.add(NAME, "\ntwo\n")
    upload.flush()
    reader = log_text(control, ADDRESS)
    assert reader is not None
    text = reader.read()
    assert text.endswith("y\ntwo\n")
    assert len(text) <= 5 * CHUNK_BYTES


def test_a_local_directory_has_its_files_alone(tmp_path: Path) -> None:
    control = ControlDirectory(tmp_path)
    upload = LogUpload(control)
    log = _log(control, upload, tmp_path)
    log.info("first")
    upload.flush()
    reader = log_text(control, ADDRESS)
    assert reader is not None
    assert reader.read().endswith("INFO first\n")
    log.info("second")
    assert reader.read().endswith("INFO second\n")
    assert [path.name for path in (tmp_path / "logs").iterdir()] == [f"{NAME}.log"]


def test_old_chunks_that_cannot_be_removed_stop_no_log(
    control: ControlDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_given: object) -> None:
        raise ControlError(ErrorKind.UNREACHABLE, str(control.place), "it does not answer")

    monkeypatch.setattr(ControlDirectory, "forget_log_chunks", refuse)
    upload = LogUpload(control)
    for number in range(3):
        upload.add(NAME, f"{number}" * CHUNK_BYTES)
        upload.flush()
    assert control.log_chunks(NAME) == [1, 2, 3]
