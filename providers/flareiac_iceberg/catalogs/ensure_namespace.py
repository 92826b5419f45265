"""Makes namespaces that are missing. Touches the world; imports pyiceberg when needed."""

from typing import TYPE_CHECKING

from flareiac_iceberg.catalogs.spec import CatalogSpec, PostgresCatalog, RestCatalog, SqliteCatalog

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog


def ensure_namespace(catalog: "Catalog", spec: CatalogSpec, name: str, key: str) -> None:
    """Makes a namespace, if there is none of this name, and marks it with ``key``. Raises what the catalog's client raises.

    Most servers take no namespace whose parent is missing; the other kinds know no parents.
    """
    if catalog.namespace_exists(name):
        return
    levels = name.split(".")
    parents = [".".join(levels[:depth]) for depth in range(1, len(levels))] if isinstance(spec, RestCatalog) else []
    for parent in parents:
        if not catalog.namespace_exists(parent):
            _make(catalog, parent, _marks(spec, key))
    _make(catalog, name, _marks(spec, key))


def _make(catalog: "Catalog", name: str, marks: dict[str, str]) -> None:
    """Another table of this apply, or another process, may be faster: a database has then refused the second row of its properties, which
    is as good as having made it.
    """
    from pyiceberg.exceptions import NamespaceAlreadyExistsError
    from sqlalchemy.exc import IntegrityError

    try:
        catalog.create_namespace(name, marks)
    except NamespaceAlreadyExistsError:
        return
    except IntegrityError:
        if not catalog.namespace_exists(name):
            raise


def _marks(spec: CatalogSpec, key: str) -> dict[str, str]:
    """The properties that a namespace is made with. A database has no row for one without any; a server writes its own."""
    exists = {"exists": "true"} if isinstance(spec, SqliteCatalog | PostgresCatalog) else {}
    return exists | {"flareiac.created-by": key}
