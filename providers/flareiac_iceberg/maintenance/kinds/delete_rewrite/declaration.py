"""Delete rewrite as it is declared."""

from typing import Final

from flareiac_iceberg.maintenance.declaration import Declaration
from flareiac_iceberg.maintenance.kinds.delete_rewrite.schema import BLOCK
from flareiac_iceberg.maintenance.kinds.delete_rewrite.settings import DeleteRewrite, canonical

DECLARATION: Final = Declaration(
    name="delete_rewrite",
    block=BLOCK,
    settings=DeleteRewrite,
    canonical=canonical,
)
