"""Builders of what is there in a golden case: identities, facts, figures and histories as providers report
them.

Each builder's defaults are the ordinary situation, so that a case names only what is particular to it. This
module is the only one of the golden tests that knows the providers' internal keys.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from flareiac.kernel.addresses import block_type
from flareiac.kernel.data import Attributes
from flareiac.sdk.brokers import BrokerView, PartitionOffsets, TopicOffsets
from flareiac.sdk.lakehouse import LiveSnapshot, TableHistory
from flareiac_iceberg.namespace.spec import NamespaceFacts
from flareiac_iceberg.table.observed import TableFacts
from flareiac_kafka.topic.spec import TopicFacts
from flareiac_spark.checkpoint_files.folder_state import FolderState
from flareiac_spark.checkpoint_files.query_positions import QueryPositions
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.engine.other_jobs import RestartedJobs
from flareiac_spark.observation.checkpoint import (
    CheckpointFacts,
    CheckpointUser,
    MoveFacts,
    MoveTarget,
    QueryFacts,
)
from flareiac_spark.observation.job import JobFacts, OutputFacts
from flareiac_spark.sources.avro.latest import (
    AskedSubject,
    SchemaFinding,
    SchemaRead,
    SchemaUnknown,
    compared,
)
from flareiac_spark.sources.avro.subjects import (
    Accepted,
    NoSubject,
    Registered,
    Rejected,
    SubjectUnknown,
    SubjectVerdict,
    one_spelling,
)
from flareiac_spark.sources.findings import InputReach, Unknown
from flareiac_spark.sources.kafka.definition import WORDS
from flareiac_spark.sources.offsets import SourceOnDisk
from flareiac_spark.sources.reachable import Ages, BrokerPosition, NotedTopic, NotedTopics, reach_of
from flareiac_spark.sources.samples import SampleFinding, SampleRead, judged
from flareiac_spark_runtime.sources.avro.registry import RegisteredSchema, RegistryAccess, SubjectVersion
from flareiac_spark_runtime.sources.resolved import SpecColumn

_Positions = Sequence[int | None]
_DAY_MS = 86_400_000
_MIB = 1024 * 1024
_TOPIC_DEFAULTS = {"cleanup.policy": "delete", "retention.ms": "604800000", "retention.bytes": "-1"}


def identity(address: str, attributes: Attributes, given: Attributes) -> Attributes:
    """The identity of a resource with these attributes, as far as nothing else is given."""
    match block_type(address):
        case "job":
            return JobThere(**given).identity(attributes)
        case "checkpoint":
            return CheckpointThere(**given).identity() if given else {}
        case "table":
            return _table(attributes) | given
        case "topic":
            return {"id": "id-1", "cluster_id": "cluster-1"}
        case _:
            return {}


def recorded(address: str, attributes: Attributes, given: Attributes) -> Attributes:
    """The attributes that an apply has recorded of a declared resource."""
    if block_type(address) != "job" or not given.get("writes"):
        return attributes
    written = {
        name: {"schema": one_spelling(json.dumps(item["schema"])), "id": item["id"]}
        for name, item in given["writes"].items()
    }
    return attributes | {"avro": written}


def as_read(address: str, record: Attributes, desired: Attributes | None) -> TableFacts | None:
    """The facts of a table of which a plan reads no more than its entry, as nothing can differ."""
    unread = block_type(address) == "table" and record == desired
    return TableFacts(as_recorded=True) if unread else None


def facts(address: str, attributes: Attributes, given: Attributes) -> object:
    """The observed facts of a resource with these attributes, which are never recorded."""
    match block_type(address):
        case "job":
            return JobThere(**given).facts(attributes)
        case "checkpoint" if given:
            return CheckpointThere(**given).facts(address.rpartition(".")[2])
        case "namespace":
            return NamespaceFacts(tables=tuple(given.get("tables", ())))
        case "topic":
            effective = _TOPIC_DEFAULTS | (attributes["config"] or {})
            manager = given.get("manager", "")
            return TopicFacts(
                effective=effective,
                manager=manager,
                can_be_marked=given.get("can_be_marked", True),
                groups=_groups(given),
            )
        case _:
            return None


@dataclass(frozen=True, slots=True, kw_only=True)
class JobThere:
    """A job as it is observed: it runs, and each of its queries has committed batch 7 and keeps no state."""

    state: Literal["running", "stopped"] | None = "running"
    phase: Literal["failed", "backoff"] | None = None
    """As its state, unless it failed; a batch job is completed."""
    error: str | None = None
    """The reason why it failed."""
    since_ms: int | None = None
    alive: bool = True
    silent: str = ""
    elsewhere: str = ""
    known: bool = True
    """True if this project started it, and so knows its definition's digest and its queries."""
    committed: int = 7
    """The last committed batch; -1 before the first."""
    in_flight: bool = False
    """True if the batch after the committed one was started."""
    batch_seconds: float | None = None
    """The duration of the longest of the last batches."""
    operators: Sequence[str] = ()
    sources: Sequence[str] | None = None
    """The kinds of its checkpoints' sources; by default those of the job's streams."""
    folders: Sequence[str] = ()
    """The folders that a source of files has read."""
    absent: Sequence[str] = ()
    """The declared folders of files that do not exist."""
    outputs: Mapping[str, str] | None = None
    """The queries with a checkpoint, each with its id; by default all of the job's, with q-1."""
    position: Attributes | None = None
    """The positions that its queries have read and written in tables, as keywords of ``JobPosition``."""
    heard_ms: int | None = None
    given_generation: int | None = None
    reach: Mapping[str, Attributes] = field(default_factory=dict)
    """The brokers' answer about an input, by its name, as keywords of ``InputThere``; also about one that is
    declared now and was not read before.
    """
    reach_of: Mapping[str, Mapping[str, Attributes]] = field(default_factory=dict)
    """The same of one query alone, by its name: where it stands elsewhere than the others, or is new."""
    values: Mapping[str, Attributes] = field(default_factory=dict)
    """By input: ``texts`` of the last records of its topic, or ``hex``, their bytes."""
    subjects: Mapping[str, Attributes] = field(default_factory=dict)
    """By input, what a registry answered: ``schema``, ``level``, or ``unknown``, why it did not."""
    topic_limits: Mapping[str, int] = field(default_factory=dict)
    """The size that a topic takes at once, by output, as its brokers answered."""
    writes: Mapping[str, Attributes] = field(default_factory=dict)
    """By output, the ``schema`` and its ``id`` that are recorded."""
    restarts: Attributes | None = None
    """The parts that its application lacks for it and the jobs that run there, as keywords of
    ``RestartedJobs``.
    """
    written: Mapping[str, Attributes] = field(default_factory=dict)
    """By output, what a registry says of its schema, as keywords of ``SubjectThere``."""

    def identity(self, attributes: Attributes) -> Attributes:
        if not self.known:
            return {}
        queries = {name: {"id": "q-1", "run_id": "r-1"} for name in _queries(attributes)}
        return {"digest": "d-1", "queries": queries}

    def facts(self, attributes: Attributes) -> JobFacts:
        streaming = attributes["mode"] != "batch"
        names = dict.fromkeys(_queries(attributes), "q-1") if self.outputs is None else self.outputs
        position = None if self.position is None else JobPosition(**self.position)
        inputs: Mapping[str, Attributes] = attributes["inputs"]
        return JobFacts(
            digest="d-1" if self.known else None,
            state=self.state,
            alive=self.alive,
            batch_seconds=self.batch_seconds,
            silent=self.silent,
            elsewhere=self.elsewhere,
            phase=self.phase or (self.state if streaming else "completed"),
            checkpoints={name: self._checkpoint(query, attributes) for name, query in names.items()},
            stands={}
            if position is None
            else dict.fromkeys(names, position.of_query(self.committed, in_flight=self.in_flight)),
            error=self.error,
            since_ms=self.since_ms,
            heard_ms=self.heard_ms,
            absent=tuple(self.absent),
            given_generation=self.given_generation,
            reach={
                query: self._reach(attributes, query) for query in dict.fromkeys([*names, *self.reach_of])
            },
            samples={name: _samples(inputs[name], item) for name, item in self.values.items()},
            topic_limits=self.topic_limits,
            restarts=None if self.restarts is None else RestartedJobs(**self.restarts),
            schemas={name: _schemas(inputs[name], item) for name, item in self.subjects.items()},
            subjects={name: SubjectThere(**item).verdict() for name, item in self.written.items()},
        )

    def _reach(self, attributes: Attributes, query: str) -> dict[str, InputReach]:
        """The reach of the inputs whose records brokers hold, and of those for which it is given: each can
        go on, unless something else is given.
        """
        sources = {
            name: item["source"]
            for name, item in attributes["inputs"].items()
            if item["kind"] == "stream" and item["source"]["kind"] == "kafka"
        }
        given = {**self.reach, **self.reach_of.get(query, {})}
        return {
            name: InputThere(**given.get(name, {})).reach(
                *(sources.get(name, {}).get("topics") or ["orders"]),
                matched=sources.get(name, {}).get("topic_pattern") is not None,
            )
            for name in dict.fromkeys([*sources, *given])
        }

    def _checkpoint(self, query: str, attributes: Attributes) -> OutputFacts:
        streams = [item for item in attributes["inputs"].values() if item["kind"] == "stream"]
        kinds = [item["source"]["kind"] for item in streams] if self.sources is None else self.sources
        started = self.committed + self.in_flight
        return OutputFacts(
            query_id=query,
            started=None if started < 0 else started,
            committed=None if self.committed < 0 else self.committed,
            sources=tuple((kind, tuple(self.folders)) for kind in kinds),
            operators=tuple(self.operators),
            conf={"spark.sql.shuffle.partitions": "200"},
        )


