"""Avro to a topic through the command line, on a real broker with a schema registry that wants a login: which
schema is registered and written, whatever is killed, and what stops an apply before it changes anything.
"""

import json
import struct
from collections.abc import Iterator
from typing import Any, Final

import pytest

from flareiac_spark_runtime.sources.avro.registry import Registry, RegistryAccess
from tests.integration.kafka_project import KafkaLake, cluster
from tests.integration.project import Project
from tests.support.avro_values import decoded
from tests.support.kafka_broker import Broker
from tests.support.schema_registry import SchemaRegistry

pytestmark = pytest.mark.jvm

PASSWORD: Final = "of-the-registry"
SUBJECT: Final = "rides-value"
RIDES: Final = """
topic "rides" {
  kafka              = kafka.main
  partitions         = 1
  replication_factor = 1
}
checkpoint "rides" {}
job "rides" {
  checkpoint = checkpoint.rides
  trigger    = { processing_time = "200ms" }
  restart    = { backoff = "1s" }
  input "rides" { stream = stream.rides }
  step "clean" { sql = "SELECT id, city FROM rides" }
  output "rides" {
    kafka {
      topic  = topic.rides
      key    = "id"
      format = "avro"
      schema = file("ride.avsc")
    }
  }
}
"""
REGISTRY: Final = """  schema_registry = {
    url      = "@"
    username = "me"
    password = secret.registry
  }
"""


def ride(*more: tuple[str, Any]) -> dict[str, Any]:
    fields = [("id", "long"), ("city", ["null", "string"]), *more]
    made = [{"name": name, "type": kind} for name, kind in fields]
    for field in made[1:]:
        if isinstance(field["type"], list):
            field["default"] = None
    return {"type": "record", "name": "Ride", "namespace": "demo", "fields": made}


FIRST: Final = ride()
NOTED: Final = ride(("note", ["null", "string"]))
FARE: Final = ride(("fare", ["null", "string"]))


class Rides:
    """The rides in the topic and the registry."""

    def __init__(self, project: Project, broker: Broker, registry: SchemaRegistry) -> None:
        self.project, self._broker, self.registry = project, broker, registry

    def schema(self, schema: Any) -> None:
        """The file of the project has it."""
        (self.project.root / "ride.avsc").write_text(json.dumps(schema))

    @property
    def versions(self) -> tuple[int, ...]:
        """The versions that the subject has."""
        access = RegistryAccess(url=self.registry.url, username="me", password=PASSWORD)
        return Registry(access).versions(SUBJECT)

    def records(self) -> list[tuple[int, bytes]]:
        """The id of the schema and the rest of each value, in order."""
        found = []
        for item in self._broker.topics.consume("rides"):
            assert isinstance(item.value, bytes)
            zero, number = struct.unpack(">bI", item.value[:5])
            assert zero == 0
            found.append((number, item.value[5:]))
        return found

    def until(self, schema: int, count: int) -> list[bytes]:
        """The values of a schema, once there are so many."""
        self.project.until(
            lambda: sum(number == schema for number, _rest in self.records()) >= count,
            f"{count} records of schema {schema}",
        )
        return [rest for number, rest in self.records() if number == schema]


@pytest.fixture(scope="module")
def registry() -> Iterator[SchemaRegistry]:
    with SchemaRegistry(login=("me", PASSWORD)) as started:
        yield started


@pytest.fixture(scope="module")
def rides(kafka: KafkaLake, registry: SchemaRegistry) -> Iterator[Rides]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REGISTRY_PASSWORD", PASSWORD)
        project = kafka.project
        project.write(
            kafka=cluster(kafka.broker.bootstrap, more=REGISTRY.replace("@", registry.url)),
            secret='secret "registry" { env = "REGISTRY_PASSWORD" }\n',
            rides=RIDES,
        )
        found = Rides(project, kafka.broker, registry)
        found.schema(FIRST)
        project.run("init")
        yield found


