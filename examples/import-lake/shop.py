"""The lake before the import: tables that another tool made and filled. ``shop.py DIRECTORY``."""

import sys
from pathlib import Path

import pyarrow as pa
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import DayTransform
from pyiceberg.types import DecimalType, LongType, NestedField, StringType, TimestamptzType

from examples.lake import Lake

ORDERS = Schema(
    NestedField(1, "order_id", LongType(), required=True, doc="given by the shop"),
    NestedField(2, "ts", TimestamptzType()),
    NestedField(3, "amount", DecimalType(12, 2)),
    identifier_field_ids=[1],
)
BY_DAY = PartitionSpec(PartitionField(2, 1000, DayTransform(), "ts_day"))


def main(root: Path) -> None:
    catalog = Lake(root)
    catalog.create_namespace("sales")
    catalog.create_table("sales.orders", ORDERS, partition_spec=BY_DAY, properties={"comment": "every order"})
    catalog.create_table(
        "sales.customers", Schema(NestedField(1, "id", LongType()), NestedField(2, "name", StringType()))
    )
    catalog.create_table(
        "sales.notes",
        Schema(NestedField(1, "text", StringType())),
        properties={"write.target-file-size-bytes": "1000000"},
    )
    catalog.load_table("sales.customers").append(pa.table({"id": [1, 2], "name": ["Ada", "Grace"]}))
    print("another tool made sales.customers, sales.notes and sales.orders")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
