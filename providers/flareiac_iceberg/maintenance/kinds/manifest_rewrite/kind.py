"""Manifest rewrite as a kind of maintenance."""

from functools import partial
from typing import Final

from flareiac.sdk.changes import Effect
from flareiac_iceberg.maintenance.kind import Kind
from flareiac_iceberg.maintenance.kinds.manifest_rewrite.declaration import DECLARATION
from flareiac_iceberg.maintenance.kinds.manifest_rewrite.measure import ManifestFigures, measure
from flareiac_iceberg.maintenance.kinds.manifest_rewrite.plan import plan
from flareiac_iceberg.maintenance.results import rewritten
from flareiac_iceberg_runtime.kinds.manifest_rewrite.perform import PERFORMER

MANIFEST_REWRITE: Final = Kind(
    declaration=DECLARATION,
    figures=ManifestFigures,
    measure=measure,
    plan=plan,
    performer=PERFORMER,
    effect=Effect.METADATA,
    words={"rewritten_manifests": "manifest|rewritten", "added_manifests": "manifest|written"},
    complaints=partial(rewritten, figure="rewritten_manifests", thing="manifest"),
)
