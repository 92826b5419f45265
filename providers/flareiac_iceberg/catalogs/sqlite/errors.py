"""Turns what Python raises over a damaged SQLite file into the driver's own error. Pure."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def database_errors() -> Iterator[None]:
    """Raises ``sqlite3.DatabaseError`` where a name of the schema, or an error that quotes one, is not UTF-8:
    Python fails to decode it, and raises no error of SQLite's.
    """
    try:
        yield
    except UnicodeDecodeError as problem:
        text = problem.object.decode(errors="backslashreplace")
        raise sqlite3.DatabaseError(f"the file is damaged: {text}") from problem
