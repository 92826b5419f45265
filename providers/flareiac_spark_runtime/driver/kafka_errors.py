"""Recognizes errors of Kafka's client, however Spark has wrapped them, and says what to do. Pure."""

import re
from collections.abc import Sequence
from typing import Final, Protocol

_PACKAGE: Final = "org.apache.kafka."
_IN_TEXT: Final = re.compile(r"org\.apache\.kafka\.common\.errors\.(\w+Exception): ([^\n]*)")
"""The exception of a task may survive only as text in the message of its stage."""
_NO_ACCESS: Final = (
    "Allow the user of the connection to describe the topic and to read or write it, or use another user."
)
_WAYS_OUT: Final = {
    "RecordTooLargeException": (
        "A record is larger than the producer or the topic takes. Raise max.request.size in options of the "
        "output's kafka block, and max.message.bytes in config of the topic; or write less in a record. "
        "Nothing of the batch is lost: it is done again."
    ),
    "TopicAuthorizationException": _NO_ACCESS,
    "ClusterAuthorizationException": _NO_ACCESS,
    "GroupAuthorizationException": (
        "Allow the user of the connection the consumer groups with the prefix that group_id_prefix of the "
        "stream sets."
    ),
    "SaslAuthenticationException": (
        "The brokers refuse the user of the connection. Correct user, password or mechanism in the sasl "
        "block of the kafka block."
    ),
    "SslAuthenticationException": (
        "Client and brokers do not trust each other. Correct the certificates in the ssl block of the kafka "
        "block."
    ),
}


class _Link(Protocol):
    """One throwable of a chain of causes."""

    @property
    def class_name(self) -> str: ...

    @property
    def message(self) -> str: ...


def error_in(chain: Sequence[_Link]) -> tuple[str, str] | None:
    """The class and the message of Kafka's own error in a chain of causes, outermost first."""
    for link in reversed(chain):
        if link.class_name.startswith(_PACKAGE):
            return link.class_name.rpartition(".")[2], link.message
    for link in chain:
        if (match := _IN_TEXT.search(link.message)) is not None:
            return match.group(1), match.group(2)
    return None


def way_out(error_class: str) -> str | None:
    """The advice for an error of this class, None where there is none."""
    return _WAYS_OUT.get(error_class)
