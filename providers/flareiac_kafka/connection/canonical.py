"""From a ``kafka`` block to canonical attributes. Pure."""

import os.path
import re
from collections.abc import Iterable, Iterator
from pathlib import Path as FilePath
from typing import Final
from urllib.parse import urlsplit

from flareiac.kernel.data import Attributes, Data, Reference
from flareiac.kernel.diagnostics import Diagnostics, warning
from flareiac.kernel.records import decode, encode
from flareiac.sdk.project import Project
from flareiac.sdk.references import References
from flareiac.sdk.resource_type import Decoded
from flareiac.sdk.secret_settings import checked_settings
from flareiac.sdk.secrets import reference
from flareiac.sdk.validators import parse_duration
from flareiac.sdk.versions import KAFKA_CONNECTOR, SPARK_AVRO
from flareiac_kafka import codes
from flareiac_kafka.connection.client_options import meant
from flareiac_kafka.connection.schema import DEFAULT_TIMEOUT, MECHANISMS
from flareiac_kafka.connection.spec import (
    DEFAULT_TIMEOUT_MS,
    ConnectionDefinition,
    RegistryDefinition,
    WrittenConnection,
    WrittenRegistry,
    WrittenSasl,
    WrittenTls,
)

_SERVER: Final = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+):([0-9]{1,5})")
_LARGEST_PORT: Final = 65535
_OAUTH_HANDLER: Final = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginCallbackHandler"
_BY_BLOCK: Final = {
    "bootstrap.servers": "write bootstrap_servers",
    "security.protocol": "write security_protocol, or sasl and ssl",
    "sasl.mechanism": "write mechanism in sasl",
    "sasl.mechanisms": "write mechanism in sasl",
    "sasl.username": "write username in sasl",
    "sasl.password": "write password in sasl",
    "ssl.ca.location": "write ca in ssl",
    "ssl.certificate.location": "write certificate in ssl",
    "ssl.key.location": "write key in ssl",
}
_BY_READER: Final = "the stream or job that reads or writes decides it"
_OF_READERS: Final = {
    "group.id": "it belongs to a stream: write group_id_prefix there",
    "isolation.level": "it belongs to a stream: write isolation_level there",
    "auto.offset.reset": "it belongs to a stream: write starting_offsets there",
    **dict.fromkeys(
        (
            "enable.auto.commit",
            "interceptor.classes",
            "key.deserializer",
            "key.serializer",
            "value.deserializer",
            "value.serializer",
        ),
        _BY_READER,
    ),
}
_PREFIX: Final = "kafka."


def canonical(
    decoded: Decoded, references: References, project: Project, diagnostics: Diagnostics
) -> Attributes:
    """Settings of a Java client, references to secrets, absolute files, and the jars that Spark needs."""
    written = decode(WrittenConnection, decoded.attributes, decoded.address)
    context = _Context(project.root, references, diagnostics)
    servers = _servers(written.bootstrap_servers, diagnostics)
    options = context.settings(written.options, "options")
    _check_options(options, written, diagnostics)
    client = {
        **options,
        **_sasl(written.sasl, options, context),
        **_tls(written.ssl, context),
        "security.protocol": _protocol(written, diagnostics),
        "bootstrap.servers": servers,
    }
    registry = _registry(written.schema_registry, context)
    packages = (*KAFKA_CONNECTOR, SPARK_AVRO) if registry is not None else KAFKA_CONNECTOR
    definition = ConnectionDefinition(
        bootstrap_servers=servers,
        client=dict(sorted(client.items())),
        packages=tuple(sorted(packages)),
        schema_registry=registry,
        timeout_ms=parse_duration(written.timeout or DEFAULT_TIMEOUT) or DEFAULT_TIMEOUT_MS,
    )
    attributes: Attributes = encode(definition)
    return attributes