def test_a_registry_that_is_down_stops_an_apply_before_it_changes_anything(rides: Rides) -> None:
    with rides.registry.outage():
        done = rides.project.run("plan")
        assert "Whether the subject rides-value has a schema for it, or accepts one, is unknown" in done.err
        done = rides.project.apply(code=1)
    assert "Nothing was changed" in done.err
    assert rides.project.run("state", "list").out == ""


def test_a_kill_after_the_registration_leaves_one_version(rides: Rides) -> None:
    rides.project.land(3)
    rides.project.killed("register.after", "apply", "-auto-approve")
    assert rides.versions == (1,)
    rides.project.apply()
    assert rides.versions == (1,)
    values = [decoded(FIRST, rest) for rest in rides.until(1, 3)]
    assert sorted(value["id"] for value in values) == [0, 1, 2]
    assert rides.project.quiet()


def test_no_file_of_the_project_has_the_password(rides: Rides) -> None:
    root = rides.project.root
    found = [path for path in root.rglob("*") if path.is_file() and PASSWORD.encode() in path.read_bytes()]
    assert found == []
    spec = json.loads((rides.project.control / "desired.json").read_text())["jobs"]["job.rides"]["spec"]
    assert spec["outputs"][0]["avro"]["id"] == 1
    assert "registry" not in json.dumps(spec)


def test_a_new_version_is_planned_registered_and_written(rides: Rides) -> None:
    with rides.project.edited("rides", ("SELECT id, city FROM", "SELECT id, city, rider AS note FROM")):
        rides.schema(NOTED)
        text = rides.project.plan(2)
        assert "as a new version of the subject rides-value, after version 1" in " ".join(text.split())
        assert "adds the field note" in text
        rides.project.apply()
        rides.project.land(2)
        values = [decoded(NOTED, rest) for rest in rides.until(2, 2)]
        assert all("note" in value for value in values)
        assert rides.versions == (1, 2)
        assert rides.project.quiet()


def test_a_version_of_somebody_else_makes_a_plan_stale(rides: Rides) -> None:
    rides.schema(FARE)
    with rides.project.edited("rides", ("SELECT id, city FROM", "SELECT id, city, fare FROM")):
        rides.project.run("plan", "-out", "fare.plan")
        rides.registry.register(SUBJECT, ride(("fare", ["null", "long"])))
        done = rides.project.run("apply", "fare.plan", code=6)
        assert "schemas" in done.err
        text = rides.project.run("plan", code=4).out
        assert "The subject rides-value does not accept the schema of output rides" in text
        assert "fare" in text
    rides.schema(NOTED)
    assert rides.project.status()["job.rides"]["phase"] in ("running", "idle")


def test_columns_that_the_schema_does_not_have_are_errors(rides: Rides) -> None:
    with rides.project.edited("rides", ("SELECT id, city FROM", "SELECT id, city, rider FROM")):
        done = rides.project.run("plan", code=1)
        assert "has no field rider, which clean gives" in done.err
    with rides.project.edited("rides", ("SELECT id, city FROM", "SELECT string(id) AS id, city FROM")):
        done = rides.project.apply(code=1)
        assert "the field id of its schema is long (bigint)" in done.err
    assert rides.project.status()["job.rides"]["phase"] in ("running", "idle")


def test_the_newest_version_is_written_without_a_schema_of_ones_own(rides: Rides) -> None:
    rides.registry.level = "NONE"
    latest = rides.registry.register(SUBJECT, ride(("added", ["null", "int"])))
    rides.project.edit("rides", ('      schema = file("ride.avsc")\n', ""))
    assert f"(id {latest})" in rides.project.plan(2)
    rides.project.apply()
    rides.project.land(2)
    assert all("added" in decoded(ride(("added", ["null", "int"])), rest) for rest in rides.until(latest, 2))
    rides.registry.answer("DELETE", f"/subjects/{SUBJECT}", {})
    text = rides.project.run("plan", code=4).out
    assert "The schema registry has no subject rides-value, and output rides declares no schema" in text
    assert "does not exist any more" in rides.project.run("drift", code=3).text
