"""What a catalog answers without any Iceberg library: where each table's metadata is, and namespaces. Reads only."""

import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from flareiac.kernel.data import Attributes, Data
from flareiac.kernel.diagnostics import Diagnostic, Failure, error
from flareiac_iceberg import codes
from flareiac_iceberg.catalogs import sqlite
from flareiac_iceberg.catalogs.spec import CatalogSpec, GlueCatalog, PostgresCatalog, RestCatalog, SqliteCatalog


@dataclass(frozen=True, slots=True)
class Pointer:
    """One entry of a catalog: the location of its current metadata file; a view is no table.

    ``fetch``: the catalog itself gives the metadata, with the location that it is of; its files may be closed to us.
    """

    location: str
    is_view: bool
    fetch: Callable[[], tuple[str, Attributes]] | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Registered:
    """A table or view of a catalog: its metadata file ("" of what is no table), and a folder where it has files.

    ``fetch``: the catalog itself gives the metadata.
    """

    metadata: str
    folder: str
    fetch: Callable[[], tuple[str, Attributes]] | None = field(default=None, compare=False)


def tables_in(catalog: CatalogSpec, namespace: str) -> Mapping[str, Pointer] | None:
    """The entries of one namespace by name; None if the catalog itself does not exist yet. Raises ``Failure``.

    One query; a REST catalog is asked for each name when it is looked up, which raises ``Failure`` then.
    """
    match catalog:
        case SqliteCatalog():
            return _entries(
                _query(catalog, "SELECT * FROM iceberg_tables WHERE catalog_name = ? AND table_namespace = ?", catalog.name, namespace)
            )
        case PostgresCatalog():
            from flareiac_iceberg.catalogs import postgres

            return _entries(postgres.tables(catalog, namespace))
        case RestCatalog():
            from flareiac_iceberg.catalogs import rest

            return rest.Entries(catalog, namespace)
        case GlueCatalog():
            from flareiac_iceberg.catalogs import glue

            return glue.tables(catalog, namespace)


def everything_in(catalog: CatalogSpec) -> Mapping[tuple[str, ...], Registered]:
    """What is registered in the catalog's database, by catalog, namespace and name. Raises ``Failure``.

    Few queries; a REST catalog is asked for each table.
    """
    match catalog:
        case SqliteCatalog():
            return _folders(_query(catalog, "SELECT * FROM iceberg_tables"))
        case PostgresCatalog():
            from flareiac_iceberg.catalogs import postgres

            return _folders(postgres.everything(catalog))
        case RestCatalog():
            from flareiac_iceberg.catalogs import rest

            return rest.everything(catalog)
        case GlueCatalog():
            from flareiac_iceberg.catalogs import glue

            return glue.everything(catalog)


def folder_of(metadata_location: str) -> str:
    """The folder of a table with its metadata there, where nobody has chosen another place for that."""
    return metadata_location.rpartition("/metadata/")[0] or metadata_location.rpartition("/")[0]


def namespace_properties(catalog: CatalogSpec, namespace: str) -> Mapping[str, str] | None:
    """The properties of a namespace, or None if there is no such namespace (or no catalog yet). Raises ``Failure``."""
    match catalog:
        case SqliteCatalog():
            query = "SELECT * FROM iceberg_namespace_properties WHERE catalog_name = ? AND namespace = ?"
            return _properties(_query(catalog, query, catalog.name, namespace), catalog, namespace)
        case PostgresCatalog():
            from flareiac_iceberg.catalogs import postgres

            return _properties(postgres.namespace(catalog, namespace), catalog, namespace)
        case RestCatalog():
            from flareiac_iceberg.catalogs import rest

            return rest.namespace(catalog, namespace)
        case GlueCatalog():
            from flareiac_iceberg.catalogs import glue

            return glue.namespace(catalog, namespace)


def _entries(rows: list[dict[str, Data]] | None) -> Mapping[str, Pointer] | None:
    if rows is None:
        return None
    return {row["table_name"]: Pointer(row["metadata_location"] or "", row.get("iceberg_type") == "VIEW") for row in rows}


def _folders(rows: list[dict[str, Data]] | None) -> Mapping[tuple[str, ...], Registered]:
    found: dict[tuple[str, ...], Registered] = {}
    for row in rows or ():
        location = row["metadata_location"]
        if location:
            found[row["catalog_name"], row["table_namespace"], row["table_name"]] = Registered(location, folder_of(location))
    return found


def _properties(rows: list[dict[str, Data]] | None, catalog: CatalogSpec, namespace: str) -> Mapping[str, str] | None:
    if rows:
        return {row["property_key"]: row["property_value"] or "" for row in rows}
    return {} if tables_in(catalog, namespace) else None


def _query(catalog: SqliteCatalog, statement: str, *parameters: str) -> list[dict[str, Data]] | None:
    try:
        return sqlite.rows(catalog, statement, *parameters)
    except sqlite3.Error as trouble:
        if "no such table" in str(trouble):
            return []
        raise Failure(unreadable(catalog, str(trouble))) from trouble
    except OSError as trouble:
        raise Failure(unreadable(catalog, trouble.strerror or str(trouble))) from trouble


def missing_folder(catalog: CatalogSpec) -> Path | None:
    """The folder of a catalog's file, if it is not there."""
    return catalog.database.parent if isinstance(catalog, SqliteCatalog) and not catalog.database.parent.is_dir() else None


def unreadable(catalog: CatalogSpec, why: str) -> Diagnostic:
    """Complains that the catalog cannot be read."""
    return error(codes.CATALOG_UNREADABLE, f"{catalog.address} ({catalog.shown}): {why.rstrip(' .?')}. {_advice(catalog)}")


def _advice(catalog: CatalogSpec) -> str:
    match catalog:
        case SqliteCatalog():
            return "Check that the path is right, that it is a SQLite database, and that you may read it and its folder."
        case PostgresCatalog():
            return (
                "Check that the server runs and can be reached, and that user, password and database are right. Nothing is known meanwhile."
            )
        case RestCatalog():
            return "Check that the server runs, and uri, warehouse, prefix and token or credential. Nothing is known meanwhile."
        case GlueCatalog():
            return "Check region and endpoint, and that AWS gives keys here that may read Glue. Nothing is known meanwhile."
