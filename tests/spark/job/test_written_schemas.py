"""The verdict of a registry on the schema of an output, and the text that it takes when the schema is
registered.
"""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from flareiac_spark.sources.avro.subjects import (
    Accepted,
    NoSubject,
    NotWritable,
    Registered,
    Rejected,
    SubjectQuestion,
    SubjectUnknown,
    judged,
    registered,
)
from flareiac_spark_runtime.sources.avro.registry import (
    NotFound,
    Registry,
    RegistryAccess,
    RegistryDown,
    RegistryRefused,
    RegistryRejected,
)
from tests.support.schema_registry import SchemaRegistry

SUBJECT = "orders-value"


def order(*fields: tuple[str, Any], **more: Any) -> dict[str, Any]:
    made = [{"name": name, "type": kind} for name, kind in fields]
    return {"type": "record", "name": "Order", "fields": made, **more}


FIRST = order(("id", "long"))
WIDER = order(("id", "long"), ("note", ["null", "string"]))
WIDER["fields"][1]["default"] = None
OTHER = order(("id", "long"), ("place", "string"))


@pytest.fixture
def registry() -> Iterator[SchemaRegistry]:
    with SchemaRegistry() as started:
        yield started


def ask(registry: SchemaRegistry, schema: Any, subject: str = SUBJECT) -> Any:
    text = json.dumps(schema) if schema is not None else None
    question = SubjectQuestion(subject=subject, schema=text)
    return judged(RegistryAccess(url=registry.url), [question])[question]


def test_a_schema_of_a_new_subject_is_accepted(registry: SchemaRegistry) -> None:
    found = ask(registry, FIRST)
    assert isinstance(found, Accepted)
    assert (found.subject, found.newest) == (SUBJECT, None)


def test_a_schema_that_is_there_has_its_id_also_as_an_older_version(registry: SchemaRegistry) -> None:
    number = registry.register(SUBJECT, FIRST)
    registry.register(SUBJECT, WIDER)
    found = ask(registry, FIRST)
    assert isinstance(found, Registered)
    assert (found.version, found.id) == (1, number)


def test_the_newest_version_is_written_where_none_is_declared(registry: SchemaRegistry) -> None:
    registry.register(SUBJECT, FIRST)
    number = registry.register(SUBJECT, WIDER)
    found = ask(registry, None)
    assert isinstance(found, Registered)
    assert (found.version, found.id, found.newest) == (2, number, True)
    assert ask(registry, None, "gone-value") == NoSubject(subject="gone-value")


def test_a_compatible_version_is_accepted_with_what_it_changes(registry: SchemaRegistry) -> None:
    registry.register(SUBJECT, FIRST)
    found = ask(registry, WIDER)
    assert isinstance(found, Accepted)
    assert (found.newest, found.level) == (1, "BACKWARD")
    assert found.fields == ('adds the field note (["null","string"])',)


def test_an_incompatible_version_is_rejected_with_the_reasons_of_the_registry(
    registry: SchemaRegistry,
) -> None:
    registry.register(SUBJECT, FIRST)
    found = ask(registry, OTHER)
    assert isinstance(found, Rejected)
    assert "place" in found.reasons[0]
    registry.level = "NONE"
    found = ask(registry, OTHER)
    assert isinstance(found, Accepted)
    assert found.fields == ("adds the field place (string)",)


def test_every_version_counts_where_the_mode_says_so(registry: SchemaRegistry) -> None:
    registry.level = "NONE"
    registry.register(SUBJECT, OTHER)
    registry.register(SUBJECT, FIRST)
    registry.level = "FORWARD"
    assert isinstance(ask(registry, WIDER), Accepted)
    registry.level = "FORWARD_TRANSITIVE"
    assert isinstance(ask(registry, WIDER), Rejected)


def test_what_is_no_record_of_avro_is_not_written(registry: SchemaRegistry) -> None:
    registry.register("text-value", "string")
    found = ask(registry, None, "text-value")
    assert isinstance(found, NotWritable)
    assert found.why == "is not of type record"


def test_a_registry_that_is_down_or_refuses_the_login_leaves_it_unknown() -> None:
    with SchemaRegistry(login=("me", "right")) as registry:
        found = ask(registry, FIRST)
        assert isinstance(found, SubjectUnknown)
        assert "refuses the login" in found.why
        access = RegistryAccess(url=registry.url, username="me", password="right")
        with registry.outage(), pytest.raises(RegistryDown):
            registered(access, SUBJECT, json.dumps(FIRST))
        with pytest.raises(RegistryRefused):
            registered(RegistryAccess(url=registry.url), SUBJECT, json.dumps(FIRST))
        assert registered(access, SUBJECT, json.dumps(FIRST)) == 1


def test_a_schema_is_registered_once(registry: SchemaRegistry) -> None:
    access = RegistryAccess(url=registry.url)
    assert registered(access, SUBJECT, json.dumps(FIRST)) == registered(access, SUBJECT, json.dumps(FIRST))
    assert Registry(access).versions(SUBJECT) == (1,)
    with pytest.raises(RegistryRejected, match="incompatible"):
        registered(access, SUBJECT, json.dumps(OTHER))
    with pytest.raises(RegistryRejected, match="Invalid schema"):
        registered(access, SUBJECT, '{"type": "record"}')
    with pytest.raises(NotFound):
        Registry(access).registered(SUBJECT, json.dumps(WIDER))
