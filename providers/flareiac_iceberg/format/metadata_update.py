"""Applies the updates of one commit to metadata as JSON; what they do not name stays as it is. Pure.

Iceberg's library for Python reads metadata of format version 3 and does not write it. Working on the JSON
itself writes every version, and keeps fields that no model here knows.
"""

import copy
from collections.abc import Iterable
from typing import Final

from flareiac.kernel.data import Attributes
from flareiac_iceberg.format.metadata import (
    FIRST_PARTITION_ID,
    partition_spec_of,
    partition_specs_of,
    properties_of,
    schema_of,
    sort_order_of,
)
from flareiac_iceberg.format.snapshots import MAIN, current

_PREVIOUS: Final = "write.metadata.previous-versions-max"
_USUAL_PREVIOUS: Final = 100
"""Iceberg's default of it."""


def updated(metadata: Attributes, updates: Iterable[Attributes], location: str, now: int) -> Attributes:
    """The next metadata. ``location``: where the present one stands; ``now`` in ms since 1970."""
    after = completed(metadata, updates, now)
    moment = after["last-updated-ms"]
    log = [
        *(after.get("metadata-log") or ()),
        {"timestamp-ms": metadata.get("last-updated-ms") or moment, "metadata-file": location},
    ]
    after["metadata-log"] = log[-previous_versions(after) :]
    return after


def completed(metadata: Attributes, updates: Iterable[Attributes], now: int) -> Attributes:
    """The metadata with these updates, as part of the same version of it: nothing is added to the log of
    metadata files.
    """
    after = _complete(copy.deepcopy(metadata))
    moment = max(now, int(metadata.get("last-updated-ms") or 0))
    for update in updates:
        _apply(after, update, moment)
    after["last-updated-ms"] = moment
    if after["format-version"] == 1:
        # Readers of the first version look here alone.
        after["schema"], after["partition-spec"] = schema_of(after), partition_spec_of(after)["fields"]
    return after


def last_partition_id(specs: Iterable[Attributes]) -> int:
    """The highest id that a field of these partition specs has."""
    return max(
        (field["field-id"] for spec in specs for field in spec["fields"]), default=FIRST_PARTITION_ID - 1
    )


def previous_versions(metadata: Attributes) -> int:
    """The number of earlier metadata files that a table remembers."""
    try:
        return max(1, int(properties_of(metadata).get(_PREVIOUS, _USUAL_PREVIOUS)))
    except ValueError:
        return _USUAL_PREVIOUS


def _complete(metadata: Attributes) -> Attributes:
    """Old metadata names one schema and one spec only; what all others have is filled in."""
    if "schemas" not in metadata:
        metadata["schemas"] = [{**schema_of(metadata), "schema-id": 0}]
        metadata["current-schema-id"] = 0
    if "partition-specs" not in metadata:
        metadata["partition-specs"], metadata["default-spec-id"] = partition_specs_of(metadata), 0
    if metadata.get("last-partition-id") is None:
        metadata["last-partition-id"] = last_partition_id(metadata["partition-specs"])
    if not metadata.get("sort-orders"):
        metadata["sort-orders"], metadata["default-sort-order-id"] = [sort_order_of(metadata)], 0
    head = current(metadata)
    metadata["refs"] = {
        **({} if head is None else {MAIN: {"snapshot-id": head, "type": "branch"}}),
        **(metadata.get("refs") or {}),
    }
    metadata["properties"] = dict(properties_of(metadata))
    metadata["snapshots"] = metadata.get("snapshots") or []
    return metadata


def _apply(metadata: Attributes, update: Attributes, now: int) -> None:  # one case for each action
    match update["action"]:
        case "upgrade-format-version":
            _upgrade(metadata, update["format-version"])
        case "add-schema":
            metadata["schemas"].append(update["schema"])
            metadata["last-column-id"] = max(metadata["last-column-id"], update["last-column-id"])
        case "set-current-schema":
            metadata["current-schema-id"] = update["schema-id"]
        case "add-spec":
            metadata["partition-specs"].append(update["spec"])
            metadata["last-partition-id"] = max(
                metadata["last-partition-id"], last_partition_id([update["spec"]])
            )
        case "set-default-spec":
            metadata["default-spec-id"] = update["spec-id"]
        case "add-sort-order":
            metadata["sort-orders"].append(update["sort-order"])
        case "set-default-sort-order":
            metadata["default-sort-order-id"] = update["sort-order-id"]
        case "set-properties":
            metadata["properties"] |= update["updates"]
        case "remove-properties":
            metadata["properties"] = {
                name: value
                for name, value in metadata["properties"].items()
                if name not in update["removals"]
            }
        case "add-snapshot":
            _add_snapshot(metadata, update["snapshot"])
        case "set-snapshot-ref":
            _set_ref(metadata, update, now)
        case "remove-snapshot-ref":
            metadata["refs"].pop(update["ref-name"], None)
        case action:
            raise AssertionError(f"no change of a table makes {action}")


def _upgrade(metadata: Attributes, version: int) -> None:
    metadata["format-version"] = version
    if version >= 2:  # the version whose rule follows
        metadata.pop("schema", None)
        metadata.pop("partition-spec", None)
        metadata.setdefault("last-sequence-number", 0)
    if version >= 3:
        metadata.setdefault("next-row-id", 0)


def _add_snapshot(metadata: Attributes, snapshot: Attributes) -> None:
    metadata["snapshots"].append(snapshot)
    if metadata["format-version"] > 1:
        metadata["last-sequence-number"] = max(
            metadata.get("last-sequence-number") or 0, snapshot["sequence-number"]
        )


def _set_ref(metadata: Attributes, update: Attributes, now: int) -> None:
    name, snapshot = update["ref-name"], update["snapshot-id"]
    metadata["refs"][name] = {
        key: value for key, value in update.items() if key not in ("action", "ref-name")
    }
    if name == MAIN and metadata.get("current-snapshot-id") != snapshot:
        metadata["current-snapshot-id"] = snapshot
        metadata["snapshot-log"] = [
            *(metadata.get("snapshot-log") or ()),
            {"snapshot-id": snapshot, "timestamp-ms": now},
        ]
