"""Rows that retention takes for old are old, whatever the metadata of their files leaves out."""

import time

import pytest

from flareiac_iceberg_runtime.civil_time import DAY_MS, ceiling, date_of, days_of, floor
from flareiac_iceberg_runtime.kinds.retention.ages import Age, Told, age_of, unit_of
from tests.iceberg.maintenance.neighbours import (
    Row,
    Table,
    is_old,
    partition_value,
    random_table,
    statistics_of,
    wraps,
)

NOW_US = int(time.time() * 1_000_000)


def told(table: Table, transforms: tuple[str, ...], statistics: str, rows: list[Row]) -> Told:
    known = statistics_of(table, 2, statistics, rows)
    units = [
        (unit_of(item, table.kind), partition_value(item, table.kind, rows[0].at)) for item in transforms
    ]
    return Told(
        records=len(rows),
        partition=tuple((unit, value) for unit, value in units if unit is not None),
        nulls=known["null_value_counts"].get(2),
        lower=known["lower_bounds"].get(2),
        upper=known["upper_bounds"].get(2),
    )


@pytest.mark.parametrize("start", range(0, 20_000, 4_000))
def test_a_file_is_whole_only_if_every_row_is_old(start: int) -> None:
    for seed in range(start, start + 4_000):
        table = random_table(seed, NOW_US)
        before_ms = floor(
            NOW_US // 1000 - table.keep_days * DAY_MS, "day" if table.kind == "date" else "hour"
        )
        for transforms, _, files in table.eras:
            for statistics, rows in files:
                age = age_of(told(table, transforms, statistics, list(rows)))
                old = [row for row in rows if is_old(table, row, before_ms)]
                sure = [row for row in old if not wraps(table, row)]
                where = (seed, transforms, statistics, rows, age)
                if age is None or age.first >= before_ms * 1000:
                    assert not sure, where
                elif age.is_whole(before_ms * 1000):
                    assert len(old) == len(rows), where


def test_every_witness_must_say_that_rows_are_old() -> None:
    far = (2_000_000_000_000_000_000).to_bytes(8, "little", signed=True)
    hour = Told(records=1, partition=(("hour", -2_000_000_000),), nulls=0, lower=far, upper=far)
    age = age_of(hour)
    assert isinstance(age, Age)
    assert not age.is_whole(0)
    without = age_of(Told(records=1, partition=(("hour", -2_000_000_000),)))
    assert isinstance(without, Age)
    assert not without.is_whole(0)
    assert age_of(Told(records=3, partition=(("day", None),), nulls=3)) is None


def test_the_calendar_has_every_year() -> None:
    for days in range(-200_000_000, 200_000_000, 999_983):
        assert days_of(*date_of(days)) == days
        for unit in ("day", "month", "year"):
            start, end = floor(days * DAY_MS + 1, unit), ceiling(days * DAY_MS + 1, unit)
            assert start <= days * DAY_MS < end
            assert floor(end - 1, unit) == start
            assert ceiling(end, unit) == end
