"""The project of the matrix: its files, its commands, the data that lands, and what is read back."""

import json
import os
import signal
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.bench.matrix_cells import LAID
from tests.bench.matrix_jobs import BRANCH, LAKE, lake_of_topics, source_tables
from tests.bench.matrix_kafka import Cluster
from tests.bench.matrix_rows import LANDED, TABLES, Event, Row, text
from tests.support.command_line import Ended, flareiac

_GONE = 120.0


class Lake:
    """A directory with a project, one Spark application and, where cells read or write topics, a broker."""

    def __init__(self, root: Path, *, brokers: int = 0) -> None:
        from pyiceberg.catalog.sql import SqlCatalog

        self.root, self.plans = root, 0
        for place in LANDED:
            (root / "landing" / place).mkdir(parents=True)
        (root / "lake").mkdir()
        self.write("lake", (lake_of_topics() if brokers else LAKE) + source_tables())
        self.cluster = Cluster(root, two=brokers > 1) if brokers else None
        self.catalog = SqlCatalog(
            "lake",
            uri=f"sqlite:///{root}/lake/catalog.db?timeout=60",
            warehouse=f"file://{root}/lake/warehouse",
        )

    def open(self) -> None:
        """Starts what has to run before the project's application."""
        if self.cluster is not None:
            self.write("kafka", self.cluster.open())

    @property
    def brokers(self) -> Cluster:
        """The broker of the topics. Raises ``AssertionError`` where the lake has none."""
        assert self.cluster is not None, "the lake was made without brokers"
        return self.cluster

    def write(self, name: str, content: str) -> None:
        (self.root / f"{name}.flare.hcl").write_text(content)

    def write_code(self, name: str, content: str | None) -> None:
        if content is not None:
            place = self.root / "code" / name
            place.mkdir(parents=True, exist_ok=True)
            (place / "steps.py").write_text(content)

    def run(self, *words: str, codes: Iterable[int] = (0,)) -> Ended:
        """A command. Raises ``RuntimeError`` with what it said if it ends with another code."""
        done = flareiac(self.root, *words)
        if done.code not in codes or "Traceback" in done.text:
            raise RuntimeError(f"{' '.join(words)} ended with {done.code}:\n{done.text[-6000:]}")
        return done

    def plan(self) -> tuple[int, dict[str, Mapping[str, Any]]]:
        """The plan's exit code, and what it says of each address. The plan is kept, to be read afterwards."""
        self.plans += 1
        file = self.root / f"plan-{self.plans}.json"
        done = self.run("plan", f"-json-into={file.name}", "-detailed-exitcode", codes=(0, 2, 4))
        found = json.loads(file.read_text())["resource_changes"]
        return done.code, {item["address"]: item["change"]["flareiac"] for item in found}

    # Data

    def land(self, number: int) -> None:
        """The first (0) or the second (1) rows, everywhere."""
        for place, batches in LANDED.items():
            self._land_file(place, f"{number}.json", batches[number])
            if place in TABLES:
                self._append(place, batches[number])

    def land_file(self, place: str, name: str, rows: Iterable[Event]) -> None:
        """A file of further rows."""
        self._land_file(place, name, rows)

    def lay(self, table: str) -> None:
        """A row in an output's table, and a branch that begins with it."""
        import pyarrow as pa

        found = self.catalog.load_table(("demo", table))
        row = {"k": LAID["k"], "m": LAID["m"], "total": LAID["n"]}
        found.append(pa.Table.from_pylist([row], schema=found.schema().as_arrow()))
        snapshot = found.current_snapshot()
        assert snapshot is not None, "a row was appended"
        found.manage_snapshots().create_branch(snapshot.snapshot_id, BRANCH).commit()

    def rows(self, table: str, *, branch: bool, told: Callable[[Sequence[Row]], str] = text) -> str:
        """A table's rows as text; ``gone`` where it is not there."""
        from pyiceberg.exceptions import NoSuchTableError

        try:
            found = self.catalog.load_table(("demo", table))
        except NoSuchTableError:
            return "gone"
        snapshot = found.snapshot_by_name(BRANCH) if branch else None
        scan = found.scan(snapshot_id=snapshot.snapshot_id) if snapshot is not None else found.scan()
        return told(scan.to_arrow().to_pylist())

    def _land_file(self, place: str, name: str, rows: Iterable[Event]) -> None:
        told = [
            {key: value.isoformat() if hasattr(value, "isoformat") else value for key, value in row.items()}
            for row in rows
        ]
        scratch = self.root / f".{name}"
        scratch.write_text("".join(json.dumps(row) + "\n" for row in told))
        scratch.rename(self.root / "landing" / place / name)

    def _append(self, place: str, rows: Iterable[Event]) -> None:
        import pyarrow as pa

        found = self.catalog.load_table(("demo", place))
        found.append(pa.Table.from_pylist([dict(row) for row in rows], schema=found.schema().as_arrow()))

    def take_back_commits(self, job: str) -> None:
        """The last batch of each query of a stopped job looks as if the driver had died before its commit."""
        for commits in (self.root / ".flareiac").rglob("commits"):
            numbers = [int(item.name) for item in commits.iterdir() if item.name.isdigit()]
            if job in commits.parts and numbers:
                (commits / f"{max(numbers)}").unlink()
                (commits / f".{max(numbers)}.crc").unlink(missing_ok=True)

    # What runs

    def jobs(self) -> dict[str, Mapping[str, Any]]:
        """The driver's status of each job."""
        found: dict[str, Mapping[str, Any]] = json.loads((self.root / "runtime" / "status.json").read_text())[
            "jobs"
        ]
        return found

    def await_all(self, answer: Callable[[], bool], seconds: float) -> bool:
        """Returns True if the answer came true in time."""
        deadline = time.monotonic() + seconds
        while not answer():
            if time.monotonic() > deadline:
                return False
            time.sleep(0.5)
        return True

    def close(self) -> None:
        """Ends what this project started."""
        try:
            self._end_application()
        finally:
            if self.cluster is not None:
                self.cluster.close()

    def _end_application(self) -> None:
        try:
            application = json.loads((self.root / "runtime" / "status.json").read_text())["application"]
            pid = int(application["pid"])
        except (OSError, ValueError, KeyError):
            return
        if not _is_driver(pid):
            return
        os.kill(pid, signal.SIGTERM)
        if not self.await_all(lambda: not _is_driver(pid), _GONE):
            os.kill(pid, signal.SIGKILL)


def _is_driver(pid: int) -> bool:
    try:
        return b"flareiac_spark_runtime.driver" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
