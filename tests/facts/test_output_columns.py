"""The columns of an output in a table: those that are required, and the casts of values. ``driver.outputs``
rests on this.
"""

import pytest
from pyiceberg.schema import Schema
from pyiceberg.types import ListType, NestedField, StringType

from tests.facts.ids import fact
from tests.facts.lake import Lake, collected

pytestmark = pytest.mark.jvm

ROWS: list[dict[str, object]] = [{"k": "a", "n": 1}, {"n": 2}]


def test_a_nullable_column_into_a_required_one_is_refused(lake: Lake) -> None:
    """Nearly every expression counts as nullable, so the driver turns this check off and looks at the
    values.
    """
    from pyspark.errors import StreamingQueryException

    lake.create("out", {"k": "string!", "n": "long"})
    lake.land("events", ROWS[:1])
    with pytest.raises(StreamingQueryException, match="k should be required, but is optional"):
        lake.run(lake.files("events").select("k", "n"), "out")
    lake.run(lake.files("events").select("k", "n"), "out", **{"check-nullability": "false"})
    assert lake.rows("out") == [("a", 1)]


def test_without_that_check_nulls_are_written_and_break_the_table_for_spark(lake: Lake) -> None:
    """Nothing but the driver's own look at the values keeps a null out of a required column."""
    lake.create("out", {"k": "string!", "n": "long"})
    lake.land("events", ROWS)
    lake.run(lake.files("events").select("k", "n"), "out", **{"check-nullability": "false"})
    assert lake.rows("out") == [("a", 1), (None, 2)]
    with pytest.raises(Exception, match="NullPointerException"):
        collected(lake.spark.table(lake.name("out")))
    assert lake.spark.table(lake.name("out")).where("k IS NULL").count() == 0


def test_required_elements_of_a_list_are_refused_without_that_check_too(lake: Lake) -> None:
    """The option is about columns alone: a frame whose lists may hold nulls is never written into such a
    column.
    """
    from pyspark.errors import StreamingQueryException

    elements = ListType(element_id=2, element_type=StringType(), element_required=True)
    lake.catalog.create_table(
        f"{lake.namespace}.out", Schema(NestedField(1, "names", elements, required=False))
    )
    lake.land("events", [{"names": ["a"]}])
    with pytest.raises(StreamingQueryException, match="elements should be required, but are optional"):
        lake.run(lake.files("events", "names ARRAY<STRING>"), "out", **{"check-nullability": "false"})


@fact("sink.columns-by-name")
def test_without_the_check_of_their_order_columns_are_written_by_name(lake: Lake) -> None:
    """The driver writes them in the order of their names, so that a column which moves in the table changes
    no state; nested ones too.
    """
    lake.create("out", {"n": "long", "k": "string", "m": "string"})
    lake.land("events", [{"k": "a", "m": "b", "n": 1}])
    by_name = lake.files("events").select("k", "m", "n")
    lake.run(by_name, "out", **{"check-ordering": "false"})
    lake.spark.sql("SELECT 'c' AS k, 'd' AS m, 2L AS n").writeTo(lake.name("out")).option(
        "check-ordering", "false"
    ).append()
    assert lake.rows("out") == [(1, "a", "b"), (2, "c", "d")]


def test_raise_error_fails_the_batch_and_keeps_its_words(lake: Lake) -> None:
    """The driver's check of required columns: the batch is not written and can be replayed."""
    from pyspark.errors import StreamingQueryException

    lake.create("out", {"k": "string!", "n": "long"})
    lake.land("events", ROWS)
    checked = lake.files("events").selectExpr(
        "coalesce(k, raise_error('null in the required column k')) AS k", "n"
    )
    with pytest.raises(StreamingQueryException, match="null in the required column k"):
        lake.run(checked, "out", **{"check-nullability": "false"})
    assert lake.rows("out") == []


def test_to_orders_by_name_and_fills_missing_columns_with_null(lake: Lake) -> None:
    """``DataFrame.to``: by name in any case of letters, in the target's order."""
    from pyspark.sql.types import StructType

    frame = lake.spark.sql("SELECT 1L AS N, 'a' AS k").to(StructType.fromDDL("k STRING, m STRING, n BIGINT"))
    assert frame.columns == ["k", "m", "n"]
    assert collected(frame) == [("a", None, 1)]


@pytest.mark.parametrize(
    ("given", "target"),
    [
        ("1", "BIGINT"),
        ("1L", "INT"),
        ("CAST(1.5 AS DECIMAL(3, 1))", "DOUBLE"),
        ("DATE'2026-01-01'", "TIMESTAMP"),
        ("1", "STRING"),
    ],
)
def test_to_casts_what_a_store_assignment_may(lake: Lake, given: str, target: str) -> None:
    """ANSI store assignment: numbers among each other, dates to timestamps, anything to a string."""
    from pyspark.sql.types import StructType

    assert lake.spark.sql(f"SELECT {given} AS v").to(StructType.fromDDL(f"v {target}")).count() == 1


@pytest.mark.parametrize(("given", "target"), [("'1'", "BIGINT"), ("1", "BOOLEAN"), ("1L", "TIMESTAMP")])
def test_to_refuses_what_a_store_assignment_may_not(lake: Lake, given: str, target: str) -> None:
    """Such a cast stands in the job's SQL, where a reader sees it; the refusal comes before the query
    starts.
    """
    from pyspark.errors import AnalysisException
    from pyspark.sql.types import StructType

    with pytest.raises(AnalysisException, match="INVALID_COLUMN_OR_FIELD_DATA_TYPE"):
        lake.spark.sql(f"SELECT {given} AS v").to(StructType.fromDDL(f"v {target}"))


@pytest.mark.parametrize(
    ("sql", "condition"),
    [
        ("SELECT CAST(n AS INT) AS v FROM s", "CAST_OVERFLOW"),
        ("SELECT CAST(k AS INT) AS v FROM s", "CAST_INVALID_INPUT"),
    ],
)
def test_a_value_that_does_not_fit_fails_and_is_never_cut(lake: Lake, sql: str, condition: str) -> None:
    """Spark 4 casts in ANSI mode: no silent null, no wrapped number."""
    lake.spark.sql("SELECT 3000000000L AS n, 'x' AS k").createOrReplaceTempView("s")
    with pytest.raises(Exception, match=condition):
        collected(lake.spark.sql(sql))


def test_to_fails_for_a_number_that_does_not_fit(lake: Lake) -> None:
    """The cast of a store assignment is an ANSI cast too."""
    from pyspark.sql.types import StructType

    frame = lake.spark.sql("SELECT 3000000000L AS v").to(StructType.fromDDL("v INT"))
    with pytest.raises(Exception, match="CAST_OVERFLOW"):
        collected(frame)


def test_a_record_that_does_not_fit_becomes_null_unless_told_otherwise(lake: Lake) -> None:
    """``driver.inputs`` reads files with ``FAILFAST``."""
    from pyspark.errors import StreamingQueryException

    lake.create("out", {"k": "string", "n": "long"})
    lake.land("events", [{"k": "a", "n": "no number"}])
    lake.run(lake.files("events").select("k", "n"), "out", checkpoint="permissive")
    assert lake.rows("out") == [("a", None)]
    with pytest.raises(StreamingQueryException, match="FAILED_READ_FILE"):
        lake.run(lake.files("events", mode="FAILFAST").select("k", "n"), "out", checkpoint="strict")
