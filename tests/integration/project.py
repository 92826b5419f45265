"""A small streaming lakehouse of one test module: files land, jobs write tables, all through the command line
as a user runs it.
"""

import contextlib
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.support.command_line import Ended, arguments, environment, flareiac

DEADLINE = 180.0

LAKE = """
catalog "lake" {
  type      = "sql"
  uri       = "sqlite:///lake/catalog.db"
  warehouse = "lake/warehouse"
}
engine "local" {
  master           = "local[2]"
  runtime_location = "runtime"
  driver           = { memory = "768m" }
  idle_shutdown    = "60s"
  graceful_stop    = "60s"
  conf = {
    "spark.sql.shuffle.partitions" = "1"
    "spark.driver.extraJavaOptions" = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
  }
}
stream "rides" {
  files {
    path                  = "landing/rides"
    format                = "json"
    max_files_per_trigger = 3
  }
  column "id"    { type = "long" }
  column "ts"    { type = "timestamptz" }
  column "city"  { type = "string" }
  column "fare"  { type = "string" }
  column "rider" { type = "string" }
}
"""

RIDES = """
table "@" {
  catalog   = catalog.lake
  namespace = "demo"
  column "id"   { type = "long" }
  column "city" { type = "string" }
}
checkpoint "@" {}
"""

RIDES_JOB = """
job "@" {
  checkpoint = checkpoint.@
  trigger    = { processing_time = "200ms" }
  restart    = { backoff = "1s" }
  input "rides" { stream = stream.rides }
  step "clean" { sql = "SELECT id, city FROM rides" }
  output "rides" { table = table.@ }
}
"""


def rides(name: str, job: bool = True) -> str:
    """A table, a checkpoint and a job of one name that appends every ride."""
    return (RIDES + (RIDES_JOB if job else "")).replace("@", name)


def streaming(
    name: str, columns: dict[str, str], sql: str, *, source: str = "rides", job: str = "", output: str = ""
) -> str:
    """A table, a checkpoint and a job of one name: one query over the stream ``source`` writes the table.

    ``job`` and ``output`` are further lines of the two blocks.
    """
    declared = "\n".join(f'  column "{column}" {{ type = "{kind}" }}' for column, kind in columns.items())
    return f"""
table "{name}" {{
  catalog   = catalog.lake
  namespace = "demo"
{declared}
}}
checkpoint "{name}" {{}}
job "{name}" {{
  checkpoint = checkpoint.{name}
  trigger    = {{ processing_time = "200ms" }}
  {job}
  input "{source}" {{ stream = stream.{source} }}
  step "result" {{ sql = "{sql}" }}
  output "{name}" {{
    table = table.{name}
    {output}
  }}
}}
"""


COUNTS = streaming(
    "counts",
    {"city": "string", "rides": "long"},
    "SELECT city, count(*) AS rides FROM rides GROUP BY city",
    output='mode = "complete"',
)


