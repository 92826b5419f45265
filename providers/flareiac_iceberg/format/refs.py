"""The branches and tags that metadata names. Pure: takes metadata as JSON."""

from flareiac.kernel.data import Attributes
from flareiac_iceberg.format.snapshots import MAIN
from flareiac_iceberg.format.spec import Branch, SnapshotTag, clamped


def refs_of(metadata: Attributes) -> dict[str, Attributes]:
    """The branches and tags in metadata, by name, without main."""
    return {name: item for name, item in (metadata.get("refs") or {}).items() if name != MAIN}


def branches_of(metadata: Attributes) -> dict[str, Branch]:
    """The branches beside main."""
    return {name: _branch(item) for name, item in refs_of(metadata).items() if item["type"] == "branch"}


def tags_of(metadata: Attributes) -> dict[str, SnapshotTag]:
    """The tags."""
    return {
        name: SnapshotTag(snapshot_id=item["snapshot-id"], retain=clamped(item.get("max-ref-age-ms")))
        for name, item in refs_of(metadata).items()
        if item["type"] == "tag"
    }


def _branch(item: Attributes) -> Branch:
    return Branch(
        retain=clamped(item.get("max-ref-age-ms")),
        min_snapshots_to_keep=item.get("min-snapshots-to-keep"),
        max_snapshot_age=clamped(item.get("max-snapshot-age-ms")),
    )
