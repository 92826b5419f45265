"""The kinds of maintenance in the order of work: rows go first, so that nothing is rewritten in vain; files
that only old snapshots need go last, and what no snapshot names can be determined only then. Pure.
"""

from collections.abc import Iterator
from typing import Any, Final

from flareiac.kernel.data import Attributes
from flareiac_iceberg.maintenance.kind import Kind
from flareiac_iceberg.maintenance.kinds.compaction.kind import COMPACTION
from flareiac_iceberg.maintenance.kinds.delete_rewrite.kind import DELETE_REWRITE
from flareiac_iceberg.maintenance.kinds.manifest_rewrite.kind import MANIFEST_REWRITE
from flareiac_iceberg.maintenance.kinds.orphan_removal.kind import ORPHAN_REMOVAL
from flareiac_iceberg.maintenance.kinds.retention.kind import RETENTION
from flareiac_iceberg.maintenance.kinds.snapshot_expiry.kind import SNAPSHOT_EXPIRY

KINDS: Final[tuple[Kind[Any, Any], ...]] = (
    RETENTION,
    COMPACTION,
    DELETE_REWRITE,
    MANIFEST_REWRITE,
    SNAPSHOT_EXPIRY,
    ORPHAN_REMOVAL,
)


def declared(attributes: Attributes) -> Iterator[tuple[Kind[Any, Any], Any]]:
    """The kinds that are declared and enabled, with their settings."""
    for kind in KINDS:
        settings = kind.declaration.of(attributes)
        if settings is not None:
            yield kind, settings