class _Context:
    """The context in which a block is read."""

    def __init__(self, root: FilePath, references: References, diagnostics: Diagnostics) -> None:
        self._root = root
        self._references = references
        self.diagnostics = diagnostics

    def settings(self, written: Data, block: str) -> dict[str, str]:
        """Texts and texts that stand for secrets; a secret that is written out is refused."""
        return checked_settings(written, (block,), self._references, self.diagnostics)

    def file(self, path: str) -> str:
        return os.path.normpath(self._root.absolute() / path)

    def content(self, path: str) -> str:
        """A text that stands for what is in a file."""
        return reference("file", self.file(path))


def _servers(text: str, diagnostics: Diagnostics) -> str:
    servers = [server.strip() for server in text.split(",")]
    for server in servers:
        match = _SERVER.fullmatch(server)
        if match is None or not 0 < int(match.group(2)) <= _LARGEST_PORT:
            what = f"{server!r} is not the address of a broker." if server else "An address is empty."
            diagnostics.error(
                codes.INVALID_BOOTSTRAP_SERVERS,
                f'{what} Write "host:port", several separated by commas: bootstrap_servers = '
                '"broker-1:9092,broker-2:9092".',
                attribute=("bootstrap_servers",),
            )
            break
    return ",".join(servers)


def _check_options(options: Iterable[str], written: WrittenConnection, diagnostics: Diagnostics) -> None:
    for name in options:
        instead = {**_BY_BLOCK, **_OF_READERS}.get(name)
        if name.startswith(_PREFIX):
            instead = f"write it without {_PREFIX}: {name.removeprefix(_PREFIX)}"
        elif name == "sasl.jaas.config" and written.sasl is not None and written.sasl.username is not None:
            instead = "username and password in sasl make it"
        if instead is not None:
            diagnostics.error(
                codes.UNUSABLE_CLIENT_OPTION, f"{name}: {instead}.", attribute=("options", name)
            )
        elif (name_meant := meant(name)) is not None:
            why = (
                f'Kafka\'s client does not know {name}, and ignores it. Did you mean "{name_meant}"? Only '
                "settings of classes of your own may have any name."
            )
            diagnostics.add(warning(codes.UNKNOWN_CLIENT_OPTION, why, attribute=("options", name)))


def _protocol(written: WrittenConnection, diagnostics: Diagnostics) -> str:
    encryption = "SSL" if written.ssl is not None else "PLAINTEXT"
    protocol = written.security_protocol or (encryption if written.sasl is None else f"SASL_{encryption}")
    by_sasl, by_tls = protocol.startswith("SASL_"), protocol.endswith("SSL")
    contradictions = (
        (written.sasl is not None and not by_sasl, "does not use SASL, but a sasl block is set"),
        (written.sasl is None and by_sasl, "uses SASL, but no sasl block is set"),
        (written.ssl is not None and not by_tls, "does not use TLS, but an ssl block is set"),
    )
    for is_so, what in contradictions:
        if is_so:
            diagnostics.error(
                codes.SECURITY_CONTRADICTION,
                f'security_protocol = "{protocol}" {what}. Leave it out: sasl and ssl decide it.',
                attribute=("security_protocol",),
            )
    return protocol


def _sasl(written: WrittenSasl | None, options: dict[str, str], context: _Context) -> dict[str, str]:
    if written is None:
        return {}
    if written.mechanism not in MECHANISMS:
        context.diagnostics.error(
            codes.INCOMPLETE_SASL,
            f"{written.mechanism!r} is not supported. Supported: {', '.join(MECHANISMS)}.",
            attribute=("sasl",),
        )
        return {}
    named = {"username": written.username, "password": written.password}
    secrets = context.settings(named, "sasl")
    if missing := list(_missing(written, options)):
        context.diagnostics.error(
            codes.INCOMPLETE_SASL,
            f"{written.mechanism} needs {' and '.join(missing)} in sasl.",
            attribute=("sasl",),
        )
    settings = {"sasl.mechanism": written.mechanism}
    settings |= {f"sasl.{name}": text for name, text in secrets.items()}
    if written.mechanism == "OAUTHBEARER" and written.token_endpoint is not None:
        settings |= {
            "sasl.login.callback.handler.class": _OAUTH_HANDLER,
            "sasl.oauthbearer.token.endpoint.url": written.token_endpoint,
        }
        if written.scope is not None:
            settings |= {"sasl.oauthbearer.scope": written.scope}
    return settings


