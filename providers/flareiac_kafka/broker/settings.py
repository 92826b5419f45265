"""Settings of Kafka's Java client as those of librdkafka. Pure.

The names of both differ where secrets and certificates are meant. What only Java can use, such as its own
stores of certificates, is refused: nothing is known of the cluster then, and nothing is guessed.
"""

import re
from collections.abc import Callable, Mapping
from typing import Final

from flareiac.kernel.diagnostics import Failure, error
from flareiac_kafka import codes

_SAME: Final = (
    "bootstrap.servers",
    "client.id",
    "client.dns.lookup",
    "sasl.kerberos.kinit.cmd",
    "sasl.kerberos.service.name",
    "sasl.mechanism",
    "sasl.password",
    "sasl.username",
    "security.protocol",
    "ssl.key.password",
)
_PEM: Final = "PEM"
_PKCS12: Final = "PKCS12"
_OAUTH: Final = "OAUTHBEARER"
_OF_KAFKA: Final = re.compile(r"org\.apache\.kafka\.common\.security\.oauthbearer\.(secured\.)?\w+")
_LOGIN: Final = re.compile(
    r"\s*org\.apache\.kafka\.common\.security\.(plain\.PlainLoginModule|scram\.ScramLoginModule)\s+required"
    r"(?P<options>.*?);?\s*",
    re.DOTALL,
)
_OPTION: Final = re.compile(r"(\w+)\s*=\s*(?:\"((?:[^\"\\]|\\.)*)\"|'((?:[^'\\]|\\.)*)'|([^\s;]+))")


def librdkafka_settings(client: Mapping[str, str], address: str) -> dict[str, str]:
    """The settings that open the same cluster, secrets in clear text on both sides; settings that make no
    difference here are left out. Raises ``Failure`` for one that librdkafka cannot use.
    """

    def unusable(name: str, why: str) -> Failure:
        return Failure(
            error(
                codes.SETTING_FOR_JAVA_ONLY,
                f"{address}: {name} {why}. Streams can use it, and FlareIaC itself cannot, so that "
                "nothing is known of the topics and offsets of the cluster.",
            )
        )

    settings = {name: client[name] for name in _SAME if name in client}
    settings |= _trust(client, unusable)
    settings |= _own_certificate(client, unusable)
    settings |= _login(client, unusable)
    verification = client.get("ssl.endpoint.identification.algorithm")
    if verification is not None:
        settings |= {"ssl.endpoint.identification.algorithm": verification or "none"}
    return settings


_Unusable = Callable[[str, str], Failure]


def _trust(client: Mapping[str, str], unusable: _Unusable) -> dict[str, str]:
    certificates, location = client.get("ssl.truststore.certificates"), client.get("ssl.truststore.location")
    if certificates is not None:
        return {"ssl.ca.pem": certificates}
    if location is None:
        return {}
    if client.get("ssl.truststore.type", "JKS").upper() != _PEM:
        raise unusable("ssl.truststore.location", "is a Java trust store; a PEM file can be written as ca")
    return {"ssl.ca.location": location}


def _own_certificate(client: Mapping[str, str], unusable: _Unusable) -> dict[str, str]:
    chain, key = client.get("ssl.keystore.certificate.chain"), client.get("ssl.keystore.key")
    if chain is not None and key is not None:
        return {"ssl.certificate.pem": chain, "ssl.key.pem": key}
    location = client.get("ssl.keystore.location")
    if location is None:
        return {}
    match client.get("ssl.keystore.type", "JKS").upper():
        case "PEM":
            return {"ssl.certificate.location": location, "ssl.key.location": location}
        case "PKCS12":
            password = client.get("ssl.keystore.password", "")
            return {"ssl.keystore.location": location, "ssl.keystore.password": password}
        case _:
            raise unusable(
                "ssl.keystore.location",
                "is a Java key store; PEM files can be written as certificate and key, or a PKCS12 store",
            )


def _login(client: Mapping[str, str], unusable: _Unusable) -> dict[str, str]:
    handler = client.get("sasl.login.callback.handler.class") or client.get(
        "sasl.client.callback.handler.class"
    )
    mechanism = client.get("sasl.mechanism")
    if handler is not None and not (mechanism == _OAUTH and _OF_KAFKA.fullmatch(handler)):
        raise unusable("sasl.login.callback.handler.class", f"is the Java class {handler}")
    if mechanism == _OAUTH:
        return _oauth(client, unusable)
    jaas = client.get("sasl.jaas.config")
    if jaas is None or "sasl.username" in client or mechanism == "GSSAPI":
        return {}
    known = _LOGIN.fullmatch(jaas)
    if known is None:
        raise unusable("sasl.jaas.config", "names a login module that only Java has")
    options = {
        name: next(filter(None, values), "").replace('\\"', '"')
        for name, *values in _OPTION.findall(known.group("options"))
    }
    return {f"sasl.{name}": options[name] for name in ("username", "password") if name in options}


def _oauth(client: Mapping[str, str], unusable: _Unusable) -> dict[str, str]:
    endpoint = client.get("sasl.oauthbearer.token.endpoint.url")
    if endpoint is None or "sasl.username" not in client:
        raise unusable(
            "sasl.jaas.config",
            "says how a token is had; username, password and token_endpoint can be written",
        )
    settings = {
        "sasl.oauthbearer.method": "oidc",
        "sasl.oauthbearer.client.id": client.get("sasl.username", ""),
        "sasl.oauthbearer.client.secret": client.get("sasl.password", ""),
        "sasl.oauthbearer.token.endpoint.url": endpoint,
    }
    scope = client.get("sasl.oauthbearer.scope")
    return settings if scope is None else settings | {"sasl.oauthbearer.scope": scope}
