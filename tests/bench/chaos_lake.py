"""The project of the chaos: its commands, its driver's process, and what is read back from its tables."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.bench.chaos_scenarios import BRANCH, Cells, Target
from tests.support.command_line import Ended, arguments, environment, flareiac

_HIT: Final = re.compile(r" ERROR failed: .*?interrupted at (\S+), time (\d+)")
_BEGUN: Final = " begins ("
_DETACHED: Final = 'exec "$@" </dev/null >>../rival.log 2>&1 &'
PATIENCE: Final = 600.0
"""Seconds for a process to come or to end on a machine that has other work."""
_MARKS: Final = (
    ("flareiac.checkpoint-id", "flareiac.output", "flareiac.batch-id"),
    ("spark.sql.streaming.queryId", "spark.sql.streaming.epochId"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """A table's rows of the compared columns, and the marks of batches that were committed more than once."""

    snapshot_id: int | None
    rows: "Counter[Cells]"
    twice: tuple[str, ...]


class Lake:
    """A directory with a project, and one Spark application."""

    def __init__(self, root: Path) -> None:
        from pyiceberg.catalog.sql import SqlCatalog

        self.root, self.runtime = root, root / "runtime"
        (root / "lake").mkdir()
        self.catalog = SqlCatalog(
            "lake",
            uri=f"sqlite:///{root}/lake/catalog.db?timeout=60",
            warehouse=f"file://{root}/lake/warehouse",
        )
        self._read: dict[Path, int] = {}

    def write(self, name: str, text: str) -> None:
        (self.root / f"{name}.flare.hcl").write_text(text)

    # Commands

    def run(self, *words: str, **extra: str) -> Ended:
        return flareiac(self.root, *words, **extra)

    def begin(self, *words: str, **extra: str) -> "subprocess.Popen[str]":
        """A command that is not waited for."""
        return subprocess.Popen(
            arguments(*words),
            cwd=self.root,
            env=environment(**extra),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
        )

    # The driver

    def application(self) -> dict[str, Any]:
        """The driver's last record of itself; empty if there was none."""
        return self._status().get("application") or {}

    def jobs(self) -> dict[str, Any]:
        return self._status().get("jobs") or {}

    def _status(self) -> dict[str, Any]:
        try:
            found: dict[str, Any] = json.loads((self.runtime / "status.json").read_text())
        except (OSError, ValueError):
            return {}
        return found

    def driver_pid(self) -> int | None:
        """The driver's process, while it is one."""
        pid = self.application().get("pid")
        return pid if isinstance(pid, int) and is_driver(pid) else None

    def ended_in_order(self) -> bool:
        return self.application().get("phase") == "ended"

    def rival(self) -> None:
        """Starts another driver with the settings of the one there is, as a second service unit would."""
        pid = self.driver_pid()
        assert pid is not None, "there is a driver"
        self.serve(inherited(pid))

    def serve(self, environment: Mapping[str, str]) -> None:
        """Starts a driver as a service manager does, without a plan."""
        command = [sys.executable, "-m", "flareiac_spark_runtime.driver", str(self.runtime)]
        shell = ["/bin/sh", "-c", _DETACHED, "sh", *command]
        subprocess.run(
            shell,
            cwd=self.runtime,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            check=True,
        )

    def move(self, host: str) -> int | None:
        """Starts a driver under another host's name, as on another machine, once the one there is has ended.
        Its process once it leads.
        """
        pid = self.driver_pid()
        assert pid is not None, "there is a driver"
        kept = {**inherited(pid), "SPARK_LOCAL_IP": "127.0.0.1"}  # no one resolves the other name
        os.kill(pid, signal.SIGTERM)
        if not wait_until(lambda: not is_driver(pid), PATIENCE):
            return None
        command = [sys.executable, "-m", "flareiac_spark_runtime.driver", str(self.runtime)]
        shell = ["unshare", "--uts", "/bin/sh", "-c", f"hostname {host}; {_DETACHED}", "sh", *command]
        subprocess.run(
            shell, cwd=self.runtime, env=kept, stdin=subprocess.DEVNULL, start_new_session=True, check=True
        )
        there = wait_until(
            lambda: self.driver_pid() not in (pid, None) and self.application().get("phase") == "running",
            PATIENCE,
        )
        return self.driver_pid() if there else None

    def hits(self) -> list[tuple[str, int]]:
        """Points at which attempts failed, since the last time that this was asked; each with its time."""
        found: list[tuple[str, int]] = []
        for path in (self.runtime / "logs").glob("job.*.log"):
            begin = self._read.get(path, 0)
            if path.stat().st_size < begin:
                begin = 0
            with path.open("rb") as file:
                file.seek(begin)
                text = file.read()
            whole = text[: text.rfind(b"\n") + 1]
            self._read[path] = begin + len(whole)
            found += [(point, int(times)) for point, times in _HIT.findall(whole.decode(errors="replace"))]
        return found

    def maintenance_begun(self) -> int:
        """The number of pieces of maintenance that the driver has begun, by its log."""
        try:
            return (self.runtime / "logs" / "application.log").read_text(errors="replace").count(_BEGUN)
        except OSError:
            return 0

    def close(self) -> None:
        """Ends the application, by force if it does not end."""
        for sign in (signal.SIGTERM, signal.SIGKILL):
            pid = self.driver_pid()
            if pid is None:
                return
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, sign)
            wait_until(lambda pid=pid: not is_driver(pid), PATIENCE)  # type: ignore[misc]

    # The tables

    def lay_branch(self, table: str) -> None:
        """A branch of an empty table needs a snapshot to begin with: one that has no rows."""
        found = self.catalog.load_table(("demo", table))
        found.append(found.schema().as_arrow().empty_table())
        snapshot = found.current_snapshot()
        assert snapshot is not None, "something was appended"
        found.manage_snapshots().create_branch(snapshot.snapshot_id, BRANCH).commit()

    def content(self, target: Target, known: Content | None, wanted: int) -> Content | None:
        """The content of a table; None if it is as ``known``, or cannot be right because it counts other than
        ``wanted`` rows (-1: any).
        """
        table = self.catalog.load_table(("demo", target.table))
        snapshot = table.snapshot_by_name(BRANCH) if target.branch else table.current_snapshot()
        if snapshot is None:
            return Content(snapshot_id=None, rows=Counter(), twice=())
        if known is not None and known.snapshot_id == snapshot.snapshot_id:
            return None
        summary = snapshot.summary.additional_properties if snapshot.summary is not None else {}
        if (
            wanted >= 0
            and summary.get("total-delete-files", "0") == "0"
            and int(summary.get("total-records", wanted)) != wanted
        ):
            return None
        # A snapshot is read by the schema that it was made with: a column may have been renamed since.
        scan = table.scan(snapshot_id=snapshot.snapshot_id)
        names = {field.name for field in scan.projection().fields}
        columns = [name if name in names else target.aliases.get(name, name) for name in target.columns]
        found = scan.select(*columns).to_arrow()
        cells = zip(*(found.column(name).to_pylist() for name in columns), strict=True)
        return Content(
            snapshot_id=snapshot.snapshot_id, rows=Counter(cells), twice=_twice(table, snapshot.snapshot_id)
        )


