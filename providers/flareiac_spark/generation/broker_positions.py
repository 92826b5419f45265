"""The check that a job's inputs can still read what their start needs, where brokers hold the records. Pure:
the facts carry what the brokers answered.
"""

from collections.abc import Iterator
from typing import Final

from flareiac.kernel.codes import Code
from flareiac.kernel.diagnostics import Diagnostic, warning
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.brokers import BrokerWords
from flareiac.sdk.changes import Blocker, Reaction, blocker
from flareiac.sdk.requests import PlanRequest
from flareiac_spark import codes
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.generation.job_case import JobCase
from flareiac_spark.generation.readable import missed_text
from flareiac_spark.instance_lines import line
from flareiac_spark.observation.job import JobFacts
from flareiac_spark.sources.findings import (
    BeyondEnd,
    Finding,
    InputReach,
    Lost,
    NearDeletion,
    OffsetsGone,
    OtherCluster,
    PartitionsGone,
    TopicExtent,
    TopicGone,
    TopicRecreated,
    Unknown,
)
from flareiac_spark.sources.findings_text import (
    complaint,
    details,
    headline,
    lag_text,
    near_deletion,
    news,
    span_text,
)
from flareiac_spark.sources.joined_findings import by_input, joined
from flareiac_spark.start_from import CARRY_OVER, EARLIEST

LOST_CODES: Final = (
    codes.RECORDS_DELETED.id,
    codes.SOURCE_REPLACED.id,
    codes.SOURCE_MISSING.id,
    codes.OTHER_CLUSTER.id,
)
"""The codes of blockers with which no offsets can be carried over."""
_SHORT_MS: Final = 15 * 60_000
"""A change may stop a query for as long: retention below it counts as short."""
_NOT_ASKED: Final = InputReach(findings=(Unknown(why="the brokers were not asked"),))


@dataclass(frozen=True, slots=True, kw_only=True)
class MissedRecords:
    """The records that an input never reads when it reads a topic from its beginning. ``topic`` says in words
    which one. ``deleted`` None: not known.
    """

    input: str
    topic: str
    deleted: int | None

    @property
    def text(self) -> str:
        """In words, as the part of a sentence."""
        if self.deleted is None:
            return f"what {self.topic} still holds is not known"
        return f"{lag_text(self.deleted)} of {self.topic} {_were(self.deleted)} deleted"


def held_inputs(job: JobDefinition) -> list[str]:
    """The inputs whose records brokers hold."""
    return [name for name, stream in job.streams.items() if stream.source.held_by_brokers]


def missed(job: JobDefinition, facts: JobFacts) -> list[MissedRecords]:
    """The records that a start from the beginning would not read; empty where every record is left."""
    losses = []
    for name in held_inputs(job):
        reach = by_input(facts.reach).get(name)
        if reach is None or reach.topics is None:
            place = job.streams[name].source.place or name
            losses.append(MissedRecords(input=name, topic=f"input {name} ({place})", deleted=None))
            continue
        losses += [
            MissedRecords(input=name, topic=f"{reach.words.topic} {topic}", deleted=extent.deleted)
            for topic, extent in reach.topics.items()
            if extent.deleted
        ]
    return losses


@dataclass(frozen=True, slots=True, kw_only=True)
class Replaced:
    """Records that were read and are nowhere any more: ``text`` gives the reason, as the part of a
    sentence.
    """

    text: str


def replaced(job: JobDefinition, facts: JobFacts) -> list[Replaced]:
    """The records that a start from the beginning does not read again, because their source is another one
    now, or gone.
    """
    texts = []
    for name, reach in _reaches(job, facts):
        noun, cluster = reach.words.topic, reach.words.cluster
        for finding in reach.lost:
            match finding:
                case TopicGone(topic=topic, read=True):
                    texts.append(f"{noun} {topic} is gone with all that it held")
                case TopicRecreated(topic=topic) | BeyondEnd(topic=topic) | PartitionsGone(topic=topic):
                    texts.append(f"{noun} {topic} is another one now, without what the old one held")
                case OtherCluster():
                    texts.append(f"input {name} is another {cluster}'s now, without what the old one held")
                case OffsetsGone() | TopicGone():
                    pass
    return [Replaced(text=text) for text in dict.fromkeys(texts)]


def of_start(case: JobCase) -> list[Blocker]:
    """The reasons that queries cannot go on on the checkpoint as it is."""
    if case.desired.mode == "batch" or not case.desired.starts_by_itself:
        return []
    return _blockers(case, case.desired.query_names)


def of_generation(case: JobCase, start: str) -> list[Blocker]:
    """The reasons that a new generation cannot begin as ``start`` says: the offsets that it takes over must
    still be readable.
    """
    if start != CARRY_OVER or case.desired.mode == "batch":
        return []
    before = JobDefinition.of(case.request.recorded.attributes) if case.request.recorded else case.desired
    return _blockers(case, before.query_names)


