"""When and by whom attributes of a table became what they are."""

import json
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyiceberg.types import LongType, StringType

from flareiac.kernel.paths import Path as AttributePath
from flareiac.sdk.capabilities import Tracing
from flareiac.sdk.requests import TraceRequest
from flareiac.sdk.results import Trace, Writer
from flareiac_iceberg.table.trace import writer_of
from tests.iceberg.lake import Lake, columns

BODY: dict[str, Any] = {
    "namespace": "n",
    "column": columns(id="long", n="int"),
    "properties": {"write.x": "1"},
}
PROPERTY = ("properties", "write.x")


@pytest.fixture
def made(lake: Lake) -> Lake:
    lake.apply("table.t", BODY)
    return lake


def trace(lake: Lake, *paths: AttributePath) -> dict[AttributePath, Trace]:
    driver = lake.driver("table.t")
    assert isinstance(driver, Tracing)
    request = TraceRequest(
        address="table.t", recorded=lake.state["table.t"], references=lake.references, paths=paths
    )
    return dict(driver.trace(request))


def set_property(lake: Lake, value: str, name: str = "write.x") -> float:
    """Returns a time after the commit, in seconds; the next commit is later."""
    lake.table("n.t").transaction().set_properties({name: value}).commit_transaction()
    time.sleep(0.005)
    return time.time()


def test_each_attribute_has_the_time_of_the_commit_that_made_it_so(made: Lake) -> None:
    start = time.time()
    times = [start, set_property(made, "2")]
    times.extend(set_property(made, str(number), "write.other") for number in range(5))
    with made.table("n.t").update_schema() as schema:
        schema.update_column("n", LongType())
        schema.add_column("extra", StringType())
    traces = trace(made, PROPERTY, ("column", "n", "type"), ("column", "extra"), ("comment",))
    assert set(traces) == {PROPERTY, ("column", "n", "type"), ("column", "extra")}
    changed, typed = traces[PROPERTY].since, traces[("column", "n", "type")].since
    assert changed is not None
    assert typed is not None
    assert int(times[0] * 1000) / 1000 <= changed <= times[1]
    assert typed >= int(times[-1] * 1000) / 1000
    assert traces[("column", "extra")].since == typed
    assert {each.by for each in traces.values()} == {None}


def test_a_commit_with_rows_names_its_writer(made: Lake) -> None:
    table = made.table("n.t")
    rows = pa.Table.from_pylist([{"id": 1, "n": 1}], schema=table.schema().as_arrow())
    with table.transaction() as change:
        change.set_properties({"write.x": "2"})
        change.append(rows, {"engine-name": "spark", "engine-version": "4.1.0", "app-id": "a", "user": "ada"})
    set_property(made, "3", "write.other")
    by = Writer(program="spark", version="4.1.0", user="ada", application="a")
    assert trace(made, PROPERTY)[PROPERTY].by == by


def test_metadata_files_that_are_gone_leave_no_guess(made: Lake) -> None:
    first = Path(str(made.state["table.t"].identity["metadata_location"]).removeprefix("file://"))
    set_property(made, "2")
    second = Path(made.table("n.t").metadata_location.removeprefix("file://"))
    set_property(made, "3", "write.other")
    first.unlink()
    assert trace(made, PROPERTY) == {}
    second.unlink()
    assert trace(made, PROPERTY) == {}


def test_a_table_made_again_is_as_old_as_its_first_metadata_file(made: Lake) -> None:
    catalog = made.other()
    schema = catalog.load_table("n.t").schema()
    catalog.drop_table("n.t")
    before = time.time()
    table = catalog.create_table("n.t", schema)
    catalog.close()
    since = trace(made, ())[()].since
    assert since is not None
    assert int(before * 1000) / 1000 <= since <= time.time()
    assert json.loads(Path(table.metadata_location.removeprefix("file://")).read_text())
    made.other_made().drop_table("n.t")
    assert trace(made, PROPERTY) == {}


def test_a_summary_without_a_name_names_no_one() -> None:
    assert writer_of({"operation": "append"}) is None
    assert writer_of({"trino_user": "bob"}) == Writer(user="bob")
