"""A large table as files: metadata with many snapshots, and manifests for many data files that are not
there.
"""

import json
import shutil
import time
from pathlib import Path
from typing import Any

from pyiceberg.io.pyarrow import PyArrowFileIO
from pyiceberg.manifest import (
    DataFile,
    DataFileContent,
    FileFormat,
    ManifestEntry,
    ManifestEntryStatus,
    ManifestFile,
    write_manifest,
    write_manifest_list,
)
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import DayTransform
from pyiceberg.typedef import Record
from pyiceberg.types import LongType, NestedField, TimestamptzType

SCHEMA = Schema(
    NestedField(1, "id", LongType(), required=False), NestedField(2, "ts", TimestamptzType(), required=False)
)
SPEC = PartitionSpec(PartitionField(2, 1000, DayTransform(), "ts_day"), spec_id=0)
MINUTE = 60_000
SMALL = 1024**2
DAYS = 400


def write(folder: Path, snapshots: int, manifests: int, files: int) -> Path:
    """The metadata file of a table with one commit a minute until now, and ``files`` data files of 1 MB in
    each manifest.
    """
    (folder / "metadata").mkdir(parents=True)
    now = int(time.time() * 1000)
    today = now // 86_400_000
    last = snapshots
    first = _manifest(folder, last, files, today)
    # The others are copies of the first: what is in them matters, and that each is a file of its own.
    listed = [_copy(first, folder, number) for number in range(manifests)]
    location = f"{folder}/metadata/snap-{last}.avro"
    with write_manifest_list(
        2, PyArrowFileIO().new_output(f"file://{location}"), last, last - 1, last, "deflate"
    ) as writer:
        writer.add_manifests(listed)
    metadata = _metadata(folder, snapshots, manifests * files, now, f"file://{location}")
    path = folder / "metadata" / "00001-large.metadata.json"
    path.write_text(json.dumps(metadata), encoding="utf-8")
    return path


def _copy(manifest: ManifestFile, folder: Path, number: int) -> ManifestFile:
    path = folder / "metadata" / f"m{number}.avro"
    shutil.copy(manifest.manifest_path.removeprefix("file://"), path)
    return ManifestFile(f"file://{path}", *[manifest[index] for index in range(1, len(manifest))])


def _noon(day: int) -> bytes:
    return (day * 86_400_000_000 + 43_200_000_000).to_bytes(8, "little", signed=True)


def _manifest(folder: Path, snapshot: int, files: int, today: int) -> ManifestFile:
    output = PyArrowFileIO().new_output(f"file://{folder}/metadata/first.avro")
    with write_manifest(2, SPEC, SCHEMA, output, snapshot, "deflate") as writer:
        for index in range(files):
            file = DataFile.from_args(
                _table_format_version=2,
                content=DataFileContent.DATA,
                file_path=f"file://{folder}/data/{index}.parquet",
                file_format=FileFormat.PARQUET,
                partition=Record(today - index % DAYS),
                record_count=100,
                file_size_in_bytes=SMALL,
                column_sizes={1: 10, 2: 20},
                value_counts={1: 100, 2: 100},
                null_value_counts={1: 0, 2: 0},
                nan_value_counts={},
                lower_bounds={1: b"\0" * 8, 2: _noon(today - index % DAYS)},
                upper_bounds={1: b"\1" * 8, 2: _noon(today - index % DAYS)},
                split_offsets=[4],
                equality_ids=None,
                sort_order_id=0,
            )
            file.spec_id = 0
            writer.add_entry(
                ManifestEntry.from_args(
                    status=ManifestEntryStatus.ADDED, snapshot_id=snapshot, data_file=file
                )
            )
    return writer.to_manifest_file()


def _metadata(folder: Path, snapshots: int, files: int, now: int, manifest_list: str) -> dict[str, Any]:
    def snapshot(number: int) -> dict[str, Any]:
        summary = {
            "operation": "append",
            "added-data-files": "1",
            "total-data-files": str(files),
            "total-files-size": str(files * SMALL),
            "total-delete-files": "0",
            "total-records": str(files * 100),
        }
        return {
            "snapshot-id": number,
            "parent-snapshot-id": number - 1 if number > 1 else None,
            "sequence-number": number,
            "timestamp-ms": now - (snapshots - number) * MINUTE,
            "manifest-list": manifest_list
            if number == snapshots
            else f"file://{folder}/metadata/snap-{number}.avro",
            "summary": summary,
            "schema-id": 0,
        }

    return {
        "format-version": 2,
        "table-uuid": "11111111-2222-3333-4444-555555555555",
        "location": f"file://{folder}",
        "last-sequence-number": snapshots,
        "last-updated-ms": now,
        "last-column-id": 2,
        "current-schema-id": 0,
        "schemas": [json.loads(SCHEMA.model_dump_json())],
        "default-spec-id": 0,
        "partition-specs": [json.loads(SPEC.model_dump_json())],
        "last-partition-id": 1000,
        "default-sort-order-id": 0,
        "sort-orders": [{"order-id": 0, "fields": []}],
        "properties": {},
        "current-snapshot-id": snapshots,
        "refs": {"main": {"snapshot-id": snapshots, "type": "branch"}},
        "snapshots": [snapshot(number) for number in range(1, snapshots + 1)],
        "snapshot-log": [],
        "metadata-log": [],
    }
