"""The plan of a topic: the changes that apply would make. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from flareiac.kernel.data import ABSENT, UNKNOWN, Attributes, Data
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import encode
from flareiac.sdk.changes import (
    Action,
    AttributeChange,
    Blocker,
    Effect,
    Hit,
    Impact,
    Proposal,
    Reader,
    Relation,
    Step,
    blocker,
)
from flareiac.sdk.classify import classify
from flareiac.sdk.on_change import ChangeClass
from flareiac.sdk.requests import PlanRequest
from flareiac.sdk.results import Missing, Present
from flareiac_kafka import codes
from flareiac_kafka.broker.cluster import ConfigChange
from flareiac_kafka.topic.config_changes import config_change, config_steps
from flareiac_kafka.topic.effects import ANOTHER_TOPIC, MORE_PARTITIONS, NO_TOPIC
from flareiac_kafka.topic.managed_by import (
    MARK_SETTING,
    UNGUARDED,
    UNMARKED,
    another_state,
    managed_elsewhere,
    marking,
    taken_over,
)
from flareiac_kafka.topic.spec import (
    Absence,
    TopicChange,
    TopicDefinition,
    TopicFacts,
    TopicIdentity,
    identity_of,
)

_DELETING = Step(
    text="delete the topic with all its records",
    effect=Effect.LOSES_DATA,
    why="Kafka cannot bring a topic back.",
)
_NOT_LISTED = "the cluster did not list its consumer groups, so that others may read it"
_GONE = "the topic was deleted outside of FlareIaC"


@dataclass(frozen=True, slots=True)
class TopicPlanner:
    """Pure knowledge of topics."""

    def plan(self, request: PlanRequest) -> Proposal:
        """The proposal; what cannot be done as written is a blocker in it."""
        recorded = None if request.recorded is None else RecordedTopic.of(request)
        if request.desired is None:
            assert recorded is not None, "a topic that is not declared is recorded"
            return _removal(request, recorded)
        case = Case(request=request, desired=TopicDefinition.of(request.desired), recorded=recorded)
        if not isinstance(request.observed, Present):
            return _creation(case)
        observed = ObservedTopic.of(request.observed)
        if recorded is not None and observed.is_another(recorded.identity):
            return _of_another(case, observed)
        if request.replace and recorded is not None:
            return _replacement(case, observed)
        return _update(case, observed)

    def fingerprint(self, request: PlanRequest) -> Data:
        """The identity of a topic that goes or is replaced; of one that stays, the facts that an update
        relies on.
        """
        there, recorded = request.observed, request.recorded
        if request.desired is None:
            assert recorded is not None, "a topic that is not declared is recorded"
            deletes = _deletes(request, TopicDefinition.of(recorded.attributes))
            return _which(there) if isinstance(there, Present) and deletes else None
        if not isinstance(there, Present):
            # A plan that is gone on with may have made it
            return {"topic": "absent", "resumed": UNKNOWN if request.resumed else False}
        if request.replace and recorded is not None:
            return _which(there)
        live = TopicDefinition.of(there.attributes)
        before = TopicDefinition.of(recorded.attributes).settings if recorded is not None else {}
        names = {*TopicDefinition.of(request.desired).settings, *before}
        config = {name: live.settings.get(name) for name in sorted(names)}
        replicas = live.replication_factor
        return {**_which(there), "partitions": live.partitions, "replicas": replicas, "config": config}


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedTopic:
    """The record of a topic in the state."""

    definition: TopicDefinition
    identity: TopicIdentity

    @classmethod
    def of(cls, request: PlanRequest) -> "RecordedTopic":
        recorded = request.recorded
        assert recorded is not None, "asked about a recorded topic"
        return cls(
            definition=TopicDefinition.of(recorded.attributes), identity=identity_of(recorded.identity)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedTopic:
    """A topic that is there."""

    definition: TopicDefinition
    attributes: Attributes
    identity: TopicIdentity
    facts: TopicFacts

    @classmethod
    def of(cls, present: Present) -> "ObservedTopic":
        facts = present.facts
        return cls(
            definition=TopicDefinition.of(present.attributes),
            attributes=present.attributes,
            identity=identity_of(present.identity),
            facts=facts if isinstance(facts, TopicFacts) else TopicFacts(),
        )

    def is_another(self, recorded: TopicIdentity) -> bool:
        """Returns True if it is certainly not the recorded one."""
        pairs = ((self.identity.id, recorded.id), (self.identity.cluster_id, recorded.cluster_id))
        return any(None not in pair and pair[0] != pair[1] for pair in pairs)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A declared topic, with what is recorded of it."""

    request: PlanRequest
    desired: TopicDefinition
    recorded: RecordedTopic | None

    @property
    def before(self) -> Mapping[str, str]:
        """The settings that were declared when it was recorded."""
        return {} if self.recorded is None else self.recorded.definition.settings


