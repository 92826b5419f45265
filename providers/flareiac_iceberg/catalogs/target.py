"""Resolves which table of which catalog a block or a record means. Pure."""

from flareiac.kernel.data import Attributes, Reference
from flareiac.kernel.diagnostics import Failure, error
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.references import References
from flareiac_iceberg import codes
from flareiac_iceberg.catalogs.base import CatalogSpec
from flareiac_iceberg.catalogs.kinds import spec_of
from flareiac_iceberg.format.spec import TableOutline


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The place of a table: its catalog, and its name there."""

    catalog: CatalogSpec
    namespace: str
    name: str

    @property
    def full_name(self) -> str:
        return f"{self.catalog.name}.{self.namespace}.{self.name}"


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
