"""Spark's analyzer judges what is said of queries without Spark: what is called a mistake is one, and the
columns that are known are those that Spark gives. Queries of the pairs, changed at random.
"""

import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from flareiac_spark.driver.column_types import spark_type
from flareiac_spark.sql.certain_types import cannot_store
from flareiac_spark.sql.parse import unread
from flareiac_spark.sql.static_reading import Columns, GivenColumn, Reading, read
from tests.verdicts.inputs import COLUMNS, frame, land
from tests.verdicts.mistaken import TARGETS, mistaken
from tests.verdicts.spark import Views, application, refusals

pytestmark = pytest.mark.jvm

CAUGHT = 0.5
"""The share of the queries that Spark's analyzer refuses, and in which a mistake is named; at least."""


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """One with the inputs as views."""
    folder = tmp_path_factory.mktemp("inputs")
    land(folder, frame(1))
    with application(folder / "scratch") as root:
        yield Views(root, folder).session


def test_a_mistake_is_one_to_spark(session: Any) -> None:
    _judge(session, random.Random("sample").sample(range(10_000), 60))


@pytest.mark.slow
def test_no_mistake_is_made_up_in_thousands_of_queries(session: Any) -> None:
    figures = _judge(session, range(2_000))
    assert figures["caught"] >= CAUGHT * figures["refused"], figures


def _judge(session: Any, numbers: "range | list[int]") -> Counter[str]:
    """How many queries Spark refuses, and in how many of them a mistake was named."""
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
