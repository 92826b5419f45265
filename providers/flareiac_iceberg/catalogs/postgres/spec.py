"""The record of a catalog in a PostgreSQL database. Pure."""

from dataclasses import dataclass
from typing import Any, ClassVar, Final
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from flareiac_iceberg.catalogs.base import CONNECT_SECONDS, BaseCatalog, present

PARAMETERS: Final = ("sslmode", "sslrootcert")
"""Parameters of a PostgreSQL URI that mean the same to both of the drivers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PostgresCatalog(BaseCatalog):
    """A database of a server. ``credential`` stands for the password; ``parameters`` are those of
    ``PARAMETERS`` that were written.
    """

    is_made_by_opening: ClassVar = True
    spark_packages: ClassVar = ("org.postgresql:postgresql:42.7.14",)
    advice: ClassVar = (
        "Check that the server runs and can be reached, and that user, password and "
        "database are right. Nothing is known meanwhile."
    )

    host: str
    port: int
    user: str | None
    database: str
    parameters: tuple[tuple[str, str], ...] = ()
    credential: str | None = None

    def spark_settings(self) -> dict[str, str]:
        found = {
            "type": "jdbc",
            "uri": self._jdbc(),
            "jdbc.schema-version": "V1",
            "warehouse": self.warehouse,
        }
        return found | present({"jdbc.user": self.user, "jdbc.password": self.credential})

    def _jdbc(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        options = (*self.parameters, ("connectTimeout", str(CONNECT_SECONDS)), ("tcpKeepAlive", "true"))
        query = "&".join(f"{name}={quote(value, safe='/')}" for name, value in options)
        return f"jdbc:postgresql://{host}:{self.port}/{quote(self.database)}?{query}"


def parts_of(uri: str) -> dict[str, Any]:
    """The fields of a ``PostgresCatalog`` that its URI holds."""
    parts = urlsplit(uri)
    return {
        "host": parts.hostname or "",
        "port": parts.port or 5432,
        "user": unquote(parts.username) if parts.username else None,
        "database": unquote(parts.path.lstrip("/")),
        "parameters": tuple(parse_qsl(parts.query)),
    }
