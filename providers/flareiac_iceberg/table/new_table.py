"""Makes a table in one commit: its first metadata file has its format version, branches and default values. Touches the world.

Iceberg's library for Python writes no metadata of version 3 and makes no table with branches, so the first metadata that it would write is
completed as JSON before the catalog gets an entry for it. A server is asked to stage the table, and gets all updates in one commit.
"""

import json
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from flareiac.kernel.data import Attributes
from flareiac_iceberg.catalogs.target import Target
from flareiac_iceberg.format.metadata_update import completed
from flareiac_iceberg.table.create import Definition
from flareiac_iceberg.table.pointer_commit import file_io, write_metadata

if TYPE_CHECKING:
    from pyiceberg.catalog import MetastoreCatalog
    from pyiceberg.catalog.rest import RestCatalog
    from pyiceberg.catalog.sql import SqlCatalog
    from pyiceberg.table import CreateTableTransaction

Missing: TypeAlias = Callable[[Attributes], Sequence[Attributes]]
"""From the metadata of a table as the library makes it: the updates that make it the declared one."""


def create_entry(catalog: "MetastoreCatalog", target: Target, what: Definition, location: str | None, missing: Missing) -> None:
    """In a catalog that only names files. Raises what the catalog's client raises."""
    if _chooses_places(catalog, target.namespace):
        catalog.create_table(*_arguments(target, what, location, min(what.version, 2)))
        return
    from pyiceberg.partitioning import PartitionSpec
    from pyiceberg.schema import Schema
    from pyiceberg.table.locations import load_location_provider
    from pyiceberg.table.metadata import new_table_metadata
    from pyiceberg.table.sorting import SortOrder

    place = catalog._resolve_table_location(location, target.namespace, target.name)
    first = new_table_metadata(
        Schema.model_validate(what.schema),
        PartitionSpec.model_validate(what.spec),
        SortOrder.model_validate(what.order),
        place,
        what.properties | {"format-version": str(min(what.version, 2))},
    )
    metadata: Attributes = json.loads(first.model_dump_json())
    updates = missing(metadata)
    if updates:
        metadata = completed(metadata, updates, int(time.time() * 1000))
    new = load_location_provider(place, what.properties).new_table_metadata_file_location()
    write_metadata(file_io(catalog, metadata, new), new, metadata)
    _enter(catalog, target, new, metadata)


def _chooses_places(catalog: "MetastoreCatalog", namespace: str) -> bool:
    """Whether the catalog chooses a table's location only when it makes the table, as S3 Tables do behind Glue."""
    from pyiceberg.catalog.sql import SqlCatalog

    if isinstance(catalog, SqlCatalog):
        return False
    from pyiceberg.catalog.glue import GlueCatalog

    assert isinstance(catalog, GlueCatalog), "a REST server writes the metadata itself"
    return catalog._is_s3tables_database(namespace)


def _enter(catalog: "MetastoreCatalog", target: Target, location: str, metadata: Attributes) -> None:
    from pyiceberg.catalog.sql import SqlCatalog

    if isinstance(catalog, SqlCatalog):
        _insert_row(catalog, target, location)
        return
    from pyiceberg.catalog.glue import GlueCatalog

    from flareiac_iceberg.catalogs.glue_writer import create_entry

    assert isinstance(catalog, GlueCatalog), "a REST server writes the metadata itself"
    create_entry(catalog, target.namespace, target.name, location, metadata)


def _insert_row(catalog: "SqlCatalog", target: Target, location: str) -> None:
    from pyiceberg.catalog.sql import IcebergTables
    from pyiceberg.exceptions import TableAlreadyExistsError
    from sqlalchemy import insert
    from sqlalchemy.exc import IntegrityError
    from sqlalchemy.orm import Session

    with Session(catalog.engine) as session:
        try:
            session.execute(insert(IcebergTables).values(**catalog._create_table_row(target.namespace, target.name, location)))
            session.commit()
        except IntegrityError as taken:
            raise TableAlreadyExistsError(target.full_name) from taken


def create_on_server(catalog: "RestCatalog", target: Target, what: Definition, location: str | None, missing: Missing) -> None:
    """On a REST server; what one that stages no tables does not take follows in a second commit. Raises what the client raises."""
    from pyiceberg.exceptions import CommitFailedException, RESTError, TableAlreadyExistsError

    if what.needs_updates:
        try:
            staged = catalog.create_table_transaction(*_arguments(target, what, location, min(what.version, 2)))
        except RESTError:
            pass  # Nothing was created. A plain create finds out whether the server only stages no tables.
        else:
            try:
                _commit_staged(catalog, staged, missing)
            except CommitFailedException as taken:
                raise TableAlreadyExistsError(target.full_name) from taken
            return
    catalog.create_table(*_arguments(target, what, location, what.version))


def _arguments(target: Target, what: Definition, location: str | None, version: int) -> tuple[Any, ...]:
    from pyiceberg.partitioning import PartitionSpec
    from pyiceberg.schema import Schema
    from pyiceberg.table.sorting import SortOrder

    return (
        (*target.namespace.split("."), target.name),
        Schema.model_validate(what.schema),
        location,
        PartitionSpec.model_validate(what.spec),
        SortOrder.model_validate(what.order),
        what.properties | {"format-version": str(version)},
    )


def _commit_staged(catalog: "RestCatalog", staged: "CreateTableTransaction", missing: Missing) -> None:
    from pydantic import TypeAdapter
    from pyiceberg.table.update import AssertCreate, TableUpdate

    update = TypeAdapter(TableUpdate)
    metadata = json.loads(staged._table.metadata.model_dump_json())
    steps = tuple(update.validate_python(item) for item in missing(metadata))
    catalog.commit_table(staged._table, (AssertCreate(),), (*staged._updates, *steps))
