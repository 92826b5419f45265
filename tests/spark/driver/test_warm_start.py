"""A changed job is made ready while its predecessor finishes a batch, and nothing is begun, called or kept
that should not be.
"""

import logging
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from flareiac_spark_runtime.control import DesiredJob
from flareiac_spark_runtime.driver import warm_start
from flareiac_spark_runtime.driver.warm_start import begin

Lake = Any
LOG = logging.getLogger("preparation")
COLUMNS = [("ts", "timestamptz"), ("carrier", "string"), ("delay", "long")]


def job(folder: Path, **more: Any) -> DesiredJob:
    """A job that goes on with its checkpoint."""
    (folder / "metadata").write_text('{"id":"q"}')
    (folder / "offsets").mkdir()
    (folder / "offsets" / "0").write_text("v1\n{}\n{}")
    output = {
        "name": "out",
        "from": "clean",
        "identifier": ["lake", "demo", "out"],
        "mode": "append",
        "columns": [],
    }
    steps = [{"name": "clean", "sql": "SELECT 1"}]
    spec = {
        "address": "job.a",
        "mode": "stream",
        "inputs": [],
        "steps": steps,
        "outputs": [{**output, "checkpoint": str(folder)}],
    }
    return DesiredJob(digest="d1", spec={**spec, **more})


def no_session() -> Any:
    pytest.fail("a session was made")


@pytest.mark.parametrize(
    "more",
    [
        {"mode": "batch"},
        {"steps": [{"name": "clean", "python": "module:function"}]},
        {"steps": "not understood"},
    ],
    ids=["a finite run", "the user's Python", "a damaged spec"],
)
def test_what_is_left_to_the_start(tmp_path: Path, more: Mapping[str, Any]) -> None:
    assert begin(job(tmp_path, **more), {}, no_session, LOG) is None


def test_a_new_generation_begins_when_it_starts(tmp_path: Path) -> None:
    wanted = job(tmp_path)
    (tmp_path / "offsets" / "0").unlink()
    assert begin(wanted, {}, no_session, LOG) is None
    (tmp_path / "metadata").unlink()
    assert begin(wanted, {}, no_session, LOG) is None


def test_trouble_ahead_of_time_is_left_to_the_start(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    def broken() -> Any:
        raise ConnectionError("the catalog is away")

    with caplog.at_level(logging.INFO, "preparation"):
        made = begin(job(tmp_path), {}, broken, LOG)
        assert made is not None
        assert made.take() is None
    assert "the catalog is away" in caplog.text


def test_what_was_prepared_is_used_for_the_same_job_and_settings_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted, ready = job(tmp_path), object()
    monkeypatch.setattr(warm_start, "make_ready", lambda *_: ready)
    made = begin(wanted, {"a": "1"}, object, LOG)
    assert made is not None
    assert made.fits(wanted, {"a": "1"})
    assert not made.fits(wanted, {"a": "2"})
    assert not made.fits(replace(wanted, nonce=1), {"a": "1"})
    assert made.take() is ready
    monkeypatch.setattr(warm_start, "_FRESH_SECONDS", -1.0)
    assert made.take() is None


@pytest.mark.jvm
@pytest.mark.turn(0, 2)
def test_jobs_that_change_amid_batches_are_prepared_ahead_and_exact(lake: Lake) -> None:
    lake.start()
    tables = {mode: lake.table(f"changing_{mode}", *COLUMNS) for mode in ("append", "merge")}
    for number in range(60):
        lake.drop_file(
            "in_changing",
            f"f{number:03d}",
            [{"ts": "2026-01-01T00:00:00Z", "carrier": "AA", "delay": number}],
        )

    def specs(version: int) -> list[dict[str, Any]]:
        return [
            {
                "address": f"job.changing_{mode}",
                "mode": "stream",
                "trigger": {"kind": "default"},
                "inputs": [lake.flights_input("in_changing", source={"max_files_per_trigger": 1})],
                "steps": [{"name": "clean", "sql": f"SELECT * FROM raw WHERE delay > {-version}"}],
                "outputs": [lake.output(f"changing_{mode}", "clean", table, COLUMNS, mode=mode, merge=merge)],
                "restart": {"max_failures": 0, "within_ms": 600000, "backoff_ms": 100},
            }
            for (mode, table), merge in zip(tables.items(), (None, {"on": ["delay"]}), strict=True)
        ]

    for version in range(1, 5):
        lake.put(*specs(version))
        for mode in tables:
            lake.until(
                f"job.changing_{mode}", lambda job: bool(job.queries) and job.queries[0].batch is not None
            )
    for mode in tables:
        rows = lake.until_rows(f"changing_{mode}", 60)
        lake.until_phase(f"job.changing_{mode}", "idle")
        assert sorted(row["delay"] for row in rows) == list(range(60))
        assert "its queries were prepared ahead" in lake.control.job_log(f"job.changing_{mode}").read_text()


@pytest.mark.jvm
def test_a_change_that_does_not_resolve_fails_as_at_any_start(lake: Lake) -> None:
    lake.start()
    table = lake.table("turned", *COLUMNS)
    lake.drop_file("in_turned", "a", [{"ts": "2026-01-01T00:00:00Z", "carrier": "AA", "delay": 1}])
    spec = {
        "address": "job.turned",
        "mode": "stream",
        "trigger": {"kind": "processing_time", "interval_ms": 100},
        "inputs": [lake.flights_input("in_turned")],
        "steps": [{"name": "clean", "sql": "SELECT * FROM raw"}],
        "outputs": [lake.output("turned", "clean", table, COLUMNS)],
    }
    lake.put(spec)
    lake.until_phase("job.turned", "idle")
    lake.put({**spec, "steps": [{"name": "clean", "sql": "SELECT *, missing FROM raw"}]})
    failed = lake.until_phase("job.turned", "failed")
    assert failed.last_error is not None
    assert "missing" in failed.last_error.message
    lake.put(spec, nonce=2)
    assert lake.until_phase("job.turned", "idle").last_error is None
