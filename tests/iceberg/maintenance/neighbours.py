"""Random tables that are like those of other writers, and what each maintenance may do to their rows.

A table is made file by file: Parquet from pyarrow, and metadata as some writer would have made it, with or
without counts and bounds, over several partition specs, with times that Python has no dates for. The rows are
known, so what must stay and what must go is computed from them alone, by a calendar of its own. To add
neighbours, give ``Table`` another trait and have ``write`` make it.
"""

import random
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyiceberg.conversions import to_bytes
from pyiceberg.io.pyarrow import schema_to_pyarrow
from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
from pyiceberg.partitioning import PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import Table as IcebergTable
from pyiceberg.table import Transaction
from pyiceberg.transforms import parse_transform
from pyiceberg.typedef import Record
from pyiceberg.types import (
    BinaryType,
    DateType,
    DecimalType,
    DoubleType,
    LongType,
    NestedField,
    StringType,
    StructType,
    TimestampType,
    TimestamptzType,
    UUIDType,
)

DAY_US = 86_400_000_000
HOUR_US = DAY_US // 24
_CYCLE = 146_097
"""Days of 400 years, after which the calendar repeats itself."""
TIMES = {"timestamptz": TimestamptzType(), "timestamp_ntz": TimestampType(), "date": DateType()}
KEYS: dict[str, tuple[Any, Sequence[Any]]] = {
    "long": (LongType(), [1, 2, None]),
    "string": (StringType(), ["a", "b/c=d", None]),
    "uuid": (UUIDType(), [UUID(int=10), UUID(int=2**127), None]),
    "decimal": (DecimalType(9, 2), [Decimal("1.50"), Decimal("-7.25"), None]),
    "binary": (BinaryType(), [b"\x00\xff", b"", None]),
    "double": (DoubleType(), [float("nan"), -0.0, 0.0, float("-inf")]),
}
STATISTICS = ("all", "all", "all", "none", "no counts", "no bounds", "only lower", "only upper", "wide")


@dataclass(frozen=True, kw_only=True)
class Row:
    """A row by its id; ``at`` in microseconds (or days, of a date) since 1970, ``key`` of another column."""

    id: int
    at: int | None
    key: Any


@dataclass(frozen=True, kw_only=True)
class Table:
    """The description of one random table. ``eras``: for each partition spec, its transforms of the time (and
    whether the key is a partition too), and the files that were written under it.
    """

    kind: str
    nested: bool
    key: str
    version: int
    eras: Sequence[tuple[tuple[str, ...], bool, Sequence[tuple[str, Sequence[Row]]]]]
    deletes: str
    refs: bool
    keep_days: int

    @property
    def column(self) -> str:
        return "s.ts" if self.nested else "ts"

    @property
    def rows(self) -> Iterator[Row]:
        for _, _, files in self.eras:
            for _, rows in files:
                yield from rows


def random_table(seed: int, now_us: int) -> Table:
    """The same table for the same seed, but for its times near now."""
    dice = random.Random(seed)
    kind = dice.choice(list(TIMES))
    key = dice.choice(list(KEYS))
    keep = dice.choice([1, 30, 400, 9000])
    ids = iter(range(10_000))
    eras = []
    for _ in range(dice.choice([1, 1, 2, 3, 8, 16])):
        transforms = _transforms(dice, kind)
        keyed = dice.random() < 0.3
        files = [
            (dice.choice(STATISTICS), part)
            for _ in range(dice.randint(1, 2))
            for part in _parts(
                [_row(dice, kind, key, now_us, keep, next(ids)) for _ in range(dice.randint(1, 5))],
                transforms,
                kind,
                keyed,
            )
        ]
        eras.append((transforms, keyed, files))
    version = dice.choice([1, 2, 2, 3])
    return Table(
        kind=kind,
        nested=dice.random() < 0.2,
        key=key,
        version=version,
        eras=eras,
        deletes=dice.choice(["none", "none", "positions", "equality"]) if version > 1 else "none",
        refs=dice.random() < 0.2,
        keep_days=keep,
    )