def _queries(attributes: Attributes) -> Sequence[str]:
    """The names of a job's queries, each of which has a checkpoint."""
    if attributes["mode"] == "batch":
        return ()
    job = JobDefinition.of(attributes)
    return list(dict.fromkeys(job.query_of(output) for output in job.outputs))


def _columns(stream: Attributes) -> tuple[SpecColumn, ...]:
    written = ((name, kind.removesuffix(" not null"), kind) for name, kind in stream["columns"].items())
    return tuple(SpecColumn(name=name, type=kind, required=kind != text) for name, kind, text in written)


def _samples(stream: Attributes, given: Attributes) -> tuple[SampleFinding, ...]:
    source = stream["source"]
    values = [text.encode() for text in given.get("texts", ())]
    values += [bytes.fromhex(text) for text in given.get("hex", ())]
    read = SampleRead(format=source["format"], columns=_columns(stream), schema=source.get("schema"))
    return judged(read, source["topics"][0], values)


def _schemas(stream: Attributes, given: Attributes) -> tuple[SchemaFinding, ...]:
    """The findings about version 3 of each subject."""
    access, subjects = RegistryAccess(url="http://registry:8081"), tuple(stream["source"]["subjects"])
    read = SchemaRead(registry=access, subjects=subjects, columns=_columns(stream))
    if "unknown" in given:
        return compared(read, dict.fromkeys(subjects, SchemaUnknown(why=given["unknown"])))
    schema, level = RegisteredSchema(text=json.dumps(given["schema"])), given.get("level")
    newest = {name: SubjectVersion(subject=name, version=3, id=7, schema=schema) for name in subjects}
    answers = {name: AskedSubject(newest=version, level=level) for name, version in newest.items()}
    return compared(read, answers)


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectThere:
    """The answer of a registry about the schema of an output. One of ``id`` (the subject has it),
    ``accepted``, ``rejected`` (the reasons) and ``unknown`` (the reason that it does not answer); without
    any, there is no subject.
    """

    subject: str = "alerts-value"
    schema: Attributes = field(default_factory=dict)
    version: int = 3
    level: str | None = "BACKWARD"
    id: int | None = None
    newest: bool = False
    accepted: bool = False
    after: int | None = None
    fields: Sequence[str] = ()
    rejected: Sequence[str] = ()
    unknown: str | None = None

    def verdict(self) -> SubjectVerdict:
        text = one_spelling(json.dumps(self.schema)) if self.schema else ""
        if self.unknown is not None:
            return SubjectUnknown(why=self.unknown)
        if self.id is not None:
            return Registered(
                subject=self.subject, version=self.version, id=self.id, text=text, newest=self.newest
            )
        if self.accepted:
            return Accepted(
                subject=self.subject,
                text=text,
                newest=self.after,
                level=self.level,
                fields=tuple(self.fields),
            )
        if self.rejected:
            return Rejected(subject=self.subject, reasons=tuple(self.rejected), level=self.level)
        return NoSubject(subject=self.subject)


