"""Stored values come back as they were, and bytes that were never stored are damage, whatever they are."""

import contextlib
import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flareiac.kernel.addresses import block_type
from flareiac.kernel.codes import Code
from flareiac.kernel.data import ABSENT, UNKNOWN, Attributes, Data, Reference, to_json
from flareiac.kernel.diagnostics import warning
from flareiac.kernel.records import decode
from flareiac.kernel.sources import Position, Span
from flareiac.model.desired import OutputValue
from flareiac.model.journal import (
    Begun,
    Ended,
    Entry,
    Intent,
    Outputs,
    Result,
    decode_entry,
    encode_entry,
    replay,
)
from flareiac.model.plan import Edge, EdgeKind, Operation, OutputChange, Plan, PlannedResource, Verb
from flareiac.model.plan_file import decode_plan, encode_plan
from flareiac.model.snapshot import ResourceRecord, Snapshot, decode_snapshot, encode_snapshot
from flareiac.sdk.changes import (
    Action,
    AttributeChange,
    Blocker,
    Effect,
    Impact,
    Origin,
    Proposal,
    Reaction,
    Relation,
    Step,
)
from flareiac.sdk.references import Resolved
from flareiac.sdk.results import Recorded
from flareiac.sdk.state import Damaged

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
ADDRESS = st.sampled_from(["table.a", 'table.b["x"]', "job.c[0]", "checkpoint.d"])
LEAF = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False, allow_infinity=False),
    TEXT,
)
KEY = st.one_of(TEXT, st.sampled_from(["$ref", "$unknown", "$absent", "$$ref", "$$$absent", "$references"]))
DATA: st.SearchStrategy[Data] = st.recursive(
    st.one_of(LEAF, st.just(UNKNOWN), ADDRESS.map(Reference)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEY, inner, max_size=3)),
    max_leaves=6,
)
ATTRIBUTES = st.dictionaries(KEY, DATA, max_size=3)
TEXTS = st.lists(TEXT, max_size=2).map(tuple)
OUTPUT = st.builds(OutputValue, value=DATA, sensitive=st.booleans())

RECORD = st.builds(
    ResourceRecord,
    address=ADDRESS,
    type=TEXT,
    provider=TEXT,
    attributes=ATTRIBUTES,
    identity=ATTRIBUTES,
    dependencies=st.lists(ADDRESS, max_size=2).map(tuple),
    protected=st.booleans(),
    schema_version=st.integers(1, 9),
    resolved=st.dictionaries(ADDRESS, ATTRIBUTES, max_size=2),
)
SNAPSHOT = st.builds(
    Snapshot,
    lineage=TEXT,
    serial=st.integers(0, 2**40),
    resources=st.lists(RECORD, max_size=3).map(lambda records: {item.address: item for item in records}),
    outputs=st.dictionaries(TEXT, OUTPUT, max_size=2),
)
ENTRY: st.SearchStrategy[Entry] = st.one_of(
    st.builds(Begun, apply=TEXT, plan=TEXT, time=st.floats(0, 1e10), lineage=TEXT),
    st.builds(Intent, apply=TEXT, id=TEXT, operation=ATTRIBUTES),
    st.builds(
        Result,
        apply=TEXT,
        id=TEXT,
        address=ADDRESS,
        record=st.none() | RECORD,
        forgotten=st.booleans(),
        error=st.none() | TEXT,
    ),
    st.builds(Outputs, apply=TEXT, outputs=st.dictionaries(TEXT, OUTPUT, max_size=2)),
    st.builds(Ended, apply=TEXT),
)
VALUE = st.one_of(DATA, st.just(ABSENT))
CHANGE = st.builds(
    AttributeChange,
    path=st.lists(st.one_of(TEXT, st.integers(0, 9)), min_size=1, max_size=2).map(tuple),
    origin=st.sampled_from(Origin),
    old=VALUE,
    new=VALUE,
    live=VALUE,
    note=TEXT,
    sensitive=st.booleans(),
)
DISTURBANCE = st.builds(
    Impact, relation=st.sampled_from(Relation), reaction=st.sampled_from(Reaction), reason=TEXT
)
WARNING = st.builds(
    warning,
    st.builds(Code, TEXT, TEXT),
    TEXT,
    subject=st.none() | st.just(Span("main.flare.hcl", Position(1, 2, 3), Position(4, 5, 6))),
    address=st.none() | ADDRESS,
)
PROPOSAL = st.builds(
    Proposal,
    action=st.sampled_from(Action),
    planned=st.none() | ATTRIBUTES,
    changes=st.lists(CHANGE, max_size=2).map(tuple),
    steps=st.lists(st.builds(Step, text=TEXT, effect=st.sampled_from(Effect), why=TEXT), max_size=2).map(
        tuple
    ),
    reasons=TEXTS,
    blockers=st.lists(st.builds(Blocker, code=TEXT, summary=TEXT, why=TEXT, ways_out=TEXTS), max_size=2).map(
        tuple
    ),
    disturbs=st.lists(DISTURBANCE, max_size=2).map(tuple),
    drift=TEXTS,
    fingerprint=DATA,
    payload=DATA,
    diagnostics=st.lists(WARNING, max_size=1).map(tuple),
)
PLANNED = st.builds(
    PlannedResource,
    address=ADDRESS,
    type=TEXT,
    provider=TEXT,
    proposal=PROPOSAL,
    desired=st.none() | ATTRIBUTES,
    recorded=st.none() | ATTRIBUTES,
    identity=ATTRIBUTES,
    observed=st.none() | ATTRIBUTES,
    dependencies=st.lists(ADDRESS, max_size=2).map(tuple),
    protected=st.booleans(),
    import_id=st.none() | TEXT,
    destroy_object=st.booleans(),
    replace=st.booleans(),
    disturbances=st.lists(DISTURBANCE, max_size=1).map(tuple),
    resolved=st.dictionaries(ADDRESS, ATTRIBUTES, max_size=1),
)
OPERATION = st.builds(
    Operation,
    id=TEXT,
    address=ADDRESS,
    verb=st.sampled_from(Verb),
    edges=st.lists(st.builds(Edge, after=TEXT, kind=st.sampled_from(EdgeKind), reason=TEXT), max_size=2).map(
        tuple
    ),
)


