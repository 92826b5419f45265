"""The faults that a database may bring to a state: each is named, and none of them loses a record."""

import itertools
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import pytest

from flareiac.kernel.diagnostics import Failure
from flareiac.sdk.state import StateUnreachable
from flareiac_state import postgresql_backend
from flareiac_state.log_store import LogStore, StoreOptions
from flareiac_state.postgresql_log import Database, DatabasePlace, PostgresqlLogs
from tests.state.conformance import ignore_wait
from tests.state.remote_places import postgresql_server
from tests.support.cutting_proxy import CuttingProxy, cutting_proxy
from tests.support.ports import free_port
from tests.support.postgres import USER, Postgres

_numbers: Final = itertools.count()


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Postgres]:
    with postgresql_server(tmp_path_factory.mktemp("postgres") / "server") as server:
        yield server


@pytest.fixture(scope="module")
def relay(database: Postgres) -> Iterator[CuttingProxy]:
    with cutting_proxy(database.port) as proxy:
        yield proxy


@pytest.fixture
def place(relay: CuttingProxy) -> DatabasePlace:
    relay.cuts, relay.is_mute = 0, False
    place = DatabasePlace(
        connection=f"postgresql://{USER}@127.0.0.1:{relay.port}/postgres", schema=f"s{next(_numbers)}"
    )
    PostgresqlLogs(place).prepare()
    return place


def _store(place: DatabasePlace) -> LogStore:
    logs = PostgresqlLogs(place)
    options = StoreOptions(where=logs.describe("default"), environment={}, prove=logs.prove)
    return LogStore(logs.log("default"), "default", options)


def _filled(place: DatabasePlace) -> LogStore:
    store = _store(place)
    lease = store.lock("apply", timeout=0, on_wait=ignore_wait)
    first = store.write_snapshot(b"1", expect=None, lease=lease)
    store.write_snapshot(b"2", expect=first, lease=lease)
    store.append_journal([b"one"], lease)
    lease.release()
    return store


def test_a_connection_that_is_lost_after_a_commit_loses_and_doubles_nothing(
    place: DatabasePlace, relay: CuttingProxy
) -> None:
    store = _store(place)
    relay.needle, relay.cuts = b"INSERT", 1
    lease = store.lock("apply", timeout=0, on_wait=ignore_wait)
    for number in range(5):
        relay.cuts = 1
        store.append_journal([b"%d" % number], lease)
        assert relay.cuts == 0
    relay.cuts = 1
    store.write_snapshot(b"1", expect=None, lease=lease)
    relay.cuts = 2
    with pytest.raises(StateUnreachable, match="cannot be reached"):
        store.append_journal([b"unknown"], lease)
    store.append_journal([b"known"], lease)
    assert store.read_journal().records == (b"unknown", b"known")
    relay.cuts = 1
    lease.release()
    assert store.lock_info() is None


