"""Reads catalogs of every kind: where each table's metadata is, and namespaces. Reads only; imports what a
kind needs when it is asked.
"""

from collections.abc import Mapping

from flareiac_iceberg.catalogs.entries import CatalogReader, Pointer, Registered
from flareiac_iceberg.catalogs.glue.spec import GlueCatalog
from flareiac_iceberg.catalogs.postgres.spec import PostgresCatalog
from flareiac_iceberg.catalogs.rest.spec import RestCatalog
from flareiac_iceberg.catalogs.spec import CatalogSpec
from flareiac_iceberg.catalogs.sqlite.reader import SqliteReader
from flareiac_iceberg.catalogs.sqlite.spec import SqliteCatalog


def tables_in(catalog: CatalogSpec, namespace: str) -> Mapping[str, Pointer]:
    """The entries of one namespace by name. Raises ``Failure``; ``NoCatalog`` where the catalog is not there.

    One query; a REST catalog is asked for each name when it is looked up, which raises ``Failure`` then.
    """
    return _reader(catalog).tables(namespace)


def everything_in(catalog: CatalogSpec) -> Mapping[tuple[str, ...], Registered]:
    """What is registered in the catalog's database, by catalog, namespace and name. Raises as ``tables_in``
    does.

    Few queries; a REST catalog is asked for each table.
    """
    return _reader(catalog).everything()


def namespace_properties(catalog: CatalogSpec, namespace: str) -> Mapping[str, str] | None:
    """The properties of a namespace, or None if there is no such namespace. Raises as ``tables_in`` does."""
    return _reader(catalog).namespace(namespace)


def _reader(catalog: CatalogSpec) -> CatalogReader:
    match catalog:
        case SqliteCatalog():
            return SqliteReader(catalog)
        case PostgresCatalog():
            from flareiac_iceberg.catalogs.postgres.reader import PostgresReader

            return PostgresReader(catalog)
        case RestCatalog():
            from flareiac_iceberg.catalogs.rest.reader import RestReader

            return RestReader(catalog)
        case GlueCatalog():
            from flareiac_iceberg.catalogs.glue.reader import GlueReader

            return GlueReader(catalog)
