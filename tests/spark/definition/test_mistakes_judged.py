"""Spark's analyzer judges what is said of queries without Spark: what is called a mistake is one, and the
columns that are known are those that Spark gives. Queries of the pairs, changed at random.
"""

import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from flareiac_spark.sql.certain_types import cannot_store
from flareiac_spark.sql.parse import unread
from flareiac_spark.sql.static_reading import Columns, GivenColumn, Reading, read
from flareiac_spark.sql.stream_limits import stream_reading
from flareiac_spark_runtime.driver import sinks
from flareiac_spark_runtime.driver.column_types import spark_type
from tests.verdicts.inputs import COLUMNS, STREAMS, frame, land
from tests.verdicts.mistaken import TARGETS, mistaken
from tests.verdicts.spark import Views, application, refusals

pytestmark = pytest.mark.jvm

CAUGHT = 0.5
"""The share of the queries that Spark's analyzer refuses, and in which a mistake is named; at least."""


LIMITED = (
    *(f"SELECT id FROM ev {end}" for end in ("ORDER BY id", "SORT BY id", "CLUSTER BY id", "OFFSET 3")),
    "WITH c AS (SELECT id FROM ev ORDER BY id) SELECT id FROM ev",
    "SELECT id FROM ev UNION ALL (SELECT id FROM ev ORDER BY id)",
    "SELECT k, count(*) AS n FROM ev GROUP BY k ORDER BY n",
    "SELECT k, count(DISTINCT v) AS n FROM ev GROUP BY k",
    "SELECT row_number() OVER (PARTITION BY k ORDER BY v) AS n FROM ev",
    "SELECT sum(v) OVER w AS n FROM ev WINDOW w AS (PARTITION BY k)",
    "SELECT k FROM dim EXCEPT SELECT k FROM ev",
    "SELECT k FROM ev INTERSECT SELECT k FROM dim",
    "SELECT k FROM ev UNION ALL SELECT k FROM dim",
    "SELECT ev.k FROM ev FULL JOIN dim ON ev.k = dim.k",
    "SELECT ev.k FROM ev RIGHT JOIN dim ON ev.k = dim.k",
    "SELECT ev.k FROM dim LEFT JOIN ev ON ev.k = dim.k",
    "SELECT dim.k FROM dim LEFT SEMI JOIN ev ON ev.k = dim.k",
    "SELECT dim.k FROM dim LEFT ANTI JOIN ev ON ev.k = dim.k",
    "SELECT id FROM ev TABLESAMPLE (10 PERCENT)",
    "SELECT id FROM ev TABLESAMPLE (BUCKET 1 OUT OF 3)",
    "SELECT id FROM (SELECT id FROM ev) TABLESAMPLE (10 PERCENT)",
)
"""Queries that a stream cannot run."""
UNLIMITED = (
    "SELECT id FROM ev DISTRIBUTE BY id",
    "SELECT id FROM ev LIMIT 3",
    "SELECT id FROM ev TABLESAMPLE (3 ROWS)",
    "SELECT ev.id FROM ev JOIN (SELECT k FROM dim TABLESAMPLE (10 PERCENT)) d ON ev.k = d.k",
    "SELECT id FROM ev WINDOW w AS (PARTITION BY k)",
    "SELECT k FROM ev EXCEPT SELECT k FROM dim",
    "SELECT ev.k FROM ev LEFT JOIN dim ON ev.k = dim.k",
    "SELECT ev.k FROM dim RIGHT JOIN ev ON ev.k = dim.k",
    "SELECT ev.k FROM ev LEFT SEMI JOIN dim ON ev.k = dim.k",
    "SELECT ev.k FROM ev LEFT ANTI JOIN dim ON ev.k = dim.k",
    "SELECT ev.id FROM ev JOIN (SELECT k FROM dim ORDER BY rank LIMIT 3) d ON ev.k = d.k",
    "SELECT ev.id FROM ev JOIN (SELECT k, row_number() OVER (ORDER BY rank) AS r FROM dim) d ON ev.k = d.k",
    "SELECT id, (SELECT max(rank) FROM dim) AS r FROM ev",
    "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY v) AS x FROM ev",
    "SELECT ev.k FROM ev JOIN (SELECT DISTINCT k FROM dim) d ON ev.k = d.k",
    "SELECT ev.k FROM ev JOIN (SELECT count(DISTINCT rank) AS n, k FROM dim GROUP BY k) d ON ev.k = d.k",
    "SELECT ev.k FROM ev JOIN (SELECT k FROM dim UNION ALL SELECT k FROM lookup) d ON ev.k = d.k",
)
"""Queries that some output mode of a stream can run."""
INPUTS_OF_STREAMS = {name: name in STREAMS for name in COLUMNS}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The rows of the inputs."""
    found = tmp_path_factory.mktemp("inputs")
    land(found, frame(1))
    return found


@pytest.fixture(scope="module")
def root(folder: Path) -> Iterator[Any]:
    with application(folder / "scratch") as session:
        yield session


@pytest.fixture(scope="module")
def session(root: Any, folder: Path) -> Any:
    """One with the inputs as views."""
    return Views(root, folder).session


@pytest.fixture(scope="module")
def streaming(root: Any, folder: Path) -> Any:
    """One with some inputs as streams."""
    return Views(root, folder, streaming=True).session


@pytest.mark.parametrize("sql", LIMITED)
def test_a_limit_of_streams_is_one_to_spark(sql: str, streaming: Any) -> None:
    assert stream_reading(sql, INPUTS_OF_STREAMS, complete=False).limits
    assert not _runs(streaming, sql, ("append", "update"))


@pytest.mark.parametrize("sql", UNLIMITED)
def test_what_a_stream_can_do_has_no_limit(sql: str, streaming: Any) -> None:
    assert not stream_reading(sql, INPUTS_OF_STREAMS, complete=False).limits
    assert _runs(streaming, sql, ("append", "update"))


def test_a_whole_aggregate_is_sorted(streaming: Any) -> None:
    sql = "SELECT k, count(*) AS n FROM ev GROUP BY k ORDER BY n"
    assert not stream_reading(sql, INPUTS_OF_STREAMS, complete=True).limits
    assert _runs(streaming, sql, ("complete",))


def _runs(session: Any, sql: str, modes: tuple[str, ...]) -> bool:
    given = session.sql(sql)
    return any(_accepts(session, given, mode) for mode in modes)


def _accepts(session: Any, given: Any, mode: str) -> bool:
    try:
        sinks.check(session, given, mode)
    except refusals():
        return False
    return True


def test_a_mistake_is_one_to_spark(session: Any) -> None:
    _judge(session, random.Random("sample").sample(range(10_000), 60))


@pytest.mark.slow
def test_no_mistake_is_made_up_in_thousands_of_queries(session: Any) -> None:
    figures = _judge(session, range(2_000))
    assert figures["caught"] >= CAUGHT * figures["refused"], figures


def _judge(session: Any, numbers: "range | list[int]") -> Counter[str]:
    """The number of queries that Spark refuses, and of those among them in which a mistake was named."""
    figures: Counter[str] = Counter()
    wrong: list[object] = []
    for number in numbers:
        known: dict[str, Columns | None] = {
            name: tuple(GivenColumn(name=each, type=kind) for each, kind in columns.items())
            for name, columns in COLUMNS.items()
        }
        made: list[str] = []
        for name, sql in mistaken(1, number).items():
            reading = read(sql, known)
            at = unread(sql)
            named = bool(reading.mistakes) or (at is not None and at.wrong != "")
            try:
                given = session.sql(sql)
                given.createOrReplaceTempView(name)
            except refusals():
                figures["refused"] += 1
                figures["caught"] += named
                break
            figures["accepted"] += 1
            wrong += [(number, sql, reading.mistakes, at)] if named else _not_as(session, given, reading, sql)
            known[name] = reading.columns
            made.append(name)
        for name in made:
            session.catalog.dropTempView(name)
    assert wrong == []
    assert figures["accepted"] > len(numbers) / 2
    assert figures["caught"] > len(numbers) / 10
    return figures


def _not_as(session: Any, given: Any, reading: Reading, sql: str) -> Iterator[object]:
    """Columns, types and assignments that Spark sees otherwise."""
    from pyspark.sql.types import StructType

    if reading.columns is None:
        return
    if [each.name.lower() for each in reading.columns] != [name.lower() for name in given.columns]:
        yield sql, reading.columns, given.columns
        return
    for column, field in zip(reading.columns, given.schema.fields, strict=True):
        if column.type is None:
            continue
        if _type(column.type).simpleString().lower() != field.dataType.simpleString().lower():
            yield sql, column, field.dataType.simpleString()
        target = random.Random(f"{sql} {column.name}").choice(TARGETS)
        if cannot_store(column.type, target):
            try:
                session.createDataFrame([], StructType([field])).to(
                    StructType.fromDDL(f"`{field.name}` {spark_type(target)}")
                )
            except refusals():
                continue
            yield sql, column, target


def _type(text: str) -> Any:
    from pyspark.sql.types import StructType

    schema: Any = StructType.fromDDL(f"x {spark_type(text)}")
    return schema.fields[0].dataType
