"""The effect on a query of sources that change on its checkpoint: one row for each change, with Spark's
answer and the rows that come out.

``FIRST`` lies in each folder, and in each table, before the first run, ``SECOND`` before the second. ``!``
begins a refusal.
"""

from collections.abc import Callable
from typing import Any

import pytest

from tests.facts.ids import fact
from tests.facts.lake import Lake, agrees, batches, why

pytestmark = pytest.mark.jvm

COLUMNS = {"k": "string", "n": "long"}
OUT = {**COLUMNS, "m": "string"}
TABLES = ("left", "right")
Source = Callable[[Lake], Any]


def files(*folders: str, columns: str = "k STRING, n BIGINT", **options: object) -> Source:
    def frame(lake: Lake) -> Any:
        return union(lake.files(folder, columns, **options) for folder in folders)

    return frame


def tables(*names: str, **options: str) -> Source:
    return lambda lake: union(
        lake.spark.readStream.options(**options).table(lake.name(name)) for name in names
    )


def other_format(lake: Lake) -> Any:
    folder = str(lake.folder / "events")
    return (
        lake.spark.readStream.format("text")
        .load(folder)
        .selectExpr("get_json_object(value, '$.k') AS k", "1L AS n")
    )


def rate(lake: Lake) -> Any:
    return lake.spark.readStream.format("rate").load().selectExpr("'rate' AS k", "-1L AS n")


def above(lake: Lake) -> Any:
    return lake.spark.readStream.format("json").schema("k STRING, n BIGINT").load(str(lake.folder / "e*"))


def remade(lake: Lake) -> Any:
    lake.catalog.drop_table(f"{lake.namespace}.left")
    lake.create("left", COLUMNS)
    insert(lake, "left", "new left", 3)
    return tables("left")(lake)


def union(frames: Any) -> Any:
    first, *others = frames
    for other in others:
        first = first.union(other)
    return first


def insert(lake: Lake, table: str, k: str, n: int) -> None:
    lake.spark.sql(f"INSERT INTO {lake.name(table)} VALUES ('{k}', {n})")


def row(name: str, before: Source, after: Source, outcome: str) -> Any:
    return pytest.param(before, after, outcome, id=name, marks=fact(name))


EVENTS = files("events")
MORE = "k STRING, n BIGINT, m STRING"
ROWS = [
    row(
        "source.count",
        EVENTS,
        files("events", "more"),
        "!assertion failed: There are [1] sources in the checkpoint offsets and now there are [2]",
    ),
    row(
        "source.count-less",
        files("events", "more"),
        EVENTS,
        "!assertion failed: There are [2] sources in the checkpoint offsets and now there are [1]",
    ),
    row("source.kind", EVENTS, rate, "!For input string"),
    row("source.kind-files-to-table", EVENTS, tables("left"), "!Cannot parse missing int: version"),
    row("source.kind-rate-to-files", rate, EVENTS, "!No usable value for path"),
    row("source.kind-table-to-files", tables("left"), EVENTS, "!No usable value for logOffset"),
    row("source.path", EVENTS, files("more"), "!Wrong basePath"),
    row("source.path-covering", EVENTS, above, "e1; e2"),
    row("source.order", files("events", "more"), files("more", "events"), "!Wrong basePath"),
    row(
        "source.order-of-kinds",
        lambda lake: union((EVENTS(lake), tables("left")(lake))),
        lambda lake: union((tables("left")(lake), EVENTS(lake))),
        "!No usable value for logOffset",
    ),
    row("source.format", EVENTS, other_format, "e1; e2"),
    row("source.columns", EVENTS, files("events", columns=MORE), "e1; e2 x"),
    row(
        "source.column-type",
        EVENTS,
        lambda lake: files("events", columns="k STRING, n STRING")(lake).selectExpr("k", "bigint(n) AS n"),
        "e1; e2",
    ),
    row("source.rate-limit", EVENTS, files("events", maxFilesPerTrigger=1), "e1; e2"),
    row("source.latest-first", EVENTS, files("events", latestFirst=True), "e1; e2"),
    row("source.max-file-age", EVENTS, files("events", maxFileAge="1s"), "e1; e2"),
    row("source.table-other", tables("left"), tables("right"), "!Cannot load current offset at snapshot"),
    row("source.table-made-anew", tables("left"), remade, "!Cannot load current offset at snapshot"),
    row(
        "source.table-order",
        tables("left", "right"),
        tables("right", "left"),
        "!Cannot load current offset at snapshot",
    ),
    row(
        "source.table-rate-limit",
        tables("left"),
        tables("left", **{"streaming-max-files-per-micro-batch": "1"}),
        "l1; l2",
    ),
]


