"""What users may write in a ``kafka`` block."""

from typing import Final

from flareiac.kernel.types import BOOL, STRING, RefType
from flareiac.sdk.schema import Attribute, Block, NestedBlock, Nesting
from flareiac.sdk.secret_settings import SETTINGS
from flareiac.sdk.validators import is_duration, not_empty, one_of

PROTOCOLS: Final = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
MECHANISMS: Final = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER", "GSSAPI")
DEFAULT_TIMEOUT: Final = "10s"
_SECRET: Final = RefType(("secret",), or_string=True)
"""A text is taken so that a secret that is written out is refused with an explanation."""

_SASL: Final = Block(
    description="How clients authenticate. Without it they do not, or by a TLS certificate.",
    attributes={
        "mechanism": Attribute(
            type=STRING,
            description="PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER or GSSAPI. The settings of GSSAPI "
            "are written in options.",
            required=True,
            validators=(one_of(*MECHANISMS),),
        ),
        "username": Attribute(
            type=_SECRET,
            description="PLAIN and SCRAM: the name of the user. OAUTHBEARER: the id of the client.",
        ),
        "password": Attribute(
            type=_SECRET,
            description="A reference to a secret. PLAIN and SCRAM: the password. OAUTHBEARER: the secret of "
            "the client.",
        ),
        "token_endpoint": Attribute(
            type=STRING, description="OAUTHBEARER: the URL that exchanges id and secret for a token."
        ),
        "scope": Attribute(type=STRING, description="OAUTHBEARER: the scope of the token."),
    },
)
_SSL: Final = Block(
    description="TLS. An empty block trusts the authorities that the machine trusts.",
    attributes={
        "ca": Attribute(
            type=STRING,
            description="PEM file with the certificates of trusted authorities, relative to the root module.",
            validators=(not_empty,),
        ),
        "certificate": Attribute(
            type=STRING,
            description="PEM file with the client's certificate and its chain, relative to the root module.",
            validators=(not_empty,),
        ),
        "key": Attribute(
            type=_SECRET,
            description="The private key of the certificate: a PEM file (PKCS #8), relative to the root "
            "module, or a reference to a secret that holds its text.",
        ),
        "key_password": Attribute(type=_SECRET, description="A reference to the password of the key."),
        "truststore": Attribute(
            type=STRING,
            description="Java trust store (JKS, or PKCS12 by the ending .p12 or .pfx), in place of ca. Only "
            "Spark can read one, so that a plan does not know the offsets of topics.",
            validators=(not_empty,),
        ),
        "truststore_password": Attribute(
            type=_SECRET, description="A reference to the password of the trust store."
        ),
        "keystore": Attribute(
            type=STRING,
            description="Java key store (JKS, or PKCS12 by the ending .p12 or .pfx), in place of certificate "
            "and key. A plan can use PKCS12 only.",
            validators=(not_empty,),
        ),
        "keystore_password": Attribute(
            type=_SECRET, description="A reference to the password of the key store."
        ),
        "verify_hostname": Attribute(
            type=BOOL,
            description="Whether the certificate of a broker must name its host.",
            default=True,
        ),
    },
)
_REGISTRY: Final = Block(
    description="The schema registry that the records of the cluster refer to (Confluent's HTTP protocol).",
    attributes={
        "url": Attribute(
            type=STRING, description='Address of the registry: "https://host:8081".', required=True
        ),
        "username": Attribute(type=_SECRET, description="The name of the user (basic authentication)."),
        "password": Attribute(type=_SECRET, description="A reference to the password of the user."),
        "token": Attribute(type=_SECRET, description="A reference to a bearer token, in place of a user."),
        "properties": Attribute(
            type=SETTINGS,
            description="Additional settings of the registry's client, texts or references to secrets.",
            default={},
        ),
    },
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
            description="PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL. Default: what the blocks sasl and ssl "
            "say.",
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
    },
    blocks={
        "sasl": NestedBlock(nesting=Nesting.SINGLE, block=_SASL),
        "ssl": NestedBlock(nesting=Nesting.SINGLE, block=_SSL),
        "schema_registry": NestedBlock(nesting=Nesting.SINGLE, block=_REGISTRY),
    },
)
