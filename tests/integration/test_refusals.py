"""Bad input and bad surroundings: a diagnostic with reason and way out, exit codes as promised, what runs
goes on.
"""

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.project import COUNTS, LAKE, Project, rides, streaming
from tests.support.command_line import flareiac

pytestmark = pytest.mark.jvm

FARES = streaming(
    "fares",
    {"id": "long", "fare": "int"},
    "SELECT id, CAST(fare AS INT) AS fare FROM rides",
    job="restart = { max_failures = 0 }",
)


@pytest.fixture(scope="module")
def running(project: Project) -> Iterator[Project]:
    """Two jobs, one of them with state, that go on with the same run ids whatever the tests try."""
    project.land(30)
    project.write(rides=rides("rides"), counts=COUNTS)
    project.apply()
    project.expect_rides("rides")
    project.until(
        lambda: sum(row["rides"] for row in project.rows("counts")) == len(project.landed), "the counts"
    )
    yield project
    project.land(10)
    project.expect_rides("rides")


def test_sql_that_does_not_resolve_changes_nothing(own_project: Project) -> None:
    own_project.land(1)
    own_project.write(rides=rides("rides"))
    own_project.edit("rides", ("SELECT id, city", "SELECT id, townof(city) AS city"))
    done = own_project.apply(code=1)
    assert "townof" in done.err
    assert "UNRESOLVED_ROUTINE" in done.err
    assert "rides.flare.hcl" in done.err
    assert own_project.run("state", "list").out == ""
    assert not (own_project.root / "lake" / "warehouse").exists()
    assert "job.rides" not in own_project.run("status").out
    own_project.run("plan", "-out=plan.json")
    saved = own_project.run("apply", "plan.json", code=1)
    assert "rides.flare.hcl" in saved.err
    assert own_project.run("state", "list").out == ""
    own_project.edit("rides", ("SELECT id, townof(city) AS city", "SELECT id, city"))
    own_project.apply()
    own_project.expect_rides("rides")


def test_two_jobs_on_one_checkpoint(running: Project) -> None:
    running.write(
        second=rides("second").replace("checkpoint = checkpoint.second", "checkpoint = checkpoint.rides")
    )
    try:
        done = running.run("plan", code=1)
        assert "job.rides and job.second use the same checkpoint" in done.err
        assert "second.flare.hcl" in done.err
    finally:
        running.remove("second")


def test_another_source_path_is_blocked(running: Project) -> None:
    with running.edited("lake", ('"landing/rides"', '"landing/elsewhere"')):
        done = running.apply(code=4)
    assert "landing/elsewhere" in done.text
    assert "FIK062" in done.text


def test_a_changed_aggregate_is_blocked(running: Project) -> None:
    before = running.run_id("job.counts")
    with running.edited("counts", ("count(*)", "max(id)")):
        done = running.apply(code=4)
    assert "job.counts is blocked" in done.text
    assert running.run_id("job.counts") == before


@pytest.mark.parametrize(
    "change",
    [
        ("SELECT id, city FROM rides", "select  id ,\\n  city  -- the same\\n from rides"),
        ('"200ms" }', '"200ms" }\n  comment = "all rides"'),
    ],
    ids=["reformatted", "comment"],
)
def test_what_is_no_part_of_the_query_restarts_nothing(running: Project, change: tuple[str, str]) -> None:
    before = running.run_id("job.rides")
    running.edit("rides", change)
    # At most the record is brought up to date
    assert "No changes." in running.run("plan", "-detailed-exitcode").out
    running.apply()
    assert "No changes." in running.plan(0)
    assert running.run_id("job.rides") == before


def test_a_job_that_fails_at_runtime(running: Project) -> None:
    before = running.run_id("job.rides")
    running.drop(
        "rides", "spoiled", [{"id": -1, "ts": None, "city": None, "fare": "not a number", "rider": None}]
    )
    running.landed.append({"id": -1, "ts": None, "city": None, "fare": "not a number", "rider": None})
    running.write(fares=FARES)
    try:
        done = running.apply(code=7)
        assert "CAST_INVALID_INPUT" in done.err
        assert "not a number" in done.err
        assert "job.fares" in done.err
        assert running.status()["job.fares"]["phase"] == "failed"
        assert "CAST_INVALID_INPUT" in running.run("status").out
        assert "CAST_INVALID_INPUT" in running.run("logs", "job.fares").out
        assert "job.fares" in running.run("drift", code=3).out
        assert running.run_id("job.rides") == before
    finally:
        running.remove("fares")
        running.apply()


def test_by_hand(running: Project) -> None:
    running.run("stop", "job.rides")
    assert running.status()["job.rides"]["phase"] == "stopped"
    found = running.run("drift", code=3).out
    assert "it was stopped by hand" in found
    assert "job.counts" not in found
    running.apply()
    running.run("drift")
    assert running.status()["job.rides"]["phase"] in ("running", "idle")

    running.run("stop", "job.rides")
    running.run("start", "job.rides")
    running.run("drift")
    before = running.run_id("job.rides")
    running.run("restart", "job.rides")
    assert running.run_id("job.rides") != before
    running.run("drift")
    assert "No changes." in running.plan(0)
    unknown = running.run("stop", "job.ridse", code=1)
    assert "job.rides" in unknown.err


