"""Columns that somebody else dropped, and perhaps added again: under the same name they are other columns,
and the plan says so.
"""

from typing import Any

from flareiac.sdk.changes import Action, Effect, Reaction, Relation
from tests.iceberg.lake import Lake, columns


def body(**types: str) -> dict[str, Any]:
    return {"namespace": "n", "column": columns(**types)}


WANTED = body(id="long", tags="string", at="struct<x: int, y: int>")
ROW = {"id": 1, "tags": "a", "at": {"x": 2, "y": 3}}
STOPPED = {Relation.WRITES, Relation.STREAMS_FROM, Relation.LOOKS_UP}


def stopped(lake: Lake) -> set[Relation]:
    return {
        item.relation
        for item in lake.plan("table.t", WANTED).disturbs
        if item.reaction is Reaction.STOPS_FIRST
    }


def test_a_dropped_column_comes_back_as_another_one(lake: Lake) -> None:
    lake.apply("table.t", WANTED)
    lake.append("n.t", [ROW])
    with lake.table("n.t").update_schema(allow_incompatible_changes=True) as schema:
        schema.delete_column("tags")
        schema.delete_column(("at", "y"))
    assert stopped(lake) == STOPPED
    proposal = lake.apply("table.t", WANTED)
    assert [(step.text, step.effect) for step in proposal.steps] == [
        ("add column tags string again after id, under another field id", Effect.LOSES_DATA),
        ("add column at.y int again, under another field id", Effect.LOSES_DATA),
    ]
    assert lake.rows("n.t") == [{"id": 1, "tags": None, "at": {"x": 2, "y": None}}]
    assert lake.plan("table.t", WANTED).action is Action.NO_OP


def test_a_column_that_was_dropped_and_added_again_is_another_one(lake: Lake) -> None:
    lake.apply("table.t", WANTED)
    lake.append("n.t", [ROW])
    with lake.table("n.t").update_schema(allow_incompatible_changes=True) as schema:
        schema.delete_column("tags")
    with lake.table("n.t").update_schema() as schema:
        schema.add_column("tags", lake.table("n.t").schemas()[0].find_type("tags"))
        schema.move_after("tags", "id")
    assert stopped(lake) == STOPPED
    proposal = lake.apply("table.t", WANTED)
    assert [(step.text, step.effect) for step in proposal.steps] == [
        ("column tags is another one than before, under another field id", Effect.LOSES_DATA)
    ]
    assert proposal.drift == ("column tags was dropped and added again, or another column took its name",)
    assert lake.plan("table.t", WANTED).action is Action.NO_OP


def test_columns_that_exchanged_their_names_are_others(lake: Lake) -> None:
    wanted = body(a="long", b="long")
    lake.apply("table.t", wanted)
    for old, new in (("a", "c"), ("b", "a"), ("c", "b")):
        with lake.table("n.t").update_schema() as schema:
            schema.rename_column(old, new)
    assert [step.text for step in lake.plan("table.t", wanted).steps if step.effect is Effect.LOSES_DATA] == [
        "column a is another one than before, under another field id",
        "column b is another one than before, under another field id",
    ]


def test_a_rename_by_somebody_else_is_no_other_column(lake: Lake) -> None:
    lake.apply("table.t", WANTED)
    with lake.table("n.t").update_schema() as schema:
        schema.rename_column("tags", "labels")
    assert [step.text for step in lake.apply("table.t", WANTED).steps] == ["rename column labels to tags"]
    assert lake.plan("table.t", WANTED).action is Action.NO_OP
