"""Orphan removal as a kind of maintenance."""

from typing import Final

from flareiac.sdk.changes import Effect
from flareiac_iceberg.maintenance.kind import Kind
from flareiac_iceberg.maintenance.kinds.orphan_removal.declaration import DECLARATION
from flareiac_iceberg.maintenance.kinds.orphan_removal.look import Beside, look
from flareiac_iceberg.maintenance.kinds.orphan_removal.plan import plan
from flareiac_iceberg.maintenance.kinds.orphan_removal.verify import complaints
from flareiac_iceberg_runtime.kinds.orphan_removal.perform import PERFORMER

ORPHAN_REMOVAL: Final = Kind(
    declaration=DECLARATION,
    plan=plan,
    performer=PERFORMER,
    effect=Effect.IRREVERSIBLE,
    words={"orphans": "file|that no snapshot names", "orphan_bytes": "in all"},
    figures=Beside,
    look=look,
    complaints=complaints,
    location_only=True,
)
