"""Catalogs that are slow, wrong or gone: a diagnostic, and never an absent table."""

import json
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg2
import pytest

from flareiac.kernel.data import Reference
from flareiac.kernel.diagnostics import Failure
from flareiac.sdk.results import Applied, Missing, NotApplied, Observation, Present, Unreadable
from flareiac_iceberg.catalogs.connections import Connections
from flareiac_iceberg.catalogs.doctor import check_catalog
from flareiac_iceberg.catalogs.kinds import spec_of
from flareiac_iceberg.catalogs.postgres.writer import PostgresWriter
from flareiac_iceberg.catalogs.rest.reader import server as rest_server_of
from flareiac_iceberg.catalogs.target import Target
from flareiac_iceberg.table.undrop import refuse_elsewhere
from tests.iceberg.lake import CATALOG, Lake, Rejected, columns
from tests.support.catalog_kinds import SECRETS, KindLake, Servers, s3
from tests.support.moto_server import KEYS, aws_keys
from tests.support.postgres import PASSWORD
from tests.support.strange_server import Answer, Asked, Strange, as_json, iceberg_error, strange_server

pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
]

BODY = {"namespace": "n", "column": columns(id="long")}


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    made = Servers(tmp_path_factory.mktemp("servers"))
    yield made
    made.close()


