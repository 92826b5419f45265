"""Tables with maintenance for tests: what is measured and due of one in a small lake, and figures made by
hand.
"""

import threading
from collections.abc import Mapping
from typing import Any

from flareiac.kernel.data import Attributes
from flareiac.sdk.maintenance import (
    Hold,
    LastRun,
    MaintenanceTask,
    MeasureRequest,
    Measuring,
    Neighbour,
    TasksRequest,
)
from flareiac.sdk.results import Observation, Present
from flareiac_iceberg.maintenance.plan import TableMaintainer
from tests.iceberg.lake import Lake, columns

DAY = 86_400_000
ORDERS: dict[str, Any] = {"namespace": "n", "name": "t", "column": columns(id="long", ts="timestamptz")}
STOP = threading.Event()


def declared(lake: Lake, body: Mapping[str, Any]) -> Attributes:
    """The canonical attributes of a table block, with blocks given as they are written."""
    return lake.canonical("table", "t", {**ORDERS, **body})


def measured(
    lake: Lake,
    body: Mapping[str, Any],
    known: Attributes | None = None,
    *,
    address: str = "table.t",
    observed: Observation | None = None,
) -> Attributes:
    """The figures of the table as it is now, or as it was observed."""
    attributes = declared(lake, body)
    observed = observed or lake.read(address, attributes)
    assert isinstance(observed, Present), observed
    driver = lake.session.driver("table")
    assert isinstance(driver, Measuring)
    return driver.measure(
        MeasureRequest(
            address=address,
            attributes=attributes,
            identity=observed.identity,
            references=lake.references,
            known=known or {},
        )
    )


def tasks(
    lake: Lake,
    body: Mapping[str, Any],
    *,
    now: int | None = None,
    holds: tuple[Hold, ...] = (),
    runs: Mapping[str, LastRun] | None = None,
    neighbours: tuple[Neighbour, ...] = (),
) -> dict[str, MaintenanceTask]:
    """The tasks that are due of the table, by name."""
    figures = measured(lake, body)
    request = TasksRequest(
        address="table.t",
        attributes=declared(lake, body),
        identity={},
        figures=figures,
        references=lake.references,
        now_ms=figures["measured_ms"] if now is None else now,
        holds=holds,
        runs=runs or {},
        neighbours=neighbours,
    )
    return {task.name: task for task in TableMaintainer().tasks(request)}
