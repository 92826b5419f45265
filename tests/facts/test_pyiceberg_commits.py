"""The commits of pyiceberg, and the rows that it leaves in a SQLite catalog: the ground of the Iceberg
provider.
"""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pydantic import TypeAdapter
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.exceptions import CommitFailedException
from pyiceberg.table import Table
from pyiceberg.table.update import TableRequirement, TableUpdate
from pyiceberg.transforms import DayTransform
from pyiceberg.types import StringType

from tests.facts.lake import CATALOG, Home, schema_of


@pytest.fixture
def place(tmp_path: Path) -> Home:
    return Home(root=tmp_path)


@pytest.fixture
def catalog(place: Home) -> SqlCatalog:
    made = place.catalog()
    made.create_namespace("demo")
    return made


@pytest.fixture
def table(catalog: SqlCatalog) -> Table:
    return catalog.create_table(
        "demo.events", schema_of({"id": "long!", "at": "timestamptz", "n": "int"}), properties={"a": "1"}
    )


def metadata_files(place: Home) -> int:
    return len(list(place.root.rglob("*.metadata.json")))


def test_one_transaction_is_one_metadata_file(table: Table, place: Home) -> None:
    """A table changes in one commit, whatever changes: nobody ever sees half of it."""
    before = metadata_files(place)
    with table.transaction() as transaction:
        transaction.update_schema().add_column("note", StringType()).rename_column("n", "amount").commit()
        transaction.update_spec().add_field("at", DayTransform(), "day").commit()
        transaction.set_properties({"b": "2"})
        transaction.remove_properties("a")
    assert metadata_files(place) == before + 1
    assert [field.name for field in table.schema().fields] == ["id", "at", "amount", "note"]
    assert table.properties == {"b": "2"}


def test_updates_and_requirements_given_as_data_are_one_commit(
    catalog: SqlCatalog, table: Table, place: Home
) -> None:
    """``table.commit`` hands what ``table.evolve`` computed straight to the catalog."""
    before = metadata_files(place)
    updates = [TypeAdapter(TableUpdate).validate_python({"action": "set-properties", "updates": {"b": "2"}})]
    needs = [
        TypeAdapter(TableRequirement).validate_python(
            {"type": "assert-table-uuid", "uuid": str(table.metadata.table_uuid)}
        )
    ]
    catalog.commit_table(table, tuple(needs), tuple(updates))
    assert metadata_files(place) == before + 1
    assert catalog.load_table("demo.events").properties == {"a": "1", "b": "2"}


@pytest.mark.parametrize(
    "requirement",
    [
        {"type": "assert-table-uuid", "uuid": "00000000-0000-0000-0000-000000000000"},
        {"type": "assert-current-schema-id", "current-schema-id": 7},
        {"type": "assert-last-assigned-field-id", "last-assigned-field-id": 1},
        {"type": "assert-default-spec-id", "default-spec-id": 7},
        {"type": "assert-default-sort-order-id", "default-sort-order-id": 7},
    ],
    ids=lambda item: item["type"],
)
def test_a_requirement_that_does_not_hold_refuses_the_commit(
    catalog: SqlCatalog, table: Table, requirement: dict[str, object]
) -> None:
    """The assumptions of a plan about a table are checked by the catalog when it is applied."""
    update = TypeAdapter(TableUpdate).validate_python({"action": "set-properties", "updates": {"b": "2"}})
    need = TypeAdapter(TableRequirement).validate_python(requirement)
    with pytest.raises(CommitFailedException):
        catalog.commit_table(table, (need,), (update,))
    assert catalog.load_table("demo.events").properties == {"a": "1"}


def test_a_stale_table_object_overwrites_what_no_requirement_guards(
    catalog: SqlCatalog, table: Table
) -> None:
    """The catalog applies updates to the metadata of that moment: only requirements tell that a plan is out
    of date.
    """
    stale = catalog.load_table("demo.events")
    table.transaction().set_properties({"b": "first", "c": "first"}).commit_transaction()
    stale.transaction().set_properties({"b": "second"}).commit_transaction()
    assert catalog.load_table("demo.events").properties == {"a": "1", "b": "second", "c": "first"}


