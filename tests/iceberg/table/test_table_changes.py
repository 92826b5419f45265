"""Tables from plan to commit: each kind of change, with rows that stay readable."""

import datetime as dt
import json
from pathlib import Path
from typing import Any

import pytest
from pyiceberg.types import StringType

from flareiac.sdk.changes import Action, Effect, Origin, Reaction, Relation
from flareiac.sdk.requests import PlanRequest
from flareiac.sdk.results import Present, Recorded
from tests.iceberg.lake import CALLS, Lake, Rejected, columns

ORDERS: dict[str, Any] = {
    "namespace": "sales",
    "column": columns(
        id="long not null",
        ts="timestamptz",
        address="struct<street: string, zip: string>",
        amount="decimal(10,2)",
        n="int",
    ),
    "partition_by": [CALLS["day"]("ts"), CALLS["bucket"](4, "id")],
    "sort_by": [CALLS["asc"]("ts")],
    "identifier": ["id"],
    "properties": {"write.target-file-size-bytes": "1000000"},
    "comment": "orders",
}
ROW = {
    "id": 1,
    "ts": dt.datetime(2026, 1, 2, tzinfo=dt.UTC),
    "address": {"street": "a", "zip": "1"},
    "amount": None,
    "n": 7,
}


def orders(**changes: Any) -> dict[str, Any]:
    return ORDERS | changes


def with_columns(**types: str) -> dict[str, Any]:
    return orders(column={**ORDERS["column"], **columns(**types)})


def without(*names: str, **more: str) -> dict[str, dict[str, Any]]:
    return {name: block for name, block in ORDERS["column"].items() if name not in names} | columns(**more)


@pytest.fixture
def filled(lake: Lake) -> Lake:
    lake.apply("table.orders", ORDERS)
    lake.append("sales.orders", [ROW])
    return lake


def test_created_as_declared_in_one_commit(lake: Lake) -> None:
    proposal = lake.apply("table.orders", ORDERS)
    assert proposal.action is Action.CREATE
    table = lake.table("sales.orders")
    assert [field.name for field in table.schema().fields] == ["id", "ts", "address", "amount", "n"]
    assert [str(field.transform) for field in table.spec().fields] == ["day", "bucket[4]"]
    assert table.schema().identifier_field_names() == {"id"}
    assert len(table.sort_order().fields) == 1
    assert table.properties["commit.retry.num-retries"] == "20"
    assert table.metadata.metadata_log == []
    assert lake.plan("table.orders", ORDERS).action is Action.NO_OP


CHANGES: list[tuple[dict[str, Any], list[str]]] = [
    (with_columns(note="string"), ["add column note string"]),
    (
        orders(column=columns(id="long not null", note="list<string>") | without("id")),
        ["add column note list<string> after id"],
    ),
    (orders(column=without("n")), ["drop column n"]),
    (orders(column=without("n", m="int"), renamed={"n": "m"}), ["rename column n to m"]),
    (
        with_columns(n="long", amount="decimal(12,2)"),
        ["widen column amount from decimal(10,2) to decimal(12,2)", "widen column n from int to long"],
    ),
    (orders(column=columns(n="int") | without("n")), ["move column n to the front"]),
    (
        with_columns(address="struct<zip: string, street: string, city: string>"),
        ["move column address.zip to the front", "add column address.city string"],
    ),
    (
        orders(
            column=columns(
                id="long not null",
                ts="timestamptz",
                addr="struct<street: string, post: string>",
                amount="decimal(10,2)",
                n="int",
            ),
            renamed={"address": "addr", "address.zip": "addr.post"},
        ),
        ["rename column address to addr", "rename column addr.zip to addr.post"],
    ),
    (
        orders(identifier=[], column=without("id"), partition_by=[CALLS["day"]("ts")]),
        ["drop column id", "identify rows by nothing", 'no longer partition by bucket(4, "id")'],
    ),
    (
        orders(partition_by=[CALLS["hour"]("ts", "h"), CALLS["bucket"](4, "id")]),
        ['no longer partition by day("ts")', 'partition by hour("ts")'],
    ),
    (
        orders(partition_by=[CALLS["bucket"](4, "id"), CALLS["day"]("ts", "the_day")]),
        ['name the partition field day("ts") the_day'],
    ),
    (orders(partition_by=[]), ['no longer partition by day("ts")', 'no longer partition by bucket(4, "id")']),
    (orders(sort_by=[CALLS["desc"]("n", "first"), "id"]), ['sort by desc("n", "first"), asc("id")']),
    (orders(sort_by=[]), ["no longer sort"]),
    (orders(distribution="hash"), ["distribute rows by hash before writing"]),
    (
        orders(properties={"a": "b"}),
        ['set property a to "b"', "remove property write.target-file-size-bytes"],
    ),
    (orders(comment="", tags={"team": "x"}), ["set the table's comment", 'set tag team to "x"']),
    (with_columns(id="long") | {"identifier": []}, ["make column id optional", "identify rows by nothing"]),
]


