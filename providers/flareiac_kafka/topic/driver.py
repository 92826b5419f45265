"""The driver of topics. Touches the world.

Kafka notes nothing of an operation with a topic. One that is exactly as a create should have left it, carries
no mark of another state and was not there when the plan was made, is that create's outcome. It is marked once
it exists, when the default of its cluster is known; one whose create was interrupted before that is marked by
its next change.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from flareiac.kernel.data import Attributes
from flareiac.kernel.diagnostics import Diagnostic, Failure, error
from flareiac.kernel.kill_points import reach
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import decode, encode
from flareiac.sdk.actions import Adopt, Change, Create, Delete, Settleable, Update
from flareiac.sdk.capabilities import Preflight
from flareiac.sdk.freshness import Freshness, FreshnessRequest
from flareiac.sdk.references import References
from flareiac.sdk.requests import ApplyRequest, ChangeRequest, ReadRequest
from flareiac.sdk.results import (
    Applied,
    Missing,
    NotApplied,
    Observation,
    Outcome,
    Present,
    Unmanaged,
    Unreadable,
)
from flareiac_kafka import codes
from flareiac_kafka.broker.cluster import ConfigChange, ConfigValue, TopicDescription
from flareiac_kafka.broker.failures import Refused, not_allowed
from flareiac_kafka.broker.reader import asking, opened
from flareiac_kafka.topic.freshness import freshness_of
from flareiac_kafka.topic.managed_by import (
    MARK_SETTING,
    another_state,
    can_be_marked,
    is_own_state,
    manager_of,
    mark_of,
)
from flareiac_kafka.topic.spec import (
    Absence,
    TopicChange,
    TopicDefinition,
    TopicFacts,
    TopicIdentity,
    identity_of,
)

if TYPE_CHECKING:
    from flareiac_kafka.broker.client import Cluster

_EXISTS: Final = "TOPIC_ALREADY_EXISTS"
_FORBIDDEN: Final = "AUTHORIZATION_FAILED"
_PAUSE_S: Final = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveTopic:
    """A topic of a cluster, with its settings. ``manager``: of which state it carries the mark."""

    cluster_id: str | None
    topic: TopicDescription
    config: Mapping[str, ConfigValue]
    groups: tuple[str, ...] | None = ()
    """As ``TopicFacts.groups``."""

    @property
    def manager(self) -> str:
        return manager_of(self.config)

    @property
    def own(self) -> dict[str, str]:
        """The settings that are set at the topic, without the mark of a state."""
        return {
            name: setting.value
            for name, setting in self.config.items()
            if setting.is_own and setting.value is not None and not (name == MARK_SETTING and self.manager)
        }

    @property
    def identity(self) -> TopicIdentity:
        return TopicIdentity(id=self.topic.id, cluster_id=self.cluster_id)

    def attributes(self, frame: Attributes) -> Attributes:
        """The observed topic, in the shape of a topic's canonical attributes."""
        copies = set(self.topic.replicas.values())
        return {
            **frame,
            "partitions": len(self.topic.replicas),
            "replication_factor": min(copies, default=None),
            "config": self.own,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Absent:
    """A topic that its cluster does not have."""

    cluster_id: str | None


Answer = LiveTopic | Absent | Failure
"""The answer about one topic."""


class TopicDriver:
    """Reads and changes topics of the state with this lineage. Safe to use from several threads."""

    def __init__(self, lineage: str) -> None:
        self._lineage = lineage
        self._answers: dict[str, tuple[TopicDefinition, Answer]] = {}
        self._lock = threading.Lock()
        self._made: dict[str, str | None] = {}

    def prefetch(self, requests: Sequence[ReadRequest]) -> Mapping[str, Observation]:
        """Asks each cluster once; every answer serves one read of each of these topics."""
        wanted: dict[str, list[tuple[str, TopicDefinition]]] = {}
        references: dict[str, References] = {}
        leaving = {request.address for request in requests if request.desired is None}
        for request in requests:
            definition = _requested(request)
            connection = definition.kafka.address
            wanted.setdefault(connection, []).append((request.address, definition))
            references.setdefault(connection, request.references)
        answers: dict[str, tuple[TopicDefinition, Answer]] = {}
        for connection, items in wanted.items():
            doomed = frozenset(topic.name for address, topic in items if address in leaving)
            definitions = [definition for _address, definition in items]
            topic_answers = _answers(definitions, references[connection], doomed)
            answers |= {address: (topic, topic_answers[topic.name]) for address, topic in items}
        with self._lock:
            self._answers = answers
        return {}

    def read(self, request: ReadRequest) -> Observation:
        """The observed topic; unknown where the cluster does not answer."""
        definition = _requested(request)
        if problem := _other_import(request, definition):
            return Unreadable(diagnostic=problem)
        with self._lock:
            known, answer = self._answers.pop(request.address, (None, None))
        if answer is None or known != definition:
            doomed = frozenset([definition.name] if request.desired is None else ())
            answer = _answers([definition], request.references, doomed)[definition.name]
        match answer:
            case Failure(diagnostics=diagnostics):
                return Unreadable(diagnostic=diagnostics[0].at(address=request.address))
            case Absent(cluster_id=cluster_id):
                return Missing(
                    reason=f"the cluster has no topic {definition.name}", facts=Absence(cluster_id=cluster_id)
                )
            case LiveTopic() as live_topic:
                return _present(request, definition, live_topic)

    def preflight(self, requests: Sequence[ChangeRequest]) -> Preflight:
        """Has the clusters check each change, and change nothing."""
        diagnostics: list[Diagnostic] = []
        for request in requests:
            definition = TopicDefinition.of(request.action.planned)
            try:
                _check(_cluster(definition, request), request.action, definition)
            except Refused as refused:
                if refused.reason.name != _EXISTS:
                    diagnostics.append(_refused(definition, refused).at(address=request.address))
            except Failure as failure:
                diagnostics += [diagnostic.at(address=request.address) for diagnostic in failure.diagnostics]
        return Preflight(diagnostics=tuple(diagnostics))

    def apply(self, request: ChangeRequest) -> Outcome:
        """Creates the topic, or changes it while it is the one that the plan has seen. Raises ``Failure``
        where only ``settle`` can tell what was done.
        """
        definition = TopicDefinition.of(request.action.planned)
        try:
            cluster = _cluster(definition, request)
            before = _look(cluster, definition.name)
        except Failure as failure:
            return NotApplied(diagnostics=failure.diagnostics)
        if isinstance(request.action, Create):
            return self._create(request, definition, cluster, before)
        return self._change(request.action, definition, cluster, before)

    def delete(self, request: ApplyRequest[Delete]) -> Outcome:
        """Deletes the recorded topic, never another one of its name. Raises ``Failure`` as ``apply`` does."""
        recorded = request.action.recorded
        definition = TopicDefinition.of(recorded.attributes)
        gone = Applied(attributes=recorded.attributes, identity=recorded.identity)
        try:
            cluster = _cluster(definition, request)
            before = _look(cluster, definition.name)
        except Failure as failure:
            return NotApplied(diagnostics=failure.diagnostics)
        if isinstance(before, Absent):
            return gone
        expected = decode(TopicChange, request.action.payload).id if request.action.payload else None
        if before.topic.id != (expected or identity_of(recorded.identity).id):
            return NotApplied(diagnostics=(_meanwhile(definition, before),))
        if another_state(before.manager, self._lineage):
            return NotApplied(diagnostics=(_of_another_state(definition, before),))
        try:
            _confirmed(definition, lambda: cluster.delete(definition.name))
        except Refused as refused:
            return NotApplied(diagnostics=(_refused(definition, refused),))
        _until(cluster, definition, lambda live_topic: isinstance(live_topic, Absent))
        return gone

    def freshness(self, request: FreshnessRequest) -> Freshness:
        """Returns when records last came into the recorded topic, and how far its groups are behind. Raises
        ``Failure``.
        """
        definition = TopicDefinition.of(request.recorded.attributes)
        connection = _connection(definition, request.references)
        with asking(connection):
            cluster = opened(connection, definition.kafka.address, threading.Event())
            topic = cluster.topics([definition.name])[1].get(definition.name)
            if topic is None:
                return Freshness(newest_ms=None, why=f"the cluster has no topic {definition.name}")
            if topic.id != identity_of(request.recorded.identity).id:
                why = f"the topic {definition.name} was made again since it was recorded"
                return Freshness(newest_ms=None, why=why)
            return freshness_of(cluster, definition.name, topic.replicas, request.groups)

    def foresee(self, request: ApplyRequest[Settleable]) -> Outcome | None:
        """See ``settle``, which reads only."""
        return self.settle(request)

    def settle(self, request: ApplyRequest[Settleable]) -> Outcome | None:
        """The outcome if the topic is as the operation should have left it, else None. Raises ``Failure``."""
        match request.action:
            case Create() | Adopt() | Update() as change:
                definition = TopicDefinition.of(change.planned)
                live_topic = _look(_cluster(definition, request), definition.name)
                return _applied(change, live_topic) if self._is_done(change, definition, live_topic) else None
            case Delete(recorded=recorded):
                definition = TopicDefinition.of(recorded.attributes)
                live_topic = _look(_cluster(definition, request), definition.name)
                if (
                    isinstance(live_topic, LiveTopic)
                    and live_topic.topic.id == identity_of(recorded.identity).id
                ):
                    return None
                return Applied(attributes=recorded.attributes, identity=recorded.identity)
            case _:
                return None

    def _create(
        self,
        request: ChangeRequest,
        definition: TopicDefinition,
        cluster: "Cluster",
        before: LiveTopic | Absent,
    ) -> Outcome:
        if isinstance(before, LiveTopic):
            if request.key in self._made and self._made[request.key] == before.topic.id:
                return _applied(request.action, before)
            return NotApplied(diagnostics=(_exists(definition, before),))
        try:
            _confirmed(definition, lambda: _make(cluster, definition, only_check=False))
        except Refused as refused:
            # librdkafka sends a request again whose answer was lost: then it is there as it should be
            again = _look(cluster, definition.name) if refused.reason.name == _EXISTS else before
            if not self._is_done(request.action, definition, again):
                return NotApplied(diagnostics=(_refused(definition, refused),))
        live_topic = _until(
            cluster, definition, lambda there: self._is_done(request.action, definition, there)
        )
        assert isinstance(live_topic, LiveTopic), "waited for until it is there"
        self._made[request.key] = live_topic.topic.id
        return _applied(request.action, live_topic, *self._marked(cluster, definition, live_topic))

    def _change(
        self, action: Change, definition: TopicDefinition, cluster: "Cluster", before: LiveTopic | Absent
    ) -> Outcome:
        """Settings first: what a cluster refuses of them is refused before partitions are there for ever. A
        topic that is taken over is marked before anything else, which keeps the other state from changing it.
        """
        change = decode(TopicChange, action.payload)
        if isinstance(before, Absent) or before.topic.id != change.id:
            return NotApplied(diagnostics=(_meanwhile(definition, before),))
        other = another_state(before.manager, self._lineage)
        if other and other != change.takes_over:
            return NotApplied(diagnostics=(_of_another_state(definition, before),))
        more = change.partitions if len(before.topic.replicas) < (change.partitions or 0) else None
        try:
            if other:
                self._mark(cluster, definition, before)
                reach("topic.taken-over")
        except Refused as refused:
            return NotApplied(diagnostics=(_refused(definition, refused),))
        try:
            if not change.config.is_empty:
                _confirmed(definition, lambda: cluster.configure(definition.name, change.config))
            if more is not None:
                total = more
                _confirmed(definition, lambda: cluster.add_partitions(definition.name, total))
        except Refused as refused:
            return NotApplied(diagnostics=(_refused(definition, refused, taken_over=bool(other)),))
        live_topic = _until(cluster, definition, lambda there: self._is_done(action, definition, there))
        if isinstance(live_topic, LiveTopic) and (
            isinstance(action, Adopt) or more or not change.config.is_empty
        ):
            return _applied(action, live_topic, *self._marked(cluster, definition, live_topic))
        return _applied(action, live_topic)

    def _marked(self, cluster: "Cluster", definition: TopicDefinition, there: LiveTopic) -> tuple[str, ...]:
        """Marks a topic that is as it should be; says where the cluster does not let it."""
        try:
            self._mark(cluster, definition, there)
        except Refused as refused:
            return (_unmarked(definition, refused),)
        return ()

    def _mark(self, cluster: "Cluster", definition: TopicDefinition, there: LiveTopic) -> None:
        """Makes this state the one that manages a topic, where a mark can say so. Raises ``Refused``;
        ``Failure`` where the outcome is not known.
        """
        mark = mark_of(self._lineage)
        if mark is None or is_own_state(there.manager, self._lineage):
            return
        if MARK_SETTING in definition.settings or not can_be_marked(there.config):
            return
        change = ConfigChange(set={MARK_SETTING: mark})
        _confirmed(definition, lambda: cluster.configure(definition.name, change))

    def _is_done(self, action: Change, definition: TopicDefinition, live_topic: LiveTopic | Absent) -> bool:
        """Returns True if a topic is as a change should have left it; of one that is made, all of it but the
        mark.
        """
        if isinstance(live_topic, Absent) or another_state(live_topic.manager, self._lineage):
            return False
        change, partitions = decode(TopicChange, action.payload), len(live_topic.topic.replicas)
        if isinstance(action, Create):
            before = None if action.recorded is None else identity_of(action.recorded.identity).id
            if before is not None and before == live_topic.topic.id:
                return False  # the one that was to be deleted first
            copies = {definition.replication_factor or next(iter(live_topic.topic.replicas.values()), None)}
            is_shaped = (definition.partitions or partitions) == partitions
            has_copies = set(live_topic.topic.replicas.values()) == copies
            return is_shaped and has_copies and live_topic.own == definition.settings
        config = _is_set(change.config, live_topic.own)
        return live_topic.topic.id == change.id and config and partitions >= (change.partitions or 0)


def _requested(request: ReadRequest) -> TopicDefinition:
    attributes = request.recorded.attributes if request.recorded else request.desired
    assert attributes is not None, "a topic is declared or recorded"
    return TopicDefinition.of(attributes)


def _connection(definition: TopicDefinition, references: References) -> Attributes:
    """The canonical attributes of the topic's cluster. Raises ``Failure`` when it is not declared."""
    connection = references.get(definition.kafka.address)
    if connection is None:
        why = (
            f"The topic {definition.name} is recorded in {definition.kafka}, and without its block "
            "FlareIaC does not know where to look. Keep the kafka block until the topic is forgotten or "
            "deleted."
        )
        raise Failure(error(codes.CONNECTION_NOT_DECLARED, why))
    return connection.attributes


def _cluster(
    definition: TopicDefinition, request: ChangeRequest | ApplyRequest[Delete] | ApplyRequest[Settleable]
) -> "Cluster":
    connection = _connection(definition, request.references)
    return opened(connection, definition.kafka.address, request.cancel)


def _answers(
    definitions: Sequence[TopicDefinition], references: References, doomed: frozenset[str] = frozenset()
) -> dict[str, Answer]:
    """The answers of one cluster about topics, by name. ``doomed``: those whose block is gone, so that it
    matters who reads them.
    """
    names = [definition.name for definition in definitions]
    try:
        connection = _connection(definitions[0], references)
        with asking(connection):
            cluster = opened(connection, definitions[0].kafka.address, threading.Event())
            topics = look_at(cluster, names)
            return {name: _with_groups(cluster, topics[name], name in doomed) for name in topics}
    except Failure as failure:
        if len(names) == 1:
            return {names[0]: failure}
        if _concerns_one(failure):
            return {
                definition.name: _answers([definition], references, doomed)[definition.name]
                for definition in definitions
            }
        return dict.fromkeys(names, failure)


def _with_groups(cluster: "Cluster", answer: LiveTopic | Absent, is_doomed: bool) -> LiveTopic | Absent:
    if not is_doomed or isinstance(answer, Absent):
        return answer
    try:
        return replace(answer, groups=cluster.groups(answer.topic.name))
    except Failure:
        return replace(answer, groups=None)


def _concerns_one(failure: Failure) -> bool:
    """Returns True if the failure may be about one of several topics, and not about the cluster."""
    return failure.diagnostics[0].code in (codes.NOT_AUTHORIZED.id, codes.CLUSTER_UNREADABLE.id)


def _look(cluster: "Cluster", name: str) -> LiveTopic | Absent:
    return look_at(cluster, [name])[name]


def look_at(cluster: "Cluster", names: Sequence[str]) -> dict[str, LiveTopic | Absent]:
    """The topics that a cluster has under these names. Raises ``Failure``."""
    cluster_id, topics = cluster.topics(names)
    configs = cluster.configs(tuple(topics))
    live_topics: dict[str, LiveTopic | Absent] = {}
    for name in names:
        if name not in topics:
            live_topics[name] = Absent(cluster_id=cluster_id)
        elif name not in configs:
            why = f"{name}: its settings may not be read. Give the user of this connection DescribeConfigs "
            "on it."
            raise Failure(error(codes.NOT_AUTHORIZED, why))
        else:
            live_topics[name] = LiveTopic(cluster_id=cluster_id, topic=topics[name], config=configs[name])
    return live_topics


def _present(request: ReadRequest, definition: TopicDefinition, live_topic: LiveTopic) -> Present:
    frame = request.recorded.attributes if request.recorded else request.desired
    wanted = definition if request.desired is None else TopicDefinition.of(request.desired)
    declared = {*(definition.config or {}), *(wanted.config or {})}
    unmanaged = [name for name in sorted(live_topic.own) if name not in declared]
    effective = {
        name: setting.value for name, setting in live_topic.config.items() if setting.value is not None
    }
    return Present(
        attributes=live_topic.attributes(dict(frame or {})),
        identity=encode(live_topic.identity),
        facts=TopicFacts(
            effective=effective,
            manager=live_topic.manager,
            can_be_marked=can_be_marked(live_topic.config),
            groups=live_topic.groups,
        ),
        unmanaged=()
        if definition.config is None
        else tuple(
            Unmanaged(text=f"setting {name}", path=("config", name), value=live_topic.own[name])
            for name in unmanaged
        ),
    )


def _other_import(request: ReadRequest, definition: TopicDefinition) -> Diagnostic | None:
    given, wanted = request.import_id, definition.import_id
    if given is None or request.recorded is not None or given == wanted or given.startswith(f"{wanted}@"):
        return None
    return error(
        codes.IMPORT_ID_DIFFERS,
        f'The import id is "{given}", and {request.address} declares "{wanted}" (KAFKA/TOPIC, the connection '
        "by its label). Make both name the same topic.",
        address=request.address,
    )


def _make(cluster: "Cluster", wanted: TopicDefinition, *, only_check: bool) -> None:
    partitions = -1 if wanted.partitions is None else int(wanted.partitions)
    copies = None if wanted.replication_factor is None else int(wanted.replication_factor)
    cluster.create(wanted.name, (partitions, copies), wanted.settings, only_check=only_check)


def _check(cluster: "Cluster", action: Change, definition: TopicDefinition) -> None:
    """Raises ``Refused``, ``Failure``."""
    change = decode(TopicChange, action.payload)
    if isinstance(action, Create):
        _make(cluster, definition, only_check=True)
    elif not change.config.is_empty:
        cluster.configure(definition.name, change.config, only_check=True)


def _is_set(change: ConfigChange, own: Mapping[str, str]) -> bool:
    is_set = all(own.get(name) == value for name, value in change.set.items())
    return is_set and not any(name in own for name in change.reset)


def _applied(action: Change, live_topic: LiveTopic | Absent, *messages: str) -> Applied:
    identity = live_topic.identity if isinstance(live_topic, LiveTopic) else TopicIdentity()
    return Applied(attributes=action.planned, identity=encode(identity), messages=messages)


def _unmarked(definition: TopicDefinition, refused: Refused) -> str:
    return (
        f"{definition.import_id} carries no mark of the state that manages it: the cluster refuses to set "
        f"{MARK_SETTING} ({refused.reason.name})"
    )


def _confirmed(definition: TopicDefinition, change: Callable[[], None]) -> None:
    """Makes a change of which a broker says that it is made. Raises ``Refused``; ``Failure`` where that is
    not known.
    """
    try:
        change()
    except Failure as failure:
        raise Failure(_unconfirmed(definition, failure.diagnostics[0].detail)) from None


def _until(
    cluster: "Cluster", definition: TopicDefinition, is_so: Callable[[LiveTopic | Absent], bool]
) -> LiveTopic | Absent:
    """The topic once all brokers that are asked tell of a change. Raises ``Failure`` when time is up."""
    while True:
        live_topic = _look(cluster, definition.name)
        if is_so(live_topic):
            return live_topic
        if not cluster.pause(_PAUSE_S):
            raise Failure(_unconfirmed(definition, "the brokers do not show it yet"))


def _unconfirmed(definition: TopicDefinition, why: str) -> Diagnostic:
    return error(
        codes.CHANGE_NOT_CONFIRMED,
        f"{definition.import_id}: {why.rstrip('.')}. Whether the change took effect is not known. Plan "
        "again: what was done is found then, and is not done twice.",
    )


def _refused(definition: TopicDefinition, refused: Refused, *, taken_over: bool = False) -> Diagnostic:
    reason = refused.reason
    if _FORBIDDEN in reason.name:
        return not_allowed(definition.kafka.address, f"topic {definition.name}", reason)
    return error(
        codes.CHANGE_REFUSED,
        f"{definition.import_id}: {reason.line} ({reason.name}). "
        + (
            "The topic is marked as managed by this state, and nothing else took effect. Plan again."
            if taken_over
            else "Nothing of this change took effect."
        ),
    )


def _exists(definition: TopicDefinition, live_topic: LiveTopic) -> Diagnostic:
    return error(
        codes.NOT_ADOPTED,
        f"The topic {definition.import_id} was created by others after the plan was made (id "
        f"{live_topic.topic.id}). Plan again.",
    )


def _of_another_state(definition: TopicDefinition, live_topic: LiveTopic) -> Diagnostic:
    return error(
        codes.TOPIC_MANAGED_ELSEWHERE,
        f"The topic {definition.import_id} is managed by another state since the plan was made (its mark is "
        f"{live_topic.manager}). Nothing was changed. Plan again.",
    )


def _meanwhile(definition: TopicDefinition, live_topic: LiveTopic | Absent) -> Diagnostic:
    what = "is gone" if isinstance(live_topic, Absent) else f"is another one now (id {live_topic.topic.id})"
    return error(
        codes.TOPIC_CHANGED_MEANWHILE,
        f"The topic {definition.import_id} {what}. Nothing was changed. Plan again.",
    )
