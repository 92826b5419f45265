"""A catalog that does not answer is waited for as often as there are kinds of resources, not once for each of
them.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from flareiac.applying.execute import Unsettled
from flareiac.kernel.data import Reference
from flareiac.kernel.diagnostics import Failure
from flareiac.planning.observe import observe
from flareiac.sdk.requests import Question
from flareiac.sdk.results import Missing, Observation, Unreadable
from flareiac_iceberg import codes
from flareiac_iceberg.catalogs.entries import unreadable
from flareiac_iceberg.catalogs.sqlite import reader
from tests.iceberg.lake import CATALOG, Lake, columns

_MANY = 30


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The statements that SQLite was asked."""
    asked: list[str] = []
    original = reader._asked

    def noted(database: Path, statement: str, *arguments: Any, **options: Any) -> Any:
        asked.append(statement)
        return original(database, statement, *arguments, **options)

    monkeypatch.setattr(reader, "_asked", noted)
    monkeypatch.setattr(reader, "BUSY_TIMEOUT_MS", 10)
    return asked


@pytest.fixture
def locked(lake: Lake, tmp_path: Path) -> Iterator[Lake]:
    """A catalog whose file another program keeps locked."""
    lake.apply("table.first", {"namespace": "n0", "column": columns(id="long")})
    [database] = tmp_path.rglob("catalog.db")
    with closing(sqlite3.connect(database, isolation_level=None)) as held:
        held.execute("BEGIN EXCLUSIVE")
        yield lake


def _observed(lake: Lake, kind: str, catalogs: Sequence[str] = ("lake",)) -> dict[str, Observation]:
    """Resources in five namespaces of each catalog, as a plan observes them."""
    questions = []
    for number, catalog in product(range(_MANY), catalogs):
        name, place = f"r{number}_{catalog}", f"n{number % 5}"
        body: dict[str, Any] = {"name": f"{place}_{number}"}
        if kind != "namespace":
            body = {"namespace": place}
        if kind == "table":
            body |= {"column": columns(id="long")}
        body |= {"catalog": Reference(f"catalog.{catalog}")}
        request = lake.read_request(f"{kind}.{name}", lake.canonical(kind, name, body))
        questions.append(Question(provider="iceberg", type=kind, request=request))
    return observe(questions, lambda _provider, name: lake.session.driver(name), parallelism=4)


@pytest.mark.parametrize("kind", ["table", "data.table", "namespace"])
def test_a_database_that_does_not_answer_is_waited_for_once(
    locked: Lake, waits: list[str], kind: str
) -> None:
    found = _observed(locked, kind)
    assert len(waits) == 1
    assert len(found) == _MANY
    for address, observation in found.items():
        assert isinstance(observation, Unreadable)
        assert observation.diagnostic.code == codes.CATALOG_UNREADABLE.id
        assert observation.diagnostic.address == address
        assert "locked" in observation.diagnostic.detail


@pytest.mark.parametrize("kind", ["table", "data.table", "namespace"])
def test_what_has_answered_is_not_taken_for_silent(lake: Lake, waits: list[str], kind: str) -> None:
    lake.apply("table.first", {"namespace": "n0", "column": columns(id="long")})
    assert all(isinstance(item, Missing) for item in _observed(lake, kind).values())
    assert waits


@pytest.mark.parametrize("kind", ["table", "data.table", "namespace"])
def test_a_block_that_is_not_let_in_says_nothing_of_another_block_of_the_same_place(
    lake: Lake, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    lake.apply("table.first", {"namespace": "n0", "column": columns(id="long")})
    same = lake.references[CATALOG]
    lake.references["catalog.denied"] = replace(same, address="catalog.denied")
    original = reader.SqliteReader.rows

    def let_in(self: reader.SqliteReader, statement: str, *parameters: str) -> Any:
        if self.catalog.address == "catalog.denied":  # as with the password of another user
            raise Failure(unreadable(self.catalog, "access denied"))
        return original(self, statement, *parameters)

    monkeypatch.setattr(reader.SqliteReader, "rows", let_in)
    for order in (("denied", "lake"), ("lake", "denied")):
        for address, observation in _observed(lake, kind, order).items():
            if address.endswith("_denied"):
                assert isinstance(observation, Unreadable)
                assert "catalog.denied" in observation.diagnostic.detail
            else:
                assert isinstance(observation, Missing)


@pytest.mark.parametrize(
    "edit",
    [
        "UPDATE iceberg_tables SET metadata_location = x'00ff'",
        "UPDATE iceberg_tables SET table_name = x'6669727374'",
        "ALTER TABLE iceberg_tables RENAME COLUMN metadata_location TO place",
    ],
)
def test_a_row_that_no_catalog_writes_is_unreadable(lake: Lake, tmp_path: Path, edit: str) -> None:
    lake.apply("table.first", {"namespace": "n0", "column": columns(id="long")})
    [database] = tmp_path.rglob("catalog.db")
    with closing(sqlite3.connect(database)) as opened, opened:
        opened.execute(edit)
    found = _observed(lake, "table")["table.r0_lake"]
    assert isinstance(found, Unreadable)
    assert found.diagnostic.code == codes.CATALOG_UNREADABLE.id
    assert "the table iceberg_tables is not as Iceberg writes it" in found.diagnostic.detail


@pytest.mark.parametrize("column", ["metadata_location", "table_name"])
def test_a_text_that_is_not_utf_8_is_unreadable(lake: Lake, tmp_path: Path, column: str) -> None:
    """Python refuses it by itself, with an error that has no code of SQLite's."""
    lake.apply("table.first", {"namespace": "n0", "column": columns(id="long")})
    [database] = tmp_path.rglob("catalog.db")
    with closing(sqlite3.connect(database)) as opened, opened:
        opened.execute(f"UPDATE iceberg_tables SET {column} = CAST(x'61ff' AS TEXT)")
    found = _observed(lake, "table")["table.r0_lake"]
    assert isinstance(found, Unreadable)
    assert found.diagnostic.code == codes.CATALOG_UNREADABLE.id
    assert "UTF-8" in found.diagnostic.detail


@pytest.mark.parametrize(
    ("name", "damaged"),
    [(b"metadata_location", b"metadata\xff_ocation"), (b"CREATE TABLE", b"CREATE T\xffBLE")],
    ids=["name of a column", "statement that SQLite quotes"],
)
def test_a_schema_that_is_not_utf_8_is_unreadable(
    lake: Lake, tmp_path: Path, name: bytes, damaged: bytes
) -> None:
    """SQLite itself takes a name, or quotes it in an error; Python decodes neither."""
    lake.apply("table.first", {"namespace": "n0", "column": columns(id="long")})
    [database] = tmp_path.rglob("catalog.db")
    planned = lake.plan("table.second", {"namespace": "n0", "column": columns(id="long")})
    database.write_bytes(database.read_bytes().replace(name, damaged))
    found = _observed(lake, "table")["table.r0_lake"]
    assert isinstance(found, Unreadable)
    assert found.diagnostic.code == codes.CATALOG_UNREADABLE.id
    assert "the file is damaged" in found.diagnostic.detail
    with pytest.raises(Unsettled) as caught:
        lake.carry_out("table.second", planned)
    assert caught.value.diagnostics[0].code == codes.CATALOG_NOT_WRITTEN.id
