"""The declarations of all kinds of maintenance, in the order in which documents list them. Pure."""

from typing import Any, Final

from flareiac_iceberg.maintenance.declaration import Declaration
from flareiac_iceberg.maintenance.kinds.compaction.declaration import DECLARATION as COMPACTION
from flareiac_iceberg.maintenance.kinds.delete_rewrite.declaration import DECLARATION as DELETE_REWRITE
from flareiac_iceberg.maintenance.kinds.manifest_rewrite.declaration import DECLARATION as MANIFEST_REWRITE
from flareiac_iceberg.maintenance.kinds.orphan_removal.declaration import DECLARATION as ORPHAN_REMOVAL
from flareiac_iceberg.maintenance.kinds.retention.declaration import DECLARATION as RETENTION
from flareiac_iceberg.maintenance.kinds.snapshot_expiry.declaration import DECLARATION as SNAPSHOT_EXPIRY

DECLARATIONS: Final[tuple[Declaration[Any], ...]] = (
    COMPACTION,
    SNAPSHOT_EXPIRY,
    MANIFEST_REWRITE,
    DELETE_REWRITE,
    ORPHAN_REMOVAL,
    RETENTION,
)
