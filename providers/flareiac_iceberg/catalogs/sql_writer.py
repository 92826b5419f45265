"""Writes to catalogs in a SQL database: a table is a row that names its metadata file. Touches the world.

The two tables, their columns and what a row means are those of Iceberg's JDBC catalog, which Iceberg's
library for Python shares. Its database toolkit takes longer to import than a small apply.
"""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from types import MappingProxyType
from typing import Any, ClassVar, Final, TypeAlias, TypeVar

from flareiac.kernel.diagnostics import Failure
from flareiac.kernel.group_commit import GroupCommit
from flareiac_iceberg.catalogs.base import CatalogSpec
from flareiac_iceberg.catalogs.outcomes import Conflict, Exists, NotEmpty
from flareiac_iceberg.catalogs.pointer_writer import Entry, PointerWriter
from flareiac_iceberg.catalogs.target import Target

Connection: TypeAlias = Any
"""A connection of a driver as PEP 249 describes it."""
_Change: TypeAlias = tuple[str, Sequence[str | None]]
"""A statement that changes rows, and its parameters."""
S = TypeVar("S", bound=CatalogSpec)

_TABLES: Final = (
    """CREATE TABLE IF NOT EXISTS iceberg_tables (
        catalog_name VARCHAR(255) NOT NULL,
        table_namespace VARCHAR(255) NOT NULL,
        table_name VARCHAR(255) NOT NULL,
        metadata_location VARCHAR(1000),
        previous_metadata_location VARCHAR(1000),
        iceberg_type VARCHAR(5),
        PRIMARY KEY (catalog_name, table_namespace, table_name))""",
    """CREATE TABLE IF NOT EXISTS iceberg_namespace_properties (
        catalog_name VARCHAR(255) NOT NULL,
        namespace VARCHAR(255) NOT NULL,
        property_key VARCHAR(255) NOT NULL,
        property_value VARCHAR(1000) NOT NULL,
        PRIMARY KEY (catalog_name, namespace, property_key))""",
)
_COLUMNS: Final = "SELECT * FROM iceberg_tables WHERE 1 = 0"
_PROPERTIES: Final = "SELECT 1 FROM iceberg_namespace_properties WHERE 1 = 0"
_ADD_TABLE: Final = """INSERT INTO iceberg_tables
    (catalog_name, table_namespace, table_name, metadata_location) VALUES (?, ?, ?, ?)
    ON CONFLICT DO NOTHING"""
_ADD_TYPED_TABLE: Final = """INSERT INTO iceberg_tables
    (catalog_name, table_namespace, table_name, metadata_location, iceberg_type) VALUES (?, ?, ?, ?, 'TABLE')
    ON CONFLICT DO NOTHING"""
_MOVE: Final = """UPDATE iceberg_tables SET metadata_location = ?, previous_metadata_location = ?
    WHERE catalog_name = ? AND table_namespace = ? AND table_name = ? AND metadata_location = ?"""
_RENAME: Final = """UPDATE iceberg_tables SET table_namespace = ?, table_name = ?
    WHERE catalog_name = ? AND table_namespace = ? AND table_name = ? AND metadata_location = ?"""
_DROP: Final = """DELETE FROM iceberg_tables
    WHERE catalog_name = ? AND table_namespace = ? AND table_name = ? AND metadata_location = ?"""
_IS_THERE: Final = """SELECT 1 FROM iceberg_tables
    WHERE catalog_name = ? AND table_namespace = ? AND table_name = ?"""
_IS_TABLE: Final = " AND (iceberg_type = 'TABLE' OR iceberg_type IS NULL)"
_WITHIN: Final = "SELECT 1 FROM iceberg_tables WHERE catalog_name = ? AND table_namespace = ?"
_LOCATION: Final = """SELECT property_value FROM iceberg_namespace_properties
    WHERE catalog_name = ? AND namespace = ? AND property_key = 'location'"""
_IS_NAMESPACE: Final = """SELECT 1 FROM iceberg_namespace_properties WHERE catalog_name = ? AND namespace = ?
    UNION SELECT 1 FROM iceberg_tables WHERE catalog_name = ? AND table_namespace = ?"""
_NAMESPACES: Final = """SELECT table_namespace FROM iceberg_tables WHERE catalog_name = ?
    UNION SELECT namespace FROM iceberg_namespace_properties WHERE catalog_name = ?"""
_ADD_PROPERTY: Final = """INSERT INTO iceberg_namespace_properties
    (catalog_name, namespace, property_key, property_value) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING"""
