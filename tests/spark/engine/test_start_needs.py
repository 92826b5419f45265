"""An application that runs is ended only where another can start; what is not declared any more keeps none
from starting.
"""

import threading
from dataclasses import replace
from pathlib import Path

import pytest

from flareiac.kernel.diagnostics import Failure
from flareiac.sdk.project import Project
from flareiac.sdk.versions import ICEBERG_RUNTIME, SQLITE_JDBC
from flareiac_spark import codes
from flareiac_spark.engine import application
from flareiac_spark.engine.application import Applications
from flareiac_spark.runtime.lock_file import LOCK_FILE
from flareiac_spark.spark_provider import SparkSession
from tests.spark.applications import application_at_work
from tests.spark.declared import LAKE, STATELESS, Loaded, loaded

DRIVER = "org.postgresql:postgresql:42.7.14"
WITH_JAR = f'engine "embedded" {{\n  packages = ["{DRIVER}"]\n}}\n'
LOCKED = (ICEBERG_RUNTIME, SQLITE_JDBC)


def running(root: Path, known: Loaded) -> Applications:
    """The applications of a project of which one runs with what is declared here, and has one job."""
    return application_at_work(root, known, {"job.x": "running"})


def dead(applications: Applications, known: Loaded) -> None:
    control = applications.control(known.job().runs_in)
    status = control.read_status()
    assert status is not None
    control.write_status(replace(status, application=replace(status.application, phase="ended")))


def lock(root: Path, *coordinates: str) -> None:
    text = "".join(f'jar "{each}" {{\n  sha256 = "{"0" * 64}"\n}}\n' for each in coordinates)
    (root / LOCK_FILE).write_text(text, encoding="utf-8")


def lacks(root: Path, known: Loaded, address: str) -> list[str]:
    session = SparkSession(Project(root=root, lineage="test"))
    references = known.references()
    return [item.code for item in session.lacking(references[address], references)]


@pytest.mark.parametrize("address", ["job.x", "engine.embedded"])
def test_what_runs_with_all_that_is_needed_lacks_nothing(tmp_path: Path, address: str) -> None:
    known = loaded(LAKE + STATELESS, tmp_path)
    assert lacks(tmp_path, known, address), "nothing is locked and nothing runs"
    running(tmp_path, known)
    assert lacks(tmp_path, known, address) == []
    assert lacks(tmp_path, loaded(LAKE + STATELESS + WITH_JAR, tmp_path), address)


def test_a_job_that_does_not_start_lacks_nothing(tmp_path: Path) -> None:
    stopped = STATELESS.replace("checkpoint = checkpoint.x", "checkpoint = checkpoint.x\n  stopped = true")
    assert lacks(tmp_path, loaded(LAKE + stopped, tmp_path), "job.x") == []


def test_an_application_is_not_ended_where_no_other_can_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    applications = running(tmp_path, loaded(LAKE + STATELESS, tmp_path))
    ended: list[str] = []
    monkeypatch.setattr(application, "stop_application", lambda *_all, **_named: ended.append("end"))
    wanted = loaded(LAKE + STATELESS + WITH_JAR, tmp_path)
    engine = wanted.job().runs_in
    applications.want(engine, wanted.references(), lambda current: current)
    with pytest.raises(Failure) as failure:
        applications.bring_up(engine, threading.Event(), lambda _text: None)
    assert failure.value.diagnostics[0].code.startswith("FIK90")
    assert not ended


def test_a_package_that_is_neither_declared_nor_locked_any_more_is_let_go(tmp_path: Path) -> None:
    before, after = (loaded(LAKE + STATELESS + text, tmp_path) for text in (WITH_JAR, ""))
    applications, engine = running(tmp_path, before), after.job().runs_in
    lock(tmp_path, *LOCKED)

    def wanted() -> tuple[str, ...]:
        return applications.want(engine, after.references(), lambda current: current).application.packages

    assert DRIVER in wanted(), "the JVM that has it runs on"
    dead(applications, after)
    assert wanted() == LOCKED
    assert codes.JAR_NOT_LOCKED.id not in lacks(tmp_path, after, "job.x"), "the cache alone lacks them"


def test_what_other_jobs_may_need_is_kept_while_it_is_locked(tmp_path: Path) -> None:
    before, after = (loaded(LAKE + STATELESS + text, tmp_path) for text in (WITH_JAR, ""))
    applications, engine = running(tmp_path, before), after.job().runs_in
    dead(applications, after)
    for locked in ((*LOCKED, DRIVER), None):
        if locked is not None:
            lock(tmp_path, *locked)
        else:
            (tmp_path / LOCK_FILE).unlink()
        wanted = applications.want(engine, after.references(), lambda current: current)
        assert DRIVER in wanted.application.packages
