"""The files that only a writer of the table can have left. No JVM: names and places alone."""

import pytest

from flareiac_iceberg_runtime.file_names import plain
from flareiac_iceberg_runtime.kinds.orphan_removal.proof import (
    Layout,
    is_below,
    is_metadata_file,
    uuid_in,
)

UUID = "0b5a7f5e-3c2d-4a6e-9b1f-3d2c1b0a9f8e"
LAYOUT = Layout(location="file:///lake/n/a", properties={}, partitions=frozenset({"ts_day", "dé f", "_old"}))

WRITTEN = (
    f"metadata/00012-{UUID}.metadata.json",
    f"metadata/00012-{UUID}.gz.metadata.json",
    f"metadata/snap-8127364512-1-{UUID}.avro",
    f"metadata/{UUID}-m12.avro",
    f"metadata/optimized-m-{UUID}.avro",
    f"metadata/8127364512-{UUID}.stats",
    f"metadata/partition-stats-8127364512-{UUID}.parquet",
    f"data/00000-7-{UUID}-00001.parquet",
    f"data/00000-7-{UUID}-12-00001.parquet",
    f"data/00000-0-{UUID}.parquet",
    f"data/ts_day=2026-01-01/00003-7-{UUID}-00001-deletes.parquet",
    f"data/d%C3%A9+f=a%2Fb/_old=1/00003-7-{UUID}-00001.orc",
    f"data/0101/0110/1001/10110010/ts_day=2026-01-01/00003-7-{UUID}-00001-deletes.puffin",
    f"data/0101/0110/1001/10110010-00003-7-{UUID}-00001.parquet",
    f"data/5a1b2c3d/ts_day=2026-01-01/00003-7-{UUID}-00001.parquet",
    f"data/20260101_123456_00012_abcde-{UUID}.parquet",
)
FOREIGN = (
    "landing/a.json",
    "data/landing/a.json",
    "data/old.parquet",
    "data/part-00000-0b5a7f5e-3c2d-4a6e-9b1f-3d2c1b0a9f8e-c000.snappy.parquet",
    f"b_data/00000-7-{UUID}-00001.parquet",
    f"other/x/t/data/00000-7-{UUID}-00001.parquet",
    f"data/x/t/data/00000-7-{UUID}-00001.parquet",
    f"data/region=eu/00000-7-{UUID}-00001.parquet",
    f"data/00000-{UUID}.metadata.json",
    f"metadata/sub/00000-{UUID}.metadata.json",
    "metadata/version-hint.text",
    "metadata/v3.metadata.json",
    f"00000-7-{UUID}-00001.parquet",
    f"data/ts_day=2026-01-01/sub/00000-7-{UUID}-00001.parquet",
    "checkpoint/offsets/0",
)


@pytest.mark.parametrize("start", ["file:/lake/n/a/", "/lake/n/a/", "FILE:///lake/n/a/"])
@pytest.mark.parametrize("name", WRITTEN)
def test_what_writers_leave_is_known(name: str, start: str) -> None:
    assert LAYOUT.could_have_written(start + name)


@pytest.mark.parametrize("name", FOREIGN)
def test_everything_else_is_not(name: str) -> None:
    assert not LAYOUT.could_have_written("file:/lake/n/a/" + name)


@pytest.mark.parametrize("name", WRITTEN)
def test_a_neighbour_whose_name_begins_the_same_is_another_place(name: str) -> None:
    assert not LAYOUT.could_have_written("file:/lake/n/a2/" + name)
    assert not is_below("s3://b/lake/t2/data/x", "s3a://b/lake/t")


def test_places_that_the_table_names_are_its_own() -> None:
    properties = {"write.data.path": "s3a://b/n/a/mine", "write.metadata.path": "s3://b/n/a/meta"}
    layout = Layout(location="s3://b/n/a", properties=properties, partitions=frozenset())
    assert layout.could_have_written(f"S3://b/n/a/mine/00000-7-{UUID}-00001.parquet")
    assert layout.could_have_written(f"s3n://b/n/a/meta/snap-1-1-{UUID}.avro")
    assert not layout.could_have_written(f"s3://b/n/a/theirs/00000-7-{UUID}-00001.parquet")


def test_spellings_of_one_place_are_one() -> None:
    assert len({plain(item) for item in ("file:/a/b", "file:///a/b", "FILE:///a/b", "/a/b")}) == 1
    assert len({plain(item) for item in ("s3://b/a", "s3a://b/a", "S3N://b/a")}) == 1


def test_a_metadata_file_says_whose_it_is() -> None:
    assert uuid_in(b'{"format-version" : 2, "table-uuid" : "U-1", "location":"l"') == "u-1"
    assert uuid_in(b'{"view-uuid": "u"}') is None
    assert is_metadata_file("s3://b/x/v3.metadata.json")
    assert not is_metadata_file("s3://b/x/notes.json")
