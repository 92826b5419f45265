"""Writes to catalogs in a SQL database: a table is a row that names its metadata file. Touches the world."""

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from types import MappingProxyType
from typing import TypeVar

from pyiceberg.catalog.sql import IcebergTables, SqlCatalog
from pyiceberg.exceptions import TableAlreadyExistsError
from sqlalchemy import insert, update
from sqlalchemy.exc import DBAPIError, IntegrityError, SQLAlchemyError
from sqlalchemy.orm import Session

from flareiac.kernel.diagnostics import Failure
from flareiac_iceberg.catalogs.base import CatalogSpec
from flareiac_iceberg.catalogs.pointer_writer import Entry, PointerWriter

S = TypeVar("S", bound=CatalogSpec)


class SqlWriter(PointerWriter[S, SqlCatalog]):
    """The tables of Iceberg's JDBC and SQL catalogs."""

    marks = MappingProxyType({"exists": "true"})  # a namespace without properties would have no row

    def open(self) -> SqlCatalog:
        return SqlCatalog(
            self.spec.name, **self.file_settings() | {"warehouse": self.spec.warehouse} | self.connection()
        )

    @abstractmethod
    def connection(self) -> dict[str, str]:
        """The URI of the database and settings of the connection, by pyiceberg's names. Raises
        ``Failure``.
        """

    @contextmanager
    def errors(self, *, opening: bool = False) -> Iterator[None]:
        try:
            yield
        except DBAPIError as trouble:
            # A connection that was lost may have carried the commit
            known = opening or not trouble.connection_invalidated
            raise Failure(self.trouble(str(trouble.orig or trouble), known=known)) from trouble
        except SQLAlchemyError as trouble:
            raise Failure(self.trouble(str(trouble), known=True)) from trouble
        except OSError as trouble:
            raise Failure(self.trouble(trouble.strerror or str(trouble), known=True)) from trouble

    def enter(self, entry: Entry) -> None:
        row = self.catalog._create_table_row(entry.target.namespace, entry.target.name, entry.location)
        with Session(self.catalog.engine) as session:
            try:
                session.execute(insert(IcebergTables).values(**row))
                session.commit()
            except IntegrityError as taken:
                raise TableAlreadyExistsError(entry.target.full_name) from taken

    def move(self, entry: Entry, old: str) -> bool:
        statement = (
            update(IcebergTables)
            .where(
                IcebergTables.catalog_name == self.catalog.name,
                IcebergTables.table_namespace == entry.target.namespace,
                IcebergTables.table_name == entry.target.name,
                IcebergTables.metadata_location == old,
            )
            .values(metadata_location=entry.location, previous_metadata_location=old)
        )
        with Session(self.catalog.engine) as session:
            moved: int = session.execute(statement).rowcount  # type: ignore[attr-defined]  # a statement that changes rows counts them
            session.commit()
        return moved == 1
