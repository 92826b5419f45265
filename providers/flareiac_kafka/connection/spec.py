"""A ``kafka`` block as it is written and as it is recorded: typed records. Pure."""

from collections.abc import Mapping
from dataclasses import field

from flareiac.kernel.data import Attributes
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.definitions import Plain, definition_of

DEFAULT_TIMEOUT_MS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistryDefinition:
    """A schema registry. ``url``: one address, or several with commas in between. ``username``, ``password``,
    ``token`` and the values of ``properties`` are texts, or texts that stand for a secret.
    """

    url: str
    username: str | None = None
    password: str | None = None
    token: str | None = None
    properties: Mapping[str, str] = field(default_factory=dict)

    @property
    def urls(self) -> tuple[str, ...]:
        """The addresses, without a slash at the end."""
        return tuple(each.strip().rstrip("/") for each in self.url.split(",") if each.strip())


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionDefinition:
    """A ``kafka`` block in canonical form.

    ``client``: settings of Kafka's Java client by their own names, ``bootstrap.servers`` included; values are
    texts, or texts that stand for a secret. ``sasl.username`` and ``sasl.password`` are among them in place
    of ``sasl.jaas.config``. ``packages``: Maven coordinates of Spark's connector.
    """

    bootstrap_servers: str
    client: Mapping[str, str]
    packages: tuple[str, ...] = ()
    schema_registry: RegistryDefinition | None = None
    timeout_ms: int = DEFAULT_TIMEOUT_MS

    @classmethod
    def of(cls, attributes: Attributes) -> "ConnectionDefinition":
        """Raises ``Mismatch`` for attributes of another shape."""
        return definition_of(cls, attributes)


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenSasl:
    """``sasl``. ``username`` and ``password``: a text or a reference to a secret."""

    mechanism: str
    username: Plain = None
    password: Plain = None
    token_endpoint: str | None = None
    scope: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenTls:
    """``ssl``. Keys and passwords: a text or a reference to a secret."""

    ca: str | None = None
    certificate: str | None = None
    key: Plain = None
    key_password: Plain = None
    truststore: str | None = None
    truststore_password: Plain = None
    keystore: str | None = None
    keystore_password: Plain = None
    verify_hostname: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenRegistry:
    """``schema_registry``."""

    url: str
    username: Plain = None
    password: Plain = None
    token: Plain = None
    properties: Plain = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenConnection:
    """A ``kafka`` block as it is decoded from HCL."""

    bootstrap_servers: str
    security_protocol: str | None = None
    options: Plain = None
    timeout: str | None = None
    sasl: WrittenSasl | None = None
    ssl: WrittenTls | None = None
    schema_registry: WrittenRegistry | None = None
