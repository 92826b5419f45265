"""Reads manifest lists and manifests from their bytes: what a plan about files needs, and nothing else."""

import struct
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from io import BytesIO
from typing import Any, Final, NamedTuple, cast

from flareiac.kernel.data import Data
from flareiac.kernel.diagnostics import Diagnostic, Failure, error

_NAMES: Final = {504: "added_files_count", 505: "existing_files_count"}
"""Fields that older writers name otherwise, by field id."""
_DELETED: Final = 2
_ADDED: Final = 1
DATA: Final = 0
POSITION_DELETES: Final = 1
EQUALITY_DELETES: Final = 2
_PATH_FIELD: Final = 2147483546
"""The column of position deletes that names the data file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """One manifest as its list tells it. ``deletes``: it names delete files. ``live``: files that it may still name."""

    location: str
    length: int
    spec_id: int
    deletes: bool
    sequence: int
    live: int
    partitions: tuple[tuple[bytes | None, bytes | None], ...] = ()
    """The least and the most of each partition field, as Iceberg writes single values; None where that is not told."""


class Entry(NamedTuple):
    """One live file. ``partition`` are the values in the order of the spec's fields; bounds and null counts are by field id.

    ``referenced``: the one data file that a position delete file is about.
    """

    content: int
    path: str
    format: str
    partition: tuple[Data, ...]
    records: int
    size: int
    sequence: int
    lower: Mapping[int, bytes]
    upper: Mapping[int, bytes]
    values: Mapping[int, int]
    nulls: Mapping[int, int]
    nans: Mapping[int, int]
    referenced: str | None


class _Bytes:
    """What Avro's reader takes for a file."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def open(self, *_ignored: Any) -> AbstractContextManager[BytesIO]:
        return BytesIO(self._content)


def read_list(location: str, content: bytes) -> tuple[Manifest, ...]:
    """The manifests of a snapshot. Raises ``Failure``."""
    found: list[Manifest] = []
    for row in _rows(location, content):
        counts = [row.get(name) for name in ("added_files_count", "existing_files_count")]
        found.append(
            Manifest(
                location=row["manifest_path"],
                length=row["manifest_length"],
                spec_id=row["partition_spec_id"],
                deletes=row.get("content") == 1,
                sequence=row.get("sequence_number") or 0,
                live=1 if None in counts else sum(cast(list[int], counts)),
                partitions=tuple((item[-2], item[-1]) for item in map(_values, row.get("partitions") or ())),
            )
        )
    return tuple(found)


def read_entries(manifest: Manifest, content: bytes) -> Iterator[Entry]:
    """The live files of a manifest. Raises ``Failure``."""
    for row in _rows(manifest.location, content, inner="data_file"):
        if row["status"] == _DELETED:
            continue
        sequence = row.get("sequence_number")
        if sequence is None:
            sequence = manifest.sequence if row["status"] == _ADDED else 0
        lower, upper = row.get("lower_bounds") or {}, row.get("upper_bounds") or {}
        kind = row.get("content") or DATA
        yield Entry(
            content=kind,
            path=row["file_path"],
            format=str(row["file_format"]).upper(),
            partition=_values(row["partition"]),
            records=row["record_count"],
            size=row["file_size_in_bytes"],
            sequence=sequence,
            lower=lower,
            upper=upper,
            values=row.get("value_counts") or {},
            nulls=row.get("null_value_counts") or {},
            nans=row.get("nan_value_counts") or {},
            referenced=row.get("referenced_data_file") or _only_path(lower, upper) if kind == POSITION_DELETES else None,
        )


def _only_path(lower: Mapping[int, bytes], upper: Mapping[int, bytes]) -> str | None:
    least = lower.get(_PATH_FIELD)
    return least.decode() if least is not None and least == upper.get(_PATH_FIELD) else None


def _values(record: Any) -> tuple[Data, ...]:
    return tuple(record[index] for index in range(len(record)))


def _rows(location: str, content: bytes, inner: str | None = None) -> Iterator[dict[str, Any]]:
    """The rows of an Avro file as dicts, with those of one inner record beside them."""
    from pyiceberg.avro.file import AvroFile

    try:
        with AvroFile[Any](cast(Any, _Bytes(content))) as reader:
            names = [_NAMES.get(field.field_id, field.name) for field in reader.schema.fields]
            at = names.index(inner) if inner is not None else -1
            inside = [field.name for field in reader.schema.fields[at].field_type.fields] if inner is not None else []  # type: ignore[attr-defined]  # a record
            for record in reader:
                row = dict(zip(names, _values(record), strict=True))
                if inner is not None:
                    row |= dict(zip(inside, _values(row.pop(inner)), strict=True))
                yield row
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, EOFError, OSError, struct.error) as trouble:
        raise Failure(unreadable(location, f"{type(trouble).__name__}: {trouble}")) from trouble


def unreadable(location: str, why: str) -> Diagnostic:
    """Complains about a file that the table's metadata names."""
    return error(
        "FII150",
        "A manifest can not be read",
        f"{location}: {why}. The table's current snapshot names this file; without it the table can not be read either. Restore it, or set "
        "the table back to an earlier snapshot (flareiac table rollback).",
    )
