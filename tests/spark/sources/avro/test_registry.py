"""The requests to a schema registry, and the distinction between its answers and its silence."""

import json
import socket
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import Any

import pytest

from flareiac_spark_runtime.sources.avro.columns import natural_type
from flareiac_spark_runtime.sources.avro.known import NotedSchemas, complete, new_id_in, new_id_text
from flareiac_spark_runtime.sources.avro.registry import (
    NotFound,
    Registry,
    RegistryAccess,
    RegistryDown,
    RegistryProblem,
    RegistryRefused,
)
from flareiac_spark_runtime.sources.avro.types import Record, parse
from tests.support.schema_registry import SchemaRegistry

FIRST: Any = {"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}]}
SECOND: Any = {
    **FIRST,
    "fields": [*FIRST["fields"], {"name": "name", "type": ["null", "string"], "default": None}],
}


@pytest.fixture
def server() -> Iterator[SchemaRegistry]:
    with SchemaRegistry() as started:
        yield started


def asking(server: SchemaRegistry, **more: Any) -> Registry:
    return Registry(RegistryAccess(url=server.url, **more))


def silent_url() -> str:
    """An address at which nothing listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}"


def test_schemas_are_found_by_id_and_by_subject(server: SchemaRegistry) -> None:
    one, two = server.register("orders/a-value", FIRST), server.register("orders/a-value", SECOND)
    registry = asking(server)
    assert json.loads(registry.by_id(one).text) == FIRST
    assert registry.versions("orders/a-value") == (1, 2)
    latest = registry.latest("orders/a-value")
    assert (latest.version, latest.id) == (2, two)
    assert registry.compatibility("orders/a-value") == "BACKWARD"


def test_what_is_not_there_is_not_an_outage(server: SchemaRegistry) -> None:
    registry = asking(server)
    with pytest.raises(NotFound, match="Schema 5 not found"):
        registry.by_id(5)
    with pytest.raises(NotFound, match="Subject 'none' not found"):
        registry.latest("none")


class Other(BaseHTTPRequestHandler):
    """No registry."""

    def do_GET(self) -> None:
        self.send_error(404)

    def log_message(self, *_: object) -> None:
        pass


def test_another_server_at_the_address_is_an_outage_and_not_a_missing_schema() -> None:
    with HTTPServer(("127.0.0.1", 0), Other) as other:
        thread = Thread(target=other.handle_request)
        thread.start()
        with pytest.raises(RegistryDown, match=r"answers HTTP 404$"):
            Registry(RegistryAccess(url=f"http://127.0.0.1:{other.server_port}")).by_id(1)
        thread.join()


def test_a_registry_that_is_down_says_which_one(server: SchemaRegistry) -> None:
    with server.outage(), pytest.raises(RegistryDown) as caught:
        asking(server).by_id(1)
    assert str(caught.value) == f"the schema registry {server.url} answers HTTP 503: Service Unavailable"
    url = silent_url()
    with pytest.raises(RegistryDown, match=f"the schema registry {url} does not answer: .*refused"):
        Registry(RegistryAccess(url=url)).by_id(1)


def test_of_several_addresses_the_next_one_is_asked(server: SchemaRegistry) -> None:
    number = server.register("orders-value", FIRST)
    registry = Registry(RegistryAccess(url=f"{silent_url()}, {server.url}/"))
    assert json.loads(registry.by_id(number).text) == FIRST


def test_a_login_is_sent_and_a_wrong_one_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGISTRY_WORD", "s3cret")
    with SchemaRegistry(login=("ann", "s3cret")) as server:
        number = server.register("orders-value", FIRST)
        known = asking(server, username="ann", password="flareiac-secret:env:REGISTRY_WORD")
        assert json.loads(known.by_id(number).text) == FIRST
        for access in ({}, {"username": "ann", "password": "wr0ng"}, {"token": "wr0ng"}):
            with pytest.raises(RegistryRefused, match=r"refuses the login \(HTTP 401\)") as caught:
                asking(server, **access).by_id(number)
            assert "wr0ng" not in str(caught.value)


def test_a_first_start_knows_the_versions_of_its_subjects(server: SchemaRegistry) -> None:
    one, two = server.register("orders-value", FIRST), server.register("orders-value", SECOND)
    access = RegistryAccess(url=server.url)
    found = complete(NotedSchemas(), access, ["orders-value", "none-value"])
    assert set(found.schemas) == {str(one), str(two)}
    tree = parse(found.schemas[str(two)])
    assert isinstance(tree, Record)
    assert [field.name for field in tree.fields] == ["id", "name"]


def test_a_start_with_noted_schemas_needs_no_registry(server: SchemaRegistry) -> None:
    server.register("orders-value", FIRST)
    access = RegistryAccess(url=server.url)
    noted = complete(NotedSchemas(), access, ["orders-value"])
    with server.outage():
        assert complete(noted, access, ["orders-value"]) == noted
        with pytest.raises(RegistryProblem):
            complete(noted.wanting(9), access, ["orders-value"])
        with pytest.raises(RegistryProblem):
            complete(NotedSchemas(), access, ["orders-value"])


def test_an_id_is_asked_for_once_and_what_was_missing_stays_so(server: SchemaRegistry) -> None:
    access = RegistryAccess(url=server.url)
    noted = complete(NotedSchemas().wanting(1), access, [])
    assert noted.missing == {"1": "the registry does not know it (Schema 1 not found)"}
    server.register("orders-value", FIRST)
    assert complete(noted.wanting(1), access, ["orders-value"]) == noted
    assert not noted.wanting(1).wanted


def test_the_id_of_a_failure_is_read_from_its_message() -> None:
    url = "https://a:8081, https://b"
    before, after = new_id_text(url)
    assert new_id_in(f"[USER_RAISED_EXCEPTION] {before}4294967295{after} SQLSTATE: P0001") == (
        url,
        4294967295,
    )
    assert new_id_in("something else") is None


def test_a_schema_comes_with_those_that_it_names(server: SchemaRegistry) -> None:
    zip_code = {"name": "zip", "type": "string"}
    inner = {"type": "record", "name": "Place", "namespace": "shop", "fields": [zip_code]}
    outer = {
        "type": "record",
        "name": "Order",
        "fields": [{"name": "one", "type": "shop.Place"}, {"name": "two", "type": ["null", "shop.Place"]}],
    }
    server.answers["/subjects/place/versions/1"] = {"schema": json.dumps(inner)}
    server.answers["/schemas/ids/77"] = {
        "schema": json.dumps(outer),
        "references": [{"name": "shop.Place", "subject": "place", "version": 1} for _ in range(2)],
    }
    noted = complete(NotedSchemas().wanting(77), RegistryAccess(url=server.url), [])
    tree = parse(noted.schemas["77"])
    assert isinstance(tree, Record)
    assert [natural_type(field.type) for field in tree.fields] == ["struct<zip: string>"] * 2


def test_an_answer_with_half_a_surrogate_pair_is_none_of_the_protocol(server: SchemaRegistry) -> None:
    server.answers["/schemas/ids/78"] = {
        "schema": json.dumps({"type": "record", "name": "Order", "fields": []}),
        "references": [{"name": "shop.Place", "subject": "pl\udcface", "version": 1}],
    }
    with pytest.raises(RegistryDown, match="no answer of Confluent's protocol"):
        complete(NotedSchemas().wanting(78), RegistryAccess(url=server.url), [])


def test_a_schema_of_another_kind_is_not_read_as_avro(server: SchemaRegistry) -> None:
    server.answers["/schemas/ids/5"] = {"schema": "{}", "schemaType": "JSON"}
    noted = complete(NotedSchemas().wanting(5), RegistryAccess(url=server.url), [])
    assert noted.missing == {"5": "it is a schema of kind JSON, not of Avro"}