@pytest.fixture(autouse=True)
def secrets(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("LAKE_PASSWORD", PASSWORD)
    monkeypatch.setenv("LAKE_TOKEN", "a token")
    monkeypatch.setenv("LAKE_KEY", KEYS["AWS_SECRET_ACCESS_KEY"])
    rest_server_of.cache_clear()  # a port may be another server's now
    with aws_keys():
        yield


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Patience of half a second."""
    for module in ("postgres.reader", "rest.reader", "glue.reader", "file_access"):
        for name in ("CONNECT_SECONDS", "ANSWER_SECONDS"):
            monkeypatch.setattr(f"flareiac_iceberg.catalogs.{module}.{name}", 0.5, raising=False)


def look(lake: Lake) -> Observation:
    return lake.read("table.t", lake.canonical("table", "t", BODY))


def unreadable(lake: Lake, code: str = "FII010") -> str:
    """Table, namespace and doctor all tell of trouble; returns what is said of the table."""
    found = look(lake)
    assert isinstance(found, Unreadable), found
    assert found.diagnostic.code == code
    namespace = lake.read("namespace.n", lake.canonical("namespace", "n", {"name": "n"}))
    assert isinstance(namespace, Unreadable)
    assert check_catalog(lake.references[CATALOG]).verdict.value == "fail"
    return found.diagnostic.detail


# REST


def rest(root: Path, server: Strange, **more: Any) -> Lake:
    return Lake(root, {"type": "rest", "uri": server.uri, **more}, SECRETS)


def sound(asked: Asked) -> Answer:
    """A server with nothing in it."""
    if asked.path.startswith("/v1/config"):
        return as_json({"defaults": {}, "overrides": {}})
    return iceberg_error(
        404,
        "NoSuchTableException"
        if "/tables/" in asked.path or "/views/" in asked.path
        else "NoSuchNamespaceException",
    )


def hang_up(_asked: Asked) -> Answer:
    raise ConnectionResetError


WRONG: dict[str, Callable[[Asked], Answer]] = {
    "failure": lambda _: iceberg_error(500, "InternalServerError"),
    "overloaded": lambda _: (503, b""),
    "no JSON": lambda _: (200, b"<html>welcome</html>"),
    "other JSON": lambda _: as_json([1, 2]),
    "deep JSON": lambda _: (200, b'{"a":' + b"[" * 100_000),
    "other page": lambda _: (404, b"not here"),
    "other error": lambda _: as_json({"detail": "Not Found"}, 404),
    "forbidden": lambda _: iceberg_error(403, "ForbiddenException"),
    "no warehouse": lambda _: iceberg_error(404, "NoSuchWarehouseException"),
    "unauthorized": lambda _: iceberg_error(401, "NotAuthorizedException"),
    "elsewhere": lambda _: (302, b"http://127.0.0.1:9/"),
    "hangs up": hang_up,
    "nothing": lambda _: (204, b""),
    "half a table": lambda _: as_json({"metadata": {}}),
    "strange location": lambda _: as_json({"metadata-location": 7}),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_rest_server_that_answers_wrongly_is_unreadable(tmp_path: Path, wrong: str) -> None:
    with strange_server(WRONG[wrong]) as server:
        assert server.uri in unreadable(rest(tmp_path, server))


@pytest.mark.parametrize("wrong", [name for name in WRONG if name != "nothing"])
def test_a_rest_server_that_goes_wrong_after_its_configuration_is_unreadable(
    tmp_path: Path, wrong: str
) -> None:
    with strange_server(
        lambda asked: sound(asked) if asked.path.startswith("/v1/config") else WRONG[wrong](asked)
    ) as server:
        found = look(rest(tmp_path, server))
        assert isinstance(found, Unreadable)
        assert found.diagnostic.code == "FII010"


@pytest.mark.usefixtures("impatient")
def test_a_silent_rest_server_is_unreadable(tmp_path: Path) -> None:
    def silent(_asked: Asked) -> Answer:
        server.ended.wait(60)
        raise ConnectionResetError

    with strange_server(silent) as server:
        assert "it did not answer in time" in unreadable(rest(tmp_path, server))


def test_no_server_at_all_is_unreadable(tmp_path: Path) -> None:
    with strange_server(sound) as server:
        lake = rest(tmp_path, server)
    assert "refused" in unreadable(lake)


def test_only_the_servers_own_word_makes_absent(tmp_path: Path) -> None:
    with strange_server(sound) as server:
        lake = rest(tmp_path, server)
        assert isinstance(look(lake), Missing)
        assert isinstance(lake.read("namespace.n", lake.canonical("namespace", "n", {"name": "n"})), Missing)


def test_a_view_is_in_the_way(tmp_path: Path) -> None:
    with strange_server(
        lambda asked: as_json({"metadata": {}}) if "/views/" in asked.path else sound(asked)
    ) as server:
        found = look(rest(tmp_path, server))
        assert isinstance(found, Unreadable)
        assert found.diagnostic.code == "FII015"


def test_metadata_that_is_none_is_named(tmp_path: Path) -> None:
    given = as_json({"metadata-location": "s3://b/m.json", "metadata": {"format-version": 2}})
    with strange_server(lambda asked: given if "/tables/" in asked.path else sound(asked)) as server:
        found = look(rest(tmp_path, server))
        assert isinstance(found, Unreadable)
        assert found.diagnostic.code == "FII012"
        assert "s3://b/m.json" in found.diagnostic.detail


def test_what_a_server_hides_does_not_stop_a_table_from_coming_back(tmp_path: Path) -> None:
    def guarded(asked: Asked) -> Answer:
        match asked.path.partition("?")[0]:
            case "/v1/namespaces":
                return as_json({"namespaces": [] if "parent=" in asked.path else [["closed"], ["n"]]})
            case "/v1/namespaces/closed/tables" | "/v1/namespaces/n/tables/secret":
                return iceberg_error(403, "ForbiddenException")
            case "/v1/namespaces/n/tables":
                return as_json(
                    {"identifiers": [{"namespace": ["n"], "name": name} for name in ("secret", "gone")]}
                )
            case _:
                return sound(asked)

    with strange_server(guarded) as server:
        catalog = spec_of(CATALOG, rest(tmp_path, server).references[CATALOG].attributes)
        target = Target(catalog=catalog, namespace="n", name="t")
        connections = Connections()
        try:
            (note,) = refuse_elsewhere(connections, target, "a uuid", "s3://b/n/t")
        finally:
            connections.close()
    assert "the namespace closed cannot be listed" in note
    assert note.endswith("and 1 more")


def test_prefix_separator_warehouse_and_headers_reach_the_server(tmp_path: Path) -> None:
    def told(asked: Asked) -> Answer:
        if asked.path.startswith("/v1/config"):
            return as_json({"defaults": {"prefix": "ignored"}, "overrides": {"namespace-separator": "%2E"}})
        return sound(asked)

    with strange_server(told) as server:
        lake = rest(
            tmp_path,
            server,
            warehouse="my lake",
            prefix="a/b",
            token=Reference("secret.lake_token"),
            properties={"header.Polaris-Realm": "z"},
        )
        assert isinstance(
            lake.read("table.t", lake.canonical("table", "t", BODY | {"namespace": "n.m"})), Missing
        )
    paths = [item.path for item in server.asked]
    assert paths[0] == "/v1/config?warehouse=my+lake"
    assert paths[1] == "/v1/a/b/namespaces/n.m/tables/t?snapshots=refs"
    assert all(
        item.headers["authorization"] == "Bearer a token" and item.headers["polaris-realm"] == "z"
        for item in server.asked
    )


def test_a_credential_is_exchanged_and_an_old_token_is_exchanged_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAKE_PASSWORD", "me:a secret&more")
    handed: list[str] = []

    def guarded(asked: Asked) -> Answer:
        if asked.path == "/v1/oauth/tokens":
            handed.append(asked.form)
            return as_json({"access_token": f"token {len(handed)}", "token_type": "bearer"})
        if asked.headers.get("authorization") != f"Bearer token {len(handed)}" or (
            len(handed) == 1 and "/tables/" in asked.path
        ):
            return iceberg_error(401, "NotAuthorizedException")
        return sound(asked)

    with strange_server(guarded) as server:
        lake = rest(
            tmp_path,
            server,
            credential=Reference("secret.lake_password"),
            properties={"scope": "PRINCIPAL_ROLE:ALL"},
        )
        assert isinstance(look(lake), Missing)
        assert len(handed) == 2
        assert (
            handed[0]
            == "grant_type=client_credentials&scope=PRINCIPAL_ROLE%3AALL&client_id=me&client_secret=a+secret%26more"
        )
        declared = lake.references["catalog.lake"]
        renamed = {**declared.attributes, "name": "another"}
        lake.references["catalog.lake"] = replace(declared, attributes=renamed)
        server.answer = lambda asked: (
            iceberg_error(401, "NotAuthorized") if "oauth" in asked.path else sound(asked)
        )
        assert "credential is not accepted" in unreadable(lake)


def test_a_change_that_was_not_confirmed_is_told_as_such(tmp_path: Path) -> None:
    def writing(asked: Asked) -> Answer:
        return iceberg_error(502, "BadGateway") if asked.verb == "POST" else sound(asked)

    with strange_server(writing) as server:
        lake = rest(tmp_path, server)
        outcome = lake.carry_out("table.t", lake.plan("table.t", BODY))
    assert isinstance(outcome, NotApplied)
    assert [item.code for item in outcome.diagnostics] == ["FII113"]


def test_a_refused_change_is_told(tmp_path: Path) -> None:
    def refusing(asked: Asked) -> Answer:
        return iceberg_error(403, "ForbiddenException") if asked.verb == "POST" else sound(asked)

    with strange_server(refusing) as server:
        lake = rest(tmp_path, server)
        outcome = lake.carry_out("table.t", lake.plan("table.t", BODY))
    assert isinstance(outcome, NotApplied)
    assert [item.code for item in outcome.diagnostics] == ["FII011"]


def test_a_redirected_change_goes_nowhere(tmp_path: Path) -> None:
    with strange_server(sound) as other:

        def redirecting(asked: Asked) -> Answer:
            return (307, other.uri.encode()) if asked.verb == "POST" else sound(asked)

        with strange_server(redirecting) as server:
            lake = rest(tmp_path, server, token=Reference("secret.lake_token"))
            outcome = lake.carry_out("table.t", lake.plan("table.t", BODY))
        assert isinstance(outcome, NotApplied)
        assert [item.code for item in outcome.diagnostics] == ["FII011"]
        assert "HTTP 307: it leads to another address" in outcome.diagnostics[0].detail
        assert other.asked == []


class Nested:
    """A server that takes a namespace only below one that it has."""

    def __init__(self) -> None:
        self.made: list[list[str]] = []

    def __call__(self, asked: Asked) -> Answer:
        _, _, name = asked.path.partition("/v1/namespaces/")
        if asked.verb == "POST" and asked.path == "/v1/namespaces":
            wanted = json.loads(asked.form)["namespace"]
            if wanted[:-1] and wanted[:-1] not in self.made:
                return iceberg_error(404, "NoSuchNamespaceException")
            self.made.append(wanted)
            return as_json({"namespace": wanted})
        if name and "/" not in name and name.split("%1F") in self.made:
            return as_json({"namespace": name.split("%1F"), "properties": {}})
        return sound(asked)


@pytest.mark.parametrize("known", [[], [["a"]]])
def test_missing_parents_of_a_namespace_are_made_in_order(tmp_path: Path, known: list[list[str]]) -> None:
    answers = Nested()
    answers.made += known
    with strange_server(answers) as server:
        lake = rest(tmp_path, server)
        lake.apply("namespace.n", {"name": "a.b.c"})
        assert answers.made == [["a"], ["a", "b"], ["a", "b", "c"]]
        answers.made.clear()
        lake.carry_out("table.t", lake.plan("table.t", BODY | {"namespace": "d.e"}))
        assert answers.made == [["d"], ["d", "e"]]


def test_what_a_server_did_not_take_is_not_said_to_be_unconfirmed(tmp_path: Path) -> None:
    with strange_server(
        lambda asked: iceberg_error(404, "NoSuchThing") if asked.verb == "POST" else sound(asked)
    ) as server:
        lake = rest(tmp_path, server)
        outcome = lake.carry_out("namespace.n", lake.plan("namespace.n", {}))
    assert isinstance(outcome, NotApplied)
    assert [item.code for item in outcome.diagnostics] == ["FII011"]


# PostgreSQL


def on_postgres(root: Path, uri: str) -> KindLake:
    return KindLake(root, {"uri": uri, "credential": Reference("secret.lake_password")}, SECRETS)


def test_a_wrong_password_is_unreadable_and_not_shown(
    tmp_path: Path, servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAKE_PASSWORD", "wrong-pass")
    said = unreadable(on_postgres(tmp_path, servers.postgres().uri("postgres")))
    assert "password authentication failed" in said
    assert "wrong-pass" not in said


def test_a_database_that_is_not_there_is_unreadable(tmp_path: Path, servers: Servers) -> None:
    assert '"nowhere" does not exist' in unreadable(on_postgres(tmp_path, servers.postgres().uri("nowhere")))


def test_a_port_where_nothing_listens_is_unreadable(tmp_path: Path) -> None:
    assert "refused" in unreadable(on_postgres(tmp_path, "postgresql://flare@127.0.0.1:1/lake"))


@pytest.mark.usefixtures("impatient")
def test_a_server_that_says_nothing_is_unreadable(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        assert "did not answer" in unreadable(
            on_postgres(tmp_path, f"postgresql://flare@127.0.0.1:{port}/lake")
        )


@pytest.mark.usefixtures("impatient")
def test_a_locked_table_is_unreadable_and_not_waited_for(tmp_path: Path, servers: Servers) -> None:
    server = servers.postgres()
    uri = server.create("locked")
    lake = on_postgres(tmp_path, uri)
    lake.apply("table.t", BODY)
    held, release = threading.Event(), threading.Event()

    def hold() -> None:
        import psycopg2

        connection = psycopg2.connect(
            host="127.0.0.1", port=server.port, user="flare", password=PASSWORD, dbname="locked"
        )
        connection.cursor().execute("LOCK TABLE iceberg_tables IN ACCESS EXCLUSIVE MODE")
        held.set()
        release.wait(60)
        connection.close()

    thread = threading.Thread(target=hold)
    thread.start()
    try:
        assert held.wait(30)
        found = look(lake)
        assert isinstance(found, Unreadable)
        assert "did not answer" in found.diagnostic.detail
    finally:
        release.set()
        thread.join()
    assert isinstance(look(lake), Present)
    lake.close()


def test_a_server_that_ends_in_between_changes_nothing(tmp_path: Path, servers: Servers) -> None:
    server = servers.postgres()
    lake = on_postgres(tmp_path, server.create("ending"))
    lake.apply("table.t", BODY)
    wider = BODY | {"column": columns(id="long", n="int")}
    proposal = lake.plan("table.t", wider)
    server.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'ending'")
    server.run("ALTER DATABASE ending ALLOW_CONNECTIONS false")
    outcome = lake.carry_out("table.t", proposal)
    assert isinstance(outcome, NotApplied), "nothing was asked of it, so nothing is open"
    server.run("ALTER DATABASE ending ALLOW_CONNECTIONS true")
    lake.carry_out("table.t", proposal)
    assert {item.name for item in lake.table("n.t").schema().fields} == {"id", "n"}
    lake.close()


class _LostAtCommit:
    """A connection that ends when a commit is asked for: the server has made it, or has not."""

    def __init__(self, real: Any, made: bool) -> None:
        self.real, self.made, self.closed = real, made, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.real, name)

    def commit(self) -> None:
        if self.made:
            self.real.commit()
        self.real.close()
        self.closed = 2
        raise psycopg2.OperationalError("server closed the connection unexpectedly")


@pytest.mark.parametrize("made", [True, False])
def test_a_connection_that_is_lost_at_a_commit_is_found_out(
    tmp_path: Path, servers: Servers, monkeypatch: pytest.MonkeyPatch, made: bool
) -> None:
    lake = on_postgres(tmp_path, servers.postgres().create(f"lost_{made}".lower()))
    lake.apply("table.t", BODY)
    wider = BODY | {"column": columns(id="long", n="int")}
    proposal = lake.plan("table.t", wider)
    connect, pending = PostgresWriter.connect, [True]

    def losing(writer: PostgresWriter) -> Any:
        found = connect(writer)
        if not pending:
            return found
        pending.clear()
        return _LostAtCommit(found, made)

    monkeypatch.setattr(PostgresWriter, "connect", losing)
    driver = lake.session.driver("table")
    request = lake.request("table.t", proposal)
    with pytest.raises(Failure) as raised:
        driver.apply(request)
    assert [item.code for item in raised.value.diagnostics] == ["FII113"]
    assert isinstance(lake.settle("table.t", request), Applied) is made
    lake.carry_out("table.t", proposal)
    assert {item.name for item in lake.table("n.t").schema().fields} == {"id", "n"}
    assert len(lake.table("n.t").metadata.metadata_log) == 1
    lake.close()


# Glue and S3


def on_glue(root: Path, endpoint: str) -> KindLake:
    return KindLake(
        root,
        {"type": "glue", "warehouse": "s3://bucket/lake", "properties": {"glue.endpoint": endpoint}},
        SECRETS,
    )


@pytest.mark.parametrize("wrong", ["failure", "no JSON", "other page", "hangs up", "forbidden"])
def test_a_glue_that_answers_wrongly_is_unreadable(tmp_path: Path, wrong: str) -> None:
    with strange_server(WRONG[wrong]) as server:
        unreadable(on_glue(tmp_path, server.uri))


@pytest.mark.parametrize("names", [{"namespace": "n.m"}, {"namespace": "Sales"}, {"name": "Orders"}])
def test_glue_has_one_level_of_small_names(tmp_path: Path, servers: Servers, names: dict[str, str]) -> None:
    lake = on_glue(tmp_path, servers.aws())
    with pytest.raises(Rejected) as caught:
        lake.canonical("table", "t", BODY | names)
    assert caught.value.codes == ["FII112"]
    if "namespace" in names:
        with pytest.raises(Rejected):
            lake.canonical("namespace", "n", {"name": names["namespace"]})


def test_another_account_is_asked_by_its_number(tmp_path: Path, servers: Servers) -> None:
    with strange_server(lambda _: as_json({"TableList": []})) as server:
        block = {
            "type": "glue",
            "warehouse": "s3://bucket/lake",
            "properties": {"glue.endpoint": server.uri, "glue.id": "123456789012"},
        }
        assert isinstance(look(KindLake(tmp_path, block, SECRETS)), Missing)
    assert [json.loads(item.form) for item in server.asked] == [
        {"DatabaseName": "n", "CatalogId": "123456789012"}
    ]


def test_glue_without_keys_is_unreadable(
    tmp_path: Path, servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setattr("boto3.DEFAULT_SESSION", None)
    assert "credentials" in unreadable(on_glue(tmp_path, servers.aws()))


def test_metadata_that_is_gone_from_s3_is_unreadable(tmp_path: Path, servers: Servers) -> None:
    import boto3

    block = {
        "uri": servers.postgres().create("gone"),
        "credential": Reference("secret.lake_password"),
        **s3(servers.aws(), "gone-files"),
    }
    lake = KindLake(tmp_path, block, SECRETS)
    lake.apply("table.t", BODY)
    location = lake.table("n.t").metadata_location
    bucket, key = location.removeprefix("s3://").split("/", 1)
    lake.state.clear()
    boto3.client("s3", endpoint_url=servers.aws()).delete_object(Bucket=bucket, Key=key)
    found = look(lake)
    assert isinstance(found, Unreadable)
    assert found.diagnostic.code == "FII012"
    assert location in found.diagnostic.detail
    lake.close()


def test_a_bucket_that_is_not_there_is_told_by_apply_and_doctor(tmp_path: Path, servers: Servers) -> None:
    block = {
        "uri": servers.postgres().create("bucketless"),
        "credential": Reference("secret.lake_password"),
        **s3(servers.aws(), "there"),
    }
    lake = KindLake(tmp_path, block | {"warehouse": "s3://not-there/lake"}, SECRETS)
    found = check_catalog(lake.references[CATALOG])
    assert (found.verdict.value, "no such bucket" in found.text) == ("fail", True)
    outcome = lake.carry_out("table.t", lake.plan("table.t", BODY))
    assert isinstance(outcome, NotApplied)
    assert [item.code for item in outcome.diagnostics] == ["FII011"]
    lake.close()
