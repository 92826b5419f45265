"""The registry of the tests answers as Confluent's does, and resolves schemas as Avro does."""

import io
import json
from collections.abc import Iterator
from typing import Any

import fastavro
import pytest
import requests

from tests.support.avro_resolution import problems
from tests.support.schema_registry import SchemaRegistry


def record(*fields: tuple[Any, ...], name: str = "Flight") -> dict[str, Any]:
    """A record schema; a field is a name, a type and perhaps a default."""
    listed = [
        {"name": item[0], "type": item[1], **({"default": item[2]} if len(item) > 2 else {})}
        for item in fields
    ]
    return {"type": "record", "name": name, "fields": listed}


COLOR = {"type": "enum", "name": "Color", "symbols": ["RED", "BLUE"]}
RED = {"type": "enum", "name": "Color", "symbols": ["RED"]}
RED_BY_DEFAULT = {**RED, "default": "RED"}
CASES: list[tuple[str, Any, Any, Any]] = [
    ("same", record(("a", "int")), record(("a", "int")), {"a": 1}),
    ("wider", record(("a", "long")), record(("a", "int")), {"a": 1}),
    ("to double", record(("a", "double")), record(("a", "long")), {"a": 1}),
    ("narrower", record(("a", "int")), record(("a", "long")), {"a": 1}),
    ("another type", record(("a", "string")), record(("a", "int")), {"a": 1}),
    ("bytes as text", record(("a", "string")), record(("a", "bytes")), {"a": b"x"}),
    ("new with default", record(("a", "int"), ("b", "string", "x")), record(("a", "int")), {"a": 1}),
    ("new without default", record(("a", "int"), ("b", "string")), record(("a", "int")), {"a": 1}),
    ("left out", record(("a", "int")), record(("a", "int"), ("b", "string")), {"a": 1, "b": "x"}),
    ("now optional", record(("a", ["null", "int"])), record(("a", "int")), {"a": 1}),
    ("now required", record(("a", "int")), record(("a", ["null", "int"])), {"a": None}),
    (
        "array",
        record(("a", {"type": "array", "items": "long"})),
        record(("a", {"type": "array", "items": "int"})),
        {"a": [1]},
    ),
    (
        "array of another type",
        record(("a", {"type": "array", "items": "string"})),
        record(("a", {"type": "array", "items": "int"})),
        {"a": [1]},
    ),
    (
        "map",
        record(("a", {"type": "map", "values": "int"})),
        record(("a", {"type": "map", "values": "long"})),
        {"a": {"k": 1}},
    ),
    ("symbol gone", record(("a", RED)), record(("a", COLOR)), {"a": "BLUE"}),
    ("symbol gone, with default", record(("a", RED_BY_DEFAULT)), record(("a", COLOR)), {"a": "BLUE"}),
    (
        "nested",
        record(("a", record(("b", "int"), name="In"))),
        record(("a", record(("b", "string"), name="In"))),
        {"a": {"b": "x"}},
    ),
    (
        "another size",
        {"type": "fixed", "name": "F", "size": 2},
        {"type": "fixed", "name": "F", "size": 3},
        b"abc",
    ),
]


