"""The record of a catalog in a PostgreSQL database. Pure."""

import re
from typing import Any, ClassVar, Final, Self
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from flareiac.kernel.data import Attributes
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.versions import POSTGRESQL_JDBC
from flareiac_iceberg import codes
from flareiac_iceberg.catalogs.base import CONNECT_SECONDS, CatalogSpec, present
from flareiac_iceberg.catalogs.block import CatalogBlock, CatalogDefinition

_LONGEST_DATABASE: Final = 63
"""Bytes of a name that a server keeps (NAMEDATALEN)."""
PARAMETERS: Final = ("sslmode", "sslrootcert")
"""Parameters of a PostgreSQL URI that mean the same to both of the drivers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PostgresCatalog(CatalogSpec):
    """A database of a server. ``credential`` stands for the password; ``parameters`` are those of
    ``PARAMETERS`` that were written.
    """

    type: ClassVar = "sql"
    attributes: ClassVar = ("uri", "credential")
    longest_name: ClassVar = 255
    is_database: ClassVar = True
    is_made_by_opening: ClassVar = True
    spark_packages: ClassVar = (POSTGRESQL_JDBC,)
    advice: ClassVar = (
        "Check that the server runs and can be reached, and that user, password and "
        "database are right. Until then, nothing is planned for its tables."
    )

    host: str
    port: int
    user: str | None
    database: str
    parameters: tuple[tuple[str, str], ...] = ()
    credential: str | None = None

    @classmethod
    def takes(cls, uri: object) -> bool:
        return isinstance(uri, str) and re.match(r"postgres(ql)?(\+\w+)?:", uri) is not None

    @classmethod
    def read(cls, block: CatalogBlock) -> Attributes:
        secret = block.holds_secret("uri", ("credential",))
        uri = "" if secret else _postgres(str(block.written("uri")), block.diagnostics)
        return {"uri": uri, "warehouse": block.warehouse(local=True)}

    @classmethod
    def place_of(cls, attributes: Attributes) -> str:
        return f"{attributes['uri']}#{attributes['name']}"

    @classmethod
    def of(cls, address: str, definition: CatalogDefinition) -> Self:
        return cls(
            **definition.common(address), **_parts_of(definition.uri or ""), credential=definition.credential
        )

    @property
    def home(self) -> str:
        return f"postgresql://{_bracketed(self.host)}:{self.port}/{self.database}"

    def spark_settings(self) -> dict[str, str]:
        settings = {
            "type": "jdbc",
            "uri": self._jdbc(),
            "jdbc.schema-version": "V1",
            "warehouse": self.warehouse,
        }
        return settings | present({"jdbc.user": self.user, "jdbc.password": self.credential})

    def _jdbc(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        options = (*self.parameters, ("connectTimeout", str(CONNECT_SECONDS)), ("tcpKeepAlive", "true"))
        query = "&".join(f"{name}={quote(value, safe='/')}" for name, value in options)
        return f"jdbc:postgresql://{host}:{self.port}/{quote(self.database)}?{query}"


def _parts_of(uri: str) -> dict[str, Any]:
    """The fields of a ``PostgresCatalog`` that its URI holds."""
    parts = urlsplit(uri)
    return {
        "host": parts.hostname or "",
        "port": parts.port or 5432,
        "user": unquote(parts.username) if parts.username else None,
        "database": unquote(parts.path.lstrip("/")),
        "parameters": tuple(parse_qsl(parts.query)),
    }


def _postgres(uri: str, diagnostics: Diagnostics) -> str:
    """``postgresql://user@host:port/database?sslmode=...`` in one spelling."""
    try:
        parts = urlsplit(uri)
        host, port, database = parts.hostname, parts.port or 5432, parts.path.strip("/")
    except ValueError:
        host, port, database, parts = None, 0, "", urlsplit("")
    parameters = parse_qsl(parts.query)
    strange = [name for name, _ in parameters if name not in PARAMETERS]
    if not host or not database or "/" in database or strange:
        why = (
            f"Of its parameters, {' and '.join(PARAMETERS)} mean the same to all who use it; {strange[0]} "
            "does not. "
            if strange
            else ""
        )
        advice = (
            f"It is not the URI of a PostgreSQL database. {why}Write "
            '"postgresql://user@host:5432/database", and the password as credential = secret.NAME.'
        )
        diagnostics.error(codes.INVALID_CATALOG_URI, advice, attribute=("uri",))
    elif (size := len(unquote(database).encode())) > _LONGEST_DATABASE:
        why = (
            f"The name of the database has {size} bytes. PostgreSQL cuts it off after {_LONGEST_DATABASE}: "
            "it may then be that of another database. Write a shorter name."
        )
        diagnostics.error(codes.INVALID_CATALOG_URI, why, attribute=("uri",))
    user = f"{parts.username}@" if parts.username else ""
    query = "&".join(f"{name}={quote(value, safe='/')}" for name, value in parameters)
    return f"postgresql://{user}{_bracketed(host or 'localhost')}:{port}/{database}" + (
        f"?{query}" if query else ""
    )


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