def _resolved(address: str, attributes: Attributes, identity: Attributes) -> Resolved:
    return Resolved(address=address, type=block_type(address), attributes=attributes, identity=identity)


PLAN = st.builds(
    Plan,
    lineage=TEXT,
    serial=st.integers(0, 99),
    workspace=TEXT,
    time=st.floats(0, 1e10),
    configuration=TEXT,
    destroy=st.booleans(),
    targeted=st.booleans(),
    maintenance_only=st.booleans(),
    resources=st.lists(PLANNED, max_size=2).map(tuple),
    references=st.dictionaries(ADDRESS, st.tuples(ATTRIBUTES, ATTRIBUTES), max_size=2).map(
        lambda found: {
            address: _resolved(address, attributes, identity)
            for address, (attributes, identity) in found.items()
        }
    ),
    operations=st.lists(OPERATION, max_size=2).map(tuple),
    outputs=st.dictionaries(
        TEXT, st.builds(OutputChange, before=st.none() | OUTPUT, after=st.none() | OUTPUT), max_size=2
    ),
    diagnostics=st.lists(WARNING, max_size=2).map(tuple),
    variables=ATTRIBUTES,
)


@given(SNAPSHOT)
def test_a_snapshot_comes_back(snapshot: Snapshot) -> None:
    content = encode_snapshot(snapshot)
    assert decode_snapshot(content, "here") == snapshot
    assert encode_snapshot(decode_snapshot(content, "here")) == content


@given(ENTRY)
def test_a_journal_entry_comes_back(entry: Entry) -> None:
    assert decode_entry(encode_entry(entry), "here") == entry
    assert b"\n" not in encode_entry(entry)


@given(PLAN)
def test_a_plan_comes_back(plan: Plan) -> None:
    content = encode_plan(plan, tool_version="1", root="/r")
    assert decode_plan(content, "here", "/r") == plan
    assert encode_plan(decode_plan(content, "here", "/r"), tool_version="1", root="/r") == content


@given(PLAN)
def test_a_plan_whose_attributes_are_repeated_comes_back(plan: Plan) -> None:
    """They are written once: a resource that is as it was, and as others see it."""
    resources = tuple(
        replace(item, desired=item.proposal.planned, observed=item.proposal.planned)
        for item in plan.resources
    )
    seen = {
        item.address: _resolved(item.address, item.proposal.planned, {})
        for item in resources
        if item.proposal.planned is not None
    }
    repeated = replace(plan, resources=resources, references={**plan.references, **seen})
    content = encode_plan(repeated, tool_version="1", root="/r")
    assert decode_plan(content, "here", "/r") == repeated
    written = json.loads(content)
    assert {item["desired"] for item in written["resources"]} <= {"planned", None}
    assert {written["references"][address]["attributes"] for address in seen} <= {"planned"}


