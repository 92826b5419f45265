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


def unwritable_metadata(
    desired: TableDefinition,
    there: Mapping[str, Data],
    changes: Iterable[Change],
    references: References,
) -> Iterator[Blocker]:
    """A blocker where the table, whose properties are ``there``, would have its next metadata file in a place
    of another kind. A server writes metadata itself.
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
    why = _unwritable(place)
    catalog = references.get(desired.catalog.address)
    if why and catalog is not None and not spec_of(catalog.address, catalog.attributes).is_server:
        ways = (
            f'properties = {{ "{_PROPERTY}" = "s3://BUCKET/FOLDER" }}',
            "let the engine that wrote it so change it",
        )
        yield blocker(codes.METADATA_ELSEWHERE, why, ways)


def _unwritable(place: Data) -> str:
    """The reason why no metadata file can be written there, empty where one can."""
    if not isinstance(place, str) or not place or is_writable(place):
        return ""
    return (
        f'The property {_PROPERTY} of the table is "{place}". FlareIaC writes a metadata file with each '
        "change, and only to absolute local paths, file: URIs and S3."
    )
