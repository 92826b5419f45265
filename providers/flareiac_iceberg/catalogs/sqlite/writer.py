"""Writes to a catalog in a SQLite file. Touches the world."""

import sqlite3
from typing import Any, ClassVar

from flareiac_iceberg.catalogs.sql_writer import SqlWriter
from flareiac_iceberg.catalogs.sqlite.errors import database_errors
from flareiac_iceberg.catalogs.sqlite.spec import BUSY_TIMEOUT_MS, SqliteCatalog


class SqliteWriter(SqlWriter[SqliteCatalog]):
    """The file and its folder are made where they are missing."""

    placeholder: ClassVar = "?"
    database_error: ClassVar = sqlite3.Error
    integrity_error: ClassVar = sqlite3.IntegrityError

    _mode = "rwc"

    def _open(self) -> None:
        super()._open()
        self._mode = "rw"  # a file that is gone by now is not made again, without its tables

    def connect(self) -> sqlite3.Connection:
        """Opens the file again each time: one that stays open would go on in a file that was replaced."""
        return sqlite3.connect(
            f"{self.spec.database.as_uri()}?mode={self._mode}",
            uri=True,
            timeout=BUSY_TIMEOUT_MS / 1000,
            isolation_level=None,
        )

    def release(self, connection: sqlite3.Connection) -> None:
        """Closes it."""
        connection.close()

    def begin(self, connection: sqlite3.Connection, *, writes: bool) -> None:
        """With the lock of a writer from the start: one that reads first cannot always get it later."""
        with database_errors():
            connection.execute("BEGIN IMMEDIATE" if writes else "BEGIN")

    def _run(self, connection: sqlite3.Connection, statement: str, *parameters: str | None) -> Any:
        with database_errors():
            return super()._run(connection, statement, *parameters)

    def is_lost(self, connection: sqlite3.Connection) -> bool:
        """No server is between."""
        del connection
        return False

    def is_missing(self, error: Exception) -> bool:
        """See ``SqlWriter``."""
        return "no such table" in str(error)

    def _make_folder(self) -> None:
        self.spec.database.parent.mkdir(parents=True, exist_ok=True)
        super()._make_folder()