def _transforms(dice: random.Random, kind: str) -> tuple[str, ...]:
    known = [
        ("identity",),
        ("year",),
        ("month",),
        ("day",),
        (),
        ("bucket[4]",),
        ("year", "bucket[3]"),
    ]
    if kind != "date":
        known += [("hour",), ("hour",)]
    return dice.choice(known)


def _row(dice: random.Random, kind: str, key: str, now_us: int, keep: int, number: int) -> Row:
    at: int | None
    match dice.randint(0, 9):
        case 0 | 1:
            at = None
        case 2 | 3:
            at = now_us - dice.randint(0, DAY_US)
        case 4 | 5:
            at = now_us - keep * DAY_US - dice.randint(-2, 3) * DAY_US - dice.randint(0, DAY_US)
        case 6:
            at = dice.choice([-1, 0, 1, -DAY_US, -HOUR_US - 1])
        case 7:
            at = dice.choice([253402300800_000_000, 9_200_000_000_000_000_000, 1_706_000_000_000_000_000])
        case 8:
            at = dice.choice([-62135596800_000_001, -9_200_000_000_000_000_000, -62167219200_000_001])
        case _:
            at = now_us - dice.randint(0, 20_000) * DAY_US
    if at is not None and kind == "date":
        at = at // DAY_US
    return Row(id=number, at=at, key=dice.choice(KEYS[key][1]))


