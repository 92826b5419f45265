"""Writes to a catalog in a PostgreSQL database. Touches the world."""

import threading
from typing import Any, ClassVar

import psycopg2
from psycopg2.errors import UndefinedTable

from flareiac_iceberg.catalogs.base import ANSWER_SECONDS
from flareiac_iceberg.catalogs.postgres.reader import connection_arguments
from flareiac_iceberg.catalogs.postgres.spec import PostgresCatalog
from flareiac_iceberg.catalogs.sql_writer import SqlWriter


class PostgresWriter(SqlWriter[PostgresCatalog]):
    """Statements and locks are waited for within bounds. Connections are used again."""

    placeholder: ClassVar = "%s"
    database_error: ClassVar = psycopg2.Error
    integrity_error: ClassVar = psycopg2.IntegrityError

    def __init__(self, spec: PostgresCatalog) -> None:
        self._idle: list[Any] = []
        self._lock = threading.Lock()
        super().__init__(spec)

    def connect(self) -> Any:
        """A connection that works. A known one that has been idle may have ended since; it is tried first."""
        while (known := self._take()) is not None:
            try:
                known.cursor().execute("SELECT 1")
            except psycopg2.Error:
                known.close()
            else:
                return known
        options = f"-c statement_timeout={1000 * ANSWER_SECONDS} -c lock_timeout={1000 * ANSWER_SECONDS}"
        return psycopg2.connect(**connection_arguments(self.spec), options=options)

    def release(self, connection: Any) -> None:
        """Keeps it for the next one."""
        with self._lock:
            self._idle.append(connection)

    def begin(self, connection: Any, *, writes: bool) -> None:
        """The driver does so with the first statement."""

    def is_lost(self, connection: Any) -> bool:
        """See ``SqlWriter``."""
        return bool(connection.closed)

    def is_missing(self, error: Exception) -> bool:
        """See ``SqlWriter``."""
        return isinstance(error, UndefinedTable)

    def close(self) -> None:
        """Closes what is idle."""
        while (known := self._take()) is not None:
            known.close()

    def _take(self) -> Any | None:
        with self._lock:
            return self._idle.pop() if self._idle else None
