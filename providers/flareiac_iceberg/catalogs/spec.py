"""The typed record of a catalog from its canonical attributes. Pure.

The place where the kinds meet: a new kind is a package beside the others, and one case here, in ``reader``
and in ``connections``.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from flareiac.kernel.data import Attributes
from flareiac.sdk.definitions import Plain, definition_of
from flareiac_iceberg.catalogs.glue.spec import GlueCatalog
from flareiac_iceberg.catalogs.postgres.spec import PostgresCatalog, parts_of
from flareiac_iceberg.catalogs.rest.spec import RestCatalog
from flareiac_iceberg.catalogs.sqlite.spec import SqliteCatalog

CatalogSpec: TypeAlias = SqliteCatalog | PostgresCatalog | RestCatalog | GlueCatalog


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogDefinition:
    """A ``catalog`` block as it is recorded: what all kinds have, and what only some have.

    ``place`` was not recorded by the first versions. What Spark needs follows from the rest, and is there for
    engines.
    """

    type: str
    name: str
    uri: str | None
    warehouse: str | None
    properties: Mapping[str, str] = field(default_factory=dict)
    place: str | None = None
    prefix: str | None = None
    token: str | None = None
    credential: str | None = None
    spark_conf: Plain = None
    packages: Plain = None
    spark_extensions: Plain = None


def spec_of(address: str, attributes: Attributes) -> CatalogSpec:
    """The typed record of canonical attributes, also of those that an older version recorded."""
    found = definition_of(CatalogDefinition, attributes)
    uri = found.uri or ""
    common: Attributes = {
        "address": address,
        "name": found.name,
        "place": found.place or f"{uri}#{found.name}",
        "warehouse": found.warehouse or "",
        "properties": tuple(sorted(found.properties.items())),
    }
    match found.type:
        case "rest":
            return RestCatalog(
                **common, uri=uri, prefix=found.prefix, credential=found.credential, token=found.token
            )
        case "glue":
            return GlueCatalog(**common)
        case _ if uri.startswith("sqlite:///"):
            return SqliteCatalog(**common, database=Path(uri.removeprefix("sqlite:///")))
        case _:
            return PostgresCatalog(**common, **parts_of(uri), credential=found.credential)