@pytest.mark.parametrize(("after", "steps"), CHANGES, ids=[", ".join(steps) for _, steps in CHANGES])
def test_each_change_is_one_commit_and_rows_stay(
    filled: Lake, after: dict[str, Any], steps: list[str]
) -> None:
    before = len(filled.table("sales.orders").metadata.metadata_log)
    proposal = filled.apply("table.orders", after)
    assert proposal.action is Action.UPDATE
    assert [step.text for step in proposal.steps] == steps
    assert proposal.changes
    assert all(change.origin is Origin.CONFIG for change in proposal.changes)
    table = filled.table("sales.orders")
    assert len(table.metadata.metadata_log) == before + 1
    (row,) = filled.rows("sales.orders")
    kept = {name: value for name, value in row.items() if name in ROW and name != "address"}
    assert kept.items() <= ROW.items()
    filled.append("sales.orders", [row])
    assert len(filled.rows("sales.orders")) == 2
    again = filled.plan("table.orders", after)
    assert again.action is Action.NO_OP, again.changes


def test_a_renamed_column_keeps_its_values(filled: Lake) -> None:
    filled.apply("table.orders", orders(column=without("n", m="int"), renamed={"n": "m"}))
    assert filled.rows("sales.orders")[0]["m"] == 7
    done = filled.plan("table.orders", orders(column=without("n", m="int")))
    assert done.action is Action.RECORD
    filled.carry_out("table.orders", done)
    assert filled.plan("table.orders", orders(column=without("n", m="int"))).action is Action.NO_OP


def test_drop_beside_a_like_column_suggests_a_rename(filled: Lake) -> None:
    proposal = filled.plan("table.orders", orders(column=without("n", m="int")))
    assert 'renamed = { "n" = "m" }' in proposal.reasons[0]
    assert Effect.LOSES_DATA in [step.effect for step in proposal.steps]


def test_drop_and_rename_stop_writers_and_additions_do_not(filled: Lake) -> None:
    dropped = filled.plan("table.orders", orders(column=without("n")))
    assert [(item.relation, item.reaction) for item in dropped.disturbs] == [
        (Relation.WRITES, Reaction.STOPS_FIRST),
        (Relation.STREAMS_FROM, Reaction.STOPS_FIRST),
        (Relation.LOOKS_UP, Reaction.STOPS_FIRST),
    ]
    added = filled.plan("table.orders", with_columns(note="string")).disturbs
    assert {item.reaction for item in added if item.tolerance != "added columns"} == {Reaction.RUNS_ON}


REFUSED: list[tuple[dict[str, Any], str]] = [
    (with_columns(n="string"), "FII036"),
    (with_columns(id="int not null"), "FII036"),
    (with_columns(address="string"), "FII036"),
    (with_columns(n="int not null"), "FII031"),
    (with_columns(new="int not null"), "FII032"),
    (orders(format_version=1), "FII033"),
    (orders(column=without("ts"), partition_by=None, sort_by=None), "FII035"),
    (orders(column=without("ts"), partition_by=[], sort_by=[]), "FII045"),
    (orders(column=without("n", amount="decimal(10,2)"), renamed={"n": "amount"}), "FII030"),
    (orders(location="/somewhere/else"), "FII038"),
    (with_columns(id="long") | {"identifier": None}, "FII037"),
]


