"""A project that an earlier release left on disk is read by this one.

That is its state, journal, saved plan, control directory, checkpoints and lock file.

The recordings are never made again for a release that has them (``recording.py`` says how they were made); a
format that changes gets a reader of the old one, not another recording.
"""

import fcntl
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.compatibility.recording import ARCHIVES, INTERRUPTED, PLACE, RUNNING, unpack
from tests.support.command_line import flareiac

_RELEASES = sorted(
    path.name.removesuffix(f"-{RUNNING}.tar.xz") for path in ARCHIVES.glob(f"*-{RUNNING}.tar.xz")
)


@pytest.fixture(params=_RELEASES)
def release(request: pytest.FixtureRequest) -> Iterator[str]:
    with PLACE.with_suffix(".lock").open("w") as lock:
        # Another run on this machine may be using the one place that the recordings name
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield request.param
        shutil.rmtree(PLACE, ignore_errors=True)


def _running(release: str) -> Path:
    return unpack(ARCHIVES / f"{release}-{RUNNING}.tar.xz")


def test_the_first_release_is_recorded() -> None:
    assert "0.1.0" in _RELEASES


def test_a_running_project_needs_no_change(release: str) -> None:
    root = _running(release)
    plan = flareiac(root, "plan", "-detailed-exitcode")
    assert plan.code == 0, plan.text
    assert "No changes" in plan.out, plan.text
    drift = flareiac(root, "drift")
    assert drift.code == 0, drift.text
    before = (root / "runtime" / "desired.json").read_bytes()
    apply = flareiac(root, "apply", "-auto-approve")
    assert apply.code == 0, apply.text
    assert "No changes" in apply.out, apply.text
    # Nothing was asked of the driver: no query restarts
    assert (root / "runtime" / "desired.json").read_bytes() == before


def test_a_running_project_is_shown(release: str) -> None:
    root = _running(release)
    jobs = {row["address"]: row for row in json.loads(flareiac(root, "status", "-json").out)["jobs"]}
    assert jobs["job.rides"]["phase"] in {"running", "idle"}
    assert jobs["job.cities"]["phase"] in {"running", "idle"}
    assert jobs["job.names"]["phase"] == "completed"
    listed = flareiac(root, "state", "list").out.split()
    assert {"checkpoint.rides", "job.rides", "namespace.demo", "table.rides"} <= set(listed)
    shown = flareiac(root, "checkpoint", "show", "checkpoint.rides")
    assert shown.code == 0, shown.text


def test_a_saved_plan_is_shown_and_applied(release: str) -> None:
    root = _running(release)
    (root / "change.later").rename(root / "change.flare.hcl")
    shown = flareiac(root, "show", "change.plan")
    assert "table.later will be created" in shown.out, shown.text
    applied = flareiac(root, "apply", "change.plan")
    assert applied.code == 0, applied.text
    assert "1 added, 0 changed, 0 destroyed" in applied.out, applied.text
    assert flareiac(root, "plan", "-detailed-exitcode").code == 0


def test_an_interrupted_apply_is_taken_up(release: str) -> None:
    root = unpack(ARCHIVES / f"{release}-{INTERRUPTED}.tar.xz")
    recovered = flareiac(root, "apply", "-auto-approve")
    assert recovered.code == 0, recovered.text
    assert "table.later" in flareiac(root, "state", "list").out
    plan = flareiac(root, "plan", "-detailed-exitcode")
    assert plan.code == 0, plan.text
