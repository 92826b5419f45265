"""The results of asking a cluster beside an answer: the reasons of librdkafka as diagnostics. Pure."""

from collections.abc import Mapping
from typing import Final

from flareiac.kernel.diagnostics import Diagnostic, error
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_kafka import codes

_LONGEST: Final = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """The reason that librdkafka cannot go on: the name of its code, and its text, which holds no secret."""

    name: str
    text: str

    @property
    def line(self) -> str:
        """The text on one line."""
        return " ".join(self.text.split())[:_LONGEST].rstrip(".")


class Refused(Exception):
    """The cluster answered that it does not do this; nothing has changed. ``name`` is Kafka's own word for
    the reason.
    """

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason.line)
        self.reason = reason


AUTHENTICATION: Final = "_AUTHENTICATION"
TLS: Final = "_SSL"
ALL_DOWN: Final = "_ALL_BROKERS_DOWN"
_DECIDING: Final = (AUTHENTICATION, TLS, "_RESOLVE", "_TRANSPORT", "_BAD_MSG")
"""The reasons that decide first: a broker that cannot be reached says less than one that refuses the
password.
"""
UNDECIDED: Final = frozenset(
    {"_TIMED_OUT", "_TRANSPORT", "_TIMED_OUT_QUEUE", "_DESTROY", "_ALL_BROKERS_DOWN", "REQUEST_TIMED_OUT"}
)
"""Codes of a request of which it is not known whether a broker carried it out."""


def without_answer(address: str, servers: str, seen: Mapping[str, Reason], seconds: float) -> Diagnostic:
    """No answer of a cluster. ``seen``: by code what librdkafka complained of meanwhile."""
    reason = next((seen[name] for name in _DECIDING if name in seen), None)
    if reason is not None and reason.name == AUTHENTICATION:
        return error(
            codes.AUTHENTICATION_FAILED,
            f"{address}: {reason.line}. Check mechanism, user name and password (flareiac doctor), and that "
            "the listener of these brokers uses SASL.",
        )
    if reason is not None and (reason.name == TLS or "SSL" in reason.line):
        return error(
            codes.TLS_FAILED,
            f"{address}: {reason.line}. Check ca in ssl, that the certificates name the hosts of the "
            "brokers, and that the listener of these brokers uses TLS.",
        )
    why = reason.line if reason is not None else f"no answer within {seconds:g} s"
    return error(
        codes.CLUSTER_UNREACHABLE,
        f"{address}: {why} (bootstrap servers {servers}). Nothing is known of its topics, so nothing about "
        "them is planned or changed. Check that the brokers run and can be reached from here, and whether "
        "their listener asks for TLS or SASL.",
    )


def not_allowed(address: str, what: str, reason: Reason) -> Diagnostic:
    """The cluster does not let this user do it."""
    return error(
        codes.NOT_AUTHORIZED,
        f"{address}: {what}: {reason.line}. Give the user of this connection the permission (an ACL for "
        "Describe and DescribeConfigs to plan; Create, Alter, AlterConfigs and Delete to manage topics).",
    )


def unexpected(address: str, what: str, reason: Reason) -> Diagnostic:
    """Any other refusal of a question."""
    return error(codes.CLUSTER_UNREADABLE, f"{address}: {what}: {reason.line} ({reason.name}).")
