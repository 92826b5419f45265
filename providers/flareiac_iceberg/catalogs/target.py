"""Resolves which table of which catalog a block or a record means. Pure."""

from dataclasses import dataclass

from flareiac.kernel.data import Attributes, Data, Reference
from flareiac.kernel.diagnostics import Failure, error
from flareiac.sdk.references import References
from flareiac_iceberg import codes
from flareiac_iceberg.catalogs.spec import CatalogSpec, spec_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where a table is: its catalog, and its name there."""

    catalog: CatalogSpec
    namespace: str
    name: str

    @property
    def full_name(self) -> str:
        return f"{self.catalog.name}.{self.namespace}.{self.name}"


def target_of(attributes: Attributes, references: References) -> Target:
    """The place of a table. Raises ``Failure`` when its catalog is no longer known."""
    namespace, name = attributes["namespace"], attributes["name"]
    catalog = catalog_of(attributes["catalog"], references, "table", f"{namespace}.{name}")
    return Target(catalog=catalog, namespace=namespace, name=name)


def catalog_of(reference: Data, references: References, what: str, name: str) -> CatalogSpec:
    """The catalog that a table or namespace (``what``) is in. Raises ``Failure`` when it is not declared."""
    resolved = references.get(reference.address) if isinstance(reference, Reference) else None
    if resolved is None:
        why = (
            f"The {what} {name} is recorded in {reference}, and without its block FlareIaC does not know "
            f"where to look. Keep the catalog block until the {what} is forgotten or dropped."
        )
        raise Failure(error(codes.CATALOG_NOT_DECLARED, why))
    return spec_of(resolved.address, resolved.attributes)
