"""The schema of the ``kafka`` block."""

from typing import Final

from flareiac.kernel.types import BOOL, STRING, ObjectType, RefType
from flareiac.sdk.schema import Attribute, Block
from flareiac.sdk.secret_settings import SETTINGS
from flareiac.sdk.validators import is_duration, one_of

PROTOCOLS: Final = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
MECHANISMS: Final = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER", "GSSAPI")
DEFAULT_TIMEOUT: Final = "10s"
_SECRET: Final = RefType(("secret",), or_string=True)
"""A text is taken so that a secret that is written out is refused with an explanation."""

_SASL: Final = ObjectType(
    {
        "mechanism": STRING,
        "username": _SECRET,
        "password": _SECRET,
        "token_endpoint": STRING,
        "scope": STRING,
    },
    frozenset({"username", "password", "token_endpoint", "scope"}),
)
_SSL: Final = ObjectType(
    {
        "ca": STRING,
        "certificate": STRING,
        "key": _SECRET,
        "key_password": _SECRET,
        "truststore": STRING,
        "truststore_password": _SECRET,
        "keystore": STRING,
        "keystore_password": _SECRET,
        "verify_hostname": BOOL,
    },
    frozenset(
        {
            "ca",
            "certificate",
            "key",
            "key_password",
            "truststore",
            "truststore_password",
            "keystore",
            "keystore_password",
            "verify_hostname",
        }
    ),
)
_REGISTRY: Final = ObjectType(
    {"url": STRING, "username": _SECRET, "password": _SECRET, "token": _SECRET, "properties": SETTINGS},
    frozenset({"username", "password", "token", "properties"}),
)

SCHEMA: Final = Block(
    description="A Kafka cluster: its brokers, how clients open it, and its schema registry.",
    attributes={
        "bootstrap_servers": Attribute(
            type=STRING,
            description='Brokers to ask first: "host:port", several separated by commas.',
            required=True,
        ),
        "security_protocol": Attribute(
            type=STRING,
            description="PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL. Default: what sasl and ssl say.",
            validators=(one_of(*PROTOCOLS),),
        ),
        "options": Attribute(
            type=SETTINGS,
            description="Additional settings of Kafka's Java client by their own names (client.id, "
            "sasl.kerberos.service.name, ...), texts or references to secrets.",
            default={},
        ),
        "timeout": Attribute(
            type=STRING,
            description="How long FlareIaC waits for the brokers while it plans and applies.",
            default=DEFAULT_TIMEOUT,
            validators=(is_duration,),
        ),
        "sasl": Attribute(
            type=_SASL,
            description="How clients authenticate; without it they do not, or by a TLS certificate: "
            '{ mechanism = "SCRAM-SHA-512", username = "etl", password = secret.kafka }. mechanism is PLAIN, '
            "SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER or GSSAPI. OAUTHBEARER: username and password are the "
            "id and the secret of the client, token_endpoint is the URL that exchanges them for a token, "
            "scope the scope of that token. The settings of GSSAPI are written in options.",
        ),
        "ssl": Attribute(
            type=_SSL,
            description="TLS; {} trusts the authorities that the machine trusts. ca: PEM file with trusted "
            "authorities. certificate, key: PEM files of the client's certificate with its chain and of its "
            "private key (PKCS #8; key may be a reference to a secret that holds its text), key_password. "
            "truststore, keystore with their passwords: Java stores (JKS, or PKCS12 by the ending .p12 or "
            ".pfx); only Spark can read a JKS store, so that a plan does not know the offsets of topics. "
            "verify_hostname = false: the certificate of a broker need not name its host. Paths are relative "
            "to the root module, passwords are references to secrets.",
        ),
        "schema_registry": Attribute(
            type=_REGISTRY,
            description="The schema registry that the records refer to (Confluent's HTTP protocol): "
            '{ url = "https://host:8081", username = "etl", password = secret.registry }, or token in place '
            "of a user. properties: additional settings of its client, texts or references to secrets.",
        ),
    },
)
