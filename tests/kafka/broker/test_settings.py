"""Settings of Java's client as librdkafka takes them."""

import pytest

from flareiac.kernel.diagnostics import Failure
from flareiac_kafka.broker.settings import librdkafka_settings

BASE = {"bootstrap.servers": "b:9092", "security.protocol": "SASL_SSL"}
KAFKA = "org.apache.kafka.common.security"
CASES: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "what makes no difference here is left out": (
        {"max.poll.records": "7", "client.id": "c"},
        {"client.id": "c"},
    ),
    "pem files": (
        {
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": "/ca.pem",
            "ssl.keystore.type": "PEM",
            "ssl.keystore.certificate.chain": "CHAIN",
            "ssl.keystore.key": "KEY",
            "ssl.key.password": "pw",
        },
        {
            "ssl.ca.location": "/ca.pem",
            "ssl.certificate.pem": "CHAIN",
            "ssl.key.pem": "KEY",
            "ssl.key.password": "pw",
        },
    ),
    "one pem file for key and certificate": (
        {"ssl.keystore.type": "PEM", "ssl.keystore.location": "/own.pem"},
        {"ssl.certificate.location": "/own.pem", "ssl.key.location": "/own.pem"},
    ),
    "certificates as a text": ({"ssl.truststore.certificates": "CA"}, {"ssl.ca.pem": "CA"}),
    "a pkcs12 store": (
        {"ssl.keystore.type": "PKCS12", "ssl.keystore.location": "/o.p12", "ssl.keystore.password": "pw"},
        {"ssl.keystore.location": "/o.p12", "ssl.keystore.password": "pw"},
    ),
    "names of hosts are not verified": (
        {"ssl.endpoint.identification.algorithm": ""},
        {"ssl.endpoint.identification.algorithm": "none"},
    ),
    "a login of java": (
        {
            "sasl.mechanism": "SCRAM-SHA-512",
            "sasl.jaas.config": f'{KAFKA}.scram.ScramLoginModule required username="a" password="p\\"w";',
        },
        {"sasl.mechanism": "SCRAM-SHA-512", "sasl.username": "a", "sasl.password": 'p"w'},
    ),
    "tokens": (
        {
            "sasl.mechanism": "OAUTHBEARER",
            "sasl.login.callback.handler.class": f"{KAFKA}.oauthbearer.OAuthBearerLoginCallbackHandler",
            "sasl.oauthbearer.token.endpoint.url": "https://login/token",
            "sasl.oauthbearer.scope": "kafka",
            "sasl.username": "id",
            "sasl.password": "pw",
        },
        {
            "sasl.mechanism": "OAUTHBEARER",
            "sasl.username": "id",
            "sasl.password": "pw",
            "sasl.oauthbearer.method": "oidc",
            "sasl.oauthbearer.client.id": "id",
            "sasl.oauthbearer.client.secret": "pw",
            "sasl.oauthbearer.scope": "kafka",
            "sasl.oauthbearer.token.endpoint.url": "https://login/token",
        },
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_settings(name: str) -> None:
    given, wanted = CASES[name]
    assert librdkafka_settings(BASE | given, "kafka.main") == BASE | wanted


@pytest.mark.parametrize(
    "given",
    [
        {"ssl.truststore.location": "/trust.jks"},
        {"ssl.keystore.type": "JKS", "ssl.keystore.location": "/own.jks"},
        {"sasl.mechanism": "PLAIN", "sasl.jaas.config": "com.example.Login required token=hunter2;"},
        {"sasl.mechanism": "AWS_MSK_IAM", "sasl.client.callback.handler.class": "software.amazon.Handler"},
        {"sasl.mechanism": "OAUTHBEARER"},
    ],
)
def test_what_only_java_can_use_is_said_without_a_secret(given: dict[str, str]) -> None:
    with pytest.raises(Failure) as caught:
        librdkafka_settings(BASE | given, "kafka.main")
    assert "kafka.main" in str(caught.value)
    assert "hunter2" not in str(caught.value)
