"""Writes to catalogs that only Iceberg's library can talk to, as far as their kinds do it alike. Touches the
world.
"""

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, Generic, TypeVar

from pyiceberg.catalog import Catalog
from pyiceberg.exceptions import (
    NamespaceAlreadyExistsError,
    NamespaceNotEmptyError,
    NoSuchNamespaceError,
    NoSuchTableError,
    TableAlreadyExistsError,
)
from pyiceberg.partitioning import PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table.sorting import SortOrder

from flareiac_iceberg.catalogs.base import CatalogSpec
from flareiac_iceberg.catalogs.entries import CatalogReader
from flareiac_iceberg.catalogs.outcomes import Conflict, Exists, NotEmpty
from flareiac_iceberg.catalogs.requests import Definition
from flareiac_iceberg.catalogs.target import Target
from flareiac_iceberg.catalogs.writer import CatalogWriter

S = TypeVar("S", bound=CatalogSpec)
C = TypeVar("C", bound=Catalog)


class LibraryWriter(CatalogWriter[S], Generic[S, C]):
    """Names of tables and namespaces."""

    catalog: C

    @abstractmethod
    def open_library(self) -> C:
        """The library's catalog. Its own class, not ``load_catalog``, which mixes in files and variables of
        the current user.
        """

    @abstractmethod
    def reader(self) -> CatalogReader:
        """The reader of the same catalog."""

    def _open(self) -> None:
        self.catalog = self.open_library()

    def _rename(self, old: Target, new: Target, location: str) -> None:
        self._refuse_moved(old, location)
        try:
            self.catalog.rename_table(identifier(old), identifier(new))
        except (TableAlreadyExistsError, NoSuchTableError) as taken:
            raise Exists(new.full_name) from taken

    def _register(self, target: Target, location: str) -> None:
        try:
            self.catalog.register_table(identifier(target), location)
        except TableAlreadyExistsError as taken:
            raise Exists(target.full_name) from taken

    def drop(self, target: Target, location: str, *, purge: bool) -> bool:
        """See ``CatalogWriter``. These catalogs take no condition: the entry is read again right before."""
        self._refuse_moved(target, location)
        with self.errors(), suppress(NoSuchTableError):
            if purge and self.spec.is_server:
                self.catalog.purge_table(identifier(target))
            else:
                self.catalog.drop_table(identifier(target))
        return False

    def _refuse_moved(self, target: Target, location: str) -> None:
        """Raises ``Conflict`` and ``Failure``."""
        pointer = self.reader().table(target.namespace, target.name)
        if pointer is not None and pointer.location != location:
            raise Conflict(target.full_name)

    def _has_namespace(self, name: str) -> bool:
        return self.catalog.namespace_exists(name)

    def _make_namespace(self, name: str, properties: Mapping[str, str]) -> None:
        with suppress(NamespaceAlreadyExistsError):
            self.catalog.create_namespace(name, dict(properties))

    def set_namespace_properties(self, name: str, put: Mapping[str, str], remove: Iterable[str]) -> None:
        """See ``CatalogWriter``."""
        with self.errors():
            self.catalog.update_namespace_properties(name, set(remove) or None, dict(put))

    def drop_namespace(self, name: str) -> None:
        """See ``CatalogWriter``."""
        self.forget_namespace(name)
        try:
            with self.errors(), suppress(NoSuchNamespaceError):
                self.catalog.drop_namespace(name)
        except NamespaceNotEmptyError as taken:
            raise NotEmpty(name) from taken

    def namespaces(self) -> set[str]:
        """See ``CatalogWriter``."""
        namespaces: set[str] = set()
        waiting: list[tuple[str, ...]] = [()]
        with self.errors():
            while waiting:
                try:
                    children = self.catalog.list_namespaces(waiting.pop())
                except NoSuchNamespaceError:  # dropped meanwhile
                    continue
                new = [tuple(parts) for parts in children if ".".join(parts) not in namespaces]
                namespaces.update(".".join(parts) for parts in new)
                waiting += new
        return namespaces

    def close(self) -> None:
        """Closes the library's catalog."""
        self.catalog.close()


def identifier(target: Target) -> tuple[str, ...]:
    """The name of a table as the library takes it."""
    return (*target.namespace.split("."), target.name)


def arguments(target: Target, what: Definition, location: str | None, version: int) -> tuple[Any, ...]:
    """The arguments with which the library creates a table."""
    return (
        identifier(target),
        Schema.model_validate(what.schema),
        location,
        PartitionSpec.model_validate(what.spec),
        SortOrder.model_validate(what.order),
        what.properties | {"format-version": str(version)},
    )