def test_a_damaged_control_file(own_project: Project) -> None:
    own_project.write(rides=rides("rides").replace('"200ms" }', '"200ms" }\n  stopped = true'))
    own_project.apply()
    for name in ("status.json", "desired.json"):
        own_project.close()  # a living driver writes its status again
        (own_project.control / name).write_text('{"version": 1, "jobs": {"job.ri')
        for words in (["plan"], ["drift"], ["apply", "-auto-approve"]):
            done = own_project.run(*words, code=1)
            assert f"runtime/{name}" in done.err
            assert "Move the file away" in done.err
        shown = own_project.run("status").out  # of this engine it knows nothing, and hides no other
        assert "unknown" in shown
        assert f"runtime/{name}" in shown
        (own_project.control / name).unlink()
        own_project.apply()
        own_project.run("drift")


def test_a_damaged_checkpoint(running: Project) -> None:
    found = list((running.root / ".flareiac").rglob("checkpoints/**/metadata")) or list(
        running.root.rglob("g0001/metadata")
    )
    path = next(item for item in found if item.is_file() and "counts" in str(item))
    before = path.read_bytes()
    path.write_text("{")
    try:
        done = running.run("plan", code=1)
        assert str(path.name) in done.err
        assert "counts" in done.err
    finally:
        path.write_bytes(before)
    assert "No changes." in running.plan(0)


def test_a_checkpoint_that_is_gone_is_not_begun_again(running: Project) -> None:
    location = next(item for item in running.root.rglob("g0001") if "counts" in str(item))
    away = running.root / "away"
    location.rename(away)
    try:
        with running.edited("counts", ('"200ms"', '"210ms"')):
            done = running.run("plan", "-detailed-exitcode", code=4)
        assert "would read all again" in " ".join(done.out.split())
    finally:
        if location.exists():
            shutil.rmtree(location)
        away.rename(location)


def test_a_table_that_was_dropped_behind_the_back(running: Project) -> None:
    running.write(spare=rides("spare"))
    try:
        running.apply()
        running.expect_rides("spare")
        from pyiceberg.catalog.sql import SqlCatalog

        lake = running.root / "lake"
        catalog = SqlCatalog(
            "lake", uri=f"sqlite:///{lake}/catalog.db?timeout=15", warehouse=f"file://{lake}/warehouse"
        )
        catalog.drop_table(("demo", "spare"))
        catalog.close()
        found = running.run("drift", code=3).out
        assert "table.spare" in found
        planned = running.plan(2)
        assert "table.spare will be created" in planned
        assert "the table becomes another one" in planned
        running.apply()
        running.run("drift")
        running.land(10)
        # What had been read before is not read again.
        running.until(
            lambda: running.ids("spare") == [row["id"] for row in running.landed[-10:]],
            "the last rides in spare",
        )
    finally:
        running.remove("spare")
        running.apply()


def test_no_jars(own_project: Project) -> None:
    (own_project.root / ".flareiac.lock.hcl").unlink()
    own_project.write(rides=rides("rides"))
    done = own_project.apply(code=1)
    assert "flareiac init" in done.err
    assert own_project.run("state", "list").out == ""


def test_a_port_in_use(own_project: Project) -> None:
    """Spark tries the next ports by itself; with no retries left, the application cannot start and says
    why.
    """
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        ui = f'"spark.ui.enabled" = "true"\n    "spark.ui.port" = "{port}"\n    "spark.port.maxRetries" = "0"'
        own_project.write(
            lake=LAKE.replace('"spark.sql.shuffle.partitions" = "1"', ui),
            rides=rides("rides"),
        )
        done = own_project.apply(code=1)
    assert str(port) in done.err
    assert "BindException" in done.err
    assert own_project.run("state", "list").out == ""


def test_an_address_for_probes_that_is_taken(own_project: Project) -> None:
    """Jobs run, and each command that looks at them says that their application cannot be probed."""
    own_project.land(1)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        listening = LAKE.replace('idle_shutdown    = "60s"', f'idle_shutdown = "60s"\n  listen = "{address}"')
        own_project.write(lake=listening, rides=rides("rides"), more=rides("more"))
        why = f"cannot listen on {address}: Address already in use"
        assert why in own_project.apply().out
        assert own_project.run("drift", code=3).out.count(why) == 1
        assert why in own_project.run("status").out
    own_project.until(lambda: "No drift" in flareiac(own_project.root, "drift").out, "the end point")


def test_a_full_disk(own_project: Project) -> None:
    """The control directory is on a disk without space: nothing starts, and nothing but what was done before
    is recorded.
    """
    place = own_project.root / "runtime"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(place)], capture_output=True, text=True
    )
    if mounted.returncode != 0:
        pytest.skip(f"a small disk cannot be mounted here: {mounted.stderr.strip()}")
    try:
        with pytest.raises(OSError, match="space"):
            _fill(place / "filler")
        own_project.write(rides=rides("rides"))
        done = own_project.apply(code=1)
        assert "No space left on device" in done.err
        assert own_project.run("state", "list").out == ""
        (place / "filler").unlink()
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def _fill(path: Path) -> None:
    with path.open("wb", buffering=0) as file:
        while True:
            if file.write(bytes(4096)) < 4096:
                os.fsync(file.fileno())
                raise OSError(28, "No space left on device")
