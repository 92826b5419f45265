"""Refuses places for metadata files that FlareIaC does not write to. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from flareiac.kernel.data import Data
from flareiac.sdk.changes import Blocker, blocker
from flareiac.sdk.references import References
from flareiac_iceberg import codes
from flareiac_iceberg.catalogs.kinds import spec_of
from flareiac_iceberg.format.locations import is_writable
from flareiac_iceberg.format.spec import TableDefinition
from flareiac_iceberg.table.changes import Change, RemoveProperty, SetProperty

_PROPERTY: Final = "write.metadata.path"
_ONLY: Final = (
    "FlareIaC writes a metadata file with each change, and only to absolute local paths, file: URIs and S3."
)

_OF_A_NEW_TABLE: Final = (
    "write another place: a path, file:///FOLDER or s3://BUCKET/FOLDER",
    "leave it out: then it is below the warehouse of the catalog",
)


def unwritable_metadata(
    desired: TableDefinition,
    there: Mapping[str, Data],
    location: str | None,
    changes: Iterable[Change],
    references: References,
    *,
    is_new: bool = False,
) -> Iterator[Blocker]:
    """A blocker where the table, whose properties are ``there``, would have its next metadata file in a place
    of another kind: that of the property, otherwise below its ``location``. A server writes metadata itself.
    ``is_new``: the table is created, so its location may still be another one.
    """
    place = there.get(_PROPERTY)
    for change in changes:
        match change:
            case SetProperty(name=name, new=value) if name == _PROPERTY:
                place = value
            case RemoveProperty(name=name) if name == _PROPERTY:
                place = None
            case _:
                pass
    why = _unwritable(place) if place else _unwritable_location(location)
    catalog = references.get(desired.catalog.address)
    if why and catalog is not None and not spec_of(catalog.address, catalog.attributes).is_server:
        elsewhere = f'properties = {{ "{_PROPERTY}" = "s3://BUCKET/FOLDER" }}'
        ways = _OF_A_NEW_TABLE if is_new else (elsewhere, "let the engine that wrote it so change it")
        yield blocker(codes.METADATA_ELSEWHERE, f"{why} {_ONLY}", ways)


def _unwritable(place: Data) -> str:
    """The reason why no metadata file can be written there, empty where one can."""
    if not isinstance(place, str) or is_writable(place):
        return ""
    return f'The property {_PROPERTY} of the table is "{place}".'


def _unwritable_location(location: str | None) -> str:
    """The same of the folder in which metadata files are without that property."""
    if location is None or is_writable(f"{location.rstrip('/')}/metadata"):
        return ""
    return f'The location of the table is "{location}", and its metadata files are there too.'
