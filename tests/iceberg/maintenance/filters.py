"""Tables of one column in each primitive type, whose files are nothing but their metadata, and filters over
them. A reader of rows would not find any.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

import pytest
from pyiceberg.catalog import Catalog
from pyiceberg.conversions import to_bytes
from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
from pyiceberg.partitioning import PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.transforms import parse_transform
from pyiceberg.typedef import Record
from pyiceberg.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    FixedType,
    FloatType,
    IntegerType,
    LongType,
    NestedField,
    PrimitiveType,
    StringType,
    TimestampType,
    TimestamptzType,
    UUIDType,
)


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A type, values in its order and as they are stored, and literals of Spark's SQL."""

    type: PrimitiveType
    values: Sequence[Any]
    literals: Sequence[str]


_TIMES = (-999_999, int(datetime(2024, 2, 29, 12, tzinfo=UTC).timestamp()) * 1_000_000)
_DAYS = [(day - date(1970, 1, 1)).days for day in (date(1969, 12, 31), date(2024, 2, 29))]
_LONG = "é" * 40
KINDS = {
    "boolean": Kind(type=BooleanType(), values=[False, True], literals=["true", "false"]),
    "int": Kind(type=IntegerType(), values=[-5, 0, 7], literals=["-5", "0", "3", "3000000000"]),
    "long": Kind(type=LongType(), values=[-5, 0, 2**40], literals=["-5", "0", "1099511627776", "1.5"]),
    "float": Kind(type=FloatType(), values=[-2.5, -0.0, 0.5], literals=["0", "0.1", "0.5", "1e300"]),
    "double": Kind(type=DoubleType(), values=[-2.5, -0.0, 0.1], literals=["0", "0.1", "-2.5", "1e300"]),
    "decimal": Kind(
        type=DecimalType(9, 2),
        values=[Decimal("-7.25"), Decimal("1.50")],
        literals=["-7.25", "1.5", "1.505", "2"],
    ),
    "date": Kind(type=DateType(), values=_DAYS, literals=["'1969-12-31'", "'2024-02-29'", "'2000-01-01'"]),
    "timestamp": Kind(
        type=TimestampType(),
        values=_TIMES,
        literals=["'1969-12-31T23:59:59.000001'", "'2024-02-29T12:00:00'", "'2000-01-01'"],
    ),
    "timestamptz": Kind(
        type=TimestamptzType(),
        values=_TIMES,
        literals=["'1969-12-31T23:59:59.000001+00:00'", "'2024-02-29T13:00:00+01:00'", "'2000-01-01'"],
    ),
    "string": Kind(
        type=StringType(), values=["", "a", "b/c=d", _LONG], literals=["''", "'a'", "'A'", "5", f"'{_LONG}'"]
    ),
    "uuid": Kind(
        type=UUIDType(),
        values=[UUID(int=10), UUID(int=2**127)],
        literals=[f"'{UUID(int=10)}'", f"'{str(UUID(int=10)).upper()}'", f"'{UUID(int=2**127)}'"],
    ),
    "fixed": Kind(type=FixedType(2), values=[b"\x00\x01", b"\xff\xff"], literals=["X'0001'", "X'FFFF'"]),
    "binary": Kind(type=BinaryType(), values=[b"", b"\x00\xff"], literals=["X'00FF'", "X''"]),
}


def conditions(kind: Kind) -> Iterator[str]:
    """Filters of the column ``c``."""
    first, last = kind.literals[0], kind.literals[-1]
    for one in kind.literals:
        yield from (f"c {sign} {one}" for sign in ("=", "!=", "<", ">="))
        yield f"NOT c = {one}"
    yield from (f"c {word} ({', '.join(kind.literals)})" for word in ("IN", "NOT IN"))
    yield f"c BETWEEN {first} AND {last}"
    yield f"C = {first} OR c IS NULL"
    yield from ("c IS NULL", "c IS NOT NULL", f"c IS NOT NULL AND c > {first}")


def table_of(catalog: Catalog, name: str, kind: Kind, transform: str) -> Table:
    """A table with four files, each of one partition where there is a transform."""
    made = catalog.create_table(name, Schema(NestedField(1, "c", kind.type, required=False)))
    if transform:
        with made.update_spec() as update:
            update.add_field("c", parse_transform(transform), "p")
    parts = (
        [kind.values[0]],
        [None, None],
        [kind.values[-1]],
        kind.values[1:2] if transform else kind.values,
    )
    with pytest.MonkeyPatch.context() as patch, made.transaction() as transaction:
        patch.setattr(PartitionSpec, "partition_to_path", lambda *_: "-")
        with transaction.update_snapshot().fast_append() as append:
            for values in parts:
                append.append_data_file(file_with(made, kind, values))
    return made


def file_with(made: Table, kind: Kind, values: Sequence[Any]) -> DataFile:
    """The metadata of a file of one partition, whose column has these values, in their order."""
    known = [value for value in values if value is not None]
    bounds = [{1: to_bytes(kind.type, value)} for value in (known[0], known[-1])] if known else [{}, {}]
    partition = [field.transform.transform(kind.type)(values[0]) for field in made.spec().fields]
    return DataFile.from_args(
        content=DataFileContent.DATA,
        file_path=f"{made.location()}/data/00000-0-{uuid4()}-00001.parquet",
        file_format=FileFormat.PARQUET,
        partition=Record(*partition),
        record_count=len(values),
        file_size_in_bytes=1000,
        sort_order_id=None,
        spec_id=made.spec().spec_id,
        equality_ids=None,
        key_metadata=None,
        split_offsets=[4],
        column_sizes={},
        value_counts={1: len(values)},
        null_value_counts={1: len(values) - len(known)},
        nan_value_counts={1: 0} if kind.type in (FloatType(), DoubleType()) else {},
        lower_bounds=bounds[0],
        upper_bounds=bounds[1],
    )
