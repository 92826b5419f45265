"""Compaction as it is declared."""

from typing import Final

from flareiac_iceberg.maintenance.declaration import Declaration
from flareiac_iceberg.maintenance.kinds.compaction.schema import BLOCK
from flareiac_iceberg.maintenance.kinds.compaction.settings import Compaction, canonical

DECLARATION: Final = Declaration(
    name="compaction",
    block=BLOCK,
    settings=Compaction,
    canonical=canonical,
    first_run_waits=lambda settings: settings.rewrite_all,
)