def _missing(written: WrittenSasl, options: dict[str, str]) -> Iterator[str]:
    """The attributes that a mechanism needs and that are not written; ``sasl.jaas.config`` in the options may
    stand for all of them.
    """
    if written.mechanism == "GSSAPI" or "sasl.jaas.config" in options:
        return
    if written.username is None:
        yield "username"
    if written.password is None:
        yield "password"
    if written.mechanism == "OAUTHBEARER" and written.token_endpoint is None:
        yield "token_endpoint"


def _tls(written: WrittenTls | None, context: _Context) -> dict[str, str]:
    if written is None:
        return {}
    _check_tls(written, context.diagnostics)
    passwords = {
        "key_password": written.key_password,
        "truststore_password": written.truststore_password,
        "keystore_password": written.keystore_password,
    }
    secrets = context.settings(passwords, "ssl")
    settings = {f"ssl.{name.replace('_', '.')}": text for name, text in secrets.items()}
    if written.ca is not None:
        settings |= {"ssl.truststore.type": "PEM", "ssl.truststore.location": context.file(written.ca)}
    elif written.truststore is not None:
        settings |= _store("truststore", written.truststore, context)
    if written.certificate is not None and written.key is not None:
        settings |= {
            "ssl.keystore.type": "PEM",
            "ssl.keystore.certificate.chain": context.content(written.certificate),
            "ssl.keystore.key": _key(written.key, context),
        }
    elif written.keystore is not None:
        settings |= _store("keystore", written.keystore, context)
    if written.verify_hostname is False:
        settings |= {"ssl.endpoint.identification.algorithm": ""}
    return settings


def _check_tls(written: WrittenTls, diagnostics: Diagnostics) -> None:
    problems = (
        ((written.certificate is None) != (written.key is None), "certificate and key are written together"),
        (
            written.ca is not None and written.truststore is not None,
            "ca and truststore say the same; one of them is written",
        ),
        (
            written.certificate is not None and written.keystore is not None,
            "certificate and keystore say the same; one of them is written",
        ),
        (
            isinstance(written.key, str) and "-----BEGIN" in written.key,
            "key is the path of a file or a reference to a secret, and never the key itself",
        ),
    )
    for is_wrong, why in problems:
        if is_wrong:
            diagnostics.error(codes.INCOMPLETE_TLS, f"{why}.", attribute=("ssl",), hide_source=True)


def _store(kind: str, path: str, context: _Context) -> dict[str, str]:
    form = "PKCS12" if path.lower().endswith((".p12", ".pfx")) else "JKS"
    return {f"ssl.{kind}.type": form, f"ssl.{kind}.location": context.file(path)}


def _key(written: Data, context: _Context) -> str:
    if isinstance(written, Reference):
        return "".join(context.settings({"key": written}, "ssl").values())
    return context.content(str(written))


def _registry(written: WrittenRegistry | None, context: _Context) -> RegistryDefinition | None:
    if written is None:
        return None
    named = {"username": written.username, "password": written.password, "token": written.token}
    credentials = context.settings(named, "schema_registry")
    parts = urlsplit(written.url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query:
        context.diagnostics.error(
            codes.INVALID_REGISTRY_URL,
            "url of a schema registry is the address of its server alone: "
            'url = "https://host:8081". User and password are attributes of their own.',
            attribute=("schema_registry",),
            hide_source=True,
        )
    user, password, token = (value is not None for value in named.values())
    if user != password or (user and token):
        context.diagnostics.error(
            codes.REGISTRY_CREDENTIALS,
            "A schema registry takes username and password, or a token, or neither.",
            attribute=("schema_registry",),
            hide_source=True,
        )
    return RegistryDefinition(
        url=written.url.rstrip("/"),
        properties=context.settings(written.properties, "schema_registry"),
        **credentials,
    )
