"""The snapshots of a table as an expiry sees them, from its metadata alone."""

from typing import Annotated

from flareiac.kernel.data import Attributes
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import Form
from flareiac_iceberg.maintenance.contents import Contents
from flareiac_iceberg.maintenance.figures import number
from flareiac_iceberg.maintenance.kinds.snapshot_expiry.expiry_rules import (
    MAIN,
    History,
    Ref,
    history_data,
    history_of,
)
from flareiac_iceberg.maintenance.kinds.snapshot_expiry.settings import SnapshotExpiry


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpiryFigures:
    history: Annotated[History, Form(history_data, history_of)]


def measure(_settings: SnapshotExpiry, contents: Contents) -> ExpiryFigures:
    """All snapshots, branches and tags."""
    return ExpiryFigures(history=_history(contents.table.metadata))


def _history(metadata: Attributes) -> History:
    snapshots = metadata.get("snapshots") or ()
    current = metadata.get("current-snapshot-id")
    refs = dict(metadata.get("refs") or {})
    if MAIN not in refs and current not in (None, -1):
        refs[MAIN] = {"snapshot-id": current, "type": "branch"}
    longest = number(metadata.get("properties") or {}, "history.expire.max-ref-age-ms")
    removed: dict[int, tuple[int, int]] = {}
    for snapshot in snapshots:
        summary = snapshot.get("summary") or {}
        removed[snapshot["snapshot-id"]] = (
            number(summary, "deleted-data-files") or 0,
            number(summary, "removed-delete-files") or 0,
        )
    return History(
        times={snapshot["snapshot-id"]: snapshot.get("timestamp-ms") or 0 for snapshot in snapshots},
        parents={snapshot["snapshot-id"]: snapshot.get("parent-snapshot-id") for snapshot in snapshots},
        refs=tuple(
            Ref(
                name=name,
                head=ref["snapshot-id"],
                is_branch=ref.get("type", "branch") == "branch",
                min_snapshots=ref.get("min-snapshots-to-keep"),
                max_snapshot_age=ref.get("max-snapshot-age-ms"),
                max_ref_age=ref.get("max-ref-age-ms", longest),
            )
            for name, ref in refs.items()
        ),
        removed=removed,
    )
