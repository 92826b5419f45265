"""Reads manifest lists and manifests from their bytes: what a plan about files needs, and nothing else."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self, cast

from flareiac.kernel.data import Data
from flareiac.kernel.diagnostics import Diagnostic, Failure, error
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_iceberg import codes
from flareiac_iceberg.format.avro_decoder import AvroDecoder

if TYPE_CHECKING:
    from pyiceberg.avro.decoder import BinaryDecoder
    from pyiceberg.schema import Schema

_NAMES: Final = {504: "added_files_count", 505: "existing_files_count"}
"""Fields that older writers name otherwise, by field id."""
_DELETED: Final = 2
_ADDED: Final = 1
"""The status of an entry, by Iceberg's format."""
DATA: Final = 0
POSITION_DELETES: Final = 1
EQUALITY_DELETES: Final = 2
"""The content of a file, by Iceberg's format."""
_PATH_FIELD: Final = 2147483546
"""The column of position deletes that names the data file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """One manifest as its list tells it. ``deletes``: it names delete files. ``live``: files that it may
    still name.
    """

    location: str
    length: int
    spec_id: int
    deletes: bool
    sequence: int
    live: int
    partitions: tuple[tuple[bytes | None, bytes | None], ...] = ()
    """The least and the most of each partition field, as Iceberg writes single values; None where the
    manifest does not say it.
    """


class Entry(NamedTuple):
    """One live file. ``partition`` are the values in the order of the spec's fields; bounds and null counts
    are by field id.

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


def partition_key(entry: Entry) -> tuple[Data, ...]:
    """The partition of a file as a key: Iceberg takes all values that are no number for the same, and Python
    none.
    """
    return tuple("NaN" if value != value else value for value in entry.partition)


