"""The backend ``postgresql``: its settings."""

from collections.abc import Mapping
from typing import Final

from flareiac.kernel.data import Attributes
from flareiac.sdk.optional_packages import needed_by
from flareiac.sdk.state import BackendSetting
from flareiac_state.log_backend import LogBackend
from flareiac_state.numbered_log import LogPlace
from flareiac_state.settings import CheckedSettings, check_length, invalid_setting

_LONGEST_NAME: Final = 63
"""Bytes (see ``postgresql_log.LONGEST_NAME``, whose module imports the client)."""

_USER: Final = 'The state backend "postgresql"'


class PostgresqlBackend(LogBackend):
    """Keeps states in two tables of a PostgreSQL database."""

    name = "postgresql"
    settings: tuple[BackendSetting, ...] = (
        BackendSetting(
            name="connection",
            description=(
                "postgresql://USER@HOST/DATABASE, or what libpq takes; without a password (PGPASSWORD or the "
                "password file has it). What is left out, libpq's variables say."
            ),
            instead_of={
                **dict.fromkeys(
                    ("password", "credential", "credentials", "secret"),
                    "Set PGPASSWORD or use a password file (~/.pgpass): a backend block holds no secrets.",
                ),
                **dict.fromkeys(
                    ("conn_str", "uri", "url", "host", "port", "user", "username", "dbname", "database"),
                    'It belongs in connection = "postgresql://USER@HOST:PORT/DATABASE".',
                ),
                "sslmode": 'It belongs in connection = "postgresql://USER@HOST/DATABASE?sslmode=...".',
            },
        ),
        BackendSetting(
            name="schema",
            description="The schema of the tables.",
            default="flareiac",
            instead_of={"schema_name": "It is called schema here."},
        ),
    )

    def location(self, settings: Attributes, *, environment: Mapping[str, str]) -> str:
        """The database and the schema, the same for every user."""
        given = CheckedSettings(self.name, self.settings, settings)
        parts = self._parts(given.text("connection"))

        def part(name: str, variable: str, default: str) -> str:
            return parts.get(name) or environment.get(variable) or default

        service = part("service", "PGSERVICE", "")
        host, port = part("host", "PGHOST", "localhost"), part("port", "PGPORT", "5432")
        database = part("dbname", "PGDATABASE", parts.get("user", ""))
        where = f"service {service} {database}".rstrip() if service else f"{host}:{port}/{database}"
        return f"{where} schema {self._schema(given)}"

    def _parts(self, connection: str) -> Mapping[str, str]:
        with needed_by(_USER):
            from flareiac_state.postgresql_log import connection_parts

        try:
            parts = connection_parts(connection)
        except ValueError as problem:
            raise invalid_setting(self.name, "connection", f"is not understood: {problem}") from None
        check_length(self.name, "connection", parts.get("dbname", ""), _LONGEST_NAME)
        return parts

    def _schema(self, given: CheckedSettings) -> str:
        schema = given.text("schema")
        if not schema:
            raise invalid_setting(self.name, "schema", "must not be empty")
        if "\0" in schema:
            raise invalid_setting(self.name, "schema", "must not hold the character NUL")
        check_length(self.name, "schema", schema, _LONGEST_NAME)
        return schema

    def place(self, settings: CheckedSettings) -> LogPlace:
        with needed_by(_USER):
            from flareiac_state.postgresql_log import DatabasePlace, PostgresqlLogs

        connection = settings.text("connection")
        parts = self._parts(connection)
        if "password" in parts:
            raise invalid_setting(
                self.name,
                "connection",
                "holds a password. Remove it, and set PGPASSWORD or use a password file (~/.pgpass)",
            )
        return PostgresqlLogs(DatabasePlace(connection=connection, schema=self._schema(settings)))