_REMOVE_PROPERTY: Final = """DELETE FROM iceberg_namespace_properties
    WHERE catalog_name = ? AND namespace = ? AND property_key = ?"""
_DROP_NAMESPACE: Final = "DELETE FROM iceberg_namespace_properties WHERE catalog_name = ? AND namespace = ?"


class _StatementFailed(Exception):
    """The database refused one statement; its connection is as it was."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


class SqlWriter(PointerWriter[S]):
    """The tables of Iceberg's JDBC and SQL catalogs. Single changes that threads bring at the same time are
    one transaction.
    """

    marks = MappingProxyType({"exists": "true"})  # a namespace without properties would have no row
    placeholder: ClassVar[str]
    """Stands for a parameter in a statement."""
    database_error: ClassVar[type[Exception]]
    """The error that the driver raises."""
    integrity_error: ClassVar[type[Exception]]
    """The error that the driver raises for a row that another one excludes."""

    _has_types: bool
    """True if the catalog tells tables from views (the second version of its schema)."""

    @abstractmethod
    def connect(self) -> Connection:
        """A connection that ``release`` gets back. Raises what the driver raises, or ``Failure``."""

    @abstractmethod
    def release(self, connection: Connection) -> None:
        """Takes back a connection with no transaction open."""

    @abstractmethod
    def begin(self, connection: Connection, *, writes: bool) -> None:
        """Begins a transaction, where the driver does not do so by itself. ``writes``: not only reads."""

    @abstractmethod
    def is_lost(self, connection: Connection) -> bool:
        """Returns True if the server is gone, which may have made the commit that it was asked for."""

    def _open(self) -> None:
        self._together: GroupCommit[_Change, int] = GroupCommit(self._changed_together)
        if not self._has_tables():
            try:
                with self._transaction() as connection:
                    for statement in _TABLES:
                        self._run(connection, statement)
            except self.database_error:
                if not self._has_tables():  # else another process was faster
                    raise
        with self._transaction(writes=False) as connection:
            cursor = self._run(connection, _COLUMNS)
            self._has_types = any(column[0].lower() == "iceberg_type" for column in cursor.description)

    def _has_tables(self) -> bool:
        try:
            with self._transaction(writes=False) as connection:
                self._run(connection, _COLUMNS)
                self._run(connection, _PROPERTIES)
        except self.database_error as error:
            if not self.is_missing(error):
                raise
            return False
        return True

    @abstractmethod
    def is_missing(self, error: Exception) -> bool:
        """Returns True if the driver complains that a table of the database does not exist."""

    @contextmanager
    def errors(self, *, opening: bool = False) -> Iterator[None]:
        del opening  # what may have been committed in spite of its error is reported at the commit
        try:
            yield
        except self.database_error as error:
            raise Failure(self.complaint(str(error), known=True)) from error
        except OSError as error:
            raise Failure(self.complaint(error.strerror or str(error), known=True)) from error

    def default_location(self, target: Target) -> str:
        """See ``PointerWriter``; a namespace may have a location of its own."""
        own = next((row[0] for row in self._asked(_LOCATION, self.spec.name, target.namespace)), "")
        folder = own or f"{self.spec.warehouse.rstrip('/')}/{target.namespace}"
        return f"{folder.rstrip('/')}/{target.name}"

    def enter(self, entry: Entry) -> None:
        """See ``PointerWriter``."""
        self._add_table(entry.target, entry.location)

    def move(self, entry: Entry, old: str) -> bool:
        """See ``PointerWriter``."""
        return self._changed(_MOVE, entry.location, old, *self._row(entry.target), old) == 1

    def _rename(self, old: Target, new: Target, location: str) -> None:
        try:
            moved = self._changed(
                _RENAME + self._is_table, new.namespace, new.name, *self._row(old), location
            )
        except self.integrity_error as taken:
            raise Exists(new.full_name) from taken
        if not moved:
            raise (
                Conflict(old.full_name) if self._asked(_IS_THERE, *self._row(old)) else Exists(new.full_name)
            )

    def _register(self, target: Target, location: str) -> None:
        self._add_table(target, location)

    def drop(self, target: Target, location: str, *, purge: bool) -> bool:
        """See ``CatalogWriter``."""
        del purge  # the files are the caller's to delete
        with self.errors():
            gone = self._changed(_DROP + self._is_table, *self._row(target), location)
            if not gone and self._asked(_IS_THERE + self._is_table, *self._row(target)):
                raise Conflict(target.full_name)
        return gone == 1

    def _has_namespace(self, name: str) -> bool:
        return bool(self._asked(_IS_NAMESPACE, *(self.spec.name, name) * 2))

    def _make_namespace(self, name: str, properties: Mapping[str, str]) -> None:
        with self._transaction() as connection:
            for key, value in properties.items():
                self._run(connection, _ADD_PROPERTY, self.spec.name, name, key, value)

    def set_namespace_properties(self, name: str, put: Mapping[str, str], remove: Iterable[str]) -> None:
        """See ``CatalogWriter``."""
        with self.errors(), self._transaction() as connection:
            for key in (*put, *remove):
                self._run(connection, _REMOVE_PROPERTY, self.spec.name, name, key)
            for key, value in put.items():
                self._run(connection, _ADD_PROPERTY, self.spec.name, name, key, value)

    def drop_namespace(self, name: str) -> None:
        """See ``CatalogWriter``."""
        self.forget_namespace(name)
        with self.errors(), self._transaction() as connection:
            if self._run(connection, _WITHIN, self.spec.name, name).fetchone() is not None:
                raise NotEmpty(name)
            self._run(connection, _DROP_NAMESPACE, self.spec.name, name)

    def namespaces(self) -> set[str]:
        """See ``CatalogWriter``."""
        with self.errors():
            rows = self._asked(_NAMESPACES, self.spec.name, self.spec.name)
        # SQLite takes values of every type, and Iceberg finds no namespace whose name is no text.
        levels = [row[0].split(".") for row in rows if isinstance(row[0], str)]
        return {".".join(parts[:depth]) for parts in levels for depth in range(1, len(parts) + 1)}

    @property
    def _is_table(self) -> str:
        return _IS_TABLE if self._has_types else ""

    def _row(self, target: Target) -> tuple[str, str, str]:
        """The key of a table's row."""
        return self.spec.name, target.namespace, target.name

    def _add_table(self, target: Target, location: str) -> None:
        """Raises ``Exists``."""
        statement = _ADD_TYPED_TABLE if self._has_types else _ADD_TABLE
        if not self._changed(statement, *self._row(target), location):
            raise Exists(target.full_name)

    def _changed(self, statement: str, *parameters: str | None) -> int:
        """The number of rows that one change has changed, once that is committed."""
        return self._together.do((statement, parameters))

    def _changed_together(self, changes: Sequence[_Change]) -> Sequence[int | BaseException]:
        """All in one transaction; if one of them fails, each in one of its own, so that no other pays."""
        try:
            with self._transaction() as connection:
                return [self._rows_changed(connection, *change) for change in changes]
        except _StatementFailed as failed:
            if len(changes) == 1:
                return [failed.error]
        return [self._changed_alone(change) for change in changes]

    def _changed_alone(self, change: _Change) -> int | BaseException:
        try:
            [outcome] = self._changed_together([change])
        except Exception as error:  # noqa: BLE001 - it is this one's trouble; those before it are committed
            return error
        return outcome

    def _rows_changed(self, connection: Connection, statement: str, parameters: Sequence[str | None]) -> int:
        try:
            changed: int = self._run(connection, statement, *parameters).rowcount
        except self.database_error as error:
            if self.is_lost(connection):
                raise
            raise _StatementFailed(error) from error
        return changed

    def _asked(self, statement: str, *parameters: str) -> Sequence[Any]:
        with self._transaction(writes=False) as connection:
            return list(self._run(connection, statement, *parameters).fetchall())

    def _run(self, connection: Connection, statement: str, *parameters: str | None) -> Any:
        cursor = connection.cursor()
        cursor.execute(statement.replace("?", self.placeholder), parameters)
        return cursor

    @contextmanager
    def _transaction(self, *, writes: bool = True) -> Iterator[Connection]:
        """Committed at its end, rolled back where something is raised, and where it only reads. Raises
        ``Failure`` where it is not known whether it was committed.
        """
        connection = self.connect()
        try:
            self.begin(connection, writes=writes)
            yield connection
            if writes:
                self._commit_transaction(connection)
            else:
                connection.rollback()
        except BaseException:
            # SQLite keeps the lock of a closed connection until the last cursor is forgotten, and what was
            # raised remembers some.
            with suppress(self.database_error):
                connection.rollback()
            connection.close()
            raise
        self.release(connection)

    def _commit_transaction(self, connection: Connection) -> None:
        try:
            connection.commit()
        except self.database_error as error:
            if not self.is_lost(connection):
                raise
            raise Failure(self.complaint(str(error), known=False)) from error