@pytest.mark.parametrize(
    ("after", "code"), REFUSED, ids=[f"{code}-{index}" for index, (_, code) in enumerate(REFUSED)]
)
def test_what_can_not_be_done_is_refused_with_a_way_out(
    filled: Lake, after: dict[str, Any], code: str
) -> None:
    proposal = filled.plan("table.orders", after)
    assert code in [item.code for item in proposal.blockers]
    assert all(item.why and item.ways_out for item in proposal.blockers)


def test_keys_of_maps_and_names_of_partition_fields_stay(lake: Lake) -> None:
    body: dict[str, Any] = {
        "namespace": "n",
        "column": columns(ts="timestamptz", m="map<int, string>"),
        "partition_by": [CALLS["day"]("ts")],
    }
    lake.apply("table.t", body)
    lake.append("n.t", [{"ts": ROW["ts"], "m": [(1, "a")]}])
    wider = body | {"column": columns(ts="timestamptz", m="map<long, string>")}
    assert [item.code for item in lake.plan("table.t", wider).blockers] == ["FII034"]
    named = body | {
        "column": columns(ts="timestamptz", m="map<int, string>", ts_day="date"),
        "partition_by": None,
    }
    assert [item.code for item in lake.plan("table.t", named).blockers] == ["FII039"]


def test_a_required_column_fits_an_empty_table_only(lake: Lake) -> None:
    lake.apply("table.orders", ORDERS)
    planned = lake.plan("table.orders", with_columns(new="int not null"))
    assert planned.blockers == ()
    lake.append("sales.orders", [ROW])
    outcome = lake.session.driver("table").apply(lake.request("table.orders", planned))
    assert [item.code for item in getattr(outcome, "diagnostics", ())] == ["FII040"]
    assert "new" not in [field.name for field in lake.table("sales.orders").schema().fields]


def test_an_empty_table_is_empty_by_an_earlier_state_too(lake: Lake) -> None:
    """With -refresh=false the record stands for the table, also one of an earlier release that did not keep
    whether rows were ever written.
    """
    lake.apply("table.orders", ORDERS)
    recorded = lake.state["table.orders"]
    identity = {name: value for name, value in recorded.identity.items() if name != "written"}
    planner = lake.types["table"].planning.planner
    assert planner is not None
    request = PlanRequest(
        address="table.orders",
        desired=lake.canonical("table", "orders", with_columns(new="int not null")),
        recorded=Recorded(attributes=recorded.attributes, identity=identity),
        observed=Present(attributes=recorded.attributes, identity=identity),
        references=lake.references,
        project=lake.project,
    )
    assert planner().plan(request).blockers == ()


def test_a_foreign_table_is_adopted_only_when_asked(lake: Lake) -> None:
    lake.apply("table.orders", ORDERS)
    lake.state.clear()
    after = with_columns(note="string")
    refused = lake.plan("table.orders", after)
    assert refused.action is Action.ADOPT
    assert 'id = "lake.sales.orders"' in refused.blockers[0].ways_out[0]
    adopted = lake.apply("table.orders", after, importing=True)
    assert adopted.action is Action.ADOPT
    assert lake.plan("table.orders", after).action is Action.NO_OP


def test_what_nobody_declared_is_left_alone_and_told(filled: Lake) -> None:
    table = filled.table("sales.orders")
    with table.transaction() as change:
        with change.update_schema() as schema:
            schema.add_column("extra", StringType())
        change.set_properties({"write.other": "1"})
    proposal = filled.plan("table.orders", ORDERS)
    assert proposal.action is Action.NO_OP
    observed = filled.read("table.orders", proposal.planned)
    assert isinstance(observed, Present)
    assert [(part.text, part.path) for part in observed.unmanaged] == [
        ('column "extra"', ("column", "extra")),
        ('property "write.other"', ("properties", "write.other")),
    ]
    filled.apply("table.orders", with_columns(note="string"))
    assert "extra" in [field.name for field in filled.table("sales.orders").schema().fields]


