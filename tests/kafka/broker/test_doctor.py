"""The checks of ``doctor`` on clusters and on their schema registries."""

import re
from pathlib import Path

import pytest

from tests.support.command_line import flareiac
from tests.support.kafka_broker import Broker
from tests.support.schema_registry import SchemaRegistry

pytestmark = pytest.mark.jvm


def verdicts(root: Path, servers: str, registry: str) -> dict[str, str]:
    """By name of the check its verdict and its text, with what to do."""
    (root / "main.flare.hcl").write_text(
        'secret "registry" {\n  env = "REGISTRY_PASSWORD"\n}\n'
        f'kafka "main" {{\n  bootstrap_servers = "{servers}"\n  schema_registry = {registry}\n}}\n'
    )
    done = flareiac(root, "doctor", REGISTRY_PASSWORD="correct horse")
    text = re.sub(r"\n\s+fix:", " fix:", done.text)
    found = (re.match(r"(ok|warn|fail)\s+(kafka\.main[^:]*): (.*)", line) for line in text.splitlines())
    return {item.group(2): f"{item.group(1)} {item.group(3)}" for item in found if item is not None}


def login(registry: SchemaRegistry, user: str) -> str:
    return f'{{ url = "{registry.url}", username = "{user}", password = secret.registry }}'


def test_a_cluster_and_its_registry_answer(broker: Broker, tmp_path: Path) -> None:
    with SchemaRegistry(login=("reader", "correct horse")) as registry:
        found = verdicts(tmp_path, broker.bootstrap, login(registry, "reader"))
        assert re.fullmatch(r"ok cluster \S+: 1 broker can be reached", found["kafka.main"])
        assert found["kafka.main registry"] == f"ok {registry.url} can be reached"
        refused = verdicts(tmp_path, broker.bootstrap, login(registry, "stranger"))["kafka.main registry"]
        assert refused.startswith("fail the schema registry refuses the login")
        assert "correct horse" not in refused
        with registry.outage():
            down = verdicts(tmp_path, broker.bootstrap, login(registry, "reader"))["kafka.main registry"]
        assert down.startswith("fail the schema registry cannot be used")
        assert "503" in down


def test_neither_can_be_reached(tmp_path: Path) -> None:
    found = verdicts(tmp_path, "127.0.0.1:1", '{ url = "http://127.0.0.1:1" }')
    assert found["kafka.main"].startswith("fail The Kafka cluster cannot be reached")
    assert found["kafka.main registry"].startswith("fail the schema registry cannot be reached")
