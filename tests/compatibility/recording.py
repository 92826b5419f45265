"""Records a project as this release of the program leaves it on disk, so that later releases prove that they
read it.

    python -m tests.compatibility.recording [FOLDER]

It needs a JVM and the jars in ``FLAREIAC_TEST_JARS``. One archive is written for each moment of the project's
life (see ``MOMENTS``). State, catalog and manifests hold absolute paths, and a project that was copied
elsewhere is rightly refused: so recording and test use the same folder, ``PLACE``. A recording is never made
again for a release that has one: the point is what that release wrote.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
from contextlib import suppress
from pathlib import Path
from typing import Final

import flareiac
from tests.integration.project import LAKE, Project

PLACE: Final = Path("/var/tmp/flareiac-recorded-project")
"""Recorded files name this place, so it cannot be a folder of the test alone."""
ARCHIVES: Final = Path(__file__).parent / "recorded"

RUNNING: Final = "running"
"""Two streaming queries run, a batch job and a maintenance run are over. ``change.plan`` is a saved plan that
has not been applied.
"""
INTERRUPTED: Final = "interrupted"
"""An apply was killed between two operations; its journal has an open intent."""
MOMENTS: Final = (RUNNING, INTERRUPTED)

PROJECT: Final = """
namespace "demo" {
  properties = { owner = "rides" }
}
secret "token" { env = "RIDES_TOKEN" }
table "rides" {
  catalog      = catalog.lake
  namespace    = namespace.demo
  comment      = "Every ride"
  column "id"   { type = "long not null" }
  column "ts"   { type = "timestamptz" }
  column "city" {
    type    = "string"
    comment = "Where it began"
  }
  partition_by = [day("ts"), bucket(4, "city")]
  sort_by      = [asc("ts")]
  properties   = { "write.parquet.compression-codec" = "zstd" }
  compaction {
    run_if = { small_files_over = 3 }
  }
  snapshot_expiry {
    older_than  = "10000d"
    retain_last = 2
  }
}
table "cities" {
  namespace = namespace.demo
  column "city"  { type = "string" }
  column "rides" { type = "long" }
}
table "names" {
  namespace = namespace.demo
  column "city" { type = "string" }
}
checkpoint "rides" {}
checkpoint "cities" {}
job "rides" {
  checkpoint = checkpoint.rides
  trigger    = { processing_time = "500ms" }
  input "rides" { stream = stream.rides }
  step "clean" { sql = "SELECT id, ts, city FROM rides WHERE id IS NOT NULL" }
  output "rides" { table = table.rides }
}
job "cities" {
  checkpoint = checkpoint.cities
  trigger    = { processing_time = "500ms" }
  input "rides" { stream = stream.rides }
  step "counted" { sql = "SELECT city, count(*) AS rides FROM rides GROUP BY city" }
  output "cities" {
    table = table.cities
    mode  = "complete"
  }
}
job "names" {
  mode = "batch"
  input "rides" { table = table.seed }
  step "named" { sql = "SELECT DISTINCT city FROM rides" }
  output "names" {
    table = table.names
    mode  = "overwrite"
  }
}
table "seed" {
  namespace = namespace.demo
  column "city" { type = "string" }
}
output "tables" { value = [for t in [table.rides, table.cities] : t.name] }
"""

CHANGE: Final = """
table "later" {
  namespace = namespace.demo
  column "id" { type = "long" }
}
"""


def record(folder: Path) -> None:
    """Writes one archive for each moment into ``folder``."""
    _empty(PLACE)
    project = Project(PLACE)
    (PLACE / "landing" / "rides").mkdir(parents=True)
    project.write(lake=LAKE, project=PROJECT)
    project.run("init")
    project.land(20)
    try:
        project.apply()
        project.expect_rides("rides")
        project.land(10)
        project.expect_rides("rides")
        project.run("maintain", "-auto-approve")
        project.apply()
        project.write(change=CHANGE)
        project.run("plan", "-out=change.plan")
        (PLACE / "change.flare.hcl").rename(PLACE / "change.later")
        assert "No changes" in project.plan(0)
        _archive(folder, RUNNING, project)
        (PLACE / "change.later").rename(PLACE / "change.flare.hcl")
        project.killed("apply.before-result", "apply", "-auto-approve")
        _archive(folder, INTERRUPTED, project)
    finally:
        project.close()
        shutil.rmtree(PLACE, ignore_errors=True)


REVIEW: Final = "review"
"""A saved plan of the running project with a restart, a blocked change, new columns and what goes: what
commands print of it stands beside it.
"""
_TABLE: Final = """comment      = "Every ride, <b>once</b>"
  owner        = { name = "rides", contact = "#rides" }
  column "fare" { type = "double" }"""
_MORE: Final = """variable "word" {
  default   = "hunter2"
  sensitive = true
}
consumer "board" { reads = [table.rides] }
output "later" { value = table.later.uuid }
output "tables\""""
_SLOWER: Final = 'processing_time = "2s" }\n  input "rides" { stream = stream.rides }\n  step "clean"'
_EDITS: Final = (
    (_SLOWER.replace('"2s"', '"500ms"'), _SLOWER),
    ("count(*) AS rides", "max(id) AS rides"),
    ('comment      = "Every ride"', _TABLE),
    ('output "tables"', CHANGE + _MORE),
)


