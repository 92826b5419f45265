"""Snapshot expiry as it is declared."""

from typing import Final

from flareiac_iceberg.maintenance.declaration import Declaration
from flareiac_iceberg.maintenance.kinds.snapshot_expiry.schema import BLOCK
from flareiac_iceberg.maintenance.kinds.snapshot_expiry.settings import (
    SnapshotExpiry,
    canonical,
    unused_property,
)

DECLARATION: Final = Declaration(
    name="snapshot_expiry",
    block=BLOCK,
    settings=SnapshotExpiry,
    canonical=canonical,
    unused_property=unused_property,
)
