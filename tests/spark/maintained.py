"""Tables of a test's lake that are maintained by the application beside it."""

import threading
import time
from dataclasses import dataclass, field
from typing import Any

import pytest

from flareiac.kernel.data import Reference
from flareiac.kernel.diagnostics import Failure
from flareiac.kernel.records import encode
from flareiac.sdk.maintenance import PerformRequest
from flareiac.sdk.project import Project
from flareiac.sdk.references import Resolved
from flareiac.sdk.table_tasks import Performed
from flareiac_spark.engine.application import Applications
from flareiac_spark.maintenance import outcome, perform
from tests.spark.declared import ENGINE
from tests.support.performers import work_of

Lake = Any
"""The fixtures' own type; conftest files cannot be imported under this import mode."""


class Beside(Applications):
    """The application of a test's lake, whose settings nobody changes."""

    def __init__(self, lake: Lake) -> None:
        super().__init__(Project(root=lake.root, lineage="lineage-1"))
        self._lake = lake

    def control(self, engine: Any) -> Any:
        del engine
        return self._lake.control

    def want(self, *_given: Any) -> Any:
        return None

    def bring_up(self, engine: Any, cancel: Any, progress: Any) -> Any:
        del engine, cancel, progress
        return self._lake.start()


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """One table and short words for what is done with it."""

    lake: Lake
    name: str
    uuid: str
    cancel: threading.Event = field(default_factory=threading.Event)

    def append(self, *rows: dict[str, Any]) -> int:
        """One file, one snapshot, whose id it returns."""
        import pyarrow as pa

        table = self.loaded()
        table.append(pa.Table.from_pylist(list(rows), schema=table.schema().as_arrow()))
        return int(table.metadata.current_snapshot_id)

    def fill(self, files: int) -> list[int]:
        return [self.append(row(number)) for number in range(files)]

    def loaded(self) -> Any:
        return self.lake.catalog.load_table(("demo", self.name))

    def files(self) -> int:
        return len(list(self.loaded().scan().plan_files()))

    def numbers(self) -> list[int]:
        return sorted(item["n"] for item in self.lake.rows(self.name))

    def snapshots(self) -> set[int]:
        return {item.snapshot_id for item in self.loaded().snapshots()}

    def summary(self) -> dict[str, str]:
        summary = self.loaded().current_snapshot().summary
        return {**summary.additional_properties, "operation": summary.operation.value}

    def maintain(self, task: object, key: str = "k1") -> Performed:
        return perform(self._request(task, key), Beside(self.lake))

    def outcome(self, task: object, key: str = "k1") -> Performed | None:
        return outcome(self._request(task, key), Beside(self.lake))

    def _request(self, task: object, key: str) -> PerformRequest:
        catalog = Resolved(address="catalog.lake", type="catalog", attributes={"name": "lake"})
        attributes = {"catalog": Reference("catalog.lake"), "namespace": "demo", "name": self.name}
        subject = Resolved(
            address=f"table.{self.name}", type="table", attributes=attributes, identity={"uuid": self.uuid}
        )
        return PerformRequest(
            key=key,
            subject=subject,
            performer=Resolved(address="engine.local", type="engine", attributes=encode(ENGINE)),
            work=work_of(task),
            references={"catalog.lake": catalog},
            cancel=self.cancel,
            progress=lambda _text: None,
        )

    def refused(self, task: object, key: str = "k1") -> tuple[str, str]:
        with pytest.raises(Failure) as failed:
            self.maintain(task, key)
        (diagnostic,) = failed.value.diagnostics
        return diagnostic.code, diagnostic.detail


def row(number: int, day: int = 1) -> dict[str, Any]:
    from datetime import UTC, datetime

    return {"ts": datetime(2026, 1, day, tzinfo=UTC), "k": "a", "n": number}


def now_ms() -> int:
    return int(time.time() * 1000)