@pytest.mark.parametrize(("before", "after", "outcome"), ROWS)
def test_changed_sources(lake: Lake, before: Source, after: Source, outcome: str) -> None:
    """A stream's position belongs to the place of the stream in the query: the planner compares count, order,
    kind and place itself.
    """
    lake.create("out", OUT)
    for table in TABLES:
        lake.create(table, COLUMNS)
    land(lake, "1")
    lake.run(before(lake), "out")
    land(lake, "2")
    found = outcome_of(lake, after)
    assert agrees(found, outcome), found


def land(lake: Lake, run: str) -> None:
    lake.land("events", [{"k": f"e{run}", "n": 1, "m": "x"}])
    lake.land("more", [{"k": f"m{run}", "n": 1, "m": "x"}])
    for table in TABLES:
        insert(lake, table, f"{table[0]}{run}", 1)


def outcome_of(lake: Lake, after: Source) -> str:
    """The rows by ``k`` and ``m``, or why the query ended."""
    from pyspark.errors import StreamingQueryException

    try:
        lake.run(after(lake), "out")
    except StreamingQueryException as failure:
        return f"!{why(failure)}"
    rows = lake.load("out").scan().to_arrow().to_pylist()
    return "; ".join(
        sorted(
            " ".join(str(item[name]) for name in ("k", "m") if item[name])
            for item in rows
            if item["k"] != "rate"
        )
    )


def closing(lake: Lake, folder: str) -> Any:
    """A query with state, whose last batch is one without input, to move the watermark."""
    events = lake.files(folder, "k STRING, at TIMESTAMP").withWatermark("at", "0 seconds")
    return events.dropDuplicates(["k", "at"]).select("k")


@fact("source.path-after-empty-batch")
def test_another_folder_is_accepted_after_a_batch_without_files(lake: Lake) -> None:
    """Spark stumbles over files of the last batch that lie elsewhere; where that batch had none, nothing
    tells it.
    """
    lake.create("out", OUT)
    lake.land("events", [{"k": "e1", "at": "2026-01-01T00:00:00Z"}])
    lake.land("more", [{"k": "m1", "at": "2026-01-01T00:01:00Z"}])
    lake.run(closing(lake, "events"), "out")
    assert batches(lake.checkpoint(), "commits") == [0, 1]
    assert outcome_of(lake, lambda lake: closing(lake, "more")) == "e1; m1"


@fact("source.order-after-empty-batch")
def test_swapped_streams_are_accepted_after_a_batch_without_files(lake: Lake) -> None:
    """The refusal does not come here, as it does where the last batch had files: the folders change places,
    and each is read again from its beginning.
    """
    lake.create("out", OUT)
    for folder in ("events", "more"):
        lake.land(folder, [{"k": folder, "at": "2026-01-01T00:01:00Z"}])
    lake.run(closed_windows(lake, "events", "more"), "out")
    assert outcome_of(lake, lambda lake: closed_windows(lake, "more", "events")) == "events; more"
    assert (lake.checkpoint() / "sources/0/1").exists()


def closed_windows(lake: Lake, *folders: str) -> Any:
    marked = [
        lake.files(folder, "k STRING, at TIMESTAMP").withWatermark("at", "0 seconds") for folder in folders
    ]
    return union(marked).groupBy("k", "at").count().selectExpr("k", "count AS n")
