"""The kinds of catalogs, and the typed record of one from its canonical attributes. Pure.

The kinds meet here and in ``opening``: a new one is a package beside the others, one line here, and its cases
there.
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
"""The kinds of catalogs. Of those of one type, the first that takes a URI counts."""
DEFAULT_TYPE: Final = "sql"


def kind_of(type_name: str, uri: object) -> type[CatalogSpec]:
    """The kind of a block with this type and URI."""
    known = type_name if any(kind.type == type_name for kind in KINDS) else DEFAULT_TYPE
    return next(kind for kind in KINDS if kind.type == known and kind.takes(uri))


_KEPT: Final = 64
_read: dict[int, tuple[Attributes, str, CatalogSpec]] = {}


def spec_of(address: str, attributes: Attributes) -> CatalogSpec:
    """The typed record of canonical attributes, also of those that an older version recorded."""
    # Thousands of tables ask about one catalog. An entry holds its attributes, so that their id stays theirs.
    known = _read.get(id(attributes))
    if known is not None and known[0] is attributes and known[1] == address:
        return known[2]
    definition = definition_of(CatalogDefinition, attributes)
    spec = kind_of(definition.type, definition.uri).of(address, definition)
    if len(_read) >= _KEPT:
        _read.clear()
    _read[id(attributes)] = (attributes, address, spec)
    return spec


def home_of(attributes: Attributes) -> str:
    """The home of the catalog that canonical attributes mean (see ``CatalogSpec.home``)."""
    return spec_of("", attributes).home
