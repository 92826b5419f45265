"""The backend ``postgresql``: its settings."""

from flareiac.sdk.state import BackendSetting
from flareiac_state.log_backend import LogBackend
from flareiac_state.numbered_log import LogPlace
from flareiac_state.settings import CheckedSettings, invalid_setting


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
        ),
        BackendSetting(name="schema", description="The schema of the tables.", default="flareiac"),
    )

    def place(self, settings: CheckedSettings) -> LogPlace:
        from flareiac_state.postgresql_log import DatabasePlace, PostgresqlLogs, connection_parts

        connection = settings.text("connection")
        try:
            parts = connection_parts(connection)
        except ValueError as problem:
            raise invalid_setting(self.name, "connection", f"is not understood: {problem}") from None
        if "password" in parts:
            raise invalid_setting(
                self.name,
                "connection",
                "holds a password. Remove it, and set PGPASSWORD or use a password file (~/.pgpass)",
            )
        schema = settings.text("schema")
        if not schema:
            raise invalid_setting(self.name, "schema", "must not be empty")
        return PostgresqlLogs(DatabasePlace(connection=connection, schema=schema))
