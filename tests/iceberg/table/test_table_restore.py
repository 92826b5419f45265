"""The state of a table that one commit sets back. Pure."""

from flareiac_iceberg.table.rollback import HELD_MS, updates, way_back

DAY_MS = 24 * 60 * 60 * 1000


def test_what_is_left_is_held_for_a_week_from_now_on() -> None:
    """Iceberg counts the age of a tag from the time of its snapshot, which may be long ago."""
    snapshots: list[dict[str, object]] = [
        {"snapshot-id": number, "timestamp-ms": number * DAY_MS, "summary": {}} for number in (1, 2)
    ]
    refs = {"main": {"snapshot-id": 2, "type": "branch"}}
    metadata = {"current-snapshot-id": 2, "snapshots": snapshots, "refs": refs}
    tag, _move = updates(metadata, way_back(metadata, "t", 1, ()), now=30 * DAY_MS / 1000)
    assert tag["snapshot-id"] == 2
    assert 2 * DAY_MS + tag["max-ref-age-ms"] == 30 * DAY_MS + HELD_MS
