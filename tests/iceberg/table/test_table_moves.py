"""A table that gets another name or namespace: renamed in its catalog, never made a second time."""

from typing import Any

import pytest

from flareiac.sdk.changes import Action, Reaction
from flareiac.sdk.results import Applied, NotApplied
from tests.iceberg.lake import Lake, columns

BODY: dict[str, Any] = {"namespace": "n", "column": columns(id="long", name="string")}
THERE: dict[str, Any] = BODY | {"namespace": "m.o", "name": "u"}


@pytest.fixture
def made(lake: Lake) -> Lake:
    lake.apply("table.t", BODY)
    lake.append("n.t", [{"id": 1, "name": "a"}])
    return lake


def names(lake: Lake) -> list[str]:
    catalog = lake.other()
    found = [".".join(item) for space in catalog.list_namespaces() for item in catalog.list_tables(space)]
    found += (
        [".".join(item) for item in catalog.list_tables("m.o")] if catalog.namespace_exists("m.o") else []
    )
    catalog.close()
    return sorted(set(found))


def test_the_table_keeps_its_rows_and_its_uuid_and_changes_in_the_same_apply(made: Lake) -> None:
    uuid = made.state["table.t"].identity["uuid"]
    after = THERE | {"column": columns(id="long", name="string", more="int")}
    proposal = made.apply("table.t", after)
    assert proposal.action is Action.UPDATE
    assert [step.text for step in proposal.steps] == [
        "rename the table n.t to m.o.u in its catalog",
        "add column more int",
    ]
    assert {(change.path, change.old, change.new) for change in proposal.changes} >= {
        (("namespace",), "n", "m.o"),
        (("name",), "t", "u"),
    }
    assert {item.reaction for item in proposal.disturbs} == {Reaction.STOPS_FIRST}
    assert made.rows("m.o.u") == [{"id": 1, "name": "a", "more": None}]
    assert made.state["table.t"].identity["uuid"] == uuid
    assert names(made) == ["m.o.u"]
    assert made.plan("table.t", after).action is Action.NO_OP
    made.apply("table.t", BODY | {"column": after["column"]})
    assert names(made) == ["n.t"]


def test_a_move_whose_result_was_lost_is_recognised(made: Lake) -> None:
    request = made.request("table.t", made.plan("table.t", THERE))
    driver = made.session.driver("table")
    assert made.settle("table.t", request) is None
    first, again, settled = driver.apply(request), driver.apply(request), made.settle("table.t", request)
    assert isinstance(first, Applied)
    assert isinstance(again, Applied)
    assert isinstance(settled, Applied)
    assert names(made) == ["m.o.u"]


def test_a_table_that_is_at_its_new_place_already_is_only_recorded(made: Lake) -> None:
    catalog = made.other()
    catalog.create_namespace("m.o")
    catalog.rename_table("n.t", "m.o.u")
    catalog.close()
    proposal = made.plan("table.t", THERE)
    assert (proposal.action, proposal.steps, proposal.blockers) == (Action.RECORD, (), ())
    made.apply("table.t", THERE)
    assert made.plan("table.t", THERE).action is Action.NO_OP
    more = THERE | {"comment": "x"}
    made.apply("table.t", more)
    assert made.plan("table.t", more).action is Action.NO_OP


def test_a_name_in_use_is_refused(made: Lake) -> None:
    made.apply("table.other", THERE)
    assert [item.code for item in made.plan("table.t", THERE).blockers] == ["FII078"]


def test_a_name_that_is_taken_in_between_stops_it(made: Lake) -> None:
    request = made.request("table.t", made.plan("table.t", THERE | {"comment": "x"}))
    made.apply("table.other", THERE)
    outcome = made.session.driver("table").apply(request)
    assert isinstance(outcome, NotApplied)
    assert [item.code for item in outcome.diagnostics] == ["FII078"]
    assert names(made) == ["m.o.u", "n.t"]
    assert made.table("n.t").properties.get("comment") is None


def test_a_table_that_became_another_is_not_renamed(made: Lake) -> None:
    request = made.request("table.t", made.plan("table.t", THERE))
    catalog = made.other()
    schema = catalog.load_table("n.t").schema()
    catalog.drop_table("n.t")
    catalog.create_table("n.t", schema)
    catalog.close()
    outcome = made.session.driver("table").apply(request)
    assert isinstance(outcome, NotApplied)
    assert [item.code for item in outcome.diagnostics] == ["FII040"]
    assert names(made) == ["n.t"]
