"""A lake that other tools made: tables of many shapes, written with pyiceberg beside a project's catalog."""

from pathlib import Path
from typing import Any

from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table.sorting import NullOrder, SortDirection, SortField, SortOrder
from pyiceberg.transforms import (
    BucketTransform,
    DayTransform,
    HourTransform,
    IdentityTransform,
    TruncateTransform,
)
from pyiceberg.types import (
    BooleanType,
    DecimalType,
    FixedType,
    IcebergType,
    IntegerType,
    ListType,
    LongType,
    MapType,
    NestedField,
    StringType,
    StructType,
    TimestampType,
    TimestamptzType,
    UUIDType,
)


def catalog_of(root: Path) -> SqlCatalog:
    """The embedded catalog of a project in the default workspace, as any tool would open it."""
    lake = root / ".flareiac" / "lake" / "default"
    (lake / "warehouse").mkdir(parents=True, exist_ok=True)
    return SqlCatalog("lake", uri=f"sqlite:///{lake}/catalog.db", warehouse=f"file://{lake}/warehouse")


def column(
    number: int, name: str, kind: IcebergType, *, required: bool = False, doc: str | None = None
) -> NestedField:
    return NestedField(number, name, kind, required=required, doc=doc)


STRUCT = StructType(
    column(10, "street", StringType()),
    column(11, "post code", StringType(), required=True),
    column(12, "tags", ListType(13, StringType(), element_required=True)),
)
EVENTS = Schema(
    column(1, "id", LongType(), required=True, doc='the "key", ${not} a template'),
    column(2, "ts", TimestamptzType()),
    column(3, "region", StringType()),
    identifier_field_ids=[1],
)
PARTITIONED = PartitionSpec(
    PartitionField(2, 1000, DayTransform(), "ts_day"),
    PartitionField(1, 1001, BucketTransform(16), "id_bucket"),
    PartitionField(3, 1002, TruncateTransform(4), "by_region"),
    PartitionField(3, 1003, IdentityTransform(), "region"),
    PartitionField(2, 1004, HourTransform(), "hour_of"),
)
SORTED = SortOrder(
    SortField(2, transform=DayTransform(), direction=SortDirection.DESC, null_order=NullOrder.NULLS_LAST),
    SortField(1, transform=IdentityTransform(), direction=SortDirection.ASC, null_order=NullOrder.NULLS_LAST),
)
PLAIN = Schema(column(1, "id", LongType()))


def make_lake(root: Path) -> list[str]:
    """Ten tables that can be imported whole; their names (``namespace.name``)."""
    catalog = catalog_of(root)
    for namespace in ("sales", "sales.eu", "odd name"):
        catalog.create_namespace(namespace)
    tables: dict[tuple[str, str], dict[str, Any]] = {
        ("sales", "plain"): {"schema": PLAIN},
        ("sales", "events"): {"schema": EVENTS, "partition_spec": PARTITIONED, "sort_order": SORTED},
        ("sales", "nested"): {
            "schema": Schema(
                column(1, "address", STRUCT, doc="where\nthey live"),
                column(2, "by_name", MapType(20, StringType(), 21, DecimalType(12, 2), value_required=True)),
                column(3, "flags", ListType(22, BooleanType())),
            )
        },
        ("sales", "odd"): {
            "schema": Schema(
                column(1, 'he said "hi"', UUIDType()),
                column(2, "Größe in %{m²} \\", FixedType(16)),
                column(3, "ta\tb", TimestampType()),
                column(4, "for", StringType()),
            )
        },
        ("sales", "v1"): {"schema": PLAIN, "properties": {"format-version": "1"}},
        ("sales", "elsewhere"): {"schema": PLAIN, "location": f"file://{root}/elsewhere/data"},
        ("sales", "settings"): {
            "schema": PLAIN,
            "properties": {
                "comment": "orders of ${today}",
                "write.distribution-mode": "hash",
                "write.parquet.compression-codec": "zstd",
                "commit.retry.num-retries": "7",
                "owner": "somebody",
                "read.split.target-size": "1000000",
                "flareiac.tags.team": "a b",
            },
        },
        ("sales.eu", "plain"): {"schema": PLAIN},
        ("odd name", "2024 orders"): {"schema": PLAIN},
        ("sales", "codec"): {
            "schema": PLAIN,
            "properties": {"write.parquet.compression-codec": "gzip", "commit.retry.num-retries": "20"},
        },
    }
    for name, arguments in tables.items():
        catalog.create_table(name, **arguments)
    catalog.close()
    return [f"{namespace}.{name}" for namespace, name in tables]


def add_unsayable(root: Path) -> None:
    """Tables that a block can say only in part, or not at all."""
    catalog = catalog_of(root)
    catalog.create_namespace("strange")
    twins = Schema(column(1, "id", LongType()), column(2, "ID", LongType()))
    catalog.create_table(
        ("strange", "twins"),
        twins,
        partition_spec=PartitionSpec(PartitionField(1, 1000, BucketTransform(4), "b")),
    )
    catalog.create_table(("strange", "a/b"), PLAIN)
    catalog.create_table(("strange", "broken"), PLAIN)
    Path(catalog.load_table(("strange", "broken")).metadata_location.removeprefix("file://")).unlink()
    catalog.close()


def add_unsayable_columns(root: Path) -> None:
    """A table with columns that no path can say: with a dot, without a name, and one that reads like a part
    of another.
    """
    catalog = catalog_of(root)
    catalog.create_namespace("strange")
    columns = Schema(
        column(1, "s", StructType(column(10, "x", IntegerType()), column(11, "y.z", StringType()))),
        column(2, "a.b", LongType()),
        column(3, "nameless", StringType()),
        column(4, "s-x", LongType()),
    )
    layout = PartitionSpec(PartitionField(2, 1000, BucketTransform(4), "part"))
    place = Path(
        catalog.create_table(
            ("strange", "paths"), columns, partition_spec=layout
        ).metadata_location.removeprefix("file://")
    )
    catalog.close()
    # No library writes these two names.
    place.write_text(
        place.read_text().replace('"name":"nameless"', '"name":""').replace('"name":"s-x"', '"name":"s.x"')
    )