def test_every_statement_may_come_to_another_session(
    place: DatabasePlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As through a pooler: nothing depends on what a session keeps."""
    plain = Database.run

    def run(self: Database, statement: str, *values: object) -> object:
        found = plain(self, statement, *values)
        self.close()
        return found

    monkeypatch.setattr(Database, "run", run)
    store = _filled(place)
    lease = store.lock("apply", timeout=0, on_wait=ignore_wait)
    lease.verify()
    lease.release()
    assert store.read_journal().records == (b"one",)


def test_what_only_reads_works_with_a_role_that_only_reads(place: DatabasePlace, database: Postgres) -> None:
    _filled(place)
    role = f"reader_{place.schema}"
    for statement in (
        f"CREATE ROLE {role} LOGIN PASSWORD 'secret'",
        f"GRANT USAGE ON SCHEMA {place.schema} TO {role}",
        f"GRANT SELECT ON {place.schema}.state_log, {place.schema}.state_beat TO {role}",
    ):
        database.run(statement)
    reader = replace(place, connection=f"host=127.0.0.1 port={database.port} dbname=postgres user={role}")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PGPASSWORD", "secret")
        store = _store(reader)
        moment = store.read()
        assert moment.snapshot == store.read_snapshot()
        assert moment.journal == store.read_journal()
        assert [store.read_history(kept.name) for kept in store.history()] == [b"1"]
        assert store.lock_info() is None
        assert PostgresqlLogs(reader).workspaces() == ["default"]
        with pytest.raises(StateUnreachable, match="the role lacks a permission: grant it"):
            store.lock("apply", timeout=0, on_wait=ignore_wait)
        with pytest.raises(StateUnreachable, match="the role lacks a permission"):
            PostgresqlLogs(reader).prove()
        with pytest.raises(StateUnreachable, match="the role lacks a permission"):
            PostgresqlLogs(replace(reader, schema="another")).prepare()


def test_the_grants_that_the_documents_name_suffice_to_write(
    place: DatabasePlace, database: Postgres
) -> None:
    role = f"writer_{place.schema}"
    for statement in (
        f"CREATE ROLE {role} LOGIN PASSWORD 'secret'",
        f"GRANT USAGE ON SCHEMA {place.schema} TO {role}",
        f"GRANT SELECT, INSERT, DELETE ON {place.schema}.state_log TO {role}",
        f"GRANT SELECT, INSERT, UPDATE, DELETE ON {place.schema}.state_beat TO {role}",
    ):
        database.run(statement)
    writer = replace(place, connection=f"host=127.0.0.1 port={database.port} dbname=postgres user={role}")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PGPASSWORD", "secret")
        PostgresqlLogs(writer).prepare()
        _filled(writer).delete()


def test_a_server_that_only_reads_is_named(place: DatabasePlace) -> None:
    connection = f"{place.connection}?options=-c%20default_transaction_read_only%3Don"
    store = _store(replace(place, connection=connection))
    assert store.read().snapshot is None
    with pytest.raises(StateUnreachable, match="read-only: use the primary server"):
        store.lock("apply", timeout=0, on_wait=ignore_wait)


def test_a_wrong_password_and_a_missing_database_are_named(
    place: DatabasePlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = replace(place, connection=place.connection.replace("/postgres", "/missing"))
    with pytest.raises(StateUnreachable, match="the database does not exist: create it"):
        _store(elsewhere).read()
    monkeypatch.setenv("PGPASSWORD", "wrong-secret")
    with pytest.raises(StateUnreachable, match="does not accept the password") as refused:
        _store(place).read()
    assert "wrong-secret" not in str(refused.value)


def test_a_schema_that_was_not_initialised_is_named(place: DatabasePlace) -> None:
    with pytest.raises(StateUnreachable, match="flareiac init creates"):
        _store(replace(place, schema="not there")).read()


def test_a_server_that_is_not_there_is_named(place: DatabasePlace) -> None:
    nowhere = replace(place, connection=f"postgresql://{USER}@127.0.0.1:{free_port()}/postgres")
    with pytest.raises(StateUnreachable, match="cannot be reached"):
        _store(nowhere).read()


def test_a_server_that_is_slow_is_waited_for_only_so_long(place: DatabasePlace, relay: CuttingProxy) -> None:
    store = _store(replace(place, patience=0.3))
    lease = store.lock("apply", timeout=0, on_wait=ignore_wait)
    store.append_journal([b"one"], lease)
    relay.is_mute = True
    with pytest.raises(StateUnreachable, match=r"gave no answer for 0.3 s"):
        store.append_journal([b"unknown"], lease)
    with pytest.raises(StateUnreachable, match=r"gave no answer for 0.3 s"):
        _store(replace(place, patience=0.3)).read()
    relay.is_mute = False
    store.append_journal([b"two"], lease)
    lease.release()
    assert store.read_journal().records in ((b"one", b"unknown", b"two"), (b"one", b"two"))


def test_tables_that_take_a_number_twice_are_refused(place: DatabasePlace, database: Postgres) -> None:
    database.run(f"ALTER TABLE {place.schema}.state_log DROP CONSTRAINT state_log_pkey")
    with pytest.raises(Failure, match="do not refuse a second record"):
        PostgresqlLogs(place).prove()


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"connection": "postgresql://u:secret@h/d"}, "PGPASSWORD"),
        ({"connection": "host=h password=secret"}, "PGPASSWORD"),
        ({"connection": "host==h nonsense"}, "is not understood"),
        ({"schema": ""}, "must not be empty"),
        ({"schemas": "x"}, 'Did you mean "schema"'),
        ({"schema": True}, "must be a text"),
    ],
)
def test_settings_that_cannot_be_used_are_named(settings: dict[str, object], told: str) -> None:
    with pytest.raises(Failure, match=told) as refused:
        postgresql_backend().open(settings, root=".", workspace="default", environment={})
    assert "secret" not in str(refused.value)


def test_a_database_whose_long_name_comes_from_the_environment_is_not_opened_as_another(
    place: DatabasePlace, database: Postgres
) -> None:
    """The server would cut the name off and open the other one."""
    long = "lake_" + "x" * 58
    database.run(f"CREATE DATABASE {long}")
    nameless = replace(place, connection=f"host=127.0.0.1 port={database.port} user={USER}")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PGDATABASE", long)
        PostgresqlLogs(nameless).prepare()
        patch.setenv("PGDATABASE", f"{long}_of_b")
        with pytest.raises(StateUnreachable, match="68 bytes, and the server cuts it off after 63"):
            PostgresqlLogs(nameless).workspaces()
