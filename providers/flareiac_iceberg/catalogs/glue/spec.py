"""The record of the AWS Glue Data Catalog. Pure."""

import re
from dataclasses import dataclass
from typing import ClassVar, Final

from flareiac_iceberg.catalogs.base import BaseCatalog

GLUE_NAME: Final = re.compile(r"[a-z0-9_]{1,252}")


@dataclass(frozen=True, slots=True, kw_only=True)
class GlueCatalog(BaseCatalog):
    """The AWS Glue Data Catalog of an account and region."""

    uses_aws: ClassVar = True
    advice: ClassVar = (
        "Check region and endpoint, and that AWS gives keys here that may read Glue. "
        "Nothing is known meanwhile."
    )

    def spark_settings(self) -> dict[str, str]:
        return {"type": "glue", "warehouse": self.warehouse}
