"""Purging deletes a table's own files, all of them or none."""

from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

import pytest
from pyiceberg.catalog.sql import SqlCatalog

from flareiac.kernel.diagnostics import Failure, error
from flareiac.sdk.changes import Action
from flareiac.sdk.results import Applied, NotApplied
from flareiac_iceberg import codes
from flareiac_iceberg.catalogs.base import CatalogSpec
from flareiac_iceberg.catalogs.file_access import delete_file
from flareiac_iceberg.catalogs.sqlite.writer import SqliteWriter
from tests.iceberg.lake import Lake, columns

BODY: dict[str, Any] = {"namespace": "n", "column": columns(id="long"), "on_destroy": "purge"}


def files(lake: Lake) -> set[Path]:
    return {
        item
        for item in Path(urlparse(str(lake.references["catalog.lake"].attributes["warehouse"])).path).rglob(
            "*"
        )
        if item.is_file()
    }


def set_property(lake: Lake, name: str, value: str) -> None:
    with lake.table("n.t").transaction() as change:
        change.set_properties({name: value})


@pytest.fixture
def made(lake: Lake) -> Lake:
    lake.apply("table.t", BODY)
    for number in range(3):
        lake.append("n.t", [{"id": number}])
    lake.table("n.t").delete("id = 1")
    return lake


def test_nothing_stays(made: Lake) -> None:
    assert files(made)
    made.apply("table.t", None)
    assert files(made) == set()


@pytest.mark.parametrize("value", ["false", "FALSE", "no"])
def test_files_that_others_may_need_are_not_deleted(made: Lake, value: str) -> None:
    planned = made.plan("table.t", None)
    set_property(made, "gc.enabled", value)
    before = files(made)
    assert [item.code for item in made.plan("table.t", None).blockers] == ["FII048"]
    outcome = made.carry_out("table.t", planned)
    assert isinstance(outcome, NotApplied)
    assert [item.code for item in outcome.diagnostics] == ["FII048"]
    assert files(made) == before
    made.apply("table.t", BODY | {"on_destroy": "drop"})
    made.apply("table.t", None)
    assert files(made) >= before


def test_what_is_declared_so_is_not_purged_either(lake: Lake) -> None:
    lake.apply("table.t", BODY | {"properties": {"gc.enabled": "false"}})
    assert [item.code for item in lake.plan("table.t", None).blockers] == ["FII048"]


@pytest.mark.parametrize("damage", [Path.unlink, lambda path: path.write_bytes(b"no Avro")])
@pytest.mark.parametrize("pattern", ["snap-*.avro", "*-m0.avro"])
def test_when_not_all_files_can_be_found_none_is_deleted(
    made: Lake, pattern: str, damage: Callable[[Path], object]
) -> None:
    broken = next(item for item in files(made) if item.match(pattern))
    damage(broken)
    before = files(made)
    outcome = made.carry_out("table.t", made.plan("table.t", None))
    assert isinstance(outcome, NotApplied)
    assert [item.code for item in outcome.diagnostics] == ["FII049"]
    assert broken.name in outcome.diagnostics[0].detail
    assert files(made) == before
    assert made.other().table_exists("n.t")
    made.apply("table.t", BODY | {"on_destroy": "drop"})
    assert made.apply("table.t", None).action is Action.DELETE


def test_files_that_stay_are_told(made: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    def closed(location: str, catalog: CatalogSpec) -> None:
        if location.endswith(".parquet"):
            raise PermissionError(13, "Permission denied")
        delete_file(location, catalog)

    planned = made.plan("table.t", None)
    monkeypatch.setattr("flareiac_iceberg.table.purge.delete_file", closed)
    outcome = made.carry_out("table.t", planned)
    assert isinstance(outcome, Applied)
    assert not outcome.revivable
    left = files(made)
    assert {item.suffix for item in left} == {".parquet"}
    assert f"{len(left)} of its " in outcome.messages[1]
    assert "Permission denied" in outcome.messages[1]
    assert not made.other().table_exists("n.t")


def test_a_purge_that_was_not_confirmed_goes_on(made: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    real = SqliteWriter.drop

    def lost(*arguments: Any, **options: Any) -> None:
        real(*arguments, **options)
        raise Failure(error(codes.CHANGE_NOT_CONFIRMED, "lost"))

    planned = made.plan("table.t", None)
    monkeypatch.setattr(SqliteWriter, "drop", lost)
    assert isinstance(made.carry_out("table.t", planned), Applied)
    assert files(made) == set()


def entered_again(lake: Lake) -> None:
    catalog = lake.other()
    catalog.register_table("n.backup", catalog.load_table("n.t").metadata_location)
    catalog.close()


def test_another_name_of_the_table_keeps_its_files(made: Lake) -> None:
    """In a plan, and where it comes after the plan."""
    planned = made.plan("table.t", None)
    entered_again(made)
    before = files(made)
    assert [item.code for item in made.plan("table.t", None).blockers] == ["FII048"]
    outcome = made.carry_out("table.t", planned)
    assert isinstance(outcome, NotApplied)
    assert [item.code for item in outcome.diagnostics] == ["FII048"]
    assert files(made) == before
    made.apply("table.t", BODY | {"on_destroy": "purge_everywhere"})
    assert [item.code for item in made.plan("table.t", None).blockers] == ["FII048"]


def test_files_elsewhere_go_only_where_the_block_says_so(made: Lake, tmp_path: Path) -> None:
    given = tmp_path / "given.parquet"
    given.write_bytes(next(item for item in files(made) if item.suffix == ".parquet").read_bytes())
    made.table("n.t").add_files([str(given)])
    [found] = made.plan("table.t", None).blockers
    assert (found.code, found.why.partition(" ")[0]) == ("FII171", "1")
    made.apply("table.t", BODY | {"on_destroy": "purge_everywhere"})
    planned = made.plan("table.t", None)
    assert [step.text for step in planned.steps] == [
        "drop the table and delete its files, 1 of them outside of its location"
    ]
    made.carry_out("table.t", planned)
    assert (files(made), given.exists()) == (set(), False)


def test_a_copy_that_another_catalog_has_committed_to_is_not_destroyed(made: Lake, tmp_path: Path) -> None:
    hidden = SqlCatalog(
        "hidden", uri=f"sqlite:///{tmp_path}/hidden.db", warehouse=f"file://{tmp_path}/hidden"
    )
    hidden.create_namespace("n")
    copy = hidden.register_table("n.copy", made.table("n.t").metadata_location)
    copy.append(copy.scan().to_arrow())
    assert [item.code for item in made.plan("table.t", None).blockers] == ["FII048"]
    assert len(hidden.load_table("n.copy").scan().to_arrow()) == 4
    hidden.close()
