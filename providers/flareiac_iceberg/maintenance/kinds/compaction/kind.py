"""Compaction as a kind of maintenance."""

from functools import partial
from typing import Final

from flareiac.sdk.changes import Effect
from flareiac_iceberg.maintenance.kind import Kind
from flareiac_iceberg.maintenance.kinds.compaction.declaration import DECLARATION
from flareiac_iceberg.maintenance.kinds.compaction.measure import RewriteFigures, measure
from flareiac_iceberg.maintenance.kinds.compaction.plan import plan
from flareiac_iceberg.maintenance.kinds.compaction.small_files import small_files
from flareiac_iceberg.maintenance.results import rewritten
from flareiac_iceberg_runtime.kinds.compaction.perform import PERFORMER

COMPACTION: Final = Kind(
    declaration=DECLARATION,
    figures=RewriteFigures,
    measure=measure,
    plan=plan,
    performer=PERFORMER,
    effect=Effect.REWRITES_DATA,
    words={
        "rewritten_files": "data file|rewritten",
        "rewritten_bytes": "rewritten",
        "added_files": "data file|written",
        "removed_delete_files": "delete file|removed",
    },
    complaints=partial(rewritten, figure="rewritten_files", thing="data file"),
    small_files=small_files,
)