def _which(there: Present) -> Attributes:
    return {"topic": encode(identity_of(there.identity))}


def _deletes(request: PlanRequest, recorded: TopicDefinition) -> bool:
    return request.destroy_object or recorded.on_destroy != "retain"


def _removal(request: PlanRequest, recorded: RecordedTopic) -> Proposal:
    if isinstance(request.observed, Missing):
        return Proposal(action=Action.FORGET, planned=None, drift=(_GONE,))
    if not _deletes(request, recorded.definition) or not isinstance(request.observed, Present):
        why = "on_destroy is retain: the topic and its records stay, FlareIaC only forgets them"
        return Proposal(action=Action.FORGET, planned=None, reasons=(why,))
    observed = ObservedTopic.of(request.observed)
    another = observed.is_another(recorded.identity)
    return Proposal(
        action=Action.DELETE,
        planned=None,
        steps=(replace(_DELETING, readers=_groups(observed)),),
        reasons=(*_users(request), *(() if observed.facts.groups is not None else (_NOT_LISTED,))),
        blockers=(_another(request, recorded, observed),)
        if another
        else managed_elsewhere(request, recorded.definition.import_id, observed.facts.manager),
        disturbs=NO_TOPIC,
        payload=encode(TopicChange(config=ConfigChange(set={}), id=observed.identity.id)),
    )


def _groups(observed: ObservedTopic) -> tuple[Reader, ...]:
    names = observed.facts.groups or ()
    return tuple(Reader(address=f'consumer group "{name}"', known_as=name) for name in names)


def _creation(case: Case) -> Proposal:
    request, again = case.request, case.recorded is not None
    return Proposal(
        action=Action.CREATE,
        planned=request.desired,
        changes=classify(request.desired or {}, None, None),
        steps=(_making(case.desired),),
        blockers=(*_moved(case), *_elsewhere(case)),
        disturbs=ANOTHER_TOPIC if again else (),
        drift=(_GONE,) if again else (),
        reasons=("it is gone with its records, so it is created again, empty", *_users(request))
        if again
        else (),
        payload=encode(TopicChange(config=ConfigChange(set=case.desired.settings))),
    )


def _making(wanted: TopicDefinition) -> Step:
    many = "the cluster's default number of" if wanted.partitions is None else f"{wanted.partitions:,}"
    noun = "partition" if wanted.partitions == 1 else "partitions"
    return Step(text=f"create the topic with {many} {noun}", effect=Effect.METADATA)


def _replacement(case: Case, observed: ObservedTopic) -> Proposal:
    return Proposal(
        action=Action.REPLACE,
        planned=case.request.desired,
        changes=classify(case.request.desired or {}, None, None),
        steps=(_DELETING, _making(case.desired)),
        blockers=(*_moved(case), *_managed_elsewhere(case, observed)),
        disturbs=ANOTHER_TOPIC,
        reasons=("asked for with -replace", *_users(case.request)),
        payload=encode(TopicChange(config=ConfigChange(set=case.desired.settings), id=observed.identity.id)),
    )


def _of_another(case: Case, observed: ObservedTopic) -> Proposal:
    """Blocked until someone says which topic is meant: an import block that names the new one's id adopts
    it.
    """
    recorded = case.recorded
    assert recorded is not None, "another one than the recorded one"
    request = replace(case.request, recorded=None, importing=True)
    proposal = _update(replace(case, request=request, recorded=None), observed)
    text = f"the topic was deleted and created again outside of FlareIaC (id {observed.identity.id})"
    same_cluster = observed.identity.cluster_id == recorded.identity.cluster_id
    if request.import_id == f"{case.desired.import_id}@{observed.identity.id}" and same_cluster:
        return replace(proposal, disturbs=ANOTHER_TOPIC, drift=(text,))
    blockers = (_another(case.request, recorded, observed), *_moved(case))
    return replace(
        proposal,
        action=Action.UPDATE,
        steps=(),
        changes=(),
        blockers=blockers,
        drift=(text,) if same_cluster else (),
    )


