"""An intent in the journal that nothing could be settled by is damage, found before a system is asked
anything.
"""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from flareiac.model.journal import Begun, Intent, encode_entry
from flareiac.model.upgrades import AS_STORED
from flareiac.sdk.state import Damaged, Journal, Moment, StateStore
from flareiac.state.read import load

RECORD = {
    "address": "table.a",
    "type": "table",
    "provider": "iceberg",
    "schema_version": 1,
    "attributes": {},
    "identity": {},
    "dependencies": [],
    "protected": False,
    "resolved": {},
}
WHOLE: dict[str, Any] = {
    "key": "k",
    "address": "table.a",
    "action": "create",
    "planned": {"name": "a"},
    "recorded": None,
    "identity": None,
    "payload": {},
    "references": {},
    "record": RECORD,
}


def _store(operation: Any) -> StateStore:
    records = (
        encode_entry(Begun(apply="1", plan="p", time=1.0, lineage="l")),
        encode_entry(Intent(apply="1", id="create table.a", operation=operation)),
    )
    store = SimpleNamespace(
        describe=lambda: "here",
        read=lambda: Moment(snapshot=None, journal=Journal(records=records)),
    )
    return cast(StateStore, store)


def test_a_whole_intent_is_read() -> None:
    interrupted = load(_store(WHOLE), "/r", AS_STORED).recovered.interrupted
    assert interrupted is not None
    assert list(interrupted.open) == ["create table.a"]


@pytest.mark.parametrize("part", WHOLE)
@pytest.mark.parametrize("wrong", ["missing", 7, ["x"], [["x", 1]]], ids=str)
def test_an_intent_with_a_part_of_another_shape_is_damage(part: str, wrong: Any) -> None:
    if part == "payload" and wrong != "missing":
        pytest.skip("what a driver was asked to carry out is the provider's own")
    operation = (
        {key: value for key, value in WHOLE.items() if key != part}
        if wrong == "missing"
        else {**WHOLE, part: wrong}
    )
    if part == "identity":
        operation["recorded"] = {"name": "a"}
    with pytest.raises(Damaged):
        load(_store(operation), "/r", AS_STORED)


@pytest.mark.parametrize(
    "operation", ["x", 7, None, [], {}, {"action": "maintain", "work": 7, "address": "table.a"}], ids=str
)
def test_an_intent_that_is_none_is_damage(operation: Any) -> None:
    with pytest.raises(Damaged):
        load(_store(operation), "/r", AS_STORED)