@pytest.mark.parametrize(
    ("reader", "writer", "value"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_schemas_resolve_as_avro_resolves_them(reader: Any, writer: Any, value: Any) -> None:
    """Each value uses what differs, so that a reader of fastavro fails exactly where schemas do not fit."""
    data = io.BytesIO()
    fastavro.schemaless_writer(data, fastavro.parse_schema(writer), value)
    data.seek(0)
    try:
        fastavro.schemaless_reader(data, fastavro.parse_schema(writer), fastavro.parse_schema(reader))
        readable = True
    except Exception:  # noqa: BLE001  # it raises what it likes
        readable = False
    assert (problems(reader, writer) == []) == readable


def test_a_recursive_type_is_compared_once() -> None:
    tree = record(("left", ["null", "Flight"], None), ("n", "int"))
    wider = record(("left", ["null", "Flight"], None), ("n", "long"))
    assert problems(wider, tree) == []
    assert problems(tree, wider) != []


@pytest.fixture
def registry() -> Iterator[SchemaRegistry]:
    with SchemaRegistry() as started:
        yield started


def ask(
    registry: SchemaRegistry, method: str, path: str, body: Any = None, **options: Any
) -> tuple[int, Any]:
    with requests.request(method, registry.url + path, json=body, timeout=30, **options) as answered:
        return answered.status_code, answered.json()


def carried(schema: Any) -> dict[str, str]:
    return {"schema": json.dumps(schema)}


def test_a_subject_is_registered_and_read(registry: SchemaRegistry) -> None:
    first, second = record(("a", "int")), record(("a", "int"), ("b", "string", ""))
    path = "/subjects/flights-value/versions"
    assert ask(registry, "POST", path, carried(first)) == (200, {"id": 1})
    assert ask(registry, "POST", path, carried(second)) == (200, {"id": 2})
    assert ask(registry, "POST", path, carried(first)) == (200, {"id": 1})
    assert registry.register("other-value", second) == 2
    assert ask(registry, "GET", path) == (200, [1, 2])
    assert ask(registry, "GET", "/subjects") == (200, ["flights-value", "other-value"])
    _, latest = ask(registry, "GET", path + "/latest")
    assert (latest["version"], latest["id"], json.loads(latest["schema"])) == (2, 2, second)
    _, by_id = ask(registry, "GET", "/schemas/ids/1")
    assert json.loads(by_id["schema"]) == first
    _, found = ask(registry, "POST", "/subjects/flights-value", carried(first))
    assert found["version"] == 1


def test_what_is_missing_has_its_code(registry: SchemaRegistry) -> None:
    registry.register("flights-value", record(("a", "int")))
    codes = {
        path: ask(registry, "GET", path)[1]["error_code"]
        for path in (
            "/subjects/none/versions",
            "/subjects/flights-value/versions/7",
            "/schemas/ids/7",
            "/config/flights-value",
            "/nowhere",
        )
    }
    assert list(codes.values()) == [40401, 40402, 40403, 40408, 404]
    unknown = ask(registry, "POST", "/subjects/flights-value", carried(record(("z", "int"))))
    assert (unknown[0], unknown[1]["error_code"]) == (404, 40403)


def test_an_incompatible_schema_is_refused_as_the_level_says(registry: SchemaRegistry) -> None:
    path = "/subjects/flights-value/versions"
    registry.register("flights-value", record(("a", "int")))
    wider, needs_more = record(("a", "long")), record(("a", "int"), ("b", "string"))
    assert ask(registry, "POST", path, carried(needs_more))[0] == 409
    check = "/compatibility/subjects/flights-value/versions/latest"
    assert ask(registry, "POST", check, carried(needs_more)) == (200, {"is_compatible": False})
    assert ask(registry, "POST", check, carried(wider)) == (200, {"is_compatible": True})
    assert ask(registry, "PUT", "/config/flights-value", {"compatibility": "FORWARD"})[0] == 200
    assert ask(registry, "POST", check, carried(needs_more)) == (200, {"is_compatible": True})
    _, said = ask(registry, "POST", check + "?verbose=true", carried(wider))
    assert said["messages"] == ["/a: long cannot be read as int"]
    assert ask(registry, "GET", "/config") == (200, {"compatibilityLevel": "BACKWARD"})


def test_what_is_not_a_schema_is_refused(registry: SchemaRegistry) -> None:
    for wrong in ("{", '"nothing"', '{"type": "record", "name": "R"}'):
        status, said = ask(registry, "POST", "/subjects/s/versions", {"schema": wrong})
        assert (status, said["error_code"]) == (422, 42201)


def test_an_outage_and_a_wrong_password_are_answered() -> None:
    with SchemaRegistry(login=("me", "a secret")) as registry:
        assert ask(registry, "GET", "/subjects")[0] == 401
        assert ask(registry, "GET", "/subjects", auth=("me", "a secret")) == (200, [])
        with registry.outage():
            assert ask(registry, "GET", "/subjects", auth=("me", "a secret"))[0] == 503
