"""The record of a catalog in a SQLite file. Pure."""

import os.path
import re
from pathlib import Path
from typing import ClassVar, Final, Self

from flareiac.kernel.data import Attributes, Data
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.versions import SQLITE_JDBC
from flareiac_iceberg import codes
from flareiac_iceberg.catalogs.base import CatalogSpec
from flareiac_iceberg.catalogs.block import CatalogBlock, CatalogDefinition

BUSY_TIMEOUT_MS: Final = 15_000
"""The time for which a writer waits for another one's lock on the SQLite file. With 0, most commits beside a
busy neighbour fail (measured).
"""

_SCHEME: Final = "sqlite:///"


@dataclass(frozen=True, slots=True, kw_only=True)
class SqliteCatalog(CatalogSpec):
    """A database file."""

    type: ClassVar = "sql"
    attributes: ClassVar = ("uri", "credential")
    longest_name: ClassVar = 255
    is_database: ClassVar = True
    is_made_by_opening: ClassVar = True
    spark_packages: ClassVar = (SQLITE_JDBC,)
    advice: ClassVar = (
        "Check that the path is right, that it is a SQLite database, that you may read it and its folder, "
        "and that no program keeps it locked."
    )

    database: Path

    @classmethod
    def read(cls, block: CatalogBlock) -> Attributes:
        secret = block.holds_secret("uri", ("credential",))
        uri = None if secret else block.written("uri")
        database = _database(uri, block.lake, block.root, block.diagnostics)
        return {"uri": f"{_SCHEME}{database}", "warehouse": block.warehouse(local=True)}

    @classmethod
    def place_of(cls, attributes: Attributes) -> str:
        return f"{attributes['uri']}#{attributes['name']}"

    @classmethod
    def of(cls, address: str, definition: CatalogDefinition) -> Self:
        return cls(**definition.common(address), database=Path((definition.uri or "").removeprefix(_SCHEME)))

    @property
    def home(self) -> str:
        return str(self.database)

    @property
    def folder(self) -> Path:
        return self.database.parent

    @property
    def shown(self) -> str:
        return str(self.database)

    def spark_settings(self) -> dict[str, str]:
        uri = f"jdbc:sqlite:{self.database}?journal_mode=WAL&busy_timeout={BUSY_TIMEOUT_MS}"
        return {"type": "jdbc", "uri": uri, "jdbc.schema-version": "V1", "warehouse": self.warehouse}


def _database(uri: Data, lake: Path, root: Path, diagnostics: Diagnostics) -> Path:
    default = lake / "catalog.db"
    if uri is None:
        return default.absolute()
    match = re.fullmatch(r"sqlite:///([^?]+)", uri) if isinstance(uri, str) else None
    if match and ":memory:" not in uri:
        return Path(os.path.normpath((root / match[1]).absolute()))
    diagnostics.error(
        codes.INVALID_CATALOG_URI,
        f"{uri!r} is not the URI of a SQLite file or a PostgreSQL database. Write "
        '"sqlite:///folder/catalog.db" (relative to the root module) or "sqlite:////folder/catalog.db" '
        '(absolute), without options, or "postgresql://user@host:5432/database".',
        attribute=("uri",),
    )
    return default.absolute()