def test_drift_is_told_and_put_back(filled: Lake) -> None:
    with filled.table("sales.orders").transaction() as change:
        with change.update_schema() as schema:
            schema.rename_column("n", "number")
            schema.update_column("amount", doc="changed")
            schema.move_first("amount")
        change.set_properties({"write.target-file-size-bytes": "5"})
        change.remove_properties("commit.retry.num-retries")
    proposal = filled.apply("table.orders", ORDERS)
    assert proposal.action is Action.UPDATE
    assert set(proposal.drift) == {
        'column "n" was renamed to "number" outside of FlareIaC',
        'property "write.target-file-size-bytes" was changed from "1000000" to "5" outside of FlareIaC',
        "the order of the columns was changed outside of FlareIaC",
    }
    assert Origin.DEFAULT in [change.origin for change in proposal.changes]
    assert filled.rows("sales.orders")[0]["n"] == 7
    assert filled.plan("table.orders", ORDERS).action is Action.NO_OP


def test_a_dropped_column_is_drift(filled: Lake) -> None:
    with filled.table("sales.orders").update_schema() as schema:
        schema.delete_column("n")
    proposal = filled.apply("table.orders", ORDERS)
    assert proposal.drift == ('column "n" was dropped outside of FlareIaC',)
    assert [step.text for step in proposal.steps] == ["add column n int again, under another field id"]


def test_desired_that_the_world_has_already_is_only_recorded(filled: Lake) -> None:
    with filled.table("sales.orders").transaction() as change:
        change.set_properties({"write.target-file-size-bytes": "5"})
    after = orders(properties={"write.target-file-size-bytes": "5"})
    proposal = filled.apply("table.orders", after)
    assert proposal.action is Action.RECORD
    assert filled.plan("table.orders", after).action is Action.NO_OP


def test_a_dropped_table_is_created_again(filled: Lake) -> None:
    other = filled.other()
    other.drop_table("sales.orders")
    other.close()
    proposal = filled.apply("table.orders", ORDERS)
    assert proposal.action is Action.CREATE
    assert proposal.drift == ("the table was dropped outside of FlareIaC",)
    assert filled.plan("table.orders", ORDERS).action is Action.NO_OP


def test_another_table_under_the_same_name_is_not_touched(filled: Lake) -> None:
    other = filled.other()
    schema = other.load_table("sales.orders").schema()
    other.drop_table("sales.orders")
    other.create_table("sales.orders", schema)
    other.close()
    proposal = filled.plan("table.orders", ORDERS)
    assert [item.code for item in proposal.blockers] == ["FII021"]
    assert "dropped and created again" in proposal.drift[0]
    assert [item.code for item in filled.plan("table.orders", ORDERS, replace=True).blockers] == ["FII021"]


def test_another_table_is_adopted_when_its_uuid_is_named(filled: Lake) -> None:
    other = filled.other()
    schema = other.load_table("sales.orders").schema()
    other.drop_table("sales.orders")
    uuid = other.create_table("sales.orders", schema).metadata.table_uuid
    other.close()
    left_over = filled.plan("table.orders", ORDERS, import_id="lake.sales.orders")
    assert [item.code for item in left_over.blockers] == ["FII021"]
    (way_out,) = [item for item in left_over.blockers[0].ways_out if "import {" in item]
    assert f'id = "lake.sales.orders@{uuid}"' in way_out
    adopted = filled.apply("table.orders", ORDERS, import_id=f"lake.sales.orders@{uuid}")
    assert adopted.action is Action.ADOPT
    assert Reaction.CAN_NOT in {item.reaction for item in adopted.disturbs}
    assert filled.state["table.orders"].identity["uuid"] == str(uuid)
    assert filled.plan("table.orders", ORDERS).action is Action.NO_OP


def test_replacing_drops_and_creates(filled: Lake) -> None:
    replaced = filled.apply("table.orders", ORDERS, replace=True)
    assert replaced.action is Action.REPLACE
    assert filled.rows("sales.orders") == []
    assert filled.plan("table.orders", ORDERS).action is Action.NO_OP


