"""The typed record of a catalog, one kind each, from its canonical attributes. Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias
from urllib.parse import parse_qsl, unquote, urlsplit

from flareiac.kernel.data import Attributes
from flareiac.sdk.secrets import resolve_all

BUSY_TIMEOUT_MS: Final = 15_000
"""How long a writer waits for another one's lock on the SQLite file. With 0, most commits beside a busy neighbour fail (measured)."""
CONNECT_SECONDS: Final = 10
ANSWER_SECONDS: Final = 20
"""How long a server may take to let us in, and to answer one question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Catalog:
    """``warehouse`` is an absolute ``file:`` or ``s3:`` URI. ``properties`` are the user's, with references where secrets are meant.

    ``place`` says which catalog it is: two blocks with the same one see the same tables.
    """

    address: str
    name: str
    place: str
    warehouse: str
    properties: tuple[tuple[str, str], ...] = ()

    @property
    def label(self) -> str:
        """The block's label: the first part of import ids."""
        return self.address.rpartition(".")[2]

    @property
    def shown(self) -> str:
        """Where it is, for people."""
        return self.place.partition("#")[0]

    def settings(self) -> dict[str, str]:
        """The user's properties with their secrets. Raises ``Failure``."""
        return resolve_all(dict(self.properties))


@dataclass(frozen=True, slots=True, kw_only=True)
class SqliteCatalog(_Catalog):
    """A database file."""

    database: Path

    @property
    def shown(self) -> str:
        return str(self.database)


@dataclass(frozen=True, slots=True, kw_only=True)
class PostgresCatalog(_Catalog):
    """A database of a server. ``credential`` stands for the password; ``parameters`` are those of ``PARAMETERS`` that were written."""

    host: str
    port: int
    user: str | None
    database: str
    parameters: tuple[tuple[str, str], ...] = ()
    credential: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RestCatalog(_Catalog):
    """A server of Iceberg's REST protocol. ``warehouse`` is a name of the server's, or empty. ``credential`` stands for ``id:secret``."""

    uri: str
    prefix: str | None = None
    credential: str | None = None
    token: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GlueCatalog(_Catalog):
    """The AWS Glue Data Catalog of an account and region."""


CatalogSpec: TypeAlias = SqliteCatalog | PostgresCatalog | RestCatalog | GlueCatalog
GLUE_NAME: Final = re.compile(r"[a-z0-9_]{1,252}")
PARAMETERS: Final = ("sslmode", "sslrootcert")
"""Parameters of a PostgreSQL URI that mean the same to both of the drivers."""


def spec_of(address: str, attributes: Attributes) -> CatalogSpec:
    """The typed record of canonical attributes, also of those that an older version recorded."""
    kind, uri = attributes["type"], str(attributes["uri"] or "")
    common: Attributes = {
        "address": address,
        "name": attributes["name"],
        "place": attributes.get("place") or f"{uri}#{attributes['name']}",
        "warehouse": attributes["warehouse"] or "",
        "properties": tuple(sorted((attributes.get("properties") or {}).items())),
    }
    credential, token = attributes.get("credential"), attributes.get("token")
    match kind:
        case "rest":
            return RestCatalog(**common, uri=uri, prefix=attributes["prefix"], credential=credential, token=token)
        case "glue":
            return GlueCatalog(**common)
        case _ if uri.startswith("sqlite:///"):
            return SqliteCatalog(**common, database=Path(uri.removeprefix("sqlite:///")))
        case _:
            return PostgresCatalog(**common, **_postgres(uri), credential=credential)


def _postgres(uri: str) -> Attributes:
    parts = urlsplit(uri)
    return {
        "host": parts.hostname or "",
        "port": parts.port or 5432,
        "user": unquote(parts.username) if parts.username else None,
        "database": unquote(parts.path.lstrip("/")),
        "parameters": tuple(parse_qsl(parts.query)),
    }


def s3_settings(settings: Mapping[str, str]) -> dict[str, str]:
    """Settings for places that are not AWS's, too: no client guesses the region and how buckets are addressed there, or not the same."""
    if "s3.endpoint" in settings:
        settings = {"s3.path-style-access": "true", **settings}
    region = settings.get("s3.region") or settings.get("client.region") or ("us-east-1" if "s3.endpoint" in settings else "")
    return {**settings, "s3.region": region, "client.region": settings.get("client.region") or region} if region else dict(settings)
