"""Reads catalogs of every kind: where each table's metadata is, and namespaces. Reads only."""

from collections.abc import Mapping

from flareiac_iceberg.catalogs.base import CatalogSpec
from flareiac_iceberg.catalogs.entries import Pointer, Registered
from flareiac_iceberg.catalogs.opening import reader_of


def tables_in(catalog: CatalogSpec, namespace: str) -> Mapping[str, Pointer]:
    """The entries of one namespace by name. Raises ``Failure``; ``NoCatalog`` where the catalog is not there.

    One query; a REST catalog is asked for each name when it is looked up, which raises ``Failure`` then.
    """
    return reader_of(catalog).tables(namespace)


def table_in(catalog: CatalogSpec, namespace: str, name: str) -> Pointer | None:
    """The entry of one table, by a question that takes as long however many there are. Raises as
    ``tables_in`` does.
    """
    return reader_of(catalog).table(namespace, name)


def everything_in(catalog: CatalogSpec) -> Mapping[tuple[str, ...], Registered]:
    """The tables that are registered in the catalog's database, by catalog, namespace and name. Raises as
    ``tables_in`` does.

    Few queries; a REST catalog is asked for each table.
    """
    return reader_of(catalog).everything()


def namespace_properties(catalog: CatalogSpec, namespace: str) -> Mapping[str, str] | None:
    """The properties of a namespace, or None if there is no such namespace. Raises as ``tables_in`` does."""
    return reader_of(catalog).namespace(namespace)