def test_removing_the_block_forgets_or_drops(filled: Lake) -> None:
    recorded = filled.state["table.orders"]
    assert filled.apply("table.orders", None).action is Action.FORGET
    assert filled.rows("sales.orders")
    filled.state["table.orders"] = recorded
    changed = filled.apply("table.orders", orders(on_destroy="drop"))
    assert changed.action is Action.UPDATE
    assert len(filled.table("sales.orders").metadata.metadata_log) == 1
    location = filled.table("sales.orders").metadata_location
    dropped = filled.plan("table.orders", None)
    assert dropped.action is Action.DELETE
    filled.carry_out("table.orders", dropped)
    assert filled.plan("table.orders", ORDERS).action is Action.CREATE
    assert Path(location.removeprefix("file://")).exists()


def test_purge_deletes_the_files(filled: Lake) -> None:
    filled.apply("table.orders", orders(on_destroy="purge"))
    files = [task.file.file_path for task in filled.table("sales.orders").scan().plan_files()]
    filled.apply("table.orders", None)
    assert files
    assert not any(Path(item.removeprefix("file://")).exists() for item in files)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (with_columns(bad="timestamp"), "FII053"),
        (with_columns(bad="struct<a: int"), "FII053"),
        (with_columns(ID="long"), "FII055"),
        (orders(identifier=["n"]), "FII037"),
        (orders(identifier=["nope"]), "FII059"),
        (orders(partition_by=[CALLS["day"]("n")]), "FII064"),
        (orders(partition_by=[CALLS["day"]("tss")]), "FII059"),
        (orders(partition_by=[CALLS["day"]("ts"), CALLS["day"]("ts", "x")]), "FII060"),
        (orders(partition_by=[CALLS["day"]("ts", "n")]), "FII061"),
        (orders(partition_by=CALLS["day"]("ts")), "FII062"),
        (orders(sort_by=["address"]), "FII064"),
        (orders(properties={"comment": "x"}), "FII065"),
        (orders(format_version=4), "FII067"),
        (
            orders(partition_by=[{"transform": "zorder", "column": "id", "param": None, "name": None}]),
            "FII063",
        ),
        (orders(partition_by=[{"transform": "bucket", "column": "id", "param": 0, "name": None}]), "FII063"),
        (orders(partition_by=[{"transform": "day", "column": "ts", "param": 3, "name": None}]), "FII063"),
        (with_columns(_file="string"), "FII092"),
        (with_columns(bad="struct<a: int, A: int>"), "FII053"),
        (orders(renamed={"id": "n"}), "FII068"),
        (orders(renamed={"x": "y"}), "FII068"),
        (orders(name="a.b"), "FII052"),
        (orders(namespace="a..b"), "FII051"),
    ],
)
def test_wrong_blocks_are_found_before_anything_is_asked(lake: Lake, body: dict[str, Any], code: str) -> None:
    with pytest.raises(Rejected) as caught:
        lake.canonical("table", "orders", body)
    assert code in caught.value.codes


MAPPING = "schema.name-mapping.default"
NAMES = [
    {"field-id": 1, "names": ["id"]},
    {"field-id": 2, "names": ["a", "A"], "fields": [{"field-id": 5, "names": ["zip"]}]},
    {"field-id": 4, "names": ["l"], "fields": [{"field-id": 6, "names": ["element"]}]},
]
"""The names of a table whose column ``n`` (3) has none in files without ids."""


@pytest.fixture
def mapped(lake: Lake) -> Lake:
    body = {"namespace": "n", "column": columns(id="long", a="struct<zip: string>", n="int", l="list<int>")}
    lake.apply("table.t", body)
    with lake.table("n.t").transaction() as change:
        change.set_properties({MAPPING: json.dumps(NAMES)})
    return lake