def record_plan(folder: Path) -> None:
    """Writes a saved plan of the recorded project that runs, once more changed. It needs no JVM."""
    root = unpack(folder / f"{flareiac.__version__}-{RUNNING}.tar.xz")
    text = PROJECT
    for old, new in _EDITS:
        assert old in text, old
        text = text.replace(old, new)
    before, _, rest = text.partition('job "names" {')
    text = before + 'table "seed" {' + rest.partition('table "seed" {')[2]
    (root / "project.flare.hcl").write_text(text, encoding="utf-8")
    # The command line of the tests has the provider of the tests, too
    program = Path(sys.executable).with_name("flareiac")
    made = subprocess.run([program, "plan", "-out=review.plan"], cwd=root, check=False)
    assert made.returncode in (0, 4)
    (folder / f"{flareiac.__version__}-{REVIEW}.plan").write_bytes((root / "review.plan").read_bytes())
    shutil.rmtree(PLACE)


def unpack(archive: Path) -> Path:
    """The recorded project at its place, with its application alive: this process stands in for the
    driver.
    """
    _empty(PLACE)
    with tarfile.open(archive) as packed:
        # The first releases of Python 3.11 have no filters: Debian's is one of them
        packed.extraction_filter = getattr(tarfile, "data_filter", None)
        packed.extractall(PLACE)
    _stand_in(PLACE / "runtime")
    return PLACE


def _stand_in(control: Path) -> None:
    """Puts this process and this moment where the recorded driver's stood; nothing else is touched."""
    import socket

    from flareiac_spark_runtime.control.processes import moment, this_process

    process, now = this_process(), moment()
    for path in (control / "status.json", control / "lease.json"):
        value = json.loads(path.read_text())
        holder = value.get("application", value)
        holder |= {"host": socket.gethostname(), "pid": process.pid, "pid_started": process.started}
        for key in ("jvm_pid", "jvm_pid_started"):
            holder.pop(key, None)
        for key, fresh in (("heartbeat", now.wall), ("renewed", now.wall), ("uptime", now.uptime)):
            if key in value:
                value[key] = fresh
        path.write_text(json.dumps(value))


def _archive(folder: Path, moment: str, project: Project) -> None:
    """The project's files as one look at them, its driver held still meanwhile. Logs and Spark's scratch
    files stay out.
    """
    pid = project.driver_pid()
    assert pid is not None, "the driver must run"
    os.kill(pid, signal.SIGSTOP)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tarfile.open(folder / f"{flareiac.__version__}-{moment}.tar.xz", "w:xz") as packed:
            packed.add(PLACE, arcname=".", filter=_kept)
    finally:
        os.kill(pid, signal.SIGCONT)


def _kept(item: tarfile.TarInfo) -> tarfile.TarInfo | None:
    left_out = {"logs", "scratch", "preparation", "__pycache__"}
    item.uid = item.gid = 0
    item.uname = item.gname = ""
    return None if left_out & set(Path(item.name).parts) or not (item.isfile() or item.isdir()) else item


def _empty(place: Path) -> None:
    with suppress(FileNotFoundError):
        shutil.rmtree(place)
    place.mkdir(parents=True)


if __name__ == "__main__":
    chosen = Path(sys.argv[1]) if len(sys.argv) > 1 else ARCHIVES
    record(chosen)
    record_plan(chosen)
