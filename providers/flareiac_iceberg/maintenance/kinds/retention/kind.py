"""Retention as a kind of maintenance."""

from typing import Final

from flareiac.sdk.changes import Effect
from flareiac_iceberg.maintenance.kind import Kind
from flareiac_iceberg.maintenance.kinds.retention.declaration import DECLARATION
from flareiac_iceberg.maintenance.kinds.retention.measure import RowFigures, measure
from flareiac_iceberg.maintenance.kinds.retention.plan import plan
from flareiac_iceberg.maintenance.kinds.retention.usages import endangered, rewritten
from flareiac_iceberg.maintenance.kinds.retention.verify import complaints
from flareiac_iceberg_runtime.kinds.retention.perform import PERFORMER

RETENTION: Final = Kind(
    declaration=DECLARATION,
    figures=RowFigures,
    measure=measure,
    plan=plan,
    performer=PERFORMER,
    effect=Effect.LOSES_DATA,
    words={"deleted_rows": "row|deleted"},
    complaints=complaints,
    blockers=endangered,
    warnings=rewritten,
)