def test_a_metadata_commit_that_loses_the_race_is_not_retried(
    catalog: SqlCatalog, table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``TableDriver`` tries again itself, and looks at the table anew each time."""
    attempts = _outrun_once(catalog, monkeypatch)
    with pytest.raises(CommitFailedException):
        catalog.load_table("demo.events").transaction().set_properties({"b": "loser"}).commit_transaction()
    assert len(attempts) == 1
    assert catalog.load_table("demo.events").properties["b"] == "winner"


def test_a_row_commit_that_loses_the_race_is_retried(
    catalog: SqlCatalog, table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A table may be changed while others append to it through pyiceberg."""
    attempts = _outrun_once(catalog, monkeypatch)
    catalog.load_table("demo.events").append(_rows(1))
    assert len(attempts) == 2
    after = catalog.load_table("demo.events")
    assert after.properties["b"] == "winner"
    assert after.scan().to_arrow().num_rows == 1


def test_rows_appended_through_a_stale_table_object_are_kept(catalog: SqlCatalog, table: Table) -> None:
    """An append needs no look at the newest rows."""
    stale = catalog.load_table("demo.events")
    table.append(_rows(1))
    stale.append(_rows(2))
    assert catalog.load_table("demo.events").scan().to_arrow()["id"].to_pylist() == [2, 1]


def _rows(*ids: int) -> pa.Table:
    return pa.table({"id": ids}, schema=pa.schema([pa.field("id", pa.int64(), nullable=False)]))


def _outrun_once(catalog: SqlCatalog, monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Lets another writer commit between the catalog's look at the table and its own commit; returns the
    attempts as they come.
    """
    attempts: list[object] = []
    stage = catalog._update_and_stage_table

    def staged(*arguments: Any) -> Any:
        result = stage(*arguments)
        attempts.append(arguments[1])
        if len(attempts) == 1:
            other = SqlCatalog(CATALOG, **{key: catalog.properties[key] for key in ("uri", "warehouse")})
            other.load_table("demo.events").transaction().set_properties({"b": "winner"}).commit_transaction()
            other.close()
        return result

    monkeypatch.setattr(catalog, "_update_and_stage_table", staged)
    return attempts


def test_removing_a_property_that_is_not_there_raises(table: Table) -> None:
    """A property that somebody removed meanwhile is left out of the updates."""
    with pytest.raises(KeyError):
        table.transaction().remove_properties("missing").commit_transaction()


def test_the_catalog_is_two_tables(table: Table, place: Home) -> None:
    """``catalog.pointers`` asks them in SQL, without pyiceberg."""
    with closing(sqlite3.connect(place.database)) as connection:
        layout = {
            name: [row[1] for row in connection.execute(f"PRAGMA table_info({name})")]
            for (name,) in connection.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
            ).fetchall()
        }
        found = connection.execute(
            "SELECT catalog_name, table_namespace, table_name, iceberg_type, metadata_location FROM "
            "iceberg_tables"
        )
        rows = found.fetchall()
        namespaces = connection.execute("SELECT * FROM iceberg_namespace_properties").fetchall()
    assert layout == {
        "iceberg_namespace_properties": ["catalog_name", "namespace", "property_key", "property_value"],
        "iceberg_tables": [
            "catalog_name",
            "table_namespace",
            "table_name",
            "metadata_location",
            "previous_metadata_location",
            "iceberg_type",
        ],
    }
    assert rows == [(CATALOG, "demo", "events", "TABLE", table.metadata_location)]
    assert namespaces == [(CATALOG, "demo", "exists", "true")]


def test_format_3_can_not_be_written(catalog: SqlCatalog) -> None:
    """A table of format 3 is refused for catalogs that pyiceberg writes."""
    with pytest.raises(NotImplementedError):
        catalog.create_table("demo.later", schema_of({"id": "long"}), properties={"format-version": "3"})
