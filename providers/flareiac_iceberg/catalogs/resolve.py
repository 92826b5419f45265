"""Resolves which catalog a resource belongs to, and which table of it a block or a record means. Pure."""

from flareiac.kernel.data import Attributes, Data, Reference
from flareiac.kernel.diagnostics import Diagnostics, Failure, error
from flareiac.sdk.references import References, Resolved
from flareiac_iceberg import codes
from flareiac_iceberg.catalogs.base import CatalogSpec
from flareiac_iceberg.catalogs.kinds import spec_of
from flareiac_iceberg.catalogs.target import Target
from flareiac_iceberg.format.spec import TableOutline


def place_of(catalog: Resolved) -> str:
    """The place that tells which catalog it is, whatever it is called: two blocks of the same place see the
    same tables.
    """
    return spec_of(catalog.address, catalog.attributes).place


def chosen_catalog(value: Data, references: References, diagnostics: Diagnostics) -> Reference:
    """The catalog that is named, or else the only one there is."""
    if isinstance(value, Reference):
        return value
    known = sorted(address for address, reference in references.items() if reference.type == "catalog")
    if len(known) == 1:
        return Reference(known[0])
    diagnostics.error(
        codes.NO_CATALOG_CHOSEN,
        f"{len(known)} catalogs are declared; name one of them: "
        f"{' or '.join(f'catalog = {address}' for address in known)}."
        if known
        else 'No catalog is declared. Declare one: catalog "lake" {}',
        attribute=("catalog",),
    )
    return Reference(known[0] if known else "catalog.lake")


def target_of(attributes: Attributes, references: References) -> Target:
    """The place of a table. Raises ``Failure`` when its catalog is no longer known."""
    table = TableOutline.of(attributes)
    catalog = catalog_of(table.catalog, references, "table", table.full_name)
    return Target(catalog=catalog, namespace=table.namespace, name=table.name)


def catalog_of(reference: Reference, references: References, what: str, name: str) -> CatalogSpec:
    """The catalog that a table or namespace (``what``) is in. Raises ``Failure`` when it is not declared."""
    resolved = references.get(reference.address)
    if resolved is None:
        why = (
            f"The {what} {name} is recorded in {reference}, and without its block FlareIaC does not know "
            f"where to look. Keep the catalog block until the {what} is forgotten or dropped."
        )
        raise Failure(error(codes.CATALOG_NOT_DECLARED, why))
    return spec_of(resolved.address, resolved.attributes)
