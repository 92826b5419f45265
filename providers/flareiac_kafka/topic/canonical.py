"""From a ``topic`` block to canonical attributes, and what it uses. Pure."""

import re
from typing import Final

from flareiac.kernel.data import Attributes, Data, Reference
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.records import decode, encode
from flareiac.sdk.changes import Conflict, Relation, Usage
from flareiac.sdk.project import Project
from flareiac.sdk.references import References
from flareiac.sdk.resource_type import Decoded
from flareiac_kafka import codes
from flareiac_kafka.connection.spec import ConnectionDefinition
from flareiac_kafka.topic.managed_by import MARK_SETTING, is_mark
from flareiac_kafka.topic.spec import TopicDefinition

_NAME: Final = re.compile(r"[a-zA-Z0-9._-]{1,249}")
_INTERNAL: Final = "__"
_SAME_METRICS: Final = Conflict(
    code=codes.NAMES_COLLIDE,
    what="have names that Kafka cannot tell apart in its metrics, where . and _ are the same",
    way_out="Give one of them another name.",
)


def canonical(
    decoded: Decoded, _references: References, _project: Project, diagnostics: Diagnostics
) -> Attributes:
    """Canonical attributes of a topic."""
    written = dict(decoded.attributes)
    name = written.pop("name") or decoded.name
    connection = _connection(written.pop("kafka"), diagnostics)
    if why := name_error(name):
        diagnostics.error(codes.INVALID_TOPIC_NAME, why, attribute=("name",))
    on_destroy = written.pop("on_destroy") or "retain"
    definition = decode(
        TopicDefinition,
        {"kafka": connection, "name": name, "on_destroy": on_destroy, **written},
        decoded.address,
    )
    if is_mark(definition.settings.get(MARK_SETTING, "")):
        why = (
            f"This number of {MARK_SETTING} is the mark by which a topic shows the state that manages it. "
            "Leave the setting out: FlareIaC sets it."
        )
        diagnostics.error(codes.MARK_DECLARED, why, attribute=("config",))
    attributes: Attributes = encode(definition)
    return attributes


def _connection(written: Data, diagnostics: Diagnostics) -> Reference:
    if isinstance(written, Reference):
        return written
    diagnostics.error(
        codes.NO_CONNECTION,
        'The topic needs a cluster. Declare one: kafka "main" { bootstrap_servers = "broker:9092" }',
        attribute=("kafka",),
    )
    return Reference("kafka.main")


def name_error(name: str) -> str | None:
    """The reason that a topic cannot have this name, as a sentence; None where it can."""
    if _NAME.fullmatch(name) is None or name in (".", ".."):
        return (
            f"{name!r} cannot be the name of a topic: up to 249 letters, digits, dots, - and _, and neither "
            ". nor .. alone."
        )
    if name.startswith(_INTERNAL):
        return f"{name!r} begins with {_INTERNAL}, as the topics do that Kafka keeps for itself."
    return None


def usages(address: str, attributes: Attributes, references: References) -> tuple[Usage, ...]:
    """A topic holds its name in its cluster, and the name of its metrics."""
    topic = TopicDefinition.of(attributes)
    connection = references.get(topic.kafka.address)
    cluster = str(topic.kafka) if connection is None else _place(connection.attributes)
    name = Usage(
        subject=f"topic {topic.name} in {cluster}", holder=address, relation=Relation.REAL_NAME, reason=""
    )
    if "." not in topic.name and "_" not in topic.name:
        return (name,)
    metrics = Usage(
        subject=f"metrics of topic {topic.name.replace('.', '_')} in {cluster}",
        holder=address,
        relation=Relation.HOLDS_ALONE,
        reason="A cluster does not create both.",
        conflict=_SAME_METRICS,
    )
    return (name, metrics)


def _place(connection: Attributes) -> str:
    """The cluster as far as its block names it: the brokers, in order."""
    return ",".join(sorted(ConnectionDefinition.of(connection).bootstrap_servers.split(",")))