@dataclass(frozen=True, slots=True, kw_only=True)
class InputThere:
    """Topics as brokers answer about them at 2027-01-15 08:00 UTC: those that were read, each with one
    partition, that keep records for a week.
    """

    next: Sequence[int] = (10,)
    """The next offset to read of each partition."""
    there: Sequence[tuple[int, int]] | None = ((0, 10),)
    """The first offset and the end of each partition; ``null``: there is no such topic."""
    id: str = "t-1"
    cluster: str = "c-1"
    hours: float = 7 * 24
    """For how long the topics keep records."""
    max_bytes: int = -1
    age_hours: int | None = None
    """The age of the next record of each partition, in hours."""
    unknown: str | None = None
    """The reason that the brokers did not answer."""

    def reach(self, *topics: str, matched: bool = False) -> InputReach:
        """``matched``: by a pattern."""
        if self.unknown is not None:
            return InputReach(findings=(Unknown(why=self.unknown),))
        now_ms = 1_800_000_000_000
        ages = {
            (topic, number, at): now_ms - self.age_hours * 3_600_000
            for topic in topics
            for number, at in enumerate(self.next)
            if self.age_hours is not None
        }
        known = tuple(NotedTopic(topic=topic, id="t-1", cluster="c-1") for topic in topics)
        position = BrokerPosition(
            next={(topic, number): at for topic in topics for number, at in enumerate(self.next)},
            noted=NotedTopics(topics=known),
        )
        there = {} if self.there is None else {topic: self._topic(topic) for topic in topics}
        view = BrokerView(cluster_id=self.cluster, topics=there)
        return reach_of(
            position,
            view,
            Ages(now_ms=now_ms, written_ms=ages),
            read=None if matched else topics,
            words=WORDS,
        )

    def _topic(self, name: str) -> TopicOffsets:
        return TopicOffsets(
            name=name,
            id=self.id,
            partitions={
                number: PartitionOffsets(first=first, end=end)
                for number, (first, end) in enumerate(self.there or ())
            },
            retention_ms=int(self.hours * 3_600_000),
            retention_bytes=self.max_bytes,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class JobPosition:
    """The position of a query in its inputs: the ids of snapshots, ``null`` where an input is not a table."""

    first: _Positions = ()
    reached: _Positions = ()
    ahead: _Positions = ()
    begun_ms: int | None = None
    moved_ms: int | None = None

    def of_query(self, committed: int, *, in_flight: bool) -> QueryPositions:
        return QueryPositions(
            first=tuple(self.first),
            reached=tuple(self.reached),
            ahead=tuple(self.ahead),
            committed=committed if self.reached else None,
            in_flight=committed + 1 if in_flight else None,
            begun_ms=self.begun_ms,
            moved_ms=self.moved_ms,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointThere:
    """The folders of a checkpoint with one output of its own name; the newest used generation has committed
    batch 12.
    """

    generation: int | None = 1
    """The newest used one; ``null`` where none was used."""
    read: Attributes = field(default_factory=dict)
    """Kind of source -> its position: the entry in a log of files, the id of a table's snapshot, the value of
    a rate.
    """
    operators: Sequence[str] = ()
    in_flight: bool = False
    others: Mapping[str, Literal["used", "prepared", "unknown"]] = field(default_factory=dict)
    """The states of the folders of other generations, by their numbers."""
    foreign: bool = False
    """True if it is another program's: one folder without generations, whose last batch is in flight."""
    location: str | None = None
    """The place to which its last move has brought it."""
    left: Sequence[str] = ()
    """The places that it had before its moves."""
    gone_to: str = ""
    going_to: str = ""
    move: Attributes | None = None
    """The known facts of a move to the declared location, as keywords of ``MoveFacts``; the target is
    free.
    """

    def identity(self) -> Attributes:
        return {
            "layout": "single" if self.foreign else "generations",
            "layout_generation": 1 if self.foreign else None,
            **({"location": self.location} if self.location is not None else {}),
            **({"left": list(self.left)} if self.left else {}),
        }

    def facts(self, name: str) -> CheckpointFacts:
        output = "" if self.foreign else name
        others = [
            QueryFacts(output=output, number=int(number), standing=FolderState(what))
            for number, what in self.others.items()
        ]
        newest = [] if self.generation is None else [self._newest(output, self.generation)]
        return CheckpointFacts(
            used=True,
            queries=(*newest, *others),
            gone_to=self.gone_to,
            going_to=self.going_to,
            move=self._move(),
        )

    def _move(self) -> MoveFacts | None:
        if self.move is None:
            return None
        users = tuple(CheckpointUser(**item) for item in self.move.get("users", ()))
        target = MoveTarget(self.move.get("target", "free"))
        return MoveFacts(**{"files": 212, "bytes": 3_100_000, **self.move, "target": target, "users": users})

    def _newest(self, output: str, number: int) -> QueryFacts:
        return QueryFacts(
            output=output,
            number=0 if self.foreign else number,
            standing=FolderState.USED,
            query_id="q-1",
            started=13 if self.in_flight else 12,
            committed=12,
            begun_ms=1_700_000_000_000,
            fresh=self.foreign,
            sources=tuple(_offset(kind, at) for kind, at in self.read.items()),
            operators=tuple((name, 4) for name in self.operators),
        )


def _offset(kind: str, at: int) -> SourceOnDisk:
    """A source's offset, as Spark writes it."""
    match kind:
        case "files":
            offset, folders = json.dumps({"logOffset": at}), ("/data/landing",)
            return SourceOnDisk(index=0, kind=kind, offset=offset, folders=folders)
        case "table":
            position = {"version": 1, "snapshot_id": at, "position": 2, "scan_all_files": False}
            return SourceOnDisk(index=0, kind=kind, offset=json.dumps(position))
        case _:
            return SourceOnDisk(index=0, kind=kind, offset=str(at))


def _table(attributes: Attributes) -> Attributes:
    """The answer of a catalog about a table whose columns were added in their order."""
    return {
        "uuid": f"u-{attributes['name']}",
        "location": f"/warehouse/{attributes['name']}",
        "metadata_location": "/warehouse/t/metadata/1.json",
        "snapshot_id": 1,
        "schema_id": 0,
        "spec_id": 0,
        "sort_id": 0,
        "field_ids": {path: number for number, path in enumerate(attributes["column_order"] or [], start=1)},
        "sorted_ids": [],
        "defaults": {},
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class TableFigures:
    """The figures that maintenance measures of a table at 2027-01-15 08:00 UTC.

    It has small files of 1 MB, a manifest for each, and daily snapshots.
    """

    small_files: int = 60
    groups: int = 2
    snapshots: int = 20
    newest_ms: int = 1_799_913_600_000
    collects: bool = True
    """True if Iceberg may remove files of the table."""
    readers: Attributes | None = None
    made_ms: int | None = None

    def figures(self) -> Attributes:
        size = self.small_files * _MIB
        ids = list(range(21 - self.snapshots, 21))
        times = [self.newest_ms - _DAY_MS * (20 - number) for number in ids]
        found: Attributes = {
            "uuid": "u-1",
            "location": "/warehouse/t",
            "metadata_location": "/warehouse/t/metadata/1.json",
            "snapshot_id": 20,
            "format_version": 2,
            "sorted": False,
            "collects": self.collects,
            "measured_ms": 1_800_000_000_000,
            "settings": "s",
            "totals": {
                "files": self.small_files,
                "bytes": size,
                "delete_files": 0,
                "rows": self.small_files * 1000,
            },
            "ids": "i",
            "made_ms": self.made_ms,
            "kinds": {
                "snapshot_expiry": {
                    "history": {
                        "ids": ids,
                        "times": times,
                        "parents": [None, *ids[:-1]],
                        "removed": [[20, 0, 0]],
                        "refs": [["main", 20, True, None, None, None]],
                    }
                },
                "orphan_removal": {"under": []},
                "compaction": {
                    "files": self.small_files,
                    "small": self.small_files,
                    "worn": 0,
                    "unfit": self.small_files,
                    "sizes": [384 * _MIB, 512 * _MIB, 966_367_641],
                    "groups": self.groups,
                    "rewritten_files": self.small_files,
                    "rewritten_bytes": size,
                    "added_files": self.groups,
                    "exact": True,
                },
                "manifest_rewrite": {
                    "data": {"count": self.small_files, "bytes": self.small_files * 7000},
                    "deletes": {"count": 0, "bytes": 0},
                    "target": 8 * _MIB,
                },
            },
        }
        return found if self.readers is None else found | {"readers": self.readers}


def history(given: Sequence[Sequence[Any] | None] | None) -> TableHistory | None:
    """Live snapshots, newest first; None where nothing is known."""
    if given is None:
        return None
    names = ("id", "at_ms", "operation", "added", "total")
    live = tuple(LiveSnapshot(**dict(zip(names, item, strict=True))) for item in given if item is not None)
    return TableHistory(snapshots=live, is_cut=None in given)


def _groups(given: Attributes) -> tuple[str, ...] | None:
    """The consumer groups of a topic; ``null`` where the cluster does not list them."""
    groups = given.get("groups", ())
    return None if groups is None else tuple(groups)
