"""Columns that get a new name: inside lists and maps, one after another, and what cannot be told apart."""

from typing import Any

import pytest

from flareiac.sdk.changes import Action
from tests.iceberg.lake import Lake, Rejected, columns


def body(renamed: dict[str, str] | None = None, **types: str) -> dict[str, Any]:
    return {"namespace": "n", "column": columns(**types), "renamed": renamed or {}}


DEEP = {
    "id": "long",
    "items": "list<struct<sku: string, n: int>>",
    "by": "map<string, struct<x: int, y: list<struct<z: int>>>>",
}
ROW = {"id": 1, "items": [{"sku": "s", "n": 2}], "by": [("k", {"x": 3, "y": [{"z": 4}]})]}


def test_fields_inside_lists_and_maps_keep_their_values(lake: Lake) -> None:
    lake.apply("table.t", body(None, **DEEP))
    lake.append("n.t", [ROW])
    after = body(
        {
            "items": "lines",
            "lines.element.sku": "lines.element.code",
            "by.value.x": "by.value.a",
            "by.value.y.element.z": "by.value.y.element.b",
        },
        id="long",
        lines="list<struct<code: string, n: long>>",
        by="map<string, struct<a: int, y: list<struct<b: int>>>>",
    )
    proposal = lake.apply("table.t", after)
    assert [step.text for step in proposal.steps] == [
        "rename column items to lines",
        "rename column lines.element.sku to lines.element.code",
        "rename column by.value.x to by.value.a",
        "rename column by.value.y.element.z to by.value.y.element.b",
        "widen column lines.element.n from int to long",
    ]
    (row,) = lake.rows("n.t")
    assert row == {"id": 1, "lines": [{"code": "s", "n": 2}], "by": [("k", {"a": 3, "y": [{"b": 4}]})]}
    assert lake.plan("table.t", after).action is Action.NO_OP


def test_old_paths_may_be_written_as_they_were(lake: Lake) -> None:
    lake.apply("table.t", body(None, **DEEP))
    after = body(
        {"items": "lines", "items.element.sku": "lines.element.code"},
        id="long",
        lines="list<struct<code: string, n: int>>",
        by=DEEP["by"],
    )
    assert [step.text for step in lake.apply("table.t", after).steps] == [
        "rename column items to lines",
        "rename column lines.element.sku to lines.element.code",
    ]


def test_names_over_time_lead_to_the_last_one_from_wherever_a_table_stands(lake: Lake) -> None:
    history = {"a": "b", "b": "c"}
    for name, start in (("t1", "a"), ("t2", "b"), ("t3", "c")):
        lake.apply(f"table.{name}", body(None, id="long", **{start: "string"}))
        lake.append(f"n.{name}", [{"id": 1, start: "kept"}])
        after = body(history, id="long", c="string")
        proposal = lake.apply(f"table.{name}", after)
        assert [step.text for step in proposal.steps] == (
            [] if start == "c" else [f"rename column {start} to c"]
        )
        assert lake.rows(f"n.{name}") == [{"id": 1, "c": "kept"}]
        assert lake.plan(f"table.{name}", after).action is Action.NO_OP


def test_a_new_column_of_the_old_name_is_left_alone_once_the_rename_is_done(lake: Lake) -> None:
    lake.apply("table.t", body(None, id="long", a="string"))
    after = body({"a": "b"}, id="long", b="string")
    lake.apply("table.t", after)
    with lake.table("n.t").update_schema() as schema:
        from pyiceberg.types import StringType

        schema.add_column("a", StringType())
    proposal = lake.plan("table.t", after)
    assert (proposal.blockers, proposal.steps) == ((), ())


def test_a_name_that_is_in_use_is_refused_with_both_ways_out(lake: Lake) -> None:
    lake.apply("table.t", body(None, id="long", items="list<struct<sku: string, code: string>>"))
    after = body({"items.element.sku": "items.element.code"}, id="long", items="list<struct<code: string>>")
    (blocker,) = lake.plan("table.t", after).blockers
    assert blocker.code == "FII030"
    assert len(blocker.ways_out) == 2


def test_the_key_of_a_map_keeps_its_names(lake: Lake) -> None:
    lake.apply("table.t", body(None, id="long", m="map<struct<x: int>, string>"))
    after = body({"m.key.x": "m.key.y"}, id="long", m="map<struct<y: int>, string>")
    assert "FII034" in [blocker.code for blocker in lake.plan("table.t", after).blockers]


@pytest.mark.parametrize(
    ("renamed", "types"),
    [
        ({"a": "b", "b": "a"}, {"a": "int", "b": "int"}),
        ({"a": "b", "b": "c"}, {"b": "int", "c": "int"}),
        ({"a": "a"}, {"a": "int"}),
        ({"a": "b", "b": "a"}, {"c": "int"}),
        ({"s.x": "x"}, {"x": "int"}),
        ({"items.element": "items.part"}, {"items": "list<int>"}),
    ],
)
def test_what_can_not_be_told_apart_later_is_refused(
    lake: Lake, renamed: dict[str, str], types: dict[str, str]
) -> None:
    with pytest.raises(Rejected) as found:
        lake.canonical("table", "t", body(renamed, id="long", **types))
    assert set(found.value.codes) == {"FII068"}
