"""Manifest rewrite as a kind of maintenance."""

from functools import partial
from typing import Final

from flareiac_iceberg.maintenance.kind import Kind
from flareiac_iceberg.maintenance.kinds.manifest_rewrite.measure import ManifestFigures, measure
from flareiac_iceberg.maintenance.kinds.manifest_rewrite.perform import PERFORMER
from flareiac_iceberg.maintenance.kinds.manifest_rewrite.plan import plan
from flareiac_iceberg.maintenance.kinds.manifest_rewrite.schema import BLOCK
from flareiac_iceberg.maintenance.kinds.manifest_rewrite.settings import ManifestRewrite, canonical
from flareiac_iceberg.maintenance.results import rewritten

MANIFEST_REWRITE: Final = Kind(
    name="manifest_rewrite",
    rank=3,
    block=BLOCK,
    settings=ManifestRewrite,
    canonical=canonical,
    figures=ManifestFigures,
    measure=measure,
    plan=plan,
    performer=PERFORMER,
    words={"rewritten_manifests": "manifests rewritten", "added_manifests": "manifests written"},
    complaints=partial(rewritten, figure="rewritten_manifests", thing="manifest"),
)