def _twice(table: Any, snapshot_id: int) -> tuple[str, ...]:
    """Marks that two ancestors of a snapshot carry."""
    by_id = {item.snapshot_id: item for item in table.metadata.snapshots}
    seen: Counter[tuple[str, ...]] = Counter()
    at = by_id.get(snapshot_id)
    while at is not None:
        summary = at.summary.additional_properties if at.summary is not None else {}
        for names in _MARKS:
            if all(name in summary for name in names):
                seen[tuple(summary[name] for name in names)] += 1
        at = by_id.get(at.parent_snapshot_id) if at.parent_snapshot_id is not None else None
    return tuple("/".join(mark) for mark, count in seen.items() if count > 1)


def inherited(pid: int) -> dict[str, str]:
    """The environment of a driver, but for the point at which it was to die."""
    found = dict(
        item.partition("=")[::2] for item in Path(f"/proc/{pid}/environ").read_text().split("\0") if item
    )
    return {name: value for name, value in found.items() if name != "FLAREIAC_KILL_AT"}


def is_driver(pid: int) -> bool:
    """Returns True if a process is a driver of an application (and has not ended)."""
    try:
        return b"flareiac_spark_runtime.driver" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def wait_until(answer: Callable[[], bool], seconds: float) -> bool:
    """Returns True if the answer came true in time."""
    deadline = time.monotonic() + seconds
    while not answer():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.2)
    return True
