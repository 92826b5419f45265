"""Finds topics of a cluster by a pattern of import ids, and says each as a block. Reads only."""

import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from typing import Final

from flareiac.kernel.addresses import block_type, instance_label, parse_address
from flareiac.kernel.data import Reference
from flareiac.kernel.diagnostics import Diagnostic, Failure, did_you_mean, error
from flareiac.sdk.importing import Importable, ImportRequest, LeftOut, Written, WrittenBlock
from flareiac.sdk.references import Resolved
from flareiac_kafka import codes
from flareiac_kafka.broker.reader import INTERNAL_TOPICS, opened
from flareiac_kafka.topic.canonical import name_error
from flareiac_kafka.topic.driver import LiveTopic, look_at
from flareiac_kafka.topic.managed_by import another_state
from flareiac_kafka.topic.spec import TopicDefinition

_LABEL: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


def importable_topics(request: ImportRequest, lineage: str) -> Sequence[Importable | LeftOut]:
    """The topics that a pattern names, by id. ``lineage``: of the own state. Raises ``Failure``."""
    connection, pattern = _asked(request)
    cluster = opened(connection.attributes, connection.address)
    names = [pattern] if request.exact else [name for name in cluster.names() if _fits(name, pattern)]
    wanted = [name for name in names if name not in INTERNAL_TOPICS]
    topics = look_at(cluster, wanted)
    declared = {
        definition.name: address
        for address, attributes in request.declared.items()
        if block_type(address) == "topic"
        for definition in [TopicDefinition.of(attributes)]
        if definition.kafka.address == connection.address
    }
    items = [
        _item(connection, name, there, (declared.get(name), lineage))
        for name, there in topics.items()
        if isinstance(there, LiveTopic)
    ]
    if not items:
        raise Failure(_nothing(request.pattern, connection))
    return items


def _item(
    connection: Resolved, name: str, live_topic: LiveTopic, known: tuple[str | None, str]
) -> Importable | LeftOut:
    address, lineage = known
    label = instance_label(connection.address)
    import_id = f"{label}/{name}"
    if address is not None:
        return LeftOut(id=import_id, why=f"it is declared as {address}", declared=True)
    if why := name_error(name):
        return LeftOut(id=import_id, why=why)
    copies = set(live_topic.topic.replicas.values())
    attributes: dict[str, Written] = {
        "kafka": Reference(connection.address),
        "partitions": len(live_topic.topic.replicas),
    }
    if len(copies) == 1:
        attributes |= {"replication_factor": copies.pop()}
    if live_topic.own:
        attributes |= {"config": dict(sorted(live_topic.own.items()))}
    return Importable(
        id=import_id,
        block=WrittenBlock(
            type="topic",
            label=_label_of(name),
            attributes=attributes,
            notes=tuple(_manager(live_topic, lineage)),
        ),
        named="name",
        real_name=name,
        named_after="kafka",
        qualifier=re.sub(r"\W+", "_", label),
    )


def _manager(live_topic: LiveTopic, lineage: str) -> Iterator[str]:
    """A note where another state manages the topic."""
    if other := another_state(live_topic.manager, lineage):
        yield (
            f"The state whose lineage begins with {other} manages this topic. Its import block needs "
            "takeover = true, where nothing is applied from that state any more."
        )


def _label_of(name: str) -> str:
    plain = re.sub(r"[^A-Za-z0-9_-]+", "_", name)
    return plain if _LABEL.fullmatch(plain) else f"topic_{plain}"


def _asked(request: ImportRequest) -> tuple[Resolved, str]:
    """The connection that a pattern begins with, and the rest of it. Raises ``Failure``."""
    connections = {
        instance_label(reference.address): reference
        for reference in sorted(request.references.values(), key=_root_last)
        if reference.type == "kafka"
    }
    label, _, rest = request.pattern.partition("/")
    if label in connections and rest:
        return connections[label], rest
    known = next(iter(connections), "main")
    raise Failure(
        error(
            codes.IMPORT_PATTERN_UNCLEAR,
            f'The pattern is "{request.pattern}". Write KAFKA/TOPIC, such as {known}/'
            f"{'orders' if request.exact else 'orders*'}. Declared kafka blocks: "
            f"{', '.join(sorted(connections)) or 'none'}.{did_you_mean(label, connections)}",
        )
    )


def _root_last(reference: Resolved) -> bool:
    """A key of order: a label means the connection of the root module where a module has that label too."""
    parsed = parse_address(reference.address)
    return parsed is not None and not parsed.module


def _fits(text: str, pattern: str) -> bool:
    return fnmatchcase(text, pattern.replace("[", "[[]"))


def _nothing(pattern: str, connection: Resolved) -> Diagnostic:
    return error(
        codes.IMPORT_PATTERN_UNCLEAR,
        f'{connection.address} was asked and has no topic "{pattern}". * stands for anything in the name: '
        f"{instance_label(connection.address)}/*.",
    )
