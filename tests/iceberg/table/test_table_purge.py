"""Purging deletes a table's own files, all of them or none."""

from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

import pytest

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
