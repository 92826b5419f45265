"""The place of a table. Pure."""

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_iceberg.catalogs.base import CatalogSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The place of a table: its catalog, and its name there."""

    catalog: CatalogSpec
    namespace: str
    name: str

    @property
    def full_name(self) -> str:
        return f"{self.catalog.name}.{self.namespace}.{self.name}"
