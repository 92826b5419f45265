"""Looks at the last records of topics for what no column takes, and says it. Touches brokers."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from flareiac.kernel.data import Reference
from flareiac.kernel.diagnostics import Diagnostic, warning
from flareiac.kernel.records import Mismatch
from flareiac.sdk.name_patterns import matches
from flareiac.sdk.requests import PlanRequest, ReadRequest
from flareiac_spark import codes
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.job.brokers import Answers, Brokers
from flareiac_spark.observation.job import JobFacts
from flareiac_spark.sources.findings import InputReach
from flareiac_spark.sources.joined_findings import by_input
from flareiac_spark.sources.samples import (
    FieldsWithoutColumn,
    SampleFinding,
    SampleRead,
    ValuesWithHeader,
    ValuesWithoutHeader,
    judged,
)
from flareiac_spark.sources.source import TopicRead
from flareiac_spark.stream.stream_definition import StreamDefinition
from flareiac_spark_runtime.sources.avro.texts import clause, way_to_read

Samples: TypeAlias = Mapping[str, tuple[SampleFinding, ...]]
"""By input."""
_SHOWN: Final = 10
"""Fields of one topic that are named."""
_Sampled: TypeAlias = tuple[TopicRead, SampleRead]


def looked_at(requests: Sequence[ReadRequest], brokers: Brokers, answers: Answers) -> dict[str, Samples]:
    """The findings, by job and input: each stream for the first job that reads it."""
    places: dict[Reference, tuple[str, str]] = {}
    reads: dict[Reference, _Sampled] = {}
    for request in requests:
        for name, stream, read in _reads(request):
            if stream not in reads:
                places[stream], reads[stream] = (request.address, name), read
    values = brokers.last_values([topics for topics, _how in reads.values()], answers)
    samples: dict[str, dict[str, tuple[SampleFinding, ...]]] = {}
    for stream, (topics, how) in reads.items():
        address, name = places[stream]
        findings = [
            finding
            for (connection, topic), held in sorted(values.items())
            if connection == topics.connection.address and _is_read(topics, topic)
            for finding in judged(how, topic, held)
        ]
        if findings:
            samples.setdefault(address, {})[name] = tuple(findings)
    return dict(samples)


def _is_read(topics: TopicRead, topic: str) -> bool:
    if topics.selection.pattern is None:
        return topic in topics.selection.names
    return matches(topics.selection.pattern, topic) is True


def _reads(request: ReadRequest) -> Iterator[tuple[str, Reference, _Sampled]]:
    if request.desired is None:
        return
    try:
        streams = JobDefinition.of(request.desired).streams
    except Mismatch:
        return  # reading that job reports it
    for name, stream in streams.items():
        declared = request.references.get(stream.stream.address)
        topics = stream.source.topic_read(request.references)
        if declared is None or topics is None:
            continue
        # A job knows the columns that its steps read, which are not all that are declared
        how = stream.source.sample_read(StreamDefinition.of(declared.attributes).columns)
        if how is not None:
            yield name, stream.stream, (topics, how)


def warnings(request: PlanRequest, facts: JobFacts) -> Iterator[Diagnostic]:
    """The warnings of the findings."""
    reaches = by_input(facts.reach)
    for name, findings in facts.samples.items():
        noun = reaches.get(name, InputReach()).words.topic
        for finding in findings:
            match finding:
                case FieldsWithoutColumn():
                    text, code = _fields(finding, noun), codes.RECORD_FIELDS_NEW
                case ValuesWithHeader():
                    text, code = _with_header(finding), codes.VALUES_WITH_HEADER
                case ValuesWithoutHeader():
                    text, code = _without_header(finding), codes.VALUES_WITHOUT_HEADER
            yield warning(code, f"Input {name}: {text}", address=request.address)


def _fields(finding: FieldsWithoutColumn, noun: str) -> str:
    head = (
        f"{_part(finding.having, finding.records)} of {noun} {finding.topic} have fields that are not read."
    )
    return fields_text(head, finding)


def fields_text(head: str, finding: FieldsWithoutColumn) -> str:
    """Fields without a column, one on each line below ``head``."""
    said = [
        " ".join(filter(None, (f"{_begun(clause(field))}.", way_to_read(field)))) for field in finding.fields
    ]
    more = len(said) - _SHOWN
    rest = [f"And {more} more."] if more > 0 else []
    return "\n".join([head, *said[:_SHOWN], *rest])


def _with_header(finding: ValuesWithHeader) -> str:
    return (
        f"all of the last records of topic {finding.topic} begin with a zero byte and the id of a "
        "schema, as producers with a schema registry write them, and they are not values of the schema that "
        "is written. Name the registry in the kafka block of the connection, schema_registry = { url = "
        '"https://host:8081" }, and write in the stream subject = "'
        f'{finding.topic}-value" in the place of schema.'
    )


def _without_header(finding: ValuesWithoutHeader) -> str:
    return (
        f"{_part(finding.bare, finding.records)} of topic {finding.topic} do not begin with a zero byte and "
        "the id of a schema, so that no schema of the registry is known for them: they are bad records. "
        "Where no producer writes ids, write in the stream the schema of the values: "
        'schema = file("NAME.avsc").'
    )


def _part(some: int, every: int) -> str:
    return f"{some} of the last {every} record{'s' * (every != 1)}"


def _begun(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}"
