"""Namespaces: made, taken over from tables, changed, dropped when empty."""

from typing import Any

import pytest

from flareiac.kernel.diagnostics import Failure, error
from flareiac.sdk.changes import Action
from flareiac.sdk.results import NotApplied
from flareiac_iceberg import codes
from flareiac_iceberg.catalogs import reader as pointers
from tests.iceberg.lake import Lake, columns

ADDRESS = "namespace.sales"


def test_made_changed_and_dropped(lake: Lake) -> None:
    assert lake.apply(ADDRESS, {"properties": {"owner": "a", "team": "b"}}).action is Action.CREATE
    changed = {"properties": {"owner": "c"}, "on_destroy": "drop"}
    assert lake.apply(ADDRESS, changed).action is Action.UPDATE
    assert lake.plan(ADDRESS, changed).action is Action.NO_OP
    other = lake.other()
    assert {
        name: value for name, value in other.load_namespace_properties("sales").items() if name != "exists"
    }["owner"] == "c"
    assert "team" not in other.load_namespace_properties("sales")
    other.close()
    assert lake.apply(ADDRESS, None).action is Action.DELETE
    assert lake.plan(ADDRESS, changed).action is Action.CREATE


def test_one_that_a_table_brought_along_is_taken_over(lake: Lake) -> None:
    lake.apply("table.t", {"namespace": "sales", "column": columns(id="long")})
    planned = lake.apply(ADDRESS, {"properties": {"owner": "a"}})
    assert planned.action is Action.ADOPT
    assert lake.plan(ADDRESS, {"properties": {"owner": "a"}}).action is Action.NO_OP


def test_a_foreign_one_needs_an_import(lake: Lake) -> None:
    other = lake.other_made()
    other.create_namespace("sales")
    other.close()
    assert [item.code for item in lake.plan(ADDRESS, {}).blockers] == ["FII020"]
    lake.apply(ADDRESS, {}, importing=True)
    assert lake.plan(ADDRESS, {}).action is Action.NO_OP


def test_one_with_tables_is_not_dropped(lake: Lake) -> None:
    lake.apply(ADDRESS, {"on_destroy": "drop"})
    planned = lake.plan(ADDRESS, None)
    lake.apply("table.t", {"namespace": "sales", "column": columns(id="long")})
    outcome = lake.carry_out(ADDRESS, planned)
    assert isinstance(outcome, NotApplied)
    assert outcome.diagnostics[0].code == "FII042"


def test_a_plan_names_the_tables_that_keep_one_from_being_dropped(lake: Lake) -> None:
    lake.apply(ADDRESS, {"on_destroy": "drop"})
    lake.apply("table.t", {"namespace": "sales", "column": columns(id="long")})
    blocker = lake.plan(ADDRESS, None).blockers[0]
    assert (blocker.code, "sales holds t, and" in blocker.why) == ("FII042", True)


def test_one_that_was_made_without_a_word_is_recorded(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    planned = lake.plan(ADDRESS, {})
    looks = iter([Failure(error(codes.CATALOG_UNREADABLE, "gone"))])
    real = pointers.namespace_properties

    def once_silent(*arguments: Any) -> Any:
        for failure in looks:
            raise failure
        return real(*arguments)

    monkeypatch.setattr("flareiac_iceberg.namespace.driver.namespace_properties", once_silent)
    assert isinstance(lake.carry_out(ADDRESS, planned), NotApplied)
    assert lake.plan(ADDRESS, {}).action is Action.NO_OP


def test_drift_of_a_property_is_told(lake: Lake) -> None:
    body = {"properties": {"owner": "a"}}
    lake.apply(ADDRESS, body)
    other = lake.other()
    other.update_namespace_properties("sales", None, {"owner": "b"})
    other.close()
    planned = lake.apply(ADDRESS, body)
    assert planned.drift == ('property "owner" was changed from "a" to "b" outside of FlareIaC',)
    assert lake.plan(ADDRESS, body).action is Action.NO_OP


def test_retained_when_its_block_goes(lake: Lake) -> None:
    lake.apply(ADDRESS, {})
    assert lake.apply(ADDRESS, None).action is Action.FORGET


def test_nested_levels_keep_their_dots(lake: Lake) -> None:
    lake.apply("table.t", {"namespace": "a.b", "column": columns(id="long")})
    assert lake.rows("a.b.t") == []
    assert lake.plan("table.t", {"namespace": "a.b", "column": columns(id="long")}).action is Action.NO_OP
