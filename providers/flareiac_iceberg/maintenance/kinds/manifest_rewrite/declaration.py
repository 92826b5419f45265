"""Manifest rewrite as it is declared."""

from typing import Final

from flareiac_iceberg.maintenance.declaration import Declaration
from flareiac_iceberg.maintenance.kinds.manifest_rewrite.schema import BLOCK
from flareiac_iceberg.maintenance.kinds.manifest_rewrite.settings import ManifestRewrite, canonical

DECLARATION: Final = Declaration(
    name="manifest_rewrite",
    block=BLOCK,
    settings=ManifestRewrite,
    canonical=canonical,
)
