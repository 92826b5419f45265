"""The serials of a state between which maintenance alone was recorded."""

from dataclasses import replace

import pytest

from flareiac.model.desired import OutputValue
from flareiac.model.snapshot import (
    ResourceRecord,
    Snapshot,
    after_maintenance,
    decode_snapshot,
    differs_by_maintenance_alone,
    encode_snapshot,
)
from flareiac.sdk.maintenance import LastRun

RECORD = ResourceRecord(address="thing.a", type="thing", provider="toy", attributes={"value": "1"})
BEFORE = Snapshot(lineage="x", serial=4, resources={"thing.a": RECORD})


def maintained(before: Snapshot, at: float) -> Snapshot:
    swept = replace(RECORD, maintenance={"sweeping": LastRun(at=at, id="1", forecast={}, result={})})
    after = replace(before, serial=before.serial + 1, resources={"thing.a": swept})
    return after_maintenance(before, after)


def alone(snapshot: Snapshot) -> list[int]:
    return [serial for serial in range(10) if differs_by_maintenance_alone(snapshot, serial)]


def test_one_run_after_the_other_makes_one_span() -> None:
    first = maintained(BEFORE, 1.0)
    second = maintained(first, 2.0)
    assert [alone(item) for item in (BEFORE, first, second)] == [[4], [4, 5], [4, 5, 6]]
    assert decode_snapshot(encode_snapshot(second), "here") == second


def test_what_writes_the_next_state_leaves_the_span_behind() -> None:
    """Also where it knows nothing of spans and hands on what it has read."""
    written = replace(maintained(BEFORE, 1.0), serial=6)
    assert alone(written) == [6]
    assert alone(maintained(written, 2.0)) == [6, 7]


@pytest.mark.parametrize(
    "other",
    [
        {"outputs": {"o": OutputValue(value="1", sensitive=False, type="string")}},
        {"resources": {}},
        {"resources": {"thing.a": replace(RECORD, attributes={"value": "2"})}},
        {"resources": {"thing.a": replace(RECORD, identity={"id": "2"})}},
        {"dropped": (RECORD,)},
    ],
    ids=["outputs", "gone", "attributes", "identity", "dropped"],
)
def test_a_run_that_records_anything_else_makes_none(other: dict[str, object]) -> None:
    after = replace(BEFORE, serial=5, **other)  # type: ignore[arg-type]  # fields by name
    assert alone(after_maintenance(BEFORE, after)) == [5]
