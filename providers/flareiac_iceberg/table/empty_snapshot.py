"""Writes a snapshot without files, at which a branch of a table without rows starts (as Spark's CREATE BRANCH
does). Touches the world.
"""

import time
import uuid

from flareiac.kernel.data import Attributes
from flareiac_iceberg.catalogs.connections import Connections
from flareiac_iceberg.catalogs.target import Target
from flareiac_iceberg.format.metadata import schema_of
from flareiac_iceberg.format.snapshots import STARTS

_ZEROS = (
    "total-records",
    "total-files-size",
    "total-data-files",
    "total-delete-files",
    "total-position-deletes",
    "total-equality-deletes",
)


def empty_snapshot(
    connections: Connections, target: Target, metadata: Attributes, version: int
) -> Attributes:
    """The snapshot as JSON, for a table of this format version; its manifest list, with nothing in it, is
    written. Raises ``Failure``.
    """
    snapshot_id = uuid.uuid4().int & (2**63 - 1) or 1
    sequence = 0 if version == 1 else (metadata.get("last-sequence-number") or 0) + 1
    location = f"{metadata['location'].rstrip('/')}/metadata/snap-{snapshot_id}-0-{uuid.uuid4()}.avro"
    connections.get(target.catalog).write_no_manifests(
        location, snapshot_id, sequence, 1 if version == 1 else 2
    )
    snapshot = {
        "snapshot-id": snapshot_id,
        "timestamp-ms": int(time.time() * 1000),
        "manifest-list": location,
        "summary": {"operation": "append", STARTS: "branch", **dict.fromkeys(_ZEROS, "0")},
        "schema-id": schema_of(metadata).get("schema-id", 0),
    }
    if version > 1:
        snapshot["sequence-number"] = sequence
    if version > 2:  # row ids came with version 3
        snapshot |= {"first-row-id": metadata.get("next-row-id") or 0, "added-rows": 0}
    return snapshot
