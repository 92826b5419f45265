"""The reading by Spark of a table whose names of today meet those of its past: former partition fields, and
columns that properties name.
"""

from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlparse

import pytest
from pyiceberg.schema import Schema
from pyiceberg.table.update import AddSchemaUpdate, SetCurrentSchemaUpdate
from pyiceberg.transforms import BucketTransform, DayTransform, IdentityTransform, Transform
from pyiceberg.types import DateType, NestedField

from tests.facts.ids import fact
from tests.facts.lake import Lake, collected, schema_of

pytestmark = pytest.mark.jvm


def partitioned(lake: Lake, column: str, kind: str, transform: Transform, name: str) -> None:  # type: ignore[type-arg]  # of any type
    """A table with a row that was partitioned once."""
    lake.create("t", {"n": "long", "o": "long", column: kind})
    with lake.load("t").update_spec() as change:
        change.add_field(column, transform, name)
    lake.spark.sql(f"INSERT INTO {lake.name('t')} (n, o) VALUES (1, 1)")
    with lake.load("t").update_spec() as change:
        change.remove_field(name)


def add_unchecked(lake: Lake, name: str) -> None:
    """Adds a column as a catalog does that takes whatever it is given."""
    table = lake.load("t")
    fields = table.schema().fields
    schema = Schema(*fields, NestedField(table.metadata.last_column_id + 1, name, DateType()), schema_id=9)
    lake.catalog.commit_table(
        table, (), (AddSchemaUpdate(schema=schema), SetCurrentSchemaUpdate.model_validate({"schema-id": -1}))
    )


def told(lake: Lake, sql: str) -> str:
    """The rows that a statement gives, or how Spark refuses it."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        return str(collected(lake.spark.sql(sql.format(table=lake.name("t")))))
    except (PySparkException, Py4JError) as failure:
        return str(failure)


def loaded(lake: Lake) -> str:
    """The message of Iceberg when it loads the metadata. A catalog in Spark would try again for minutes
    before it says the same.
    """
    from pyspark.errors import PySparkException

    text = Path(urlparse(lake.load("t").metadata_location).path).read_text()
    try:
        lake.spark._jvm.org.apache.iceberg.TableMetadataParser.fromJson(text)
    except PySparkException as failure:
        return str(failure)
    return "loaded"


HIDDEN = "Cannot create identity partition sourced from different field in schema: d"


@fact("table.column-named-as-former-partition-field")
def test_no_column_has_the_name_of_a_former_partition_field_of_another(lake: Lake) -> None:
    """Each spec that the table ever had is bound to its columns of today when it is loaded."""
    partitioned(lake, "ts", "timestamptz", DayTransform(), "d")
    assert loaded(lake) == "loaded"
    add_unchecked(lake, "d")
    assert HIDDEN in loaded(lake)


@fact("table.column-named-as-former-partition-field-of-a-renamed-one")
def test_a_renamed_partition_column_leaves_its_name_to_the_field(lake: Lake) -> None:
    partitioned(lake, "d", "string", IdentityTransform(), "d")
    with lake.load("t").update_schema() as change:
        change.rename_column("d", "e")
    assert loaded(lake) == "loaded"
    add_unchecked(lake, "d")
    assert HIDDEN in loaded(lake)


@fact("table.column-named-as-former-partition-field-of-a-dropped-one")
def test_a_dropped_partition_column_leaves_its_name_to_others(lake: Lake) -> None:
    """It may even partition the table again."""
    partitioned(lake, "d", "string", IdentityTransform(), "d")
    with lake.load("t").update_schema(allow_incompatible_changes=True) as change:
        change.delete_column("d")
    add_unchecked(lake, "d")
    assert loaded(lake) == "loaded"
    told(lake, "INSERT INTO {table} (n, d) VALUES (2, DATE '2026-01-01')")
    lake.spark.sql(f"ALTER TABLE {lake.name('t')} ADD PARTITION FIELD d")
    told(lake, "INSERT INTO {table} (n, d) VALUES (3, DATE '2026-01-02')")
    assert told(lake, "SELECT n FROM {table} WHERE d IS NOT NULL") == "[(2,), (3,)]"
    assert told(lake, "SELECT count(*) FROM {table}.partitions") == "[(2,)]"


@fact("table.column-named-as-former-partition-field-in-another-case")
def test_a_column_has_such_a_name_in_another_case(lake: Lake) -> None:
    partitioned(lake, "ts", "timestamptz", DayTransform(), "d")
    add_unchecked(lake, "D")
    assert told(lake, "SELECT n, D FROM {table}") == "[(1, None)]"


@fact("table.partition-field-named-as-another-before")
def test_two_partition_fields_of_one_name(lake: Lake) -> None:
    """Rows are read and written, but nothing tells the partitions apart any more."""
    partitioned(lake, "k", "long", BucketTransform(4), "p")
    with lake.load("t").update_spec() as change:
        change.add_field("o", BucketTransform(4), "p")
    told(lake, "INSERT INTO {table} (n, o) VALUES (2, 2)")
    assert told(lake, "SELECT n FROM {table}") == "[(1,), (2,)]"
    assert "[COLUMN_ALREADY_EXISTS]" in told(lake, "SELECT _partition, n FROM {table}")
    assert not told(lake, "SELECT file_path FROM {table}.files").startswith("[")


@fact("table.column-of-an-empty-partition-place-gone")
def test_the_place_of_a_partition_field_of_version_1_needs_its_column(lake: Lake) -> None:
    """Nothing is written any more once the table is partitioned by something else."""
    schema = schema_of({"n": "long", "d": "string"})
    lake.catalog.create_table(f"{lake.namespace}.t", schema, properties={"format-version": "1"})
    with lake.load("t").update_spec() as change:
        change.add_identity("d")
    with lake.load("t").update_spec() as change:
        change.remove_field("d")
    with lake.load("t").update_schema(allow_incompatible_changes=True) as change:
        change.delete_column("d")
    assert told(lake, "INSERT INTO {table} VALUES (1)") == "[]"
    with lake.load("t").update_spec() as change:
        change.add_identity("n")
    assert "Cannot build accessor for field" in told(lake, "INSERT INTO {table} VALUES (2)")


def drop(lake: Lake) -> None:
    with lake.load("t").update_schema(allow_incompatible_changes=True) as change:
        change.delete_column("k")


def rename(lake: Lake) -> None:
    with lake.load("t").update_schema() as change:
        change.rename_column("k", "z")


@fact("table.column-of-a-property-gone")
@pytest.mark.parametrize("change", [drop, rename])
def test_properties_may_name_columns_that_are_gone(lake: Lake, change: Callable[[Lake], None]) -> None:
    """Readers and writers pass over them."""
    lake.create("t", {"n": "long", "k": "string"})
    names = (
        "write.metadata.metrics.column.k",
        "write.parquet.bloom-filter-enabled.column.k",
        "write.parquet.stats-enabled.column.k",
    )
    with lake.load("t").transaction() as properties:
        properties.set_properties(dict(zip(names, ("full", "true", "false"), strict=True)))
    told(lake, "INSERT INTO {table} (n) VALUES (1)")
    change(lake)
    told(lake, "INSERT INTO {table} (n) VALUES (2)")
    assert told(lake, "SELECT n FROM {table}") == "[(1,), (2,)]"
