"""Records of an earlier version of a resource type become those that today's version would have written,
wherever they are stored. Records of a later version are refused.
"""

import tarfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flareiac.app.discovery import installed
from flareiac.kernel.data import Attributes
from flareiac.kernel.records import encode
from flareiac.model.intents import StoredRequest, stored_intent
from flareiac.model.journal import Begun, Intent, Result, encode_entry
from flareiac.model.plan import PlannedResource
from flareiac.model.snapshot import ResourceRecord, Snapshot, encode_snapshot
from flareiac.model.upgrades import AS_STORED, upgraded_plan, upgraded_record, upgraded_snapshot
from flareiac.sdk.changes import Action, Proposal
from flareiac.sdk.references import Resolved
from flareiac.sdk.resource_type import Kind, ResourceType
from flareiac.sdk.results import Recorded
from flareiac.sdk.state import Damaged, Journal, Moment, Stored, WrittenByNewer
from flareiac.sdk.type_roles import Recording
from flareiac.sdk.upgrades import Upgrade, without_identity
from flareiac.state.read import decode_state, understood
from tests.compatibility.recording import ARCHIVES, RUNNING
from tests.model.test_codecs import PLAN


def _renamed(old: str, new: str) -> Upgrade:
    def upgrade(recorded: Recorded) -> Recorded:
        attributes = {new if name == old else name: value for name, value in recorded.attributes.items()}
        return replace(recorded, attributes=attributes)

    return upgrade


def _type(*upgrades: Upgrade) -> ResourceType:
    return cast(ResourceType, SimpleNamespace(recording=Recording(upgrades=upgrades)))


TYPES = {"table": _type(_renamed("a", "b"), _renamed("b", "c"), without_identity("seen")), "job": _type()}
NEWEST = 4
"""The version of the type ``table`` above."""


def written(version: int) -> ResourceRecord:
    """Returns the record that each version writes of the same resource."""
    identity: Attributes = {"uuid": "u"} | ({"seen": 1} if version < NEWEST else {})
    return ResourceRecord(
        address="table.t",
        type="table",
        provider="p",
        schema_version=version,
        attributes={{1: "a", 2: "b"}.get(version, "c"): 7},
        identity=identity,
    )


@pytest.mark.parametrize("version", range(1, NEWEST + 1))
def test_each_version_becomes_what_the_newest_one_records(version: int) -> None:
    assert upgraded_record(written(version), TYPES, "here") == written(NEWEST)


@given(st.integers(1, NEWEST))
def test_an_upgraded_record_stays_as_it_is(version: int) -> None:
    once = upgraded_record(written(version), TYPES, "here")
    assert upgraded_record(once, TYPES, "here") is once


def test_dropped_resources_and_last_users_are_upgraded() -> None:
    checkpoint = ResourceRecord(
        address="checkpoint.c", type="checkpoint", provider="p", attributes={}, user=written(1)
    )
    old = Snapshot(lineage="l", resources={"checkpoint.c": checkpoint}, dropped=(written(2),))
    new = upgraded_snapshot(old, TYPES, "here")
    assert new.resources["checkpoint.c"].user == written(NEWEST)
    assert new.dropped == (written(NEWEST),)


def test_types_that_are_not_installed_keep_their_records() -> None:
    old = replace(written(1), type="other", schema_version=99)
    assert upgraded_record(old, TYPES, "here") is old


def _request(version: int) -> StoredRequest:
    record = written(version)
    return StoredRequest(
        key="k",
        address=record.address,
        action="update",
        planned=record.attributes,
        recorded=record.attributes,
        identity=record.identity,
        payload={"a": 1},
        references={
            "table.t": Resolved(
                address="table.t", type="table", attributes=record.attributes, identity=record.identity
            )
        },
        record=replace(record, attributes={}, identity={}),
    )


def _read(version: int, types: Any = TYPES) -> Any:
    begun = Begun(apply="1", plan="p", time=1.0, lineage="l")
    result = Result(apply="1", id="a", address="table.t", record=written(version))
    intent = Intent(apply="1", id="b", operation=encode(_request(version)))
    records = tuple(encode_entry(entry) for entry in (begun, result, intent))
    stored = Stored(content=encode_snapshot(Snapshot(lineage="l")), revision="1")
    return understood(Moment(snapshot=stored, journal=Journal(records=records)), "here", "/r", types)


