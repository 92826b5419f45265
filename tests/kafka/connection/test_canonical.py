"""The meaning of a ``kafka`` block: the settings of a Java client, with texts in place of secrets and
files.
"""

from pathlib import Path

import pytest

from flareiac_kafka.connection.spec import ConnectionDefinition, RegistryDefinition
from tests.golden.case import valid_configuration

SECRET = "flareiac-secret:env:KAFKA_PASSWORD"


def connection(body: str, root: Path) -> ConnectionDefinition:
    """The definition of a ``kafka`` block with this body."""
    hcl = (
        'secret "password" {\n  env = "KAFKA_PASSWORD"\n}\n'
        f'kafka "main" {{\n  bootstrap_servers = "a:9092, b:9093"\n{body}\n}}\n'
    )
    found = valid_configuration(hcl, root).desired.resources["kafka.main"]
    return ConnectionDefinition.of(found.attributes)


def test_a_connection_without_security(tmp_path: Path) -> None:
    found = connection('timeout = "3s"', tmp_path)
    assert found.bootstrap_servers == "a:9092,b:9093"
    assert found.client == {"bootstrap.servers": "a:9092,b:9093", "security.protocol": "PLAINTEXT"}
    assert found.timeout_ms == 3000
    assert found.schema_registry is None
    assert any(item.startswith("org.apache.spark:spark-sql-kafka-0-10_2.13:") for item in found.packages)


SCRAM = """
  sasl = {
    mechanism = "SCRAM-SHA-512"
    username  = "loader"
    password  = secret.password
  }
"""
OAUTH = """
  sasl = {
    mechanism      = "OAUTHBEARER"
    username       = "client"
    password       = secret.password
    token_endpoint = "https://login.example/token"
    scope          = "kafka"
  }
"""
GSSAPI = """
  sasl = {
    mechanism = "GSSAPI"
  }
  options = {
    "sasl.kerberos.service.name" = "kafka"
    "sasl.jaas.config"           = secret.password
  }
"""
PEM = """
  ssl = {
    ca           = "ca.pem"
    certificate  = "client.pem"
    key          = "client.key"
    key_password = secret.password
  }
"""
STORES = """
  ssl = {
    truststore          = "/stores/trust.jks"
    truststore_password = secret.password
    keystore            = "/stores/client.p12"
    keystore_password   = secret.password
    verify_hostname     = false
  }
"""
CASES = {
    "tls of the machine": ("ssl = {}", {"security.protocol": "SSL"}),
    "scram": (
        SCRAM,
        {
            "sasl.mechanism": "SCRAM-SHA-512",
            "sasl.password": SECRET,
            "sasl.username": "loader",
            "security.protocol": "SASL_PLAINTEXT",
        },
    ),
    "scram over tls": (
        SCRAM + "ssl = {}",
        {
            "sasl.mechanism": "SCRAM-SHA-512",
            "sasl.password": SECRET,
            "sasl.username": "loader",
            "security.protocol": "SASL_SSL",
        },
    ),
    "oauth": (
        OAUTH,
        {
            "sasl.login.callback.handler.class": (
                "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginCallbackHandler"
            ),
            "sasl.mechanism": "OAUTHBEARER",
            "sasl.oauthbearer.scope": "kafka",
            "sasl.oauthbearer.token.endpoint.url": "https://login.example/token",
            "sasl.password": SECRET,
            "sasl.username": "client",
            "security.protocol": "SASL_PLAINTEXT",
        },
    ),
    "kerberos": (
        GSSAPI,
        {
            "sasl.jaas.config": SECRET,
            "sasl.kerberos.service.name": "kafka",
            "sasl.mechanism": "GSSAPI",
            "security.protocol": "SASL_PLAINTEXT",
        },
    ),
    "pem files": (
        PEM,
        {
            "security.protocol": "SSL",
            "ssl.key.password": SECRET,
            "ssl.keystore.certificate.chain": "flareiac-secret:file:ROOT/client.pem",
            "ssl.keystore.key": "flareiac-secret:file:ROOT/client.key",
            "ssl.keystore.type": "PEM",
            "ssl.truststore.location": "ROOT/ca.pem",
            "ssl.truststore.type": "PEM",
        },
    ),
    "java stores": (
        STORES,
        {
            "security.protocol": "SSL",
            "ssl.endpoint.identification.algorithm": "",
            "ssl.keystore.location": "/stores/client.p12",
            "ssl.keystore.password": SECRET,
            "ssl.keystore.type": "PKCS12",
            "ssl.truststore.location": "/stores/trust.jks",
            "ssl.truststore.password": SECRET,
            "ssl.truststore.type": "JKS",
        },
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_settings_of_a_java_client(name: str, tmp_path: Path) -> None:
    body, wanted = CASES[name]
    client = connection(body, tmp_path).client
    assert {key: value for key, value in client.items() if key != "bootstrap.servers"} == {
        key: value.replace("ROOT", str(tmp_path)) for key, value in wanted.items()
    }


def test_a_schema_registry(tmp_path: Path) -> None:
    body = """
  schema_registry = {
    url        = "https://registry:8081/"
    username   = "me"
    password   = secret.password
    properties = { "x" = "y" }
  }
"""
    assert connection(body, tmp_path).schema_registry == RegistryDefinition(
        url="https://registry:8081", username="me", password=SECRET, properties={"x": "y"}
    )
