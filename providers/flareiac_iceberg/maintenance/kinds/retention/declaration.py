"""Retention as it is declared."""

from typing import Final

from flareiac_iceberg.maintenance.declaration import Declaration
from flareiac_iceberg.maintenance.kinds.retention.schema import BLOCK
from flareiac_iceberg.maintenance.kinds.retention.settings import Retention, canonical

DECLARATION: Final = Declaration(
    name="retention",
    block=BLOCK,
    settings=Retention,
    canonical=canonical,
)