@pytest.mark.parametrize("version", range(1, NEWEST + 1))
def test_the_journal_is_upgraded(version: int) -> None:
    loaded = _read(version)
    assert loaded.snapshot.resources["table.t"] == written(NEWEST)
    interrupted = loaded.recovered.interrupted
    assert stored_intent(interrupted.open["b"].operation) == _request(NEWEST)


def test_as_it_is_stored_nothing_is_upgraded() -> None:
    assert _read(1, AS_STORED).snapshot.resources["table.t"] == written(1)


def _planned(version: int) -> PlannedResource:
    record = written(version)
    return PlannedResource(
        address=record.address,
        type=record.type,
        provider=record.provider,
        proposal=Proposal(action=Action.UPDATE, planned=record.attributes, payload={"a": 1}),
        desired=record.attributes,
        recorded=record.attributes,
        observed=record.attributes,
        identity=record.identity,
        schema_version=version,
    )


@given(PLAN, st.integers(1, NEWEST))
def test_a_saved_plan_is_upgraded(plan: Any, version: int) -> None:
    def holding(version: int) -> Any:
        return replace(plan, resources=(_planned(version),), references=_request(version).references)

    assert upgraded_plan(holding(version), TYPES, "here") == holding(NEWEST)


def _in_a_snapshot(record: ResourceRecord) -> object:
    return upgraded_snapshot(Snapshot(lineage="l", resources={"table.t": record}), TYPES, "here")


def _in_the_journal(record: ResourceRecord) -> object:
    return _read(record.schema_version)


@pytest.mark.parametrize("read", [_in_a_snapshot, _in_the_journal])
def test_a_later_version_is_refused(read: Callable[[ResourceRecord], object]) -> None:
    with pytest.raises(WrittenByNewer) as refused:
        read(written(NEWEST + 1))
    said = f"{refused.value} {refused.value.way_out}"
    assert "here: it holds table.t in version 5 of the type table" in said
    assert "knows versions up to 4" in said
    assert "install that release" in said


def test_a_record_that_no_upgrade_can_read_is_damage() -> None:
    def upgrade(recorded: Recorded) -> Recorded:
        return replace(recorded, attributes={"a": recorded.attributes["b"]})

    with pytest.raises(
        Damaged, match=r"here: what it holds of table\.t has the wrong shape \(b is missing\)"
    ):
        upgraded_record(written(1), {"table": _type(upgrade)}, "here")


def _installed() -> list[ResourceType]:
    types = installed().registry.types
    return [types[name] for name in types]


@pytest.mark.parametrize("kind", _installed(), ids=lambda kind: kind.name)
def test_only_managed_types_have_upgrades(kind: ResourceType) -> None:
    """Connections and declarations are recorded with others, without a version."""
    assert kind.kind is Kind.MANAGED or not kind.recording.upgrades


@pytest.mark.parametrize("archive", sorted(ARCHIVES.glob(f"*-{RUNNING}.tar.xz")), ids=lambda path: path.name)
def test_upgrades_leave_alone_what_is_upgraded(archive: Path) -> None:
    """References to a resource go through all upgrades, whatever version wrote them."""
    types = installed().registry.types
    with tarfile.open(archive) as packed:
        stored = packed.extractfile("./.flareiac/state/default/snapshot.json")
        assert stored is not None
        snapshot = decode_state(stored.read(), archive.name, "/project", types)
    for record in snapshot.resources.values():
        recorded = record.recorded()
        for upgrade in types[record.type].recording.upgrades:
            assert upgrade(recorded) == recorded


MOMENTARY: dict[str, Attributes] = {
    "table": {"gone": [7], "found_at": "here", "destination_taken": False},
    "namespace": {"tables": ["demo.t"]},
    "job": {"observed": {"digest": "another", "state": "stopped"}},
}


@pytest.mark.parametrize("name", MOMENTARY)
def test_release_0_1_0_recorded_what_one_observation_said(name: str) -> None:
    """It was never to be taken for the present, so that the upgrade drops it."""
    types = installed().registry.types
    today = replace(written(types[name].recording.schema_version), type=name, identity={"created_by": "key"})
    old = replace(today, schema_version=1, identity={**today.identity, **MOMENTARY[name]})
    assert upgraded_record(old, types, "here") == today
