"""What a SQLite catalog answers without any Iceberg library: where each table's metadata is, and namespaces. Reads only."""

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass

from flareiac.kernel.data import Data
from flareiac.kernel.diagnostics import Diagnostic, Failure, error
from flareiac_iceberg.catalog.spec import BUSY_TIMEOUT_MS, CatalogSpec


@dataclass(frozen=True, slots=True)
class Pointer:
    """One entry of a catalog: the location of its current metadata file; a view is no table."""

    location: str
    is_view: bool


def tables_in(catalog: CatalogSpec, namespace: str) -> Mapping[str, Pointer] | None:
    """The entries of one namespace by name, in one query; None if the catalog itself does not exist yet. Raises ``Failure``."""
    rows = _query(catalog, "SELECT * FROM iceberg_tables WHERE catalog_name = ? AND table_namespace = ?", namespace)
    if rows is None:
        return None
    return {row["table_name"]: Pointer(row["metadata_location"] or "", row.get("iceberg_type") == "VIEW") for row in rows}


def namespace_properties(catalog: CatalogSpec, namespace: str) -> Mapping[str, str] | None:
    """The properties of a namespace, or None if there is no such namespace (or no catalog yet). Raises ``Failure``."""
    rows = _query(catalog, "SELECT * FROM iceberg_namespace_properties WHERE catalog_name = ? AND namespace = ?", namespace)
    if rows:
        return {row["property_key"]: row["property_value"] or "" for row in rows}
    return {} if tables_in(catalog, namespace) else None


def _query(catalog: CatalogSpec, statement: str, namespace: str) -> list[dict[str, Data]] | None:
    if not _exists(catalog):
        return None
    try:
        with closing(sqlite3.connect(f"{catalog.database.as_uri()}?mode=ro", uri=True, timeout=BUSY_TIMEOUT_MS / 1000)) as connection:
            cursor = connection.execute(statement, (catalog.name, namespace))
            names = [column[0] for column in cursor.description]
            return [dict(zip(names, row, strict=True)) for row in cursor]
    except sqlite3.Error as trouble:
        if "no such table" in str(trouble):
            return []
        raise Failure(unreadable(catalog, str(trouble))) from trouble


def _exists(catalog: CatalogSpec) -> bool:
    try:
        return catalog.database.stat().st_size >= 0
    except FileNotFoundError:
        return False
    except OSError as trouble:
        raise Failure(unreadable(catalog, trouble.strerror or str(trouble))) from trouble


def unreadable(catalog: CatalogSpec, why: str) -> Diagnostic:
    """Complains that the catalog's file can not be read."""
    return error(
        "FII010",
        f"The catalog {catalog.address} can not be read",
        f"{catalog.database}: {why}. Check that the path is right, that it is a SQLite database, and that you may read it and its folder.",
    )
