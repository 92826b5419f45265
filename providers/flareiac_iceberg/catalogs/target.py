"""Resolves which table of which catalog a block or a record means. Pure."""

from dataclasses import dataclass

from flareiac.kernel.data import Attributes, Reference
from flareiac.kernel.diagnostics import Diagnostic, Failure, error
from flareiac.sdk.references import References
from flareiac_iceberg import codes
from flareiac_iceberg.catalogs.spec import CatalogSpec
from flareiac_iceberg.catalogs.spec import spec_of as catalog_spec_of


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
    reference = attributes["catalog"]
    resolved = references.get(reference.address) if isinstance(reference, Reference) else None
    if resolved is None:
        raise Failure(_no_catalog(str(reference), f"{attributes['namespace']}.{attributes['name']}"))
    catalog = catalog_spec_of(resolved.address, resolved.attributes)
    return Target(catalog=catalog, namespace=attributes["namespace"], name=attributes["name"])


def _no_catalog(catalog: str, table: str) -> Diagnostic:
    return error(
        codes.CATALOG_NOT_DECLARED,
        f"The table {table} is recorded in {catalog}, and without its block FlareIaC does not know where to "
        "look. Keep the catalog block until the table is forgotten or dropped.",
    )
