"""Changes that are made in one transaction, and one that fails among them."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from flareiac_iceberg.catalogs.kinds import spec_of
from flareiac_iceberg.catalogs.opening import writer_of
from flareiac_iceberg.catalogs.reader import tables_in
from flareiac_iceberg.catalogs.sql_writer import _ADD_TYPED_TABLE
from flareiac_iceberg.catalogs.sqlite.spec import SqliteCatalog
from flareiac_iceberg.catalogs.sqlite.writer import SqliteWriter
from tests.iceberg.lake import CATALOG, Lake

REFUSED = """CREATE TRIGGER refuse BEFORE INSERT ON iceberg_tables WHEN NEW.table_name = 'bad'
BEGIN SELECT RAISE(ABORT, 'not this one'); END"""


@pytest.fixture
def writer(lake: Lake) -> SqliteWriter:
    spec = spec_of(CATALOG, lake.references[CATALOG].attributes)
    assert isinstance(spec, SqliteCatalog)
    made = SqliteWriter(spec)
    with sqlite3.connect(spec.database) as database:
        database.execute(REFUSED)
    return made


def added(writer: SqliteWriter, *names: str) -> list[Any]:
    changes = [(_ADD_TYPED_TABLE, (writer.spec.name, "n", name, f"file:///{name}")) for name in names]
    return list(writer._changed_together(changes))


def there(writer: SqliteWriter) -> list[str]:
    return sorted(tables_in(writer.spec, "n"))


def test_one_that_is_refused_costs_no_other(writer: SqliteWriter) -> None:
    first, bad, taken, last = added(writer, "a", "bad", "a", "b")
    assert (first, taken, last) == (1, 0, 1)
    assert "not this one" in str(bad)
    assert there(writer) == ["a", "b"]


def test_what_is_committed_is_not_told_to_have_failed_with_what_comes_after(
    writer: SqliteWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    connects = iter([True, True, True, False])  # together, then the first two alone
    real = SqliteWriter.connect

    def connect(self: SqliteWriter) -> sqlite3.Connection:
        if not next(connects, True):
            raise sqlite3.OperationalError("disk I/O error")
        return real(self)

    with monkeypatch.context() as patch:
        patch.setattr(SqliteWriter, "connect", connect)
        first, bad, last = added(writer, "a", "bad", "b")
    assert first == 1
    assert "not this one" in str(bad)
    assert "disk I/O error" in str(last)
    assert there(writer) == ["a"]


def test_a_catalog_that_may_only_be_read_lists_its_namespaces(lake: Lake, tmp_path: Path) -> None:
    lake.apply("table.t", {"namespace": "a.b", "column": {"id": {"type": "long"}}})
    spec = spec_of(CATALOG, lake.references[CATALOG].attributes)
    assert isinstance(spec, SqliteCatalog)
    with sqlite3.connect(f"{spec.database.as_uri()}?mode=rw", uri=True) as held:
        held.execute("BEGIN IMMEDIATE")  # as who may not write, it gets no lock of a writer
        assert writer_of(spec).namespaces() == {"a", "a.b"}


class _NeverCommitted:
    def __init__(self, real: sqlite3.Connection) -> None:
        self._real = real

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def commit(self) -> None:
        pytest.fail("a question commits nothing, so that none of them can end in doubt about a change")


def test_a_question_commits_nothing(writer: SqliteWriter, monkeypatch: pytest.MonkeyPatch) -> None:
    real = SqliteWriter.connect
    monkeypatch.setattr(SqliteWriter, "connect", lambda self: _NeverCommitted(real(self)))
    assert writer.namespaces() == set()


def test_a_namespace_with_an_empty_location_has_none(lake: Lake) -> None:
    lake.apply("namespace.n", {"name": "n", "properties": {"location": ""}})
    lake.apply("table.t", {"namespace": "n", "column": {"id": {"type": "long"}}})
    assert lake.table("n.t").location().endswith("/warehouse/n/t")