def _blockers(case: JobCase, queries: list[str]) -> list[Blocker]:
    blockers: list[Blocker] = []
    begun = _has_begun(case.request, case.facts)
    for name in held_inputs(case.desired):
        reach = joined(case.facts.reach.get(query, {}).get(name, _NOT_ASKED) for query in queries)
        if reach.unknown is not None and begun:
            blockers.append(_not_known(case.request, name, reach.unknown))
        blockers += [
            _lost(case, name, lost, reach.words)
            for lost in reach.lost
            if not (isinstance(lost, TopicGone) and not lost.read)
        ]
    return blockers


def _has_begun(request: PlanRequest, facts: JobFacts) -> bool:
    """Returns True if there are offsets that may be lost, or that may exist: a first start has none."""
    return request.recorded is not None or bool(facts.checkpoints) or bool(facts.stands)


def _lost(case: JobCase, name: str, finding: Lost, words: BrokerWords) -> Blocker:
    text = headline(finding, words)
    more = details(finding, words)
    return blocker(
        _code(finding),
        why=f"{text[:1].upper()}{text[1:]} (input {name}).\n{more}".rstrip(),
        ways_out=tuple(_ways_out(case, name, finding, words)),
    )


def _code(finding: Lost) -> Code:
    match finding:
        case OffsetsGone():
            return codes.RECORDS_DELETED
        case TopicGone():
            return codes.SOURCE_MISSING
        case OtherCluster():
            return codes.OTHER_CLUSTER
        case BeyondEnd() | PartitionsGone() | TopicRecreated():
            return codes.SOURCE_REPLACED


def _ways_out(case: JobCase, name: str, finding: Lost, words: BrokerWords) -> Iterator[str]:
    again, noun = _again(case), words.topic
    match finding:
        case OffsetsGone(topic=topic):
            yield (
                "read all that is left, in a new generation; rows that the outputs have of it already are "
                f"written once more, in {again}"
            )
            yield (
                f"load what is missing from another copy of {noun} {topic}, where there is one, once the job "
                "runs again"
            )
        case TopicRecreated(topic=topic) | BeyondEnd(topic=topic) | PartitionsGone(topic=topic):
            yield f"{noun} {topic} as it is now is meant: read it from its first record, in {again}"
            yield f"read the {noun} that holds the records: correct it in {case.desired.streams[name].stream}"
        case TopicGone(topic=topic):
            yield f"correct the {noun} in {case.desired.streams[name].stream}"
            yield f"create {noun} {topic} again, and read the new one from its first record, in {again}"
        case OtherCluster():
            yield f"correct the connection of {case.desired.streams[name].stream}"
            yield f"the new {words.cluster} is meant: read its {noun}s from their first record, in {again}"


def _again(case: JobCase) -> str:
    place = case.desired.checkpoint
    before = (
        JobDefinition.of(case.request.recorded.attributes) if case.request.recorded else case.desired
    ).generation or 1
    raised = line(place, "generation", before + 1, before)
    return f"{place}:\n  {raised}\n  {line(place, 'start_from', EARLIEST)}"


def _not_known(request: PlanRequest, name: str, finding: Unknown) -> Blocker:
    return blocker(
        codes.POSITION_UNKNOWN,
        why=(
            f"Whether the records that {request.address} has yet to read as input {name} are still there is "
            f"unknown.\nThe reason: {finding.why}."
        ),
        ways_out=(
            "make the brokers reachable from here, and plan again",
            (
                "plan with -refresh=none: the start of the query then checks it, and refuses to begin where "
                "records are missing"
            ),
        ),
    )


def emptying(desired: JobDefinition, facts: JobFacts, output: str) -> Blocker | None:
    """The reason that a table cannot be emptied for a rebuild: its rows cannot be read again. None where they
    can.
    """
    losses: list[Replaced | MissedRecords] = [
        *replaced(desired, facts),
        *missed(desired, facts),
    ]
    if not losses:
        return None
    texts = missed_text(losses)
    table = desired.table_outputs[output].table
    return blocker(
        codes.EMPTYING_LOSES_ROWS,
        why=(
            f"{texts[:1].upper()}{texts[1:]}: what {table} has of them would be gone, and the job would not "
            "write it again."
        ),
        ways_out=(f'keep the rows, in output "{output}":\n  rebuild = "keep"',),
    )


def not_again(case: JobCase) -> list[Replaced]:
    """The records that were read before and cannot be read again, because of the state of their source or of
    a change in this plan.
    """
    cut = [
        disturbance.reason
        for disturbance in case.request.disturbances
        if disturbance.reaction is Reaction.CAN_NOT
    ]
    return [*replaced(case.desired, case.facts), *(Replaced(text=text) for text in dict.fromkeys(cut))]


