"""Snapshot expiry as a kind of maintenance."""

from typing import Final

from flareiac_iceberg.maintenance.kind import Kind
from flareiac_iceberg.maintenance.kinds.snapshot_expiry.declaration import DECLARATION
from flareiac_iceberg.maintenance.kinds.snapshot_expiry.measure import ExpiryFigures, measure
from flareiac_iceberg.maintenance.kinds.snapshot_expiry.perform import PERFORMER
from flareiac_iceberg.maintenance.kinds.snapshot_expiry.plan import plan
from flareiac_iceberg.maintenance.kinds.snapshot_expiry.verify import complaints

SNAPSHOT_EXPIRY: Final = Kind(
    declaration=DECLARATION,
    figures=ExpiryFigures,
    measure=measure,
    plan=plan,
    performer=PERFORMER,
    words={
        "expired_snapshots": "snapshots expired",
        "dropped_refs": "branches and tags dropped",
        "deleted_data_files": "data files deleted",
        "deleted_delete_files": "delete files deleted",
        "deleted_manifests": "manifests deleted",
        "deleted_manifest_lists": "manifest lists deleted",
    },
    complaints=complaints,
    deletes_shared=True,
)