@given(SNAPSHOT, st.lists(ENTRY, max_size=6))
def test_replaying_in_two_parts_is_replaying_at_once(snapshot: Snapshot, entries: list[Entry]) -> None:
    half = len(entries) // 2
    first = replay(snapshot, entries[:half]).snapshot
    assert replay(first, entries[half:]).snapshot == replay(snapshot, entries).snapshot


JSON = st.recursive(
    st.one_of(LEAF, st.just(float("inf"))),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXT, inner, max_size=3)),
    max_leaves=8,
)


def mutated(document: Any, choices: st.DataObject, junk: Any) -> Any:
    """A JSON document with one part of it, somewhere, taken away or replaced by junk."""
    if isinstance(document, dict) and document and choices.draw(st.integers(0, 3)):
        key = choices.draw(st.sampled_from(sorted(document)))
        rest = {name: value for name, value in document.items() if name != key}
        return rest if choices.draw(st.booleans()) else {**rest, key: mutated(document[key], choices, junk)}
    if isinstance(document, list) and document:
        return [mutated(document[0], choices, junk), *document[1:]]
    return junk


def decode_plan_here(content: bytes, where: str) -> Plan:
    return decode_plan(content, where, "/r")


@given(st.binary(max_size=60) | st.text(max_size=60).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_any_bytes_are_damage(content: bytes) -> None:
    for read in (decode_plan_here, decode_snapshot, decode_entry):
        with pytest.raises(Damaged):
            read(content, "here")


@given(SNAPSHOT, st.data(), JSON)
def test_a_mutated_snapshot_is_read_or_damaged(snapshot: Snapshot, choices: st.DataObject, junk: Any) -> None:
    document = mutated(json.loads(encode_snapshot(snapshot)), choices, junk)
    with contextlib.suppress(Damaged):
        decode_snapshot(json.dumps(document).encode(), "here")


@given(ENTRY, st.data(), JSON)
def test_a_mutated_journal_entry_is_read_or_damaged(entry: Entry, choices: st.DataObject, junk: Any) -> None:
    document = mutated(json.loads(encode_entry(entry)), choices, junk)
    with contextlib.suppress(Damaged):
        decode_entry(json.dumps(document).encode(), "here")


@given(PLAN, st.data(), JSON)
def test_a_mutated_plan_is_damaged(plan: Plan, choices: st.DataObject, junk: Any) -> None:
    before = json.loads(encode_plan(plan, tool_version="1", root="/r"))
    after = mutated(before, choices, junk)
    if json.dumps(after, sort_keys=True) != json.dumps(before, sort_keys=True):
        with pytest.raises(Damaged):
            decode_plan(json.dumps(after).encode(), "here", "/r")


@pytest.mark.parametrize(
    "content", [b"[" * 100_000, b'{"a":' * 100_000, b"1" * 10_000, b'{"format_version": 1e999, "kind": NaN}']
)
def test_hostile_json_is_damage(content: bytes) -> None:
    for read in (decode_plan_here, decode_snapshot, decode_entry):
        with pytest.raises(Damaged):
            read(content, "here")


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999"])
def test_what_is_no_number_of_json_is_damage(number: str) -> None:
    """Python reads and writes these; what other programs then read from ``-json`` would not be JSON."""
    output = b'{"a":{"value":NUMBER,"sensitive":false}}'
    document = (
        b'{"format_version":1,"features":[],"lineage":"x","serial":1,"outputs":'
        + output
        + b',"resources":[]}'
    )
    assert decode_snapshot(document.replace(b"NUMBER", b"1e99"), "here").outputs["a"].value == 1e99
    with pytest.raises(Damaged):
        decode_snapshot(document.replace(b"NUMBER", number.encode()), "here")


def test_what_is_nested_deeper_than_anything_that_was_written_is_damage() -> None:
    value = b"[" * 400 + b"]" * 400
    document = b'{"format_version":1,"features":[],"lineage":"x","serial":1,"resources":[],"outputs":{"a":{"sensitive":false,"value":'
    with pytest.raises(Damaged):
        decode_snapshot(document + value + b"}}}", "here")


@pytest.mark.parametrize("value", [Reference("table.a"), UNKNOWN], ids=str)
def test_a_leaf_is_not_a_whole_body(value: Data) -> None:
    """A record of another kind does not pass for a mapping only because it is a record."""
    with pytest.raises(TypeError):
        decode(Recorded, {"attributes": to_json(value)})
