"""Numbered logs in two tables of PostgreSQL; the only module that imports its client.

Every operation is one statement that commits by itself, and nothing is kept in the session: it works through
a pooler that gives every transaction another session. A record is a row whose primary key is its number.
"""

import contextlib
import select
import threading
import time
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

import psycopg2
from psycopg2 import extensions, sql

from flareiac.kernel import codes
from flareiac.kernel.diagnostics import Failure, error
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.state import StateUnreachable
from flareiac_state.numbered_log import Newest
from flareiac_state.postgresql_failures import refused, unanswered

LONGEST_NAME: Final = 63
"""Bytes. The server cuts off a longer name, which may then be another project's (NAMEDATALEN)."""
_NOW: Final = "extract(epoch FROM clock_timestamp())::float8"
_TABLES: Final = ("state_log", "state_beat")
_CREATE_TABLES: Final = (
    """CREATE TABLE IF NOT EXISTS {log} (
        workspace text NOT NULL, number bigint NOT NULL, content bytea NOT NULL,
        written timestamptz NOT NULL DEFAULT clock_timestamp(), PRIMARY KEY (workspace, number))""",
    """CREATE TABLE IF NOT EXISTS {beat} (
        workspace text NOT NULL, epoch bigint NOT NULL,
        renewed timestamptz NOT NULL DEFAULT clock_timestamp(), PRIMARY KEY (workspace, epoch))""",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabasePlace:
    """A place in PostgreSQL: a connection text of libpq without a password. ``patience`` is in seconds."""

    connection: str = ""
    schema: str = "flareiac"
    patience: float = 20.0

    def __str__(self) -> str:
        parts = connection_parts(self.connection)
        server = ":".join(parts[name] for name in ("host", "port") if name in parts)
        return f"postgresql://{server}/{parts.get('dbname', '')} schema {self.schema}"


def connection_parts(connection: str) -> Mapping[str, str]:
    """The settings in a connection text. Raises ``ValueError``."""
    try:
        parts: Mapping[str, str] = extensions.parse_dsn(connection)
    except psycopg2.Error as problem:
        raise ValueError(str(problem).strip()) from None
    return parts


class _NoAnswer(Exception):
    """The server let a statement wait for too long."""


class Database:
    """Statements, one at a time, on a connection that is opened when needed and again when it was lost.
    Safe to use from several threads.
    """

    def __init__(self, place: DatabasePlace) -> None:
        self.place = place
        self._connection: Any = None
        self._using = threading.Lock()

    def run(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """Its rows. A statement must be one that may run twice: when the connection is lost under it, it is
        repeated. Raises ``StateUnreachable``.
        """
        with self._using:
            for is_repeated in (False, True):
                was_connected = self._connection is not None
                try:
                    self._connect()
                    was_connected = True
                    return self._execute(statement, values)
                except (psycopg2.OperationalError, psycopg2.InterfaceError) as problem:
                    is_lost = was_connected and self._connection is None
                    if is_repeated or not is_lost:
                        raise self._unreachable(problem) from problem
                except (psycopg2.Error, _NoAnswer) as problem:
                    raise self._unreachable(problem) from problem
        raise AssertionError("the second attempt returns or raises")

    def _connect(self) -> None:
        if self._connection is not None:
            return
        self._connection = psycopg2.connect(self.place.connection, async_=True)
        try:
            self._wait()
            self._refuse_cut_off()
        except BaseException:
            self.close()
            raise

    def _refuse_cut_off(self) -> None:
        """The database's name may come from the environment or a service file, and the server cuts a long
        one off: it would open another one. Raises ``StateUnreachable``.
        """
        size = len(self._connection.info.dbname.encode(errors="surrogateescape"))
        if size > LONGEST_NAME:
            raise StateUnreachable(
                f"the name of the database has {size} bytes, and the server cuts it off after "
                f"{LONGEST_NAME}. Correct it [{self.place}]"
            )

    def _execute(self, statement: str, values: Sequence[object]) -> list[tuple[Any, ...]]:
        try:
            cursor = self._connection.cursor()
            cursor.execute(self._composed(statement), values or None)
            self._wait()
            return list(cursor.fetchall()) if cursor.description else []
        except BaseException as problem:
            is_whole = isinstance(problem, psycopg2.Error) and problem.pgcode and not _ends(problem.pgcode)
            if not is_whole:
                self.close()
            raise

    def _composed(self, statement: str) -> sql.Composed:
        schema = self.place.schema
        names = {"schema": sql.Identifier(schema)}
        names |= {name.removeprefix("state_"): sql.Identifier(schema, name) for name in _TABLES}
        return sql.SQL(statement).format(**names)

    def _wait(self) -> None:
        """Until the server has answered; at most as long as one is patient."""
        deadline = time.monotonic() + self.place.patience
        while True:
            state = self._connection.poll()
            if state == extensions.POLL_OK:
                return
            handle = self._connection.fileno()
            reading = [handle] if state == extensions.POLL_READ else []
            writing = [handle] if state == extensions.POLL_WRITE else []
            left = deadline - time.monotonic()
            if left <= 0 or not any(select.select(reading, writing, [], left)):
                raise _NoAnswer

    def close(self) -> None:
        connection, self._connection = self._connection, None
        with contextlib.suppress(psycopg2.Error):
            if connection is not None:
                connection.close()

    def _unreachable(self, problem: Exception) -> StateUnreachable:
        if isinstance(problem, _NoAnswer):
            what = unanswered(self.place.patience)
        else:
            what = refused(getattr(problem, "pgcode", None), str(problem))
        return StateUnreachable(f"{what} [{self.place}]")


def _ends(code: str) -> bool:
    """Returns True if the server closes the connection with this error."""
    return code.startswith(("08", "57P"))


class PostgresqlLog:
    """The log of one workspace (see ``NumberedLog``)."""

    def __init__(self, database: Database, workspace: str) -> None:
        self._database, self._workspace = database, workspace

    def append(self, number: int, content: bytes) -> float | None:
        rows = self._database.run(
            "INSERT INTO {log} (workspace, number, content) VALUES (%s, %s, %s) "  # noqa: S608 - a constant
            f"ON CONFLICT DO NOTHING RETURNING {_NOW}",
            self._workspace,
            number,
            content,
        )
        return rows[0][0] if rows else None

    def newest(self) -> Newest | None:
        rows = self._database.run(
            f"SELECT number, extract(epoch FROM written)::float8, {_NOW} FROM {{log}} "  # noqa: S608 - constants
            "WHERE workspace = %s ORDER BY number DESC LIMIT 1",
            self._workspace,
        )
        return Newest(number=rows[0][0], written=rows[0][1], now=rows[0][2]) if rows else None

    def read(self, numbers: Sequence[int]) -> Mapping[int, bytes]:
        if not numbers:
            return {}
        rows = self._database.run(
            "SELECT number, content FROM {log} WHERE workspace = %s AND number = ANY(%s)",
            self._workspace,
            list(numbers),
        )
        return {number: bytes(content) for number, content in rows}

    def name(self, number: int) -> str:
        return f"the row of state_log with the number {number} and the workspace {self._workspace!r}"

    def collect(self, *, before: int, keep: Collection[int], age: float) -> None:
        self._database.run(
            "DELETE FROM {log} WHERE workspace = %s AND number < %s AND NOT number = ANY(%s::bigint[]) "
            "AND written <= clock_timestamp() - make_interval(secs => %s)",
            self._workspace,
            before,
            list(keep),
            age,
        )

    def beat(self, epoch: int) -> None:
        self._database.run(
            "INSERT INTO {beat} (workspace, epoch) VALUES (%s, %s) ON CONFLICT (workspace, epoch) "
            "DO UPDATE SET renewed = clock_timestamp()",
            self._workspace,
            epoch,
        )

    def beaten(self, epoch: int) -> float | None:
        rows = self._database.run(
            "SELECT extract(epoch FROM renewed)::float8 FROM {beat} WHERE workspace = %s AND epoch = %s",
            self._workspace,
            epoch,
        )
        return rows[0][0] if rows else None

    def forget_beat(self, epoch: int) -> None:
        self._database.run("DELETE FROM {beat} WHERE workspace = %s AND epoch = %s", self._workspace, epoch)


class PostgresqlLogs:
    """The logs of all workspaces in one schema (see ``LogPlace``)."""

    def __init__(self, place: DatabasePlace) -> None:
        self._database = Database(place)

    def describe(self, workspace: str) -> str:
        return f"{self._database.place} workspace {workspace}"

    def log(self, workspace: str) -> PostgresqlLog:
        return PostgresqlLog(self._database, workspace)

    def workspaces(self) -> Sequence[str]:
        return [row[0] for row in self._database.run("SELECT DISTINCT workspace FROM {log}")]

    def prepare(self) -> None:
        """Creates the schema and the tables that are missing: those that exist need no permission to create
        them.
        """
        schema = self._database.place.schema
        if not self._database.run("SELECT 1 FROM pg_namespace WHERE nspname = %s", schema):
            self._database.run("CREATE SCHEMA IF NOT EXISTS {schema}")
        there = self._database.run(
            "SELECT tablename FROM pg_tables WHERE schemaname = %s AND tablename = ANY(%s)",
            schema,
            list(_TABLES),
        )
        if len(there) < len(_TABLES):
            for statement in _CREATE_TABLES:
                self._database.run(statement)

    def prove(self) -> None:
        """A probe's workspace has a name that no workspace has."""
        probe = PostgresqlLog(self._database, f".probe {time.time_ns()}")
        try:
            # The first answer proves nothing: a repeated request meets its own record.
            probe.append(1, b"first")
            if probe.append(1, b"second") is not None or probe.read([1]) != {1: b"first"}:
                detail = (
                    f"{self._database.place}: its tables do not refuse a second record of the same number, "
                    "so that two commands could both take the lock. Use an empty schema: init creates the "
                    "tables."
                )
                raise Failure(error(codes.STATE_PLACE_UNFIT, detail))
            probe.beat(1)
            probe.forget_beat(1)
        finally:
            probe.collect(before=2, keep=(), age=-3600.0)