class Project:
    """``root`` holds the declaration and everything that it makes."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.landed: list[dict[str, Any]] = []

    # The declaration

    def write(self, **files: str) -> None:
        for name, text in files.items():
            (self.root / f"{name}.flare.hcl").write_text(text)

    def edit(self, name: str, *changes: tuple[str, str]) -> None:
        """Replaces text that must be there."""
        path = self.root / f"{name}.flare.hcl"
        text = path.read_text()
        for old, new in changes:
            assert old in text, f"{old!r} is not in {path.name}"
            text = text.replace(old, new)
        path.write_text(text)

    def remove(self, *names: str) -> None:
        for name in names:
            (self.root / f"{name}.flare.hcl").unlink(missing_ok=True)

    @contextlib.contextmanager
    def edited(self, name: str, *changes: tuple[str, str]) -> Iterator[None]:
        """An edit that is undone afterwards."""
        path = self.root / f"{name}.flare.hcl"
        before = path.read_text()
        self.edit(name, *changes)
        try:
            yield
        finally:
            path.write_text(before)

    # Data

    def land(self, count: int, folder: str = "rides") -> None:
        """One more file of rides, whole at once."""
        at = len(self.landed)
        made = [_ride(at + index) for index in range(count)]
        self.landed += made
        self.drop(folder, f"rides-{at:06}", made)

    def drop(self, folder: str, name: str, rows: list[dict[str, Any]]) -> None:
        """A JSON file that appears at once and whole."""
        place = self.root / "landing" / folder
        place.mkdir(parents=True, exist_ok=True)
        scratch = self.root / f".{name}"
        scratch.write_text("".join(json.dumps(row) + "\n" for row in rows))
        scratch.rename(place / f"{name}.json")

    def table(self, name: str) -> Any:
        """A table read as any other program would."""
        from pyiceberg.catalog.sql import SqlCatalog

        lake = self.root / "lake"
        catalog = SqlCatalog(
            "lake", uri=f"sqlite:///{lake}/catalog.db?timeout=15", warehouse=f"file://{lake}/warehouse"
        )
        try:
            return catalog.load_table(("demo", name))
        finally:
            catalog.close()

    def rows(self, name: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.table(name).scan().to_arrow().to_pylist()
        return found

    def ids(self, name: str) -> list[int]:
        return sorted(row["id"] for row in self.rows(name))

    def expect_rides(self, name: str) -> None:
        """Waits until every landed ride is there; then each must be there exactly once."""
        wanted = sorted(row["id"] for row in self.landed)
        self.until(lambda: self._has_rides(name, len(wanted)), f"{len(wanted)} rides in {name}")
        assert self.ids(name) == wanted

    def _has_rides(self, name: str, count: int) -> bool:
        """Returns True if a table has so many rides. It is read once its newest snapshot counts enough
        rows.
        """
        snapshot = self.table(name).current_snapshot()
        written = int(snapshot.summary["total-records"]) if snapshot else 0
        return written >= count and len(set(self.ids(name))) >= count

    # Commands

    def run(self, *words: str, code: int | None = 0, **extra: str) -> Ended:
        """A command that must end with this exit code (None: any), and never with a traceback. Its complaints
        come without frame and line breaks.
        """
        done = flareiac(self.root, *words, **extra)
        assert "Traceback" not in done.text, done.text
        assert code in (None, done.code), f"{words} ended with {done.code}, not {code}\n{done.text}"
        return replace(done, err=" ".join(done.err.replace("│", " ").split()))

    def apply(self, code: int = 0, **extra: str) -> Ended:
        return self.run("apply", "-auto-approve", code=code, **extra)

    def plan(self, code: int) -> str:
        """The plan's text; ``code`` is 0 for no changes and 2 for changes."""
        return self.run("plan", "-detailed-exitcode", code=code).out

    def quiet(self) -> str:
        """The text of a plan without changes, also none of the state: as it is after an apply that nothing
        came after.
        """
        text = self.plan(0)
        assert "Only what the state records changes" not in text, text
        return text

    def killed(self, point: str, *words: str) -> None:
        """A command that is killed at a named point."""
        done = flareiac(self.root, *words, FLAREIAC_KILL_AT=point)
        assert done.killed, f"it was not killed at {point} but ended with {done.code}\n{done.text}"

    # What runs

    def status(self) -> dict[str, dict[str, Any]]:
        said = json.loads(self.run("status", "-json").out)
        return {row["address"]: row for row in said["jobs"]}

    def run_id(self, job: str) -> str:
        found = self.status()[job]["run_id"]
        assert isinstance(found, str)
        return found

    @property
    def control(self) -> Path:
        return self.root / "runtime"

    def application(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.control / "status.json").read_text())["application"]
        return found

    def driver_pid(self) -> int | None:
        """The driver's process, while it is one."""
        try:
            pid = int(self.application()["pid"])
            command = Path(f"/proc/{pid}/cmdline").read_bytes()
        except (OSError, ValueError, KeyError):
            return None
        return pid if b"flareiac_spark_runtime.driver" in command else None

    @contextlib.contextmanager
    def served(self) -> Iterator[None]:
        """A driver that was started without a plan, as a service manager does. It is ended in order."""
        with subprocess.Popen(
            arguments("driver", str(self.control)),
            cwd=self.root,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as process:
            try:
                yield
            finally:
                process.terminate()
                try:
                    process.wait(DEADLINE)
                except subprocess.TimeoutExpired:
                    process.kill()
                    raise

    def kill_driver(self, sign: signal.Signals = signal.SIGKILL) -> None:
        pid = self.driver_pid()
        assert pid is not None, "no driver runs"
        os.kill(pid, sign)
        self.until_driver_gone()

    def until_driver_gone(self) -> None:
        self.until(lambda: self.driver_pid() is None, "the end of the driver")

    def until(self, answer: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + DEADLINE
        while not answer():
            assert time.monotonic() < deadline, f"waited in vain for {what}\n{self.told()}"
            time.sleep(0.2)

    def told(self) -> str:
        """The status and logs that the driver left, for those who read why a test failed."""
        files = [self.control / "status.json", *sorted((self.control / "logs").glob("*.log"))]
        return "\n".join(
            f"--- {path.name}\n{path.read_text(errors='replace')[-3000:]}" for path in files if path.is_file()
        )

    def close(self) -> None:
        """Ends the driver in order, and by force if it does not end."""
        if self.driver_pid() is None:
            return
        try:
            self.kill_driver(signal.SIGTERM)
        except AssertionError:
            self.kill_driver()
            raise


def _ride(number: int) -> dict[str, Any]:
    return {
        "id": number,
        "ts": f"2024-01-01T{number // 60 % 24:02}:{number % 60:02}:00Z",
        "city": ("Rome", "Oslo", "Bern")[number % 3],
        "fare": str(number * 2),
        "rider": None if number % 5 == 0 else f"rider {number % 7}",
    }