def names_of(lake: Lake) -> dict[str, list[str]]:
    """The names of each field in a table's mapping, by the field's path, or by its id where the column is
    gone.
    """
    table = lake.table("n.t")
    mapping = table.name_mapping()
    assert mapping is not None
    found: dict[str, list[str]] = {}
    rows = list(mapping)
    while rows:
        row = rows.pop()
        assert row.field_id is not None
        found[table.schema().find_column_name(row.field_id) or str(row.field_id)] = list(row.names)
        rows += row.fields
    return found


def test_names_in_files_without_ids_follow_the_columns(mapped: Lake) -> None:
    body = {
        "namespace": "n",
        "column": columns(
            id="long", b="struct<post: string, city: string>", n="int", l="list<int>", m="map<string, int>"
        ),
        "renamed": {"a": "b", "a.zip": "b.post"},
    }
    mapped.apply("table.t", body)
    rest = {
        "id": ["id"],
        "l": ["l"],
        "l.element": ["element"],
        "m": ["m"],
        "m.key": ["key"],
        "m.value": ["value"],
    }
    assert names_of(mapped) == rest | {"b": ["a", "A", "b"], "b.post": ["zip", "post"], "b.city": ["city"]}
    assert mapped.plan("table.t", body).action is Action.NO_OP


def test_names_in_files_without_ids_keep_their_meaning(mapped: Lake) -> None:
    """The values that such files have of a column that was renamed or dropped are never read as another
    one's.
    """
    rest = {"l": ["l"], "l.element": ["element"]}
    body: dict[str, Any] = {"namespace": "n", "column": columns(key="long", n="int", l="list<int>")}
    mapped.apply("table.t", body | {"renamed": {"id": "key"}})
    mapped.apply("table.t", body | {"column": {**body["column"], **columns(id="string", a="string")}})
    assert names_of(mapped) == rest | {"key": ["id", "key"], "2": ["a", "A"], "5": ["zip"]}


@pytest.mark.parametrize("text", ["x", "7", "[7]", json.dumps(NAMES)])
def test_names_that_are_declared_or_no_names_are_left_alone(mapped: Lake, text: str) -> None:
    body: dict[str, Any] = {
        "namespace": "n",
        "column": columns(id="long", a="struct<zip: string>", n="int", l="list<int>"),
    }
    declared = body if text == "x" else body | {"properties": {MAPPING: text}}
    with mapped.table("n.t").transaction() as change:
        change.set_properties({MAPPING: text})
    mapped.apply("table.t", declared)
    wider = declared | {"column": {**body["column"], **columns(more="int")}}
    mapped.apply("table.t", wider)
    assert mapped.table("n.t").properties[MAPPING] == text
    assert mapped.plan("table.t", wider).action is Action.NO_OP


@pytest.mark.parametrize("place", ["gs://bucket/x", "rel/x", "s3://bucket"])
def test_a_place_where_no_metadata_can_be_written_is_refused_before_the_apply(lake: Lake, place: str) -> None:
    """Also where another program has set it, and the table is to be adopted or changed."""
    own = {"properties": {"write.metadata.path": place}}
    assert [item.code for item in lake.plan("table.orders", orders(**own)).blockers] == ["FII170"]
    lake.apply("table.orders", ORDERS)
    [found] = lake.plan("table.orders", orders(**own)).blockers
    assert f'write.metadata.path of the table is "{place}"' in found.why
    location = Path(lake.table("sales.orders").metadata_location.removeprefix("file://"))
    metadata = json.loads(location.read_text(encoding="utf-8"))
    metadata["properties"]["write.metadata.path"] = place
    location.write_text(json.dumps(metadata), encoding="utf-8")
    del lake.state["table.orders"]
    known = {"importing": True, "import_id": "lake.sales.orders"}
    assert [item.code for item in lake.plan("table.orders", ORDERS, **known).blockers] == ["FII170"]
    del metadata["properties"]["write.metadata.path"]
    metadata["location"] = "hdfs://name/orders" if place == "s3://bucket" else place
    location.write_text(json.dumps(metadata), encoding="utf-8")
    [found] = lake.plan("table.orders", ORDERS, **known).blockers
    assert (found.code, metadata["location"] in found.why) == ("FII170", True)
