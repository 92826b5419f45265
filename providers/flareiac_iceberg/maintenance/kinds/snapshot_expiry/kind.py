"""Snapshot expiry as a kind of maintenance."""

from typing import Final

from flareiac.sdk.changes import Effect
from flareiac_iceberg.maintenance.kind import Kind
from flareiac_iceberg.maintenance.kinds.snapshot_expiry.declaration import DECLARATION
from flareiac_iceberg.maintenance.kinds.snapshot_expiry.measure import ExpiryFigures, measure
from flareiac_iceberg.maintenance.kinds.snapshot_expiry.plan import plan
from flareiac_iceberg.maintenance.kinds.snapshot_expiry.verify import complaints
from flareiac_iceberg_runtime.kinds.snapshot_expiry.perform import PERFORMER

SNAPSHOT_EXPIRY: Final = Kind(
    declaration=DECLARATION,
    figures=ExpiryFigures,
    measure=measure,
    plan=plan,
    performer=PERFORMER,
    effect=Effect.IRREVERSIBLE,
    words={
        "expired_snapshots": "snapshot|expired",
        "dropped_refs": "ref|dropped",
        "deleted_data_files": "data file|deleted",
        "deleted_delete_files": "delete file|deleted",
        "deleted_manifests": "manifest|deleted",
        "deleted_manifest_lists": "manifest list|deleted",
    },
    complaints=complaints,
    deletes_shared=True,
)
