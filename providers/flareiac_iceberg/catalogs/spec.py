"""The typed record of a catalog from its canonical attributes. Pure.

The place where the kinds meet: a new kind is a package beside the others, and one case here, in ``reader``
and in ``connections``.
"""

from pathlib import Path
from typing import TypeAlias

from flareiac.kernel.data import Attributes
from flareiac_iceberg.catalogs.glue.spec import GlueCatalog
from flareiac_iceberg.catalogs.postgres.spec import PostgresCatalog, parts_of
from flareiac_iceberg.catalogs.rest.spec import RestCatalog
from flareiac_iceberg.catalogs.sqlite.spec import SqliteCatalog

CatalogSpec: TypeAlias = SqliteCatalog | PostgresCatalog | RestCatalog | GlueCatalog


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
            return RestCatalog(
                **common, uri=uri, prefix=attributes["prefix"], credential=credential, token=token
            )
        case "glue":
            return GlueCatalog(**common)
        case _ if uri.startswith("sqlite:///"):
            return SqliteCatalog(**common, database=Path(uri.removeprefix("sqlite:///")))
        case _:
            return PostgresCatalog(**common, **parts_of(uri), credential=credential)
