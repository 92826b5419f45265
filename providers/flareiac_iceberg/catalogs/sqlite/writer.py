"""Writes to a catalog in a SQLite file. Touches the world."""

from flareiac_iceberg.catalogs.sql_writer import SqlWriter
from flareiac_iceberg.catalogs.sqlite.spec import BUSY_TIMEOUT_MS, SqliteCatalog


class SqliteWriter(SqlWriter[SqliteCatalog]):
    """The file and its folder are made where they are missing."""

    def connection(self) -> dict[str, str]:
        return {"uri": f"sqlite:///{self.spec.database}?timeout={BUSY_TIMEOUT_MS // 1000}"}

    def _make_folder(self) -> None:
        self.spec.database.parent.mkdir(parents=True, exist_ok=True)
        super()._make_folder()
