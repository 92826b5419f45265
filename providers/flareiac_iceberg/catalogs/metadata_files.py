"""Loads and checks the metadata files that catalogs name. Reads only."""

import gzip
import json
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from flareiac.kernel.data import Attributes, Data, parse_json
from flareiac.kernel.diagnostics import Diagnostic, Failure, error
from flareiac_iceberg import codes
from flareiac_iceberg.catalogs.base import CatalogSpec
from flareiac_iceberg.catalogs.entries import Pointer
from flareiac_iceberg.catalogs.file_access import read_file
from flareiac_iceberg.format.metadata import TableFile, parse_metadata
from flareiac_iceberg.format.shape import ContradictingIds, Misshapen, UnknownVersion, check

_LOST: Final = (
    "Restore it, or let the catalog point to an earlier metadata file of the table (register it again)."
)
_WITHHELD: Final = (
    "It may be whole: nothing is known about the table meanwhile. Restore access to the place of the file, "
    "and run the command again."
)
"""For a file that its storage did not give: an earlier one in its place would take the last commits back."""
_UNKNOWN: Final = (
    "Parts of the table may mean something that FlareIaC cannot see, so nothing of it is read, planned or "
    "changed. Use a version of FlareIaC that knows this format, or take the block out: flareiac state rm "
    "ADDRESS forgets the table and leaves it as it is."
)
_CONTRADICTING: Final = (
    "Engines refuse to load such a table, or mix up its columns, so nothing of it is read, planned or "
    "changed. Have the program that wrote the file repair it, or let the catalog point to an earlier "
    "metadata file of the table (register it again)."
)
_NAMELESS: Final = (
    "Append to the table once with Iceberg for Java (Spark, Flink), which gives it one, then "
    "run the command again."
)
_VERSION: Final = re.compile(r"v?(\d+)[^/]*\.metadata\.json")


def load_entry(pointer: Pointer, catalog: CatalogSpec) -> TableFile:
    """The current metadata of a catalog's entry, and the location that it is of. Raises ``Failure`` as
    ``load`` does.
    """
    if pointer.fetch is None:
        return TableFile(pointer.location, load(pointer.location, catalog))
    location, data = pointer.fetch()
    return TableFile(location, _checked(location, lambda: data))


def load(location: str, catalog: CatalogSpec | None = None) -> Attributes:
    """The metadata in a file. Raises ``Failure`` when it cannot be read or is not the metadata of a table."""

    def parsed() -> Data:
        content = read_file(location, catalog)
        return parse_json(gzip.decompress(content) if location.endswith(".gz.metadata.json") else content)

    return _checked(location, parsed)


def _checked(location: str, given: Callable[[], Data]) -> Attributes:
    try:
        data: Attributes = given()
        check(data)
        parse_metadata(data, location)
    except UnknownVersion as unknown:
        raise Failure(error(codes.UNKNOWN_FORMAT, f"{location}: {unknown}. {_UNKNOWN}")) from unknown
    except ContradictingIds as failure:
        raise Failure(error(codes.CONTRADICTING_IDS, f"{location}: {failure}. {_CONTRADICTING}")) from failure
    except (FileNotFoundError, gzip.BadGzipFile) as failure:
        raise Failure(_unreadable(location, failure.strerror or str(failure))) from failure
    except OSError as failure:
        raise Failure(_unreadable(location, failure.strerror or str(failure), _WITHHELD)) from failure
    except Misshapen as failure:
        way_out = _NAMELESS if failure.nameless else _LOST
        raise Failure(_unreadable(location, str(failure), way_out)) from failure
    except (ValueError, KeyError, TypeError, EOFError, StopIteration, zlib.error, RecursionError) as failure:
        raise Failure(_unreadable(location, _damage(failure))) from failure
    return data


def _damage(failure: Exception) -> str:
    match failure:
        case json.JSONDecodeError():
            return f"it is not JSON (line {failure.lineno}, column {failure.colno}: {failure.msg})"
        case UnicodeDecodeError():
            return "it is not a text in UTF-8"
        case EOFError() | zlib.error():
            return "its compressed content is cut off or damaged"
        case RecursionError():
            return "its values are nested too deeply"
        case ValueError():
            return str(failure)
        case _:
            return "what it holds does not fit together"


def _unreadable(location: str, why: str, way_out: str = _LOST) -> Diagnostic:
    return error(
        codes.METADATA_UNREADABLE,
        f"{location}: {why}. The catalog names this file as the current state of the table. {way_out}",
    )


def later(names: Sequence[str], known: str) -> Iterator[list[str]]:
    """The metadata files with a later number, newest first; those with the same number together."""
    floor = version_number(known)
    if floor is None:
        return
    numbered = [
        (number, name) for name in names if (number := version_number(name)) is not None and number > floor
    ]
    for wanted in sorted({number for number, _ in numbered}, reverse=True):
        yield sorted(name for number, name in numbered if number == wanted)


def version_number(name: str) -> int | None:
    match = _VERSION.fullmatch(name.rpartition("/")[2])
    return int(match[1]) if match else None
