"""The first metadata of a table, in JSON form. Pure.

Source: Iceberg's table spec, "Table Metadata Fields"; held equal to what Iceberg's library writes.
"""

from collections.abc import Mapping

from flareiac.kernel.data import Attributes
from flareiac_iceberg.format.metadata import nodes
from flareiac_iceberg.format.metadata_update import last_partition_id


def new_metadata(
    version: int,
    layout: tuple[Attributes, Attributes, Attributes],
    properties: Mapping[str, str],
    *,
    table_uuid: str,
    location: str,
    now: int,
) -> Attributes:
    """A table without snapshots. ``layout``: the schema and the partition spec with the id 0, and the sort
    order; ``now`` in ms since 1970.
    """
    schema, spec, order = layout
    metadata: Attributes = {
        "format-version": version,
        "table-uuid": table_uuid,
        "location": location,
        "last-updated-ms": now,
        "last-column-id": max((node.id for node in nodes(schema)), default=0),
        "schemas": [schema],
        "current-schema-id": 0,
        "partition-specs": [spec],
        "default-spec-id": 0,
        "last-partition-id": last_partition_id([spec]),
        "sort-orders": [order],
        "default-sort-order-id": order["order-id"],
        "properties": dict(properties),
        "snapshots": [],
        "snapshot-log": [],
        "metadata-log": [],
        "refs": {},
        "statistics": [],
        "partition-statistics": [],
    }
    if version == 1:  # readers of the first version look here alone
        metadata |= {"schema": schema, "partition-spec": spec["fields"]}
    else:
        metadata |= {"last-sequence-number": 0}
    if version > 2:  # row ids came with version 3
        metadata |= {"next-row-id": 0}
    return metadata
