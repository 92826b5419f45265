"""The branches and tags that metadata names. Pure: takes metadata as JSON."""

from flareiac.kernel.data import Attributes
from flareiac_iceberg.format.snapshots import MAIN
from flareiac_iceberg.format.spec import Branch, SnapshotTag, clamped


def refs_of(metadata: Attributes) -> dict[str, Attributes]:
    """The branches and tags in metadata, by name, without main."""
    return {name: ref for name, ref in (metadata.get("refs") or {}).items() if name != MAIN}


def branches_of(metadata: Attributes) -> dict[str, Branch]:
    """The branches beside main."""
    return {name: _branch(ref) for name, ref in refs_of(metadata).items() if ref["type"] == "branch"}


def tags_of(metadata: Attributes) -> dict[str, SnapshotTag]:
    """The tags."""
    return {
        name: SnapshotTag(snapshot_id=ref["snapshot-id"], retain=clamped(ref.get("max-ref-age-ms")))
        for name, ref in refs_of(metadata).items()
        if ref["type"] == "tag"
    }


def _branch(ref: Attributes) -> Branch:
    return Branch(
        retain=clamped(ref.get("max-ref-age-ms")),
        min_snapshots_to_keep=ref.get("min-snapshots-to-keep"),
        max_snapshot_age=clamped(ref.get("max-snapshot-age-ms")),
    )
