"""The program's reader of checkpoints against what Spark wrote. It imports the program, so it runs every
time.
"""

import pytest

from flareiac_spark.checkpoint_files.reader import read_checkpoint
from tests.facts.lake import Lake, entry, forget
from tests.facts.test_checkpoint_layout import PINNED

pytestmark = pytest.mark.jvm


@pytest.mark.parametrize(
    ("sql", "operators"),
    [
        ("SELECT k, sum(n) AS n FROM events GROUP BY k", ["stateStoreSave"]),
        ("SELECT DISTINCT k FROM events", ["stateStoreSave"]),
        ("SELECT e.k FROM events e JOIN more m ON e.k = m.k", ["symmetricHashJoin"]),
    ],
    ids=["group by", "distinct", "join"],
)
def test_what_the_reader_without_a_jvm_makes_of_a_checkpoint(
    lake: Lake, sql: str, operators: list[str]
) -> None:
    """``checkpoint.disk`` against what Spark wrote."""
    lake.create("out", {"k": "string", "n": "long"})
    for folder in ("events", "more"):
        lake.land(folder, [{"k": "a", "n": 1}])
        lake.files(folder).createOrReplaceTempView(folder)
    mode = "append" if "JOIN" in sql else "complete"
    query = lake.run(lake.spark.sql(sql), "out", mode=mode)
    found = read_checkpoint(lake.checkpoint())
    assert found is not None
    assert (found.query_id, found.started, found.committed, found.in_flight) == (query.id, 0, 0, None)
    assert [item.name for item in found.operators] == operators
    assert {item.partitions for item in found.operators} == {2}
    assert found.conf == PINNED
    assert [item.kind for item in found.sources] == ["files"] * (2 if "JOIN" in sql else 1)
    assert found.sources[0].folders == (str(lake.folder / "events"),)
    forget(lake.checkpoint(), "commits", 0)
    again = read_checkpoint(lake.checkpoint())
    assert again is not None
    assert (again.committed, again.in_flight) == (None, 0)


def test_a_rate_source_has_a_number_as_its_position(lake: Lake) -> None:
    """``checkpoint.disk`` tells sources by their positions."""
    lake.create("out", {"value": "long"})
    lake.run(lake.spark.readStream.format("rate").load().select("value"), "out")
    found = read_checkpoint(lake.checkpoint())
    assert found is not None
    ((kind, offset),) = [(item.kind, item.offset) for item in found.sources]
    assert kind == "rate"
    assert offset is not None
    assert offset.isdigit()


def test_a_table_source_is_at_the_snapshot_it_has_reached(lake: Lake) -> None:
    lake.create("source", {"k": "string"})
    lake.create("out", {"k": "string"})
    lake.spark.sql(f"INSERT INTO {lake.name('source')} VALUES ('a')")
    lake.run(lake.spark.readStream.table(lake.name("source")), "out")
    (reached,) = entry(lake.checkpoint(), "offsets", 0)[2:]
    found = read_checkpoint(lake.checkpoint())
    assert found is not None
    assert [(item.kind, item.offset) for item in found.sources] == [("table", reached)]
