"""Delete rewrite as a kind of maintenance."""

from functools import partial
from typing import Final

from flareiac.sdk.changes import Effect
from flareiac_iceberg.maintenance.kind import Kind
from flareiac_iceberg.maintenance.kinds.delete_rewrite.declaration import DECLARATION
from flareiac_iceberg.maintenance.kinds.delete_rewrite.measure import DeleteFigures, measure
from flareiac_iceberg.maintenance.kinds.delete_rewrite.plan import plan
from flareiac_iceberg.maintenance.results import rewritten
from flareiac_iceberg_runtime.kinds.delete_rewrite.perform import PERFORMER

DELETE_REWRITE: Final = Kind(
    declaration=DECLARATION,
    figures=DeleteFigures,
    measure=measure,
    plan=plan,
    performer=PERFORMER,
    effect=Effect.REWRITES_DATA,
    words={
        "rewritten_bytes": "rewritten",
        "rewritten_delete_files": "delete file|rewritten",
        "added_delete_files": "delete file|written",
    },
    complaints=partial(rewritten, figure="rewritten_delete_files", thing="delete file"),
)
