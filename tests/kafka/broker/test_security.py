"""Clusters with TLS, client certificates and SCRAM: a connection as it is written opens them, in HCL's
words.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import pytest
from confluent_kafka.admin import (
    AdminClient,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)

from flareiac.kernel.data import Attributes
from flareiac.kernel.diagnostics import Failure
from flareiac.sdk.brokers import TopicSelection
from flareiac_kafka import codes
from flareiac_kafka.broker.reader import KafkaReader
from tests.golden.case import valid_configuration
from tests.support.kafka_tls import Authority, TlsBroker

pytestmark = pytest.mark.jvm
PASSWORD: Final = "correct horse"
SCRAM: Final = "org.apache.kafka.common.security.scram.ScramLoginModule"


class SecureBroker(TlsBroker):
    """A broker with two more listeners: TLS that asks for a client's certificate, and SCRAM over TLS."""

    def __init__(self, directory: Path, java_home: Path, authority: Authority) -> None:
        scram = "listener.name.scram"
        settings = {
            "listener.name.mutual.ssl.client.auth": "required",
            f"{scram}.sasl.enabled.mechanisms": "SCRAM-SHA-256,SCRAM-SHA-512",
            f"{scram}.scram-sha-256.sasl.jaas.config": f"{SCRAM} required;",
            f"{scram}.scram-sha-512.sasl.jaas.config": f"{SCRAM} required;",
        }
        protocols = {"MUTUAL": "SSL", "SCRAM": "SASL_SSL"}
        super().__init__(directory, java_home, authority, protocols, settings=settings)
        self.mutual, self.scram = (f"127.0.0.1:{port}" for port in self.ports.values())


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    made = Authority(folder=tmp_path_factory.mktemp("certificates")).made()
    made.signed("client")
    return made


@pytest.fixture(scope="module")
def secure(
    tmp_path_factory: pytest.TempPathFactory, java_home: Path, authority: Authority
) -> Iterator[SecureBroker]:
    with SecureBroker(tmp_path_factory.mktemp("secure"), java_home, authority) as started:
        admin = AdminClient({"bootstrap.servers": started.bootstrap, "log_level": 0})
        for mechanism in (ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512):
            info = ScramCredentialInfo(mechanism, 4096)
            user = UserScramCredentialUpsertion("loader", info, PASSWORD.encode())
            for future in admin.alter_user_scram_credentials([user]).values():
                future.result(60)
        yield started


def connection(root: Path, servers: str, security: Mapping[str, str]) -> Attributes:
    """The canonical attributes of a ``kafka`` block."""
    lines = "\n".join(f"  {name} = {value}" for name, value in security.items())
    hcl = (
        'secret "password" {\n  env = "KAFKA_PASSWORD"\n}\n'
        f'kafka "main" {{\n  bootstrap_servers = "{servers}"\n{lines}\n}}\n'
    )
    found: Attributes = valid_configuration(hcl, root).desired.resources["kafka.main"].attributes
    return found


def topics_seen(attributes: Attributes, name: str) -> list[str]:
    return list(KafkaReader().view(attributes, TopicSelection(names=(name,))).topics)


def error(attributes: Attributes) -> str:
    with pytest.raises(Failure) as caught:
        topics_seen(attributes, "any")
    return caught.value.diagnostics[0].code


def test_a_client_with_a_certificate(secure: SecureBroker, authority: Authority, tmp_path: Path) -> None:
    name, folder = secure.topics.create(), authority.folder
    files = f'ca = "{folder}/ca.pem", certificate = "{folder}/client.pem", key = "{folder}/client.key"'
    assert topics_seen(connection(tmp_path, secure.mutual, {"ssl": f"{{ {files} }}"}), name) == [name]
    without = connection(tmp_path, secure.mutual, {"ssl": f'{{ ca = "{folder}/ca.pem" }}'})
    assert error(without) == codes.TLS_FAILED.id
    distrusting = connection(tmp_path, secure.mutual, {"ssl": "{}"})
    assert error(distrusting) == codes.TLS_FAILED.id


@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_a_user_with_scram_over_tls(
    secure: SecureBroker,
    authority: Authority,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    mechanism: str,
) -> None:
    name = secure.topics.create()
    security = {
        "ssl": f'{{ ca = "{authority.ca}" }}',
        "sasl": f'{{ mechanism = "{mechanism}", username = "loader", password = secret.password }}',
    }
    ask = connection(tmp_path, secure.scram, security)
    monkeypatch.setenv("KAFKA_PASSWORD", PASSWORD)
    assert topics_seen(ask, name) == [name]
    monkeypatch.setenv("KAFKA_PASSWORD", "wrong")
    assert error(ask) == codes.AUTHENTICATION_FAILED.id
