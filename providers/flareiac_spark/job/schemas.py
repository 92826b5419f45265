"""The texts of a plan about the newest schemas that the registry has for the streams of a job. Pure, but for
``SchemaReader``, which asks the registries.
"""

from collections.abc import Iterator, Mapping, Sequence

from flareiac.kernel.diagnostics import Diagnostic, warning
from flareiac.kernel.records import Mismatch
from flareiac.sdk.changes import Blocker, blocker
from flareiac.sdk.references import References
from flareiac.sdk.requests import PlanRequest, ReadRequest
from flareiac_spark import codes
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.job.registries import Registries, Wanted, key_of
from flareiac_spark.observation.job import JobFacts
from flareiac_spark.sources.avro.latest import (
    LatestSchema,
    SchemaFinding,
    SchemaRead,
    SchemaUnknown,
    SubjectAnswer,
    asked,
    compared,
)
from flareiac_spark.stream.stream_definition import StreamDefinition
from flareiac_spark_runtime.sources.avro.differences import Difference, NewField, blocks
from flareiac_spark_runtime.sources.avro.texts import clause, way_to_read


class SchemaReader:
    """Asks about the newest versions of subjects."""

    def __init__(self) -> None:
        self._registries: Registries[str, SubjectAnswer] = Registries(
            asked, lambda why: SchemaUnknown(why=why)
        )

    def prefetch(self, requests: Sequence[ReadRequest]) -> None:
        """Asks the registries; the answers serve one ``read`` of each of these jobs."""
        wanted: dict[str, Wanted[str]] = {}
        for request in requests:
            try:
                wanted[request.address] = _wanted(_reads(_declared(request), request.references))
            except Mismatch:
                continue  # reading that job reports it
        self._registries.prefetch(wanted)

    def read(self, request: ReadRequest) -> Mapping[str, tuple[SchemaFinding, ...]]:
        """By input, for those whose values name schemas of a registry."""
        reads = _reads(_declared(request), request.references)
        answers = self._registries.answers(request.address, _wanted(reads))
        return {
            name: compared(
                read, {subject: answers[key_of(read.registry), subject] for subject in read.subjects}
            )
            for name, read in reads.items()
        }


def _wanted(reads: Mapping[str, SchemaRead]) -> Wanted[str]:
    return [(read.registry, subject) for read in reads.values() for subject in sorted(read.subjects)]


def _declared(request: ReadRequest) -> JobDefinition | None:
    return JobDefinition.of(request.desired) if request.desired is not None else None


def _reads(job: JobDefinition | None, references: References) -> dict[str, SchemaRead]:
    """By input."""
    schema_reads: dict[str, SchemaRead] = {}
    for name, stream in (job.streams if job is not None else {}).items():
        declared = references.get(stream.stream.address)
        if declared is None:
            continue
        # A job knows the columns that its steps read, which are not all that are declared
        read = stream.source.schema_read(StreamDefinition.of(declared.attributes).columns)
        if read is not None:
            schema_reads[name] = read
    return schema_reads


def later_versions(facts: JobFacts) -> Iterator[str]:
    """The changes of columns that the registry allows later versions of subjects, a line for each subject."""
    said = (
        f"input {name}: the subject {finding.subject} has compatibility {finding.level}: {finding.tolerated}"
        for name, findings in facts.schemas.items()
        for finding in findings
        if isinstance(finding, LatestSchema) and finding.tolerated is not None
    )
    yield from dict.fromkeys(said)


def blockers(request: PlanRequest, facts: JobFacts) -> list[Blocker]:
    """The reasons that a query must not start: records of the newest schema cannot be read into the
    columns.
    """
    refusals: list[Blocker] = []
    for name, latest_schema, difference in _differences(facts):
        if blocks(difference):
            text = _text(latest_schema, difference)
            why = f"{request.address} cannot read the records of its input {name}: {text}."
            ways = (
                f"correct the column in the stream of input {name}",
                f"register a version of {latest_schema.subject} that fits, and plan again",
            )
            refusals.append(blocker(codes.AVRO_COLUMN_DIFFERS, why=why, ways_out=ways))
    return refusals


def warnings(request: PlanRequest, facts: JobFacts, *, blocked: bool) -> Iterator[Diagnostic]:
    """The other findings. ``blocked``: the plan's blockers report what blocks."""
    for name, findings in facts.schemas.items():
        for finding in findings:
            if isinstance(finding, SchemaUnknown):
                why = (
                    f"Input {name}: {finding.why}. Whether its newest schema fits the columns is unknown; a "
                    "record that does not fit is a bad record."
                )
                yield warning(codes.SCHEMA_UNKNOWN, why, address=request.address)
    for name, latest_schema, difference in _differences(facts):
        if blocked and blocks(difference):
            continue
        text = f"Input {name}: {_text(latest_schema, difference)}."
        if isinstance(difference, NewField):
            said = " ".join(filter(None, (text, way_to_read(difference))))
            yield warning(codes.SCHEMA_FIELD_NEW, said, address=request.address)
        else:
            yield warning(codes.AVRO_COLUMN_DIFFERS, text, address=request.address)


def _differences(facts: JobFacts) -> Iterator[tuple[str, LatestSchema, Difference]]:
    for name, findings in facts.schemas.items():
        for finding in findings:
            if isinstance(finding, LatestSchema):
                for difference in finding.differences:
                    yield name, finding, difference


def _text(latest_schema: LatestSchema, difference: Difference) -> str:
    return f"in version {latest_schema.version} of the subject {latest_schema.subject} {clause(difference)}"
