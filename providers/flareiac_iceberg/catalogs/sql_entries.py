"""Reads the two tables that Iceberg's SQL catalogs keep, by whatever queries their database. Pure but for the
query.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Final, Generic, TypeVar

from flareiac.kernel.data import Data
from flareiac.kernel.diagnostics import Failure
from flareiac_iceberg.catalogs.base import CatalogSpec
from flareiac_iceberg.catalogs.entries import Pointer, Registered, folder_of, no_catalog, unreadable

_IN_NAMESPACE: Final = "SELECT * FROM iceberg_tables WHERE catalog_name = {0} AND table_namespace = {0}"
_ENTRY: Final = {
    "catalog_name": False,
    "table_namespace": False,
    "table_name": False,
    "metadata_location": True,
}
_PROPERTY: Final = {"property_key": False, "property_value": True}
"""The columns that are read, and whether they may be null."""
S = TypeVar("S", bound=CatalogSpec)


class SqlReader(ABC, Generic[S]):
    """One query for each question. See ``CatalogReader``."""

    placeholder: str
    """Stands for a parameter in a statement."""

    def __init__(self, catalog: S) -> None:
        self.catalog = catalog

    @abstractmethod
    def rows(self, statement: str, *parameters: str) -> list[dict[str, Data]] | None:
        """The rows of a query, None where its table does not exist. Raises ``Failure``, and ``NoCatalog``
        where the database does not exist.
        """

    def tables(self, namespace: str) -> Mapping[str, Pointer]:
        rows = self._tables(_IN_NAMESPACE.format(self.placeholder), self.catalog.name, namespace)
        return {row["table_name"]: _pointer(row) for row in rows}

    def table(self, namespace: str, name: str) -> Pointer | None:
        statement = f"{_IN_NAMESPACE} AND table_name = {{0}}".format(self.placeholder)
        rows = self._tables(statement, self.catalog.name, namespace, name)
        return _pointer(rows[0]) if rows else None

    def everything(self) -> Mapping[tuple[str, ...], Registered]:
        registered: dict[tuple[str, ...], Registered] = {}
        for row in self._tables("SELECT * FROM iceberg_tables"):
            location = row["metadata_location"]
            if location:
                registered[row["catalog_name"], row["table_namespace"], row["table_name"]] = Registered(
                    location, folder_of(location)
                )
        return registered

    def namespace(self, name: str) -> Mapping[str, str] | None:
        statement = "SELECT * FROM iceberg_namespace_properties WHERE catalog_name = {0} AND namespace = {0}"
        rows = self.rows(statement.format(self.placeholder), self.catalog.name, name)
        if rows:
            self._check(rows, "iceberg_namespace_properties", _PROPERTY)
            return {row["property_key"]: row["property_value"] or "" for row in rows}
        return {} if self.tables(name) else None

    def _tables(self, statement: str, *parameters: str) -> list[dict[str, Data]]:
        """Rows of tables, of this catalog or of others that share its database."""
        rows = self.rows(statement, *parameters)
        if rows is None:
            raise no_catalog(self.catalog, "it has no table iceberg_tables")
        self._check(rows, "iceberg_tables", _ENTRY)
        return rows

    def _check(self, rows: Sequence[Mapping[str, Data]], table: str, columns: Mapping[str, bool]) -> None:
        """Raises ``Failure`` where a row has no text in one of these columns, or none at all where it may be
        null. SQLite takes values of every type in every column.
        """
        for row in rows:
            for name, nullable in columns.items():
                if isinstance(row.get(name), str) or (nullable and name in row and row[name] is None):
                    continue
                what = "a value that is no text" if name in row else "no such column"
                why = f"the table {table} is not as Iceberg writes it: {name}: {what}"
                raise Failure(unreadable(self.catalog, why))


def _pointer(row: Mapping[str, Data]) -> Pointer:
    return Pointer(row["metadata_location"] or "", row.get("iceberg_type") == "VIEW")
