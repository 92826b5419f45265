"""Reads the tables of a SQLite catalog. Reading never writes to its files: what a killed writer left half
done is undone in a private copy, or in its place by ``recover``, for commands that may write.
"""

import contextlib
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Final

from flareiac.kernel.data import Data
from flareiac.kernel.diagnostics import Failure
from flareiac_iceberg.catalogs.entries import no_catalog, unreadable
from flareiac_iceberg.catalogs.sql_entries import SqlReader
from flareiac_iceberg.catalogs.sqlite.errors import database_errors
from flareiac_iceberg.catalogs.sqlite.spec import BUSY_TIMEOUT_MS, SqliteCatalog

_BESIDE: Final = ("", "-journal", "-wal")
"""The suffixes of the files that hold the content of a database; the index of a write-ahead log (-shm) is
made again from it.
"""
_COPY: Final = "import shutil, sys\nfor place in sys.argv[2:]: shutil.copy(place, sys.argv[1])"
_TRIES: Final = 10
_ANY: Final = "SELECT count(*) FROM sqlite_master"
_PRIMARY: Final = 0xFF
"""The part of an error code of SQLite that names its kind."""


class SqliteReader(SqlReader[SqliteCatalog]):
    """Reads a file that others may be writing."""

    placeholder = "?"

    def rows(self, statement: str, *parameters: str) -> list[dict[str, Data]] | None:
        try:
            return _rows(self.catalog.database, statement, parameters)
        except FileNotFoundError:
            raise no_catalog(self.catalog, _missing(self.catalog.database)) from None
        except sqlite3.Error as error:
            if "no such table" in str(error):
                return None
            raise Failure(unreadable(self.catalog, str(error))) from error
        except OSError as error:
            raise Failure(unreadable(self.catalog, error.strerror or str(error))) from error


def _missing(database: Path) -> str:
    if not database.parent.is_dir():
        return f"the folder {database.parent} is not there; a volume may not be mounted"
    return "the file is not there"


def _rows(database: Path, statement: str, parameters: tuple[str, ...]) -> list[dict[str, Data]]:
    """The rows of a query. Raises ``sqlite3.Error`` and ``OSError``."""
    for _ in range(_TRIES):
        database.stat()
        try:
            return _asked(database, statement, parameters)
        except sqlite3.OperationalError as error:
            if not _needs_recovery(database, error):
                raise
            last = error
        rows = _of_a_copy(database, statement, parameters)
        if rows is not None:
            return rows
    raise last


def recover(catalog: SqliteCatalog) -> None:
    """Undoes what a killed writer left half done. What stands in the way is reported by the next query."""
    with contextlib.suppress(sqlite3.Error):
        try:
            _asked(catalog.database, _ANY, ())
        except sqlite3.OperationalError as error:
            if _needs_recovery(catalog.database, error):
                _asked(catalog.database, _ANY, (), mode="rw")


def _asked(
    database: Path, statement: str, parameters: tuple[str, ...], mode: str = "ro"
) -> list[dict[str, Data]]:
    with (
        database_errors(),
        closing(
            sqlite3.connect(f"{database.as_uri()}?mode={mode}", uri=True, timeout=BUSY_TIMEOUT_MS / 1000)
        ) as connection,
    ):
        cursor = connection.execute(statement, parameters)
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor]


def _needs_recovery(database: Path, error: sqlite3.OperationalError) -> bool:
    """Returns True if only a process that may write can read the database: a writer was killed, or its log
    cannot be shared from here.
    """
    # Python's own errors, as of a text that is not UTF-8, have no code of SQLite's.
    kind = getattr(error, "sqlite_errorcode", 0) & _PRIMARY
    logged = kind == sqlite3.SQLITE_CANTOPEN and Path(f"{database}-wal").exists()
    return logged or kind == sqlite3.SQLITE_READONLY


def _of_a_copy(database: Path, statement: str, parameters: tuple[str, ...]) -> list[dict[str, Data]] | None:
    """The answer of a copy that SQLite has recovered; None where someone wrote while it was made."""
    before = _signature(database)
    with tempfile.TemporaryDirectory(prefix="flareiac-catalog-") as folder:
        # Another process: one that closes a file loses the locks that all its connections to it hold.
        places = [place for place, *_ in before]
        done = subprocess.run(
            [sys.executable, "-I", "-c", _COPY, folder, *places], capture_output=True, check=False
        )
        if done.returncode or _signature(database) != before:
            return None
        return _asked(Path(folder, database.name), statement, parameters, mode="rw")


def _signature(database: Path) -> list[tuple[str, int, int, int]]:
    signature = []
    for end in _BESIDE:
        place = f"{database}{end}"
        try:
            known = Path(place).stat()
        except FileNotFoundError:
            continue
        signature.append((place, known.st_ino, known.st_size, known.st_mtime_ns))
    return signature
