"""The record of a catalog in a SQLite file. Pure."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Final

from flareiac_iceberg.catalogs.base import BaseCatalog

BUSY_TIMEOUT_MS: Final = 15_000
"""How long a writer waits for another one's lock on the SQLite file. With 0, most commits beside a busy
neighbour fail (measured).
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SqliteCatalog(BaseCatalog):
    """A database file."""

    is_made_by_opening: ClassVar = True
    spark_packages: ClassVar = ("org.xerial:sqlite-jdbc:3.54.1.0",)
    advice: ClassVar = (
        "Check that the path is right, that it is a SQLite database, and that you may read it and its folder."
    )

    database: Path

    @property
    def shown(self) -> str:
        return str(self.database)

    def spark_settings(self) -> dict[str, str]:
        uri = f"jdbc:sqlite:{self.database}?journal_mode=WAL&busy_timeout={BUSY_TIMEOUT_MS}"
        return {"type": "jdbc", "uri": uri, "jdbc.schema-version": "V1", "warehouse": self.warehouse}
