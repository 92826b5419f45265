"""The tables and namespaces in a PostgreSQL catalog, one query each, within bounded time. Reads only."""

import select
import time
from contextlib import closing
from typing import Any

import psycopg2
from psycopg2.errors import UndefinedTable
from psycopg2.extensions import POLL_OK, POLL_READ

from flareiac.kernel.data import Data
from flareiac.kernel.diagnostics import Failure
from flareiac.sdk.secrets import resolve
from flareiac_iceberg.catalogs.base import ANSWER_SECONDS, CONNECT_SECONDS
from flareiac_iceberg.catalogs.entries import unreadable
from flareiac_iceberg.catalogs.postgres.spec import PostgresCatalog
from flareiac_iceberg.catalogs.sql_entries import SqlReader


class PostgresReader(SqlReader[PostgresCatalog]):
    """Asks the server with a connection of its own for each question."""

    placeholder = "%s"

    def rows(self, statement: str, *parameters: str) -> list[dict[str, Data]] | None:
        # A blocking connection waits for as long as a silent server likes.
        try:
            with closing(psycopg2.connect(**connection_arguments(self.catalog), async_=1)) as connection:
                _wait(connection, CONNECT_SECONDS)
                cursor = connection.cursor()
                cursor.execute(statement, parameters)
                _wait(connection, ANSWER_SECONDS)
                names = [column.name for column in cursor.description]
                return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
        except UndefinedTable:
            return None
        except (psycopg2.Error, TimeoutError) as error:
            raise Failure(
                unreadable(self.catalog, " ".join(str(error).split()) or type(error).__name__)
            ) from None


def connection_arguments(catalog: PostgresCatalog) -> dict[str, str]:
    """The arguments with which psycopg2 connects, password included. Raises ``Failure``."""
    arguments = {
        "host": catalog.host,
        "port": str(catalog.port),
        "dbname": catalog.database,
        "application_name": "flareiac",
    }
    arguments |= {
        "connect_timeout": f"{CONNECT_SECONDS:.0f}",
        "tcp_user_timeout": f"{1000 * ANSWER_SECONDS:.0f}",
    } | dict(catalog.parameters)
    if catalog.user is not None:
        arguments["user"] = catalog.user
    if catalog.credential is not None:
        arguments["password"] = resolve(catalog.credential)
    return arguments


def _wait(connection: Any, seconds: float) -> None:
    """Until the server has answered. Raises ``TimeoutError``."""
    deadline = time.monotonic() + seconds
    while (state := connection.poll()) != POLL_OK:
        left = deadline - time.monotonic()
        reading = [connection.fileno()] if state == POLL_READ else []
        writing = [] if reading else [connection.fileno()]
        if left <= 0 or not any(select.select(reading, writing, [], left)):
            raise TimeoutError(f"the server did not answer within {seconds:.0f} seconds")
