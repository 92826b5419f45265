"""Orphan removal as it is declared."""

from typing import Final

from flareiac_iceberg.maintenance.declaration import Declaration
from flareiac_iceberg.maintenance.kinds.orphan_removal.schema import BLOCK
from flareiac_iceberg.maintenance.kinds.orphan_removal.settings import OrphanRemoval, canonical

DECLARATION: Final = Declaration(
    name="orphan_removal",
    block=BLOCK,
    settings=OrphanRemoval,
    canonical=canonical,
    first_run_waits=lambda _settings: True,
)
