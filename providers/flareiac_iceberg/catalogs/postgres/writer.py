"""Writes to a catalog in a PostgreSQL database. Touches the world."""

from sqlalchemy.engine import URL

from flareiac_iceberg.catalogs.base import ANSWER_SECONDS
from flareiac_iceberg.catalogs.postgres.reader import connection_arguments
from flareiac_iceberg.catalogs.postgres.spec import PostgresCatalog
from flareiac_iceberg.catalogs.sql_writer import SqlWriter


class PostgresWriter(SqlWriter[PostgresCatalog]):
    """Statements and locks are waited for within bounds."""

    def connection(self) -> dict[str, str]:
        # A connection of the pool may have ended since it was used last.
        return {"uri": self._uri(), "pool_pre_ping": "true"}

    def _uri(self) -> str:
        known = connection_arguments(self.spec)
        place = {name: known.pop(name, None) for name in ("host", "port", "dbname")}
        # Not before the host: without a user, who is then the one of the environment, it would be left out.
        bound = {
            "options": f"-c statement_timeout={1000 * ANSWER_SECONDS} -c lock_timeout={1000 * ANSWER_SECONDS}"
        }
        return URL.create(
            "postgresql+psycopg2",
            host=place["host"],
            port=int(place["port"] or 5432),
            database=place["dbname"],
            query=known | bound,
        ).render_as_string(hide_password=False)