def _update(case: Case, observed: ObservedTopic) -> Proposal:
    request, recorded, desired = case.request, case.request.recorded, case.desired
    planned = request.desired or {}
    changes = tuple(
        replace(change, note=ChangeClass.RECORDED) if change.path == ("on_destroy",) else change
        for change in classify(planned, recorded.attributes if recorded else None, observed.attributes)
    )
    config = ConfigChange(set={})
    if desired.config is not None:
        config = config_change(desired.settings, _dropped(case), observed.definition.settings)
    more = _more_partitions(desired, observed)
    retained = any(change.path == ("on_destroy",) for change in changes)
    steps: tuple[Step, ...] = (
        *_partition_steps(more, observed),
        *config_steps(config, observed.facts.effective),
    )
    facts = observed.facts
    can_be_marked = facts.can_be_marked and MARK_SETTING not in desired.settings
    if recorded is None or steps:
        steps = (*marking(request, facts.manager, can_be_marked=can_be_marked), *steps)
    if retained and recorded is not None:
        steps = (*steps, _retention_step(desired.on_destroy))
    blockers = (
        *_moved(case),
        *(_managed_elsewhere(case, observed) or _foreign(case, observed)),
        *_impossible(case, observed),
    )
    if recorded is not None:
        changes = tuple(
            replace(change, drift=_drift(change)) if change.has_drifted else change for change in changes
        )
    if recorded is None:
        action = Action.ADOPT
    elif steps or blockers:
        action = Action.UPDATE
    else:
        action = Action.RECORD if changes else Action.NO_OP
    return Proposal(
        action=action,
        planned=planned,
        changes=changes,
        steps=steps,
        reasons=(
            *((UNMARKED,) if recorded is None and not facts.manager else ()),
            *((UNGUARDED,) if recorded is None and facts.manager and not can_be_marked else ()),
            *(_users(request) if more is not None else ()),
        ),
        blockers=blockers,
        disturbs=_disturbed(more),
        drift=(
            *taken_over(request, observed.facts.manager),
            *(change.drift for change in changes if change.drift),
        ),
        payload=encode(
            TopicChange(
                config=config,
                partitions=more,
                id=observed.identity.id,
                takes_over=another_state(facts.manager, request.project.lineage),
            )
        ),
    )


def _managed_elsewhere(case: Case, observed: ObservedTopic) -> tuple[Blocker, ...]:
    return managed_elsewhere(case.request, case.desired.import_id, observed.facts.manager)


def _dropped(case: Case) -> Mapping[str, str]:
    """Settings that were declared and are not any more; one that is null now is left as it is."""
    return {name: value for name, value in case.before.items() if name not in (case.desired.config or {})}


def _more_partitions(desired: TopicDefinition, observed: ObservedTopic) -> int | None:
    wanted, there = desired.partitions, observed.definition.partitions
    return None if wanted is None or there is None or wanted <= there else wanted


def _partition_steps(more: int | None, observed: ObservedTopic) -> Iterator[Step]:
    if more is None:
        return
    there = observed.definition.partitions or 0
    added = more - there
    yield Step(
        text=f"add {added:,} partition{'s' if added > 1 else ''} ({there:,} -> {more:,})",
        effect=Effect.IRREVERSIBLE,
        why="Kafka cannot remove partitions. Writers choose the partition of a key by their number, so most "
        "keys move: for such a key, records from before and from after are in different partitions, and no "
        "reader gets them in order for certain. A merge may keep the older row of a key; pause the writers "
        "until all streams have read what is there, where that matters.",
        hits=(Hit(),),
    )


def _disturbed(more: int | None) -> tuple[Impact, ...]:
    return () if more is None else MORE_PARTITIONS


def _retention_step(mode: str) -> Step:
    return Step(
        text=f"removing the block will {mode} the topic from now on",
        effect=Effect.RECORDED,
        why="The topic itself does not change.",
    )


def _users(request: PlanRequest) -> Iterator[str]:
    """The users of the topic, in words."""
    for usage in request.usages:
        if usage.subject == request.address and usage.relation in (Relation.STREAMS_FROM, Relation.WRITES):
            yield f"{usage.holder} {usage.relation.value} it"


