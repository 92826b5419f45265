"""Measures a table: its metadata first, the manifest list of its current snapshot next, manifests only where
those leave a doubt.

Touches the world through ``read`` (the bytes of a file) alone, and never asks it for a data file.
"""

import time
from typing import Any, Final

from flareiac.kernel.data import Attributes, digest
from flareiac.kernel.records import Mismatch, decode, encode
from flareiac_iceberg.format.age import made_ms
from flareiac_iceberg.format.metadata import nodes, schema_of, sort_order_of
from flareiac_iceberg.format.types import NOT_IN_SPARK
from flareiac_iceberg.maintenance.contents import Contents, Counting, Read, Table
from flareiac_iceberg.maintenance.figures import Figures, Outside, marks
from flareiac_iceberg.maintenance.outside import OutsideFiles
from flareiac_iceberg.maintenance.registry import KINDS, declared

_GC: Final = "gc.enabled"
_FRESH_MS: Final = 3_600_000


def measure(table: Table, read: Read) -> Figures:
    """The figures (see ``figures``). Raises ``Failure`` where a file that the metadata names cannot be
    read.
    """
    metadata, current = table.metadata, table.current
    snapshots = metadata.get("snapshots") or ()
    snapshot_id = current["snapshot-id"] if current else None
    contents = Contents(table, read, int(time.time() * 1000))
    location = metadata["location"]
    kinds, outside = _counted(contents, location)
    return Figures(
        uuid=metadata["table-uuid"],
        location=location,
        metadata_location=table.metadata_location,
        snapshot_id=snapshot_id,
        format_version=metadata["format-version"],
        sorted=bool(sort_order_of(metadata)["fields"]),
        # What is not true is false to Iceberg
        collects=str(table.properties.get(_GC, "true")).lower() == "true",
        spec_ids=tuple(spec["spec-id"] for spec in table.specs),
        measured_ms=contents.now_ms,
        settings=_settings_digest(table.attributes),
        totals=contents.totals,
        ids=digest([snapshot["snapshot-id"] for snapshot in snapshots]),
        not_in_spark=tuple(node.path for node in nodes(schema_of(metadata)) if node.type in NOT_IN_SPARK),
        marks=marks(snapshots, snapshot_id),
        made_ms=made_ms(table.metadata_location, metadata),
        kinds=kinds,
        outside=outside,
    )


def _counted(contents: Contents, location: str) -> tuple[dict[str, Any], Outside | None]:
    """Counts for each kind, and outside of the location."""
    measurements = {
        kind.name: kind.measure(settings, contents)
        for kind, settings in declared(contents.table.attributes)
        if kind.measure is not None
    }
    counts = [measurement for measurement in measurements.values() if isinstance(measurement, Counting)]
    narrow = any(kind.location_only for kind, _settings in declared(contents.table.attributes))
    outside = OutsideFiles(contents, location) if narrow else None
    contents.count([*counts, outside] if outside is not None and outside.is_likely else counts)
    of_kinds = {
        name: None
        if measurement is None
        else encode(measurement.figures() if isinstance(measurement, Counting) else measurement)
        for name, measurement in measurements.items()
    }
    return of_kinds, outside.figures() if outside is not None else None


def known_figures(data: Attributes) -> Figures | None:
    """Figures that were kept; None where there are none, or those of a version that kept others."""
    try:
        known = decode(Figures, data) if data else None
        if known is not None:
            tuple(kind.figures_of(known) for kind in KINDS)
    except Mismatch:
        return None
    return known


def is_fresh(known: Figures, attributes: Attributes) -> bool:
    """Returns True if figures of the last time are of the same settings, and not so old that rows have
    aged.
    """
    age = int(time.time() * 1000) - known.measured_ms
    return known.settings == _settings_digest(attributes) and 0 <= age < _FRESH_MS


def _settings_digest(attributes: Attributes) -> str:
    """The digest of the settings that figures depend on."""
    return digest(
        {
            kind.name: attributes.get(kind.name)
            for kind in KINDS
            if kind.measure is not None or kind.location_only
        }
    )