class _Bytes:
    """Bytes in the form that Avro's reader takes for a file."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def open(self, *_ignored: Any) -> AbstractContextManager[BytesIO]:
        return BytesIO(self._content)


def read_list(location: str, content: bytes) -> tuple[Manifest, ...]:
    """The manifests of a snapshot. Raises ``Failure``."""
    with _failures(location), _reader(content) as reader:
        at = _places(reader.schema.fields)
        return tuple(_manifest(row, at) for row in reader)


def _manifest(row: Any, at: Mapping[str, int]) -> Manifest:
    counts = [row[at[name]] if name in at else None for name in ("added_files_count", "existing_files_count")]
    partitions = row[at["partitions"]] if "partitions" in at else None
    return Manifest(
        location=row[at["manifest_path"]],
        length=row[at["manifest_length"]],
        spec_id=row[at["partition_spec_id"]],
        deletes="content" in at and row[at["content"]] == 1,
        sequence=(row[at["sequence_number"]] or 0) if "sequence_number" in at else 0,
        live=1 if None in counts else sum(count or 0 for count in counts),
        partitions=tuple((bounds[-2], bounds[-1]) for bounds in map(_values, partitions or ())),
    )


def read_entries(manifest: Manifest, content: bytes) -> Iterator[Entry]:
    """The live files of a manifest. Raises ``Failure``."""
    with _failures(manifest.location), _reader(content) as reader:
        fields = reader.schema.fields
        at = _places(fields)
        inside = _places(fields[at["data_file"]].field_type.fields)
        status, data_file, sequence = at["status"], at["data_file"], at.get("sequence_number")
        get = _Optional(inside)
        for row in reader:
            if row[status] == _DELETED:
                continue
            file = row[data_file]
            number = row[sequence] if sequence is not None else None
            if number is None:
                number = manifest.sequence if row[status] == _ADDED else 0
            kind = get(file, "content", DATA)
            lower, upper = get(file, "lower_bounds", _EMPTY), get(file, "upper_bounds", _EMPTY)
            yield Entry(
                kind,
                file[inside["file_path"]],
                str(file[inside["file_format"]]).upper(),
                _values(file[inside["partition"]]),
                file[inside["record_count"]],
                file[inside["file_size_in_bytes"]],
                number,
                lower,
                upper,
                get(file, "value_counts", _EMPTY),
                get(file, "null_value_counts", _EMPTY),
                get(file, "nan_value_counts", _EMPTY),
                (get(file, "referenced_data_file", None) or _only_path(lower, upper))
                if kind == POSITION_DELETES
                else None,
            )


_EMPTY: Final[Mapping[int, Any]] = {}


class _Optional:
    """Fields that a file may lack, or hold no value for. Mappings are not looked into: they are decoded only
    when someone asks.
    """

    def __init__(self, at: Mapping[str, int]) -> None:
        self._at = at

    def __call__(self, record: Any, name: str, default: Any) -> Any:
        at = self._at.get(name)
        value = record[at] if at is not None else None
        return default if value is None else value


def _only_path(lower: Mapping[int, bytes], upper: Mapping[int, bytes]) -> str | None:
    least = lower.get(_PATH_FIELD)
    return least.decode() if least is not None and least == upper.get(_PATH_FIELD) else None


def _values(record: Any) -> tuple[Data, ...]:
    return tuple(record[index] for index in range(len(record)))


def _reader(content: bytes) -> AbstractContextManager[Any]:
    return _avro_file()(_Bytes(content))


@cache
def _avro_file() -> Callable[[_Bytes], AbstractContextManager[Any]]:
    """The library's reader of Avro. It imports all that the library has for tables, to learn of one codec for
    files that name none; those of Iceberg do, and no codec means none in Avro.

    Unlike the library's own it never reads past the end of the bytes, and a file that was cut off is no
    shorter file.
    """
    from pyiceberg.avro.codecs import AVRO_CODEC_KEY, KNOWN_CODECS
    from pyiceberg.avro.codecs.codec import Codec
    from pyiceberg.avro.file import META_SCHEMA, SYNC_SIZE, AvroFile, AvroFileHeader
    from pyiceberg.avro.resolver import construct_reader, resolve_reader
    from pyiceberg.utils.schema_conversion import AvroSchemaConversion

    class Header(AvroFileHeader):
        def compression_codec(self) -> type[Codec] | None:
            name = self.meta.get(AVRO_CODEC_KEY, "null")
            if name not in KNOWN_CODECS:
                raise ValueError(f"Unsupported codec: {name}")
            return KNOWN_CODECS[name]

        def get_schema(self) -> "Schema":
            written = json.loads(self.meta["avro.schema"])
            return AvroSchemaConversion().avro_to_iceberg(_without_names(written, {}))

    class File(AvroFile[Any]):
        def __enter__(self) -> Self:
            with self.input_file.open() as file:
                self._content = file.read()
            self.decoder = cast("BinaryDecoder", AvroDecoder(self._content))
            self.header = construct_reader(META_SCHEMA, {-1: Header}).read(self.decoder)
            self.schema = self.header.get_schema()
            self.reader = resolve_reader(self.schema, self.schema)
            return self

        def __iter__(self) -> Iterator[Any]:  # type: ignore[override]  # the library's file is its own iterator
            codec = self.header.compression_codec()
            while self.decoder.tell() < len(self._content):
                count, block = self.decoder.read_int(), self.decoder.read_bytes()
                if self.decoder.read(SYNC_SIZE) != self.header.sync:
                    raise ValueError("a block of records does not end with the mark of the file")
                block = codec.decompress(block) if codec is not None else block
                inside = cast("BinaryDecoder", AvroDecoder(block))
                for _ in range(count):
                    yield self.reader.read(inside)
                if inside.tell() != len(block):
                    raise ValueError("a block holds more than its records")

    return cast("Callable[[_Bytes], AbstractContextManager[Any]]", File)


def _without_names(schema: Any, known: dict[str, Any]) -> Any:
    """An Avro schema in which each type is written out. Avro names a type where it stands a second time, as
    that of two partitions by a uuid or a decimal, and the library does not know the name.
    """
    match schema:
        case str():
            return known.get(schema, schema)
        case list():
            return [_without_names(member, known) for member in schema]
        case {"type": "fixed", "name": str() as name}:
            known[name] = schema
            return schema
        case dict():
            inside = ("type", "fields", "items", "values")
            return {
                key: _without_names(value, known) if key in inside else value for key, value in schema.items()
            }
        case _:
            return schema


def _places(fields: Sequence[Any]) -> dict[str, int]:
    """The place of each field of a record."""
    return {_NAMES.get(field.field_id, field.name): index for index, field in enumerate(fields)}


@contextmanager
def _failures(location: str) -> Iterator[None]:
    """Turns whatever a broken file leads to into a ``Failure``."""
    try:
        yield
    except Failure:
        raise
    except Exception as failure:  # the library has exceptions of its own for schemas that do not fit, too
        raise Failure(unreadable(location, f"{type(failure).__name__}: {failure}")) from failure


def unreadable(location: str, why: str) -> Diagnostic:
    """Complains about a file that the table's metadata names."""
    return error(
        codes.MANIFEST_UNREADABLE,
        f"{location}: {why}. The current snapshot of the table names this file; without it the table cannot "
        "be read either. Restore it, or set the table back to an earlier snapshot (flareiac table "
        "rollback).",
    )
