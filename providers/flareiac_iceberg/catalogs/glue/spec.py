"""The record of the AWS Glue Data Catalog. Pure."""

import re
from typing import ClassVar, Final, Self

from flareiac.kernel.data import Attributes
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_iceberg.catalogs.base import CatalogSpec
from flareiac_iceberg.catalogs.block import CatalogBlock, CatalogDefinition

_KEYS: Final = "Spark's Glue client takes keys from AWS's own chain only: set"


@dataclass(frozen=True, slots=True, kw_only=True)
class GlueCatalog(CatalogSpec):
    """The AWS Glue Data Catalog of an account and region. It would register a table that is renamed again and
    remove the old entry after that, with two entries for one table in between.
    """

    type: ClassVar = "glue"
    unusable: ClassVar = {
        "glue.access-key-id": f"{_KEYS} AWS_ACCESS_KEY_ID, a profile or a role",
        "glue.secret-access-key": f"{_KEYS} AWS_SECRET_ACCESS_KEY, a profile or a role",
        "glue.session-token": f"{_KEYS} AWS_SESSION_TOKEN, a profile or a role",
        "glue.profile-name": "Spark's Glue client does not know it: set AWS_PROFILE",
    }
    names: ClassVar = re.compile(r"[a-z0-9_]{1,252}")
    name_rule: ClassVar = "Glue has lowercase letters, digits and _ in names, and one level of namespaces"
    can_rename: ClassVar = False
    uses_aws: ClassVar = True
    advice: ClassVar = (
        "Check region and endpoint, and that AWS gives keys here that may read Glue. "
        "Until then, nothing is planned for its tables."
    )

    @classmethod
    def read(cls, block: CatalogBlock) -> Attributes:
        return {"uri": None, "warehouse": block.warehouse(local=False)}

    @classmethod
    def place_of(cls, attributes: Attributes) -> str:
        known = attributes["properties"]
        where = (
            known.get("glue.endpoint")
            or known.get("client.region")
            or known.get("glue.region")
            or "the region of AWS's own settings"
        )
        return f"glue {known.get('glue.id', '')}".strip() + f" in {where}"

    @classmethod
    def of(cls, address: str, definition: CatalogDefinition) -> Self:
        return cls(**definition.common(address))

    def spark_settings(self) -> dict[str, str]:
        return {"type": "glue", "warehouse": self.warehouse}
