"""``undrop``: what left the catalog comes back as it last was, whoever dropped it and whatever was recorded
since.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tests.integration.project import Project

LAKE = """
catalog "lake" {
  type      = "sql"
  uri       = "sqlite:///lake/catalog.db"
  warehouse = "lake/warehouse"
}
"""
ORDERS = """
table "orders" {
  catalog    = catalog.lake
  namespace  = "demo"
  on_destroy = "drop"
  column "id" { type = "long" }
}
"""


@pytest.fixture
def shop(tmp_path: Path) -> Project:
    """A table with a row, and no jobs: it needs no JVM."""
    made = Project(tmp_path)
    made.write(lake=LAKE, orders=ORDERS)
    made.apply()
    append(made, 1)
    return made


def append(project: Project, *ids: int) -> None:
    table = project.table("orders")
    table.append(pa.Table.from_pylist([{"id": each} for each in ids], schema=table.schema().as_arrow()))


def outside(project: Project, change: Callable[[Any], None]) -> None:
    """Changes the catalog as another program does."""
    change(project.table("orders").catalog)


def drop(project: Project) -> None:
    outside(project, lambda catalog: catalog.drop_table("demo.orders"))


def kept(project: Project) -> list[str]:
    """The uuids of what the state keeps as dropped."""
    state = json.loads((project.root / ".flareiac" / "state" / "default" / "snapshot.json").read_text())
    return [item["identity"]["uuid"] for item in state.get("dropped", ())]


def uuid_of(project: Project) -> str:
    return str(project.table("orders").metadata.table_uuid)


def test_rows_written_after_an_undrop_come_back_with_the_next(shop: Project) -> None:
    shop.remove("orders")
    shop.apply()
    assert "is back, with 1 row" in shop.run("undrop", "table.orders").out
    assert kept(shop) == []
    append(shop, 2, 3)
    shop.apply()  # its block is gone: forgotten, and it stays
    assert kept(shop) == []
    drop(shop)
    assert "The state has no dropped table.orders" in shop.run("undrop", "table.orders", code=1).err


def test_a_table_dropped_by_another_program_comes_back_before_an_apply_and_plan_is_quiet(
    shop: Project,
) -> None:
    append(shop, 2)
    drop(shop)
    said = shop.run("undrop", "table.orders").out
    assert "is back, with 2 rows" in said
    assert sorted(shop.ids("orders")) == [1, 2]
    shop.apply()
    assert "No changes." in shop.plan(0)
    assert "and it exists" in shop.run("undrop", "table.orders", code=1).err


def test_a_table_that_was_forgotten_because_it_was_gone_comes_back(shop: Project) -> None:
    drop(shop)
    shop.remove("orders")
    shop.apply()
    assert "is back, with 1 row" in shop.run("undrop", "table.orders").out


def test_the_old_table_is_known_after_it_was_created_again(shop: Project) -> None:
    old = uuid_of(shop)
    drop(shop)
    shop.apply()
    assert kept(shop) == [old]
    assert shop.ids("orders") == []
    refused = " ".join(shop.run("undrop", "table.orders", code=1).err.replace("│", " ").split())
    assert f"once table.orders is dropped, flareiac undrop table.orders@{old} brings it back" in refused
    new = uuid_of(shop)
    shop.remove("orders")
    shop.apply()
    assert kept(shop) == [old, new]
    assert "No such dropped resource" in shop.run("undrop", "table.orders@nobody", code=1).err
    said = shop.run("undrop", f"table.orders@{old}").out
    assert "is back, with 1 row" in said
    assert f"dropped earlier and still known: table.orders@{new}" in said
    assert (shop.ids("orders"), kept(shop)) == ([1], [new])


def test_a_replaced_table_comes_back_once_the_new_one_is_gone(shop: Project) -> None:
    old = uuid_of(shop)
    shop.run("apply", "-auto-approve", "-replace=table.orders")
    assert kept(shop) == [old]
    drop(shop)
    assert "is back, with 1 row" in shop.run("undrop", f"table.orders@{old}").out
    assert shop.ids("orders") == [1]
    shop.apply()
    assert "No changes." in shop.plan(0)


def test_a_table_that_was_renamed_is_not_entered_twice(shop: Project) -> None:
    outside(shop, lambda catalog: catalog.rename_table("demo.orders", "demo.sold"))
    assert "It is in the catalog as lake.demo.sold" in shop.run("undrop", "table.orders", code=1).err


def test_it_goes_where_it_was_and_not_to_what_the_catalog_means_now(shop: Project) -> None:
    shop.remove("orders")
    shop.apply()
    with shop.edited("lake", ("catalog.db", "another.db")):
        assert "[FII099]" in shop.run("undrop", "table.orders", code=1).err
    assert not (shop.root / "lake" / "another.db").exists()
    assert "is back" in shop.run("undrop", "table.orders").out


@pytest.mark.parametrize(
    ("point", "told", "back"),
    [("apply.intent", "had not done this", False), ("apply.before-result", "had done this", True)],
)
def test_an_undrop_that_was_killed_is_found_out_by_the_next_apply(
    shop: Project, point: str, told: str, back: bool
) -> None:
    old = uuid_of(shop)
    shop.remove("orders")
    shop.apply()
    shop.killed(point, "undrop", "table.orders")
    assert "The last apply was interrupted" in shop.run("undrop", "table.orders", code=1).err
    shop.write(orders=ORDERS.replace('on_destroy = "drop"', 'on_destroy = "retain"')) if back else None
    assert f"table.orders: the interrupted apply {told} (revive)" in shop.apply().out
    assert kept(shop) == ([] if back else [old])
    if not back:
        assert "is back, with 1 row" in shop.run("undrop", "table.orders").out
    assert shop.ids("orders") == [1]


def test_an_instance_whose_key_has_an_at_sign(shop: Project) -> None:
    shop.write(orders=ORDERS.replace("catalog ", 'for_each = toset(["a@b"])\n  name = "mail"\n  catalog '))
    shop.apply()
    shop.remove("orders")
    shop.apply()
    (*_, uuid) = kept(shop)
    assert "is back" in shop.run("undrop", f'table.orders["a@b"]@{uuid}').out
    assert "is not dropped" in shop.run("undrop", 'table.orders["a@b"]', code=1).err


@pytest.mark.parametrize(
    "words",
    [("table", "snapshots", "table.orders"), ("table", "rollback", "table.orders", "-to=1", "-auto-approve")],
)
def test_of_a_table_that_is_gone_or_another_the_truth_is_told(shop: Project, words: tuple[str, ...]) -> None:
    schema = shop.table("orders").schema()
    catalog = shop.table("orders").catalog
    drop(shop)
    gone = shop.run(*words, code=1).err
    assert "The catalog no longer has lake.demo.orders" in gone
    catalog.create_table("demo.orders", schema)
    another = shop.run(*words, code=1).err
    assert "lake.demo.orders is another table than the recorded one" in another
    assert "plan was made for" not in gone + another