def _impossible(case: Case, observed: ObservedTopic) -> Iterator[Blocker]:
    desired, there = case.desired, observed.definition
    if (
        desired.partitions is not None
        and there.partitions is not None
        and desired.partitions < there.partitions
    ):
        yield blocker(
            codes.FEWER_PARTITIONS,
            f"{desired.import_id} has {there.partitions:,} partitions, and the configuration says "
            f"{desired.partitions:,}: Kafka cannot remove partitions.",
            (
                f"keep them:\npartitions = {there.partitions}",
                (
                    "declare another topic under another label beside this one, and move its writers and "
                    "streams to it by hand"
                ),
                f"lose all its records: flareiac apply -replace={case.request.address}",
            ),
        )
    wanted, copies = desired.replication_factor, there.replication_factor
    if wanted is not None and copies is not None and wanted != copies:
        yield blocker(
            codes.REPLICATION_CHANGED,
            f"{desired.import_id} has {copies} cop{'ies' if copies != 1 else 'y'} of each partition, and the "
            f"configuration says {wanted}: copies are moved between brokers by a reassignment, which "
            "FlareIaC does not do.",
            (
                f"keep them:\nreplication_factor = {copies}",
                "reassign the partitions by hand (kafka-reassign-partitions), then plan again",
            ),
        )


def _foreign(case: Case, observed: ObservedTopic) -> tuple[Blocker, ...]:
    if case.recorded is not None or case.request.importing:
        return ()
    name = case.desired.import_id
    foreign = blocker(
        codes.NOT_ADOPTED,
        f"The topic {name} exists (id {observed.identity.id}), and FlareIaC changes only what it created or "
        "was asked to adopt.",
        (
            f'adopt it, with its records:\nimport {{\n  to = {case.request.address}\n  id = "{name}"\n}}',
            "give the block another name",
        ),
    )
    return (foreign,)


def _another(request: PlanRequest, recorded: RecordedTopic, observed: ObservedTopic) -> Blocker:
    name, new = recorded.definition.import_id, observed.identity
    if new.cluster_id != recorded.identity.cluster_id and recorded.identity.cluster_id is not None:
        return _other_cluster(request, recorded, new.cluster_id)
    return blocker(
        codes.RECREATED_ELSEWHERE,
        f"{name} has another id than recorded: it is another topic under the same name, with other records, "
        "and FlareIaC was not asked to change it.",
        (
            f'to adopt the new one:\nimport {{\n  to = {request.address}\n  id = "{name}@{new.id}"\n}}',
            "to have the declared topic created again, empty: delete the new one by hand, then plan again",
        ),
    )


def _other_cluster(request: PlanRequest, recorded: RecordedTopic, cluster_id: str | None) -> Blocker:
    connection = recorded.definition.kafka.address
    removed = f"removed {{\n  from = {request.address}\n  lifecycle {{\n    destroy = false\n  }}\n}}"
    return blocker(
        codes.OTHER_CLUSTER,
        f"{connection} leads to the cluster {cluster_id}, and {recorded.definition.import_id} is recorded in "
        f"the cluster {recorded.identity.cluster_id}.",
        (
            f"let bootstrap_servers of {connection} name the brokers of the recorded cluster",
            (
                f"forget the topic of the old cluster, with this in place of its block, and declare it after "
                f"that:\n{removed}"
            ),
        ),
    )


def _elsewhere(case: Case) -> tuple[Blocker, ...]:
    """A recorded topic that is missing in another cluster is not gone."""
    recorded, there = case.recorded, case.request.observed
    if recorded is None or not isinstance(there, Missing) or not isinstance(there.facts, Absence):
        return ()
    before, now = recorded.identity.cluster_id, there.facts.cluster_id
    if before is None or now is None or before == now:
        return ()
    return (_other_cluster(case.request, recorded, now),)


def _moved(case: Case) -> tuple[Blocker, ...]:
    if case.recorded is None:
        return ()
    was, now = case.recorded.definition, case.desired
    if (was.kafka, was.name) == (now.kafka, now.name):
        return ()
    moved = blocker(
        codes.TOPIC_RENAMED,
        f"{was.import_id} cannot become {now.import_id}: Kafka does not rename or move topics.",
        (
            "write its old name and connection again",
            (
                "give the block another label: it makes a new topic, and the old one is forgotten, or "
                "deleted if its on_destroy is delete"
            ),
        ),
    )
    return (moved,)


def _drift(change: AttributeChange) -> str:
    what = f"setting {change.path[1]}" if change.path[0] == "config" else str(change.path[0])
    if change.live is ABSENT:
        return f"{what} was removed outside of FlareIaC"
    return f"{what} was changed from {_text(change.old)} to {_text(change.live)} outside of FlareIaC"


def _text(value: Data) -> str:
    if value is ABSENT or value is None:
        return "nothing"
    return f'"{value}"' if isinstance(value, str) else str(value)