def warnings(case: JobCase) -> Iterator[Diagnostic]:
    """The warnings of a plan about inputs that it does not block."""
    for name, finding, words in _findings(case.desired, case.facts):
        match finding:
            case Unknown():
                why = f"Input {name}: {complaint(finding, words)}."
                yield warning(codes.POSITION_UNKNOWN, why, address=case.request.address)
            case TopicGone(topic=topic, read=False):
                why = (
                    f"{case.request.address} reads {words.topic} {topic} as input {name}. It cannot start "
                    f"until that {words.topic} is there: create it before the apply, or correct the name."
                )
                yield warning(codes.SOURCE_MISSING, why, address=case.request.address)
            case NearDeletion():
                why = (
                    f"Input {name}: {near_deletion(finding, words)}. Let the job catch up before then, or "
                    f"give the {words.topic} a longer {words.keeping}."
                )
                yield warning(codes.RECORDS_NEAR_DELETION, why, address=case.request.address)
            case _:
                pass
    for name, reach in _reaches(case.desired, case.facts):
        source = case.desired.streams[name].source
        # Of names that are not there each is a finding
        if reach.topics == {} and not any(
            isinstance(finding, TopicGone | Lost) for finding in reach.findings
        ):
            why = (
                f"{case.request.address} reads {source.shown} as input {name}, and the "
                f"{reach.words.cluster} has none, so that it reads nothing until one is created. Where it "
                "should match one that is there, correct the pattern."
            )
            yield warning(codes.SOURCE_MISSING, why, address=case.request.address)


def lost_warnings(case: JobCase) -> Iterator[Diagnostic]:
    """The warnings of lost records that end a query which runs, and which the plan leaves alone."""
    for name, finding, words in _findings(case.desired, case.facts):
        if isinstance(finding, Lost) and not (isinstance(finding, TopicGone) and not finding.read):
            yield warning(
                _code(finding),
                f"Input {name}: {complaint(finding, words)} The query fails, unless the batch under way has "
                "read them already. A plan then shows the ways out.",
                address=case.request.address,
            )


def unknown(desired: JobDefinition, facts: JobFacts) -> tuple[str, ...]:
    """The unknown facts about the inputs of a job, in words."""
    return tuple(
        f"input {name}: {complaint(finding, words)}"
        for name, finding, words in _findings(desired, facts)
        if isinstance(finding, Unknown)
    )


def start_notes(desired: JobDefinition, facts: JobFacts) -> list[str]:
    """The lag with which a query starts that ran before, and the partitions and topics that are new for
    it.
    """
    notes: list[str] = []
    for name, reach in _reaches(desired, facts):
        if (lag := reach.lag) is not None and lag.total:
            notes.append(f"{lag_text(lag.total)} of input {name} are waiting")
        notes += [f"input {name}: {text}" for text in news(reach)]
    return notes


def left_text(desired: JobDefinition, facts: JobFacts) -> str:
    """The number of records that were not read yet, as the part of a sentence; empty where that is not
    known.
    """
    return ", ".join(
        f"{lag_text(reach.lag.total)} of input {name}"
        for name, reach in _reaches(desired, facts)
        if reach.lag is not None
    )


def kept_text(desired: JobDefinition, facts: JobFacts) -> str:
    """For how long the topics keep what is not read while the job is stopped; empty where none is known."""
    texts = [_kept(topic, extent) for topic, extent, _words in _all_topics(desired, facts)]
    return "; ".join(text for text in texts if text)


def short_retention(case: JobCase) -> Iterator[Diagnostic]:
    """Topics that may delete records while a change has stopped the query."""
    for topic, extent, words in _all_topics(case.desired, case.facts):
        kept_ms = extent.retention_ms
        if kept_ms is not None and 0 <= kept_ms < _SHORT_MS:
            yield warning(
                codes.RECORDS_NEAR_DELETION,
                f"The change stops {case.request.address}, and {topic} keeps records for "
                f"{span_text(kept_ms)} only. Records that are deleted before the job has started again are "
                f"never read: give the {words.topic} a longer {words.keeping} before the apply.",
                address=case.request.address,
            )


def _kept(topic: str, extent: TopicExtent) -> str:
    if extent.retention_ms is None:
        return f"for how long {topic} keeps records is not known"
    by_size = extent.retention_bytes is not None and extent.retention_bytes >= 0
    if extent.retention_ms < 0:
        return f"{topic} keeps records until it reaches its limit of size" if by_size else ""
    limit = ", or until it reaches its limit of size" if by_size else ""
    return f"{topic} keeps records for {span_text(extent.retention_ms)}{limit}"


def _reaches(desired: JobDefinition, facts: JobFacts) -> Iterator[tuple[str, InputReach]]:
    """Once for an input, whatever number of queries reads it."""
    for name, reach in by_input(facts.reach).items():
        if name in desired.streams:
            yield name, reach


def _findings(desired: JobDefinition, facts: JobFacts) -> Iterator[tuple[str, Finding, BrokerWords]]:
    for name, reach in _reaches(desired, facts):
        for finding in reach.findings:
            yield name, finding, reach.words


def _all_topics(desired: JobDefinition, facts: JobFacts) -> list[tuple[str, TopicExtent, BrokerWords]]:
    """The topics of all inputs in words, each once."""
    reaches, held = by_input(facts.reach), held_inputs(desired)
    topics = {
        f"{reach.words.topic} {topic}": (extent, reach.words)
        for reach in (reaches[name] for name in held if name in reaches)
        for topic, extent in (reach.topics or {}).items()
    }
    return [(topic, *known) for topic, known in topics.items()]


def _were(count: int) -> str:
    return "was" if count == 1 else "were"
