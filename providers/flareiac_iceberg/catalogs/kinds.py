"""The kinds of catalogs, and the typed record of one from its canonical attributes. Pure.

The place where the kinds meet: a new kind is a package beside the others, and one line here.
"""

from typing import Final

from flareiac.kernel.data import Attributes
from flareiac.sdk.definitions import definition_of
from flareiac_iceberg.catalogs.base import CatalogSpec
from flareiac_iceberg.catalogs.block import CatalogDefinition
from flareiac_iceberg.catalogs.glue.spec import GlueCatalog
from flareiac_iceberg.catalogs.postgres.spec import PostgresCatalog
from flareiac_iceberg.catalogs.rest.spec import RestCatalog
from flareiac_iceberg.catalogs.sqlite.spec import SqliteCatalog

KINDS: Final[tuple[type[CatalogSpec], ...]] = (PostgresCatalog, SqliteCatalog, RestCatalog, GlueCatalog)
"""Of those of one type, the first that takes a URI."""
DEFAULT_TYPE: Final = "sql"


def kind_of(type_name: str, uri: object) -> type[CatalogSpec]:
    """The kind of a block with this type and URI."""
    known = type_name if any(kind.type == type_name for kind in KINDS) else DEFAULT_TYPE
    return next(kind for kind in KINDS if kind.type == known and kind.takes(uri))


def spec_of(address: str, attributes: Attributes) -> CatalogSpec:
    """The typed record of canonical attributes, also of those that an older version recorded."""
    found = definition_of(CatalogDefinition, attributes)
    return kind_of(found.type, found.uri).of(address, found)


def home_of(attributes: Attributes) -> str:
    """Where what canonical attributes mean is kept (see ``CatalogSpec.home``)."""
    return spec_of("", attributes).home
