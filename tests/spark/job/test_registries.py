"""A schema registry is asked once for all jobs of a plan; one that is down is waited for once."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from flareiac_spark.sources.avro.compatibility import tolerated
from flareiac_spark.sources.avro.latest import (
    LatestSchema,
    SchemaRead,
    SchemaUnknown,
    asked,
    compared,
)
from flareiac_spark_runtime.sources.avro.registry import RegistryAccess
from flareiac_spark_runtime.sources.avro.types import parse
from flareiac_spark_runtime.sources.resolved import SpecColumn
from tests.support.schema_registry import SchemaRegistry

FIELDS: Any = [
    {"name": "id", "type": "int"},
    {"name": "note", "type": ["null", "string"], "default": None},
]
ORDER: Any = {"type": "record", "name": "Order", "fields": FIELDS}
ID = SpecColumn(name="id", type="int", required=True)
NOTE = SpecColumn(name="note", type="string", required=True)
OPTIONAL = SpecColumn(name="note", type="string")


def test_subjects_of_one_registry_and_what_is_said_of_each() -> None:
    with SchemaRegistry() as registry:
        registry.register("orders-value", ORDER)
        access = RegistryAccess(url=registry.url)
        answers = asked(access, ["orders-value", "gone-value"])
        read = SchemaRead(registry=access, subjects=("orders-value", "gone-value"), columns=(ID,))
        known, unknown = compared(read, answers)
    assert isinstance(known, LatestSchema)
    assert (known.subject, known.version, known.level) == ("orders-value", 1, "BACKWARD")
    assert isinstance(unknown, SchemaUnknown)
    assert "has no subject gone-value" in unknown.why


@contextmanager
def failing_registry() -> Iterator[tuple[str, list[str]]]:
    """A registry that fails for every question, and the questions to it."""
    questions: list[str] = []

    class _Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            questions.append(self.path)
            self.send_error(503)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name of the method it replaces
            del format, args

    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", questions
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)


def test_a_registry_that_fails_is_asked_once() -> None:
    with failing_registry() as (url, questions):
        subjects = [f"s{number}-value" for number in range(50)]
        answers = asked(RegistryAccess(url=url), subjects)
        read = SchemaRead(registry=RegistryAccess(url=url), subjects=tuple(subjects), columns=())
        (found,) = compared(read, answers)
    assert len(questions) == 1
    assert isinstance(found, SchemaUnknown)
    assert "answers HTTP 503" in found.why


@pytest.mark.parametrize(
    ("level", "columns", "text"),
    [
        ("NONE", (ID,), "may change the type of any field"),
        ("BACKWARD", (OPTIONAL,), "may leave out a field, and its column is null"),
        (
            "BACKWARD_TRANSITIVE",
            (ID,),
            "may leave out id, which is not null: such a record is a bad record; it may",
        ),
        ("BACKWARD", (ID,), "the type of its column (id) does not take"),
        ("FULL", (NOTE,), "may leave out note, which is not null"),
        ("FORWARD", (ID, OPTIONAL), None),
        ("FULL_TRANSITIVE", (OPTIONAL,), None),
        ("SOMETHING", (ID,), None),
    ],
)
def test_what_a_later_version_may_do(level: str, columns: tuple[SpecColumn, ...], text: str | None) -> None:
    found = tolerated(level, parse(json.dumps(ORDER)), columns)
    assert (found is None) == (text is None)
    assert text is None or text in (found or "")
