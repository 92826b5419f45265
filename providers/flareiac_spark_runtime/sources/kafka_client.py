"""The settings with which a Java client of Kafka is opened: secrets are filled in, and the login is composed
of user and password.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from flareiac.sdk.secrets import resolve_all

SERVERS: Final = "bootstrap.servers"
_USER: Final = "sasl.username"
_MECHANISM: Final = "sasl.mechanism"
_LOGIN: Final = "sasl.jaas.config"
_CLIENT: Final = "clientId", "clientSecret"
_MODULES: Final = {
    "PLAIN": ("plain.PlainLoginModule", ("username", "password")),
    "SCRAM-SHA-256": ("scram.ScramLoginModule", ("username", "password")),
    "SCRAM-SHA-512": ("scram.ScramLoginModule", ("username", "password")),
    "OAUTHBEARER": ("oauthbearer.OAuthBearerLoginModule", _CLIENT),
}
"""By mechanism: the class that logs in, and what it calls user and password."""
LARGEST_BATCH: Final = "max.message.bytes"
"""The setting of a topic that says how many bytes of records it takes at once."""
SENT_AT_ONCE: Final = {"batch.size": 16_384, "max.request.size": 1_048_576}
"""Settings of what a producer sends at once, with the defaults of Kafka's client, in bytes."""


def java_settings(client: Mapping[str, str]) -> dict[str, str]:
    """Settings by the names of Kafka's Java client, ready to use. Raises ``Failure`` for a secret that this
    process cannot have.
    """
    settings = resolve_all(client)
    user, password = settings.pop(_USER, None), settings.pop("sasl.password", None)
    module = _MODULES.get(settings.get(_MECHANISM, ""))
    if user is not None and password is not None and module is not None and _LOGIN not in settings:
        name, (of_user, of_password) = module
        settings[_LOGIN] = (
            f"org.apache.kafka.common.security.{name} required "
            f'{of_user}="{_quoted(user)}" {of_password}="{_quoted(password)}";'
        )
    return settings


def exceeding(settings: Mapping[str, str], limit: int) -> Iterator[tuple[str, str]]:
    """Settings with which a producer sends more at once than a topic takes. Of such a batch Spark loses
    records without an error (measured).
    """
    for name in SENT_AT_ONCE:
        given = settings.get(name)
        if isinstance(given, str) and given.strip().isdecimal() and int(given) > limit:
            yield name, given.strip()


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
