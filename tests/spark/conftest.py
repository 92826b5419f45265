"""A small lake with a control directory beside it, and applications that are ended when the tests are
over.
"""

import json
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from flareiac_spark.application import Launch, ensure_running, liveness, stop_application, wait_for
from flareiac_spark.application.liveness import Liveness
from flareiac_spark_runtime.control import (
    ApplicationSettings,
    ControlDirectory,
    Desired,
    DesiredJob,
    JobStatus,
    ProcessIdentity,
    Status,
    is_running,
)
from tests.spark.object_mirror import READERS, mirrored
from tests.support.spark_session import short_lived

LINEAGE, WORKSPACE = "lineage-1", "default"
DEADLINE = 180.0
FLIGHTS = (("ts", "timestamptz"), ("carrier", "string"), ("delay", "long"))


class Lake:
    """A SQLite catalog ``lake`` with the namespace ``demo``, an application beside it, and short words for
    what tests do with them.
    """

    def __init__(self, root: Path, jars: tuple[Path, ...], java_home: Path) -> None:
        from pyiceberg.catalog.sql import SqlCatalog

        self.root, self.control = root, ControlDirectory(root / "runtime")
        self.warehouse = f"file://{root}/warehouse"
        self.catalog = SqlCatalog("lake", uri=f"sqlite:///{root}/catalog.db", warehouse=self.warehouse)
        self.catalog.create_namespace("demo")
        self.launch = Launch(
            java_home=java_home,
            jars=jars,
            java_options=short_lived(jars),
            master="local[2]",
            memory="512m",
        )

    # The lake

    def table(
        self,
        name: str,
        *columns: tuple[str, str] | tuple[str, str, bool],
        rows: list[dict[str, Any]] | None = None,
    ) -> str:
        """Creates a table and returns its uuid."""
        import pyarrow as pa
        from pyiceberg.schema import Schema
        from pyiceberg.types import LongType, NestedField, StringType, TimestamptzType

        types = {"timestamptz": TimestamptzType(), "string": StringType(), "long": LongType()}
        fields = [
            NestedField(at + 1, column[0], types[column[1]], required=len(column) > 2 and bool(column[2]))
            for at, column in enumerate(columns)
        ]
        table = self.catalog.create_table(("demo", name), Schema(*fields))
        if rows:
            table.append(pa.Table.from_pylist(rows, schema=table.schema().as_arrow()))
        return str(table.metadata.table_uuid)

    def rows(self, name: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.catalog.load_table(("demo", name)).scan().to_arrow().to_pylist()
        return found

    def _written(self, name: str) -> int:
        """The rows of a table as its newest snapshot counts them."""
        snapshot = self.catalog.load_table(("demo", name)).current_snapshot()
        if snapshot is None or snapshot.summary is None:
            return 0
        return int(snapshot.summary.additional_properties["total-records"])

    def drop_file(self, folder: str, name: str, rows: list[dict[str, Any]]) -> None:
        """A JSON file that appears at once and whole."""
        (self.root / folder).mkdir(exist_ok=True)
        scratch = self.root / f".{name}"
        scratch.write_text("".join(json.dumps(row) + "\n" for row in rows))
        scratch.rename(self.root / folder / f"{name}.json")

    # Specs

    def output(
        self, name: str, source: str, uuid: str | None, columns: list[tuple[Any, ...]], **more: Any
    ) -> dict[str, Any]:
        spelled = [
            {"name": column[0], "type": column[1], "required": len(column) > 2 and bool(column[2])}
            for column in columns
        ]
        base = {
            "name": name,
            "from": source,
            "identifier": ["lake", "demo", name],
            "uuid": uuid,
            "mode": "append",
            "columns": spelled,
        }
        return {**base, "checkpoint": str(self.root / "checkpoints" / name / "g0001"), **more}

    def flights_input(self, folder: str, **more: Any) -> dict[str, Any]:
        (self.root / folder).mkdir(exist_ok=True)
        columns = [{"name": name, "type": kind} for name, kind in FLIGHTS]
        source = {"kind": "files", "path": str(self.root / folder), "format": "json", "columns": columns}
        return {"name": "raw", "kind": "stream", "source": {**source, **more.pop("source", {})}, **more}

    # The application

    def settings(self, **more: Any) -> ApplicationSettings:
        catalog = "spark.sql.catalog.lake"
        conf = {
            catalog: "org.apache.iceberg.spark.SparkCatalog",
            f"{catalog}.type": "jdbc",
            f"{catalog}.uri": f"jdbc:sqlite:{self.root}/catalog.db?journal_mode=WAL&busy_timeout=15000",
            f"{catalog}.jdbc.schema-version": "V1",
            f"{catalog}.warehouse": self.warehouse,
            f"{catalog}.cache-enabled": "false",
            "spark.sql.shuffle.partitions": "2",
        }
        return ApplicationSettings(
            **{"digest": "a1", "name": "test", "conf": conf, "graceful_stop_ms": 20_000, **more}
        )

    def change(self, edit: Callable[[Desired], Desired]) -> Desired:
        return self.control.update_desired(edit, lineage=LINEAGE, workspace=WORKSPACE)

    def put(self, *specs: dict[str, Any], **more: Any) -> None:
        """Has jobs run, each spec with a digest of its own."""
        jobs = {
            spec["address"]: DesiredJob(
                digest=uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(spec)).hex, spec=spec, **more
            )
            for spec in specs
        }
        self.change(lambda desired: replace(desired, jobs={**desired.jobs, **jobs}))

    def settle(self, **settings: Any) -> None:
        self.change(lambda desired: replace(desired, application=self.settings(**settings)))

    def start(self) -> Status:
        status = ensure_running(self.control, self.launch, timeout=DEADLINE)
        assert status is not None
        return status

    def stop(self) -> None:
        assert stop_application(self.control, timeout=DEADLINE)

    def until(self, address: str, answer: Callable[[JobStatus], bool]) -> JobStatus:
        """The job's status once it has taken in what should run and the answer is yes."""

        def look(status: Status) -> JobStatus | None:
            desired, job = self.control.read_desired(), status.jobs.get(address)
            wanted = desired.jobs[address] if desired is not None and address in desired.jobs else None
            if job is None or wanted is None or (job.digest, job.nonce) != (wanted.digest, wanted.nonce):
                return None
            return job if answer(job) else None

        found = wait_for(self.control, look, timeout=DEADLINE)
        if found is None:
            pytest.fail(f"{address} did not get there: {self.control.read_status()}")
        return found

    def wait(self, answer: Callable[[Status], bool]) -> None:
        if wait_for(self.control, answer, timeout=DEADLINE) is None:
            pytest.fail(f"the application did not get there: {self.control.read_status()}")

    def until_phase(self, address: str, *phases: str) -> JobStatus:
        return self.until(address, lambda job: job.phase in phases)

    def until_rows(self, table: str, count: int) -> list[dict[str, Any]]:
        """The table's rows once there are that many (or more). On a busy machine they may come slowly: the
        deadline counts from the last time that one came.
        """
        before = -1

        def has_rows(_status: Status) -> bool:
            # Read once the newest snapshot counts enough rows
            return self._written(table) >= count and len(self.rows(table)) >= count

        while wait_for(self.control, has_rows, timeout=DEADLINE) is None:
            if (there := self._written(table)) > before:
                before = there
                continue
            pytest.fail(f"{table} has {len(self.rows(table))} rows: {self.control.read_status()}")
        return self.rows(table)

    def until_gone(self, process: ProcessIdentity) -> bool:
        """Returns True if a process ended before the deadline; a killed one takes a moment."""
        deadline = time.monotonic() + DEADLINE
        while is_running(process) and time.monotonic() < deadline:
            time.sleep(0.02)
        return not is_running(process)

    def close(self) -> None:
        if liveness(self.control.read_status()) is not Liveness.GONE:
            self.stop()
        self.catalog.close()


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory, jars: tuple[Path, ...], java_home: Path) -> Iterator[Lake]:
    """A lake whose application is shared by the tests of a module."""
    made = Lake(tmp_path_factory.mktemp("lake"), jars, java_home)
    made.settle()
    try:
        yield made
    finally:
        made.close()


@pytest.fixture
def own_lake(tmp_path: Path, jars: tuple[Path, ...], java_home: Path) -> Iterator[Lake]:
    """A lake of one test alone, for those that kill or end the application."""
    made = Lake(tmp_path, jars, java_home)
    made.settle()
    try:
        yield made
    finally:
        made.close()


@pytest.fixture(autouse=True)
def objects_agree(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes each reader of checkpoints in a test module read a copy in object storage too, and compare."""
    only_here = request.node.get_closest_marker("disk_only") is not None
    for name in () if only_here else (*READERS, "prepare_folder"):
        if hasattr(request.module, name):
            monkeypatch.setattr(request.module, name, mirrored(name, getattr(request.module, name)))
