"""What a plan says of the newest schemas that the registry has for the streams of a job. Pure, but for
``read_schemas``, which asks the registry.
"""

from collections.abc import Iterator, Mapping

from flareiac.kernel.diagnostics import Diagnostic, warning
from flareiac.sdk.changes import Blocker, blocker
from flareiac.sdk.references import References
from flareiac.sdk.requests import PlanRequest
from flareiac_spark import codes
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.observation.job import JobFacts
from flareiac_spark.sources.avro.differences import Difference, NewField, blocks
from flareiac_spark.sources.avro.latest import LatestSchema, SchemaFinding, SchemaUnknown, compared
from flareiac_spark.sources.avro.texts import clause, column_block
from flareiac_spark.stream.stream_definition import StreamDefinition


def read_schemas(
    job: JobDefinition | None, references: References
) -> Mapping[str, tuple[SchemaFinding, ...]]:
    """By input, for those whose values name schemas of a registry."""
    found: dict[str, tuple[SchemaFinding, ...]] = {}
    for name, item in (job.streams if job is not None else {}).items():
        declared = references.get(item.stream.address)
        if declared is None:
            continue
        # A job knows the columns that its steps read, which are not all that are declared
        read = item.source.schema_read(StreamDefinition.of(declared.attributes).columns)
        if read is not None:
            found[name] = compared(read)
    return found


def blockers(request: PlanRequest, facts: JobFacts) -> list[Blocker]:
    """Why a query must not start: records of the newest schema cannot be read into the columns."""
    found: list[Blocker] = []
    for name, item, difference in _differences(facts):
        if blocks(difference):
            why = f"{request.address} cannot read the records of its input {name}: {_text(item, difference)}."
            ways = (
                f"correct the column in the stream of input {name}",
                f"register a version of {item.subject} that fits, and plan again",
            )
            found.append(blocker(codes.AVRO_COLUMN_DIFFERS, why=why, ways_out=ways))
    return found


def warnings(request: PlanRequest, facts: JobFacts, *, blocked: bool) -> Iterator[Diagnostic]:
    """What else is found. ``blocked``: what blocks is said by the plan's blockers."""
    for name, findings in facts.schemas.items():
        for item in findings:
            if isinstance(item, SchemaUnknown):
                why = (
                    f"Input {name}: {item.why}. Whether its newest schema fits the columns is unknown; a "
                    "record that does not fit is a bad record."
                )
                yield warning(codes.SCHEMA_UNKNOWN, why, address=request.address)
    for name, item, difference in _differences(facts):
        if blocked and blocks(difference):
            continue
        text = f"Input {name}: {_text(item, difference)}."
        if isinstance(difference, NewField):
            paste = column_block(difference)
            hint = "" if paste is None else f" To read it, write in the stream: {paste}"
            yield warning(codes.SCHEMA_FIELD_NEW, f"{text}{hint}", address=request.address)
        else:
            yield warning(codes.AVRO_COLUMN_DIFFERS, text, address=request.address)


def _differences(facts: JobFacts) -> Iterator[tuple[str, LatestSchema, Difference]]:
    for name, findings in facts.schemas.items():
        for item in findings:
            if isinstance(item, LatestSchema):
                for difference in item.differences:
                    yield name, item, difference


def _text(item: LatestSchema, difference: Difference) -> str:
    return f"in version {item.version} of the subject {item.subject} {clause(difference)}"