def partition_value(transform: str, kind: str, at: int | None) -> Any:
    """As Java's writers have it: an hour is an int, and wraps around."""
    if at is None:
        return None
    match transform:
        case "identity":
            return at
        case "hour":
            return (at // HOUR_US + 2**31) % 2**32 - 2**31
        case "day":
            return at if kind == "date" else at // DAY_US
        case "month" | "year":
            cycles, rest = divmod(at if kind == "date" else at // DAY_US, _CYCLE)
            day = date(1970, 1, 1) + timedelta(days=rest)
            years = day.year - 1970 + cycles * 400
            return years if transform == "year" else years * 12 + day.month - 1
        case _:
            buckets = parse_transform(transform)
            return buckets.transform(TIMES[kind])(at)


def _parts(rows: Sequence[Row], transforms: tuple[str, ...], kind: str, keyed: bool) -> list[Sequence[Row]]:
    """The rows as they go into one file each."""
    parts: dict[Any, list[Row]] = {}
    for row in rows:
        values = tuple(partition_value(item, kind, row.at) for item in transforms)
        parts.setdefault((values, _same(row.key) if keyed else None), []).append(row)
    return list(parts.values())


def _same(key: Any) -> Any:
    return struct.pack(">d", key) if isinstance(key, float) else key


def schema_of(table: Table) -> Schema:
    """An id, a time (or a struct with it), and a key. The catalog gives the fields their ids."""
    time = NestedField(2, "ts", TIMES[table.kind], required=False)
    outer = NestedField(4, "s", StructType(time), required=False) if table.nested else time
    return Schema(
        NestedField(1, "id", LongType(), required=False),
        outer,
        NestedField(3, "k", KEYS[table.key][0], required=False),
    )


def write(table: Table, made: IcebergTable) -> None:
    """Writes all files of a table, spec by spec: two snapshots for each, and one commit for all."""
    with pytest.MonkeyPatch.context() as patch, made.transaction() as transaction:
        # It makes a folder's name of each value, and knows no date after 9999.
        patch.setattr(PartitionSpec, "partition_to_path", lambda *_: "-")
        for transforms, keyed, files in table.eras:
            _evolve(transaction, table, transforms, keyed)
            spec = transaction.table_metadata.spec()
            half = len(files) // 2
            for part in filter(None, (files[:half], files[half:])):
                with transaction.update_snapshot().fast_append() as update:
                    for statistics, rows in part:
                        update.append_data_file(_file(table, made, spec, transforms, keyed, statistics, rows))


def _evolve(transaction: Transaction, table: Table, transforms: tuple[str, ...], keyed: bool) -> None:
    with transaction.update_spec() as update:
        for item in transaction.table_metadata.spec().fields:
            if str(item.transform) != "void":
                update.remove_field(item.name)
    with transaction.update_spec() as update:
        era = len(transaction.table_metadata.specs())
        for number, transform in enumerate(transforms):
            update.add_field(table.column, parse_transform(transform), f"p{era}_{number}")
        if keyed:
            update.add_field("k", parse_transform("identity"), f"p{era}_k")


def _file(
    table: Table,
    made: IcebergTable,
    spec: PartitionSpec,
    transforms: tuple[str, ...],
    keyed: bool,
    statistics: str,
    rows: Sequence[Row],
) -> DataFile:
    path = Path(made.location().removeprefix("file://")) / "data" / f"00000-0-{uuid4()}-00001.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    kind = schema_to_pyarrow(made.schema())
    times = [{"ts": row.at} if table.nested else row.at for row in rows]
    arrays = [
        pa.array([row.id for row in rows], kind.field(0).type),
        _array(times, kind.field(1).type),
        pa.array([_bytes(row.key) for row in rows], kind.field(2).type),
    ]
    pq.write_table(pa.Table.from_arrays(arrays, schema=kind), path)
    values = {
        **{
            f"t{index}": partition_value(item, table.kind, rows[0].at)
            for index, item in enumerate(transforms)
        },
        **({"k": rows[0].key} if keyed else {}),
    }
    wanted = iter(values.values())
    partition = [
        next(wanted) if position >= len(spec.fields) - len(values) else None
        for position in range(len(spec.fields))
    ]
    return DataFile.from_args(
        content=DataFileContent.DATA,
        file_path=f"file://{path}",
        file_format=FileFormat.PARQUET,
        partition=Record(*partition),
        record_count=len(rows),
        file_size_in_bytes=path.stat().st_size,
        sort_order_id=None,
        spec_id=spec.spec_id,
        equality_ids=None,
        key_metadata=None,
        split_offsets=[4],
        column_sizes={},
        nan_value_counts={},
        **statistics_of(table, made.schema().find_field(table.column).field_id, statistics, rows),
    )


def _array(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """By the numbers themselves: Python has no dates before the year 1 and after 9999."""
    if pa.types.is_struct(kind):
        inner = kind.field(0)
        return pa.StructArray.from_arrays(
            [_array([item["ts"] for item in values], inner.type)], fields=[inner]
        )
    width = pa.int32() if pa.types.is_date32(kind) else pa.int64()
    return pa.array(values, width).cast(kind)


def _bytes(key: Any) -> Any:
    return key.bytes if isinstance(key, UUID) else key


def statistics_of(table: Table, number: int, which: str, rows: Sequence[Row]) -> dict[str, Any]:
    """Counts and bounds of the time column, as far as the writer made them."""
    known = sorted(row.at for row in rows if row.at is not None)
    kind = TIMES[table.kind]
    wider = 1 if which == "wide" else 0
    lower = {number: to_bytes(kind, known[0] - wider)} if known else {}
    upper = {number: to_bytes(kind, known[-1] + wider)} if known else {}
    counted = which not in ("none", "no counts")
    return {
        "value_counts": {number: len(rows)} if counted else {},
        "null_value_counts": {number: len(rows) - len(known)} if counted else {},
        "lower_bounds": lower if which not in ("none", "no bounds", "only upper") else {},
        "upper_bounds": upper if which not in ("none", "no bounds", "only lower") else {},
    }


def wraps(table: Table, row: Row) -> bool:
    """True where the row is in a partition whose hour is another one than that of its time: it may stay."""
    for transforms, _, files in table.eras:
        if "hour" in transforms and any(row in rows for _, rows in files):
            return row.at is not None and not -(2**31) <= row.at // HOUR_US < 2**31
    return False


def is_old(table: Table, row: Row, before_ms: int) -> bool:
    """The definition of retention: a row without a time is never old."""
    width = DAY_US if table.kind == "date" else 1
    return row.at is not None and row.at * width < before_ms * 1000
