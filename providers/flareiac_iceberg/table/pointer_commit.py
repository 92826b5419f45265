"""Commits to a catalog that only names files: a new metadata file, and the table's entry moved to it if nobody moved it before.

Touches the world. Because the entry must still name the very file that a change was computed from, nobody's commit in between is
overwritten: not even of properties, for which Iceberg has no requirement.
"""

import gzip
import json
import re
import time
import uuid
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from flareiac.kernel.data import Attributes
from flareiac.kernel.diagnostics import Diagnostic, Failure, error
from flareiac_iceberg import codes
from flareiac_iceberg.catalogs.target import Target
from flareiac_iceberg.format.layout import unsound
from flareiac_iceberg.format.metadata import taken_apart
from flareiac_iceberg.format.metadata_update import updated

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog
    from pyiceberg.catalog.sql import SqlCatalog
    from pyiceberg.io import FileIO

_VERSION: Final = re.compile(r"(?:.*/)?v?(\d+)[^/]*$")
_DELETE_OLD: Final = "write.metadata.delete-after-commit.enabled"


def commit_pointer(catalog: "Catalog", target: Target, location: str, metadata: Attributes, updates: Iterable[Attributes]) -> bool:
    """Whether the table stands at the new metadata; False if another commit came first.

    Raises what the catalog's client raises, and ``Failure`` where nobody could load the table afterwards.
    """
    after = updated(metadata, updates, location, int(time.time() * 1000))
    broken = sorted(_flaws(after, location) - _flaws(metadata, location))
    if broken:
        raise Failure(_not_committed(target, broken))
    new = _next_location(location, after)
    io = file_io(catalog, after, new)
    try:
        write_metadata(io, new, after)
    except OSError:
        _delete(io, [new])
        raise
    if not _moved(catalog, target, location, new, after):
        _delete(io, [new])
        return False
    if (after["properties"].get(_DELETE_OLD) or "").lower() == "true":
        kept = {item["metadata-file"] for item in after["metadata-log"]}
        _delete(io, [item["metadata-file"] for item in metadata.get("metadata-log") or () if item["metadata-file"] not in kept])
    return True


def _flaws(metadata: Attributes, location: str) -> set[str]:
    """Why engines would not load a table; a server checks the same before it takes a commit."""
    spec, identity = taken_apart(metadata, location)
    ids = identity["field_ids"]
    hidden = {name for name, source, _ in identity["partition_names"] if source in ids.values() and ids.get(name, source) != source}
    return {item.why.rstrip(".") for item in unsound(spec)} | {
        f"column {name} has the name of a partition field of another column" for name in hidden
    }


def _not_committed(target: Target, broken: list[str]) -> Diagnostic:
    return error(
        codes.UNLOADABLE_AFTERWARDS,
        f"No engine could load {target.full_name} afterwards: {'; '.join(broken)}. Nothing of this change took effect. Make a new plan and "
        "review it.",
    )


def _next_location(location: str, metadata: Attributes) -> str:
    found = _VERSION.fullmatch(location)
    number = int(found[1]) + 1 if found else 0
    properties = metadata["properties"]
    folder = (properties.get("write.metadata.path") or f"{metadata['location'].rstrip('/')}/metadata").rstrip("/")
    packed = ".gz" if (properties.get("write.metadata.compression-codec") or "").lower() == "gzip" else ""
    return f"{folder}/{number:05d}-{uuid.uuid4()}{packed}.metadata.json"


def file_io(catalog: "Catalog", metadata: Attributes, location: str) -> "FileIO":
    """What reads and writes the files of a table."""
    from pyiceberg.io import load_file_io

    return load_file_io({**catalog.properties, **(metadata.get("properties") or {})}, location)


def write_metadata(io: "FileIO", location: str, metadata: Attributes) -> None:
    """Writes a metadata file. Raises what the storage's client raises."""
    content = json.dumps(metadata, separators=(",", ":"), ensure_ascii=False).encode()
    with io.new_output(location).create() as stream:
        stream.write(gzip.compress(content) if location.endswith(".gz.metadata.json") else content)


def _moved(catalog: "Catalog", target: Target, old: str, new: str, metadata: Attributes) -> bool:
    from pyiceberg.catalog.sql import SqlCatalog

    if isinstance(catalog, SqlCatalog):
        return _row_moved(catalog, target, old, new)
    from pyiceberg.catalog.glue import GlueCatalog

    from flareiac_iceberg.catalogs.glue_writer import move_entry

    assert isinstance(catalog, GlueCatalog), "a REST catalog checks requirements itself"
    return move_entry(catalog, target.namespace, target.name, old, new, metadata)


def _row_moved(catalog: "SqlCatalog", target: Target, old: str, new: str) -> bool:
    from pyiceberg.catalog.sql import IcebergTables
    from sqlalchemy import update
    from sqlalchemy.orm import Session

    statement = (
        update(IcebergTables)
        .where(
            IcebergTables.catalog_name == catalog.name,
            IcebergTables.table_namespace == target.namespace,
            IcebergTables.table_name == target.name,
            IcebergTables.metadata_location == old,
        )
        .values(metadata_location=new, previous_metadata_location=old)
    )
    with Session(catalog.engine) as session:
        moved: int = session.execute(statement).rowcount  # type: ignore[attr-defined]  # a statement that changes rows counts them
        session.commit()
    return moved == 1


def _delete(io: "FileIO", locations: Iterable[str]) -> None:
    """Removes files that nothing names any more; one that stays harms nobody."""
    for location in locations:
        try:
            io.delete(location)
        except OSError:
            continue
