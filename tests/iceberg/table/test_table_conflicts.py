"""Another program commits to the same table all the time: both get through, and neither loses what it
wrote.
"""

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from flareiac.sdk.changes import Action
from flareiac.sdk.results import Applied, NotApplied
from flareiac_iceberg.catalogs import pointer_writer
from flareiac_iceberg.catalogs.sqlite.writer import SqliteWriter
from tests.iceberg.lake import CALLS, CATALOG, Lake, columns

BODY: dict[str, Any] = {
    "namespace": "n",
    "column": columns(id="long", name="string"),
    "properties": {"k": "0"},
}
WRITER = """
import sys, time
from pathlib import Path
import pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.exceptions import CommitFailedException

name, uri, warehouse, told, stop = sys.argv[1:]
catalog = SqlCatalog(name, uri=uri + "?timeout=30", warehouse=warehouse)
number = 0
while not Path(stop).exists():
    started = time.monotonic()
    table = catalog.load_table("n.t")
    schema = pa.schema([pa.field("id", pa.int64())])
    try:
        with table.transaction() as change:
            change.append(pa.table({"id": [number]}, schema=schema))
            change.set_properties({"theirs": str(number)})
    except CommitFailedException:
        continue
    number += 1
    Path(told).write_text(str(number))
    time.sleep(max(0.0, 0.2 - (time.monotonic() - started)))
catalog.close()
"""


class Writer:
    """A process that appends a row and sets a property in one commit, five times a second."""

    def __init__(self, lake: Lake, folder: Path) -> None:
        attributes = lake.references[CATALOG].attributes
        self.told, self.stop_file, script = folder / "told", folder / "stop", folder / "writer.py"
        script.write_text(WRITER)
        place = (attributes["name"], attributes["uri"], attributes["warehouse"])
        self.process = subprocess.Popen(
            [sys.executable, str(script), *place, str(self.told), str(self.stop_file)]
        )

    @property
    def count(self) -> int:
        return int(self.told.read_text() or 0) if self.told.exists() else 0

    def wait(self, more: int) -> None:
        """Until it has committed this often again."""
        wanted, deadline = self.count + more, time.monotonic() + 120
        while self.count < wanted:
            assert self.process.poll() is None, "the writer died"
            assert time.monotonic() < deadline, "the writer makes no progress"
            time.sleep(0.05)

    def stop(self) -> int:
        self.stop_file.touch()
        assert self.process.wait(60) == 0
        return self.count


@pytest.fixture
def busy(lake: Lake, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Lake, Writer]]:
    lake.apply("table.t", BODY)
    writer = Writer(lake, tmp_path_factory.mktemp("writer"))
    try:
        writer.wait(2)
        yield lake, writer
    finally:
        if writer.process.poll() is None:
            writer.process.kill()
            writer.process.wait(60)


def test_every_change_gets_through_and_none_of_theirs_is_lost(busy: tuple[Lake, Writer]) -> None:
    lake, writer = busy
    none = {"retain": None, "min_snapshots_to_keep": None, "max_snapshot_age": None}
    body = BODY
    changes: tuple[dict[str, Any], ...] = (
        {"properties": {"k": "1"}},
        {"column": columns(id="long", name="string", more="int")},
        {"partition_by": [CALLS["bucket"](4, "id")]},
        {"branch": {"audit": none}, "tag": {"now": {"snapshot_id": None, "retain": None}}},
        {"column": columns(id="long", called="string", more="int"), "renamed": {"name": "called"}},
        {"sort_by": ["id"], "comment": "x", "tags": {"team": "x"}},
        {"branch": None, "properties": {}},
    )
    for change in changes:
        body = body | change
        lake.apply("table.t", body)
        writer.wait(1)
    written = writer.stop()
    assert sorted(row["id"] for row in lake.rows("n.t")) == list(range(written))
    table = lake.table("n.t")
    assert table.properties["theirs"] == str(written - 1)
    assert table.properties["comment"] == "x"
    assert lake.plan("table.t", body).action in (Action.NO_OP, Action.RECORD)


def test_a_property_that_they_set_to_another_value_is_not_overwritten(lake: Lake) -> None:
    lake.apply("table.t", BODY)
    request = lake.request("table.t", lake.plan("table.t", BODY | {"properties": {"k": "1"}, "comment": "x"}))
    with lake.table("n.t").transaction() as change:
        change.set_properties({"k": "theirs"})
    outcome = lake.session.driver("table").apply(request)
    assert isinstance(outcome, NotApplied)
    assert [item.code for item in outcome.diagnostics] == ["FII040"]
    assert lake.table("n.t").properties["k"] == "theirs"
    assert "comment" not in lake.table("n.t").properties


@pytest.mark.parametrize("moment", ["before the file", "before the row"])
def test_a_commit_in_the_very_middle_is_seen(
    lake: Lake, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    lake.apply("table.t", BODY)
    request = lake.request("table.t", lake.plan("table.t", BODY | {"comment": "x"}))
    place, name = (
        (pointer_writer, "write_metadata") if moment == "before the file" else (SqliteWriter, "move")
    )
    original, pending = getattr(place, name), [True]

    def disturbed(*arguments: Any) -> Any:
        if pending:
            pending.clear()
            with lake.table("n.t").transaction() as change:
                change.set_properties({"theirs": "1"})
        return original(*arguments)

    monkeypatch.setattr(place, name, disturbed)
    outcome = lake.session.driver("table").apply(request)
    assert isinstance(outcome, Applied)
    properties = lake.table("n.t").properties
    assert (properties["theirs"], properties["comment"]) == ("1", "x")
    files = {Path(item.metadata_file).name for item in lake.table("n.t").metadata.metadata_log}
    folder = next((lake.project.root / ".flareiac").rglob("metadata"))
    left = (
        {path.name for path in folder.glob("*.metadata.json")}
        - files
        - {Path(lake.table("n.t").metadata_location).name}
    )
    assert left == set()
