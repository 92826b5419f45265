"""The texts of a plan about the Avro schemas that outputs write, and their registration by apply. Pure, but
for ``SubjectReader``, ``refusals`` and ``register``, which ask registries.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from flareiac.kernel.data import UNKNOWN, Data
from flareiac.kernel.diagnostics import Diagnostic, Failure, error, warning
from flareiac.kernel.records import Mismatch
from flareiac.sdk.changes import Blocker, Effect, Step, blocker
from flareiac.sdk.requests import ChangeRequest, PlanRequest, ReadRequest
from flareiac.sdk.results import StageDone
from flareiac_spark import codes
from flareiac_spark.definition.job_definition import JobDefinition, WrittenSchema
from flareiac_spark.definition.output_definition import KafkaOutput
from flareiac_spark.definition.written_schemas import RegisteredNote
from flareiac_spark.generation.job_case import JobCase
from flareiac_spark.job.payload import JobPayload
from flareiac_spark.job.registries import Registries, Wanted, key_of
from flareiac_spark.observation.job import JobFacts
from flareiac_spark.sources.avro.subjects import (
    Accepted,
    NoSubject,
    NotWritable,
    Registered,
    Rejected,
    SubjectQuestion,
    SubjectUnknown,
    SubjectVerdict,
    judged,
    registered,
)
from flareiac_spark_runtime.sources.avro.registry import NotFound, RegistryProblem, RegistryRejected


class SubjectReader:
    """Asks about the schemas that outputs are to write."""

    def __init__(self) -> None:
        self._registries: Registries[SubjectQuestion, SubjectVerdict] = Registries(
            judged, lambda why: SubjectUnknown(why=why)
        )

    def prefetch(self, requests: Sequence[ReadRequest]) -> None:
        """Asks the registries; the answers serve one ``read`` of each of these jobs."""
        wanted: dict[str, Wanted[SubjectQuestion]] = {}
        for request in requests:
            try:
                wanted[request.address] = _wanted(_declared(request))
            except Mismatch:
                continue  # reading that job reports it
        self._registries.prefetch(wanted)

    def read(self, request: ReadRequest) -> Mapping[str, SubjectVerdict]:
        """By output, for those that write Avro."""
        return self.of(request.address, _declared(request))

    def of(self, address: str, job: JobDefinition | None) -> Mapping[str, SubjectVerdict]:
        """The verdicts on the schemas of a definition's outputs, by output."""
        answers = self._registries.answers(address, _wanted(job))
        return {
            name: answers[key_of(output.registry), _question(output)]
            for name, output in _avro(job).items()
            if output.registry is not None
        }


def _declared(request: ReadRequest) -> JobDefinition | None:
    return JobDefinition.of(request.desired) if request.desired is not None else None


def _avro(job: JobDefinition | None) -> Mapping[str, KafkaOutput]:
    return job.avro_outputs if job is not None else {}


def _wanted(job: JobDefinition | None) -> Wanted[SubjectQuestion]:
    return [
        (output.registry, _question(output)) for output in _avro(job).values() if output.registry is not None
    ]


def _question(output: KafkaOutput) -> SubjectQuestion:
    return SubjectQuestion(subject=output.subject, schema=output.schema)


# What is planned


def with_schemas(desired: JobDefinition, recorded: JobDefinition | None, facts: JobFacts) -> JobDefinition:
    """The definition with what the registry says of its schemas. Where it gives no answer, and is asked the
    same as before, an output goes on with the schema that is recorded. A job that is started by hand has its
    schemas already.
    """
    if desired.avro:
        return desired
    written_schemas: dict[str, WrittenSchema] = {}
    for name, output in desired.avro_outputs.items():
        written = _written(_verdict(name, output, facts)) or _written_before(name, output, recorded)
        if written is not None:
            written_schemas[name] = written
    return replace(desired, avro=written_schemas)


def _written(verdict: SubjectVerdict | None) -> WrittenSchema | None:
    match verdict:
        case Registered(text=text, id=number):
            return WrittenSchema(schema=text, id=number)
        case Accepted(text=text):
            return WrittenSchema(schema=text, id=None)
        case _:
            return None


def _written_before(name: str, output: KafkaOutput, recorded: JobDefinition | None) -> WrittenSchema | None:
    before = recorded.avro_outputs.get(name) if recorded is not None else None
    if recorded is None or before is None or _url(before) != _url(output):
        return None
    return recorded.avro.get(name) if _question(before) == _question(output) else None


def _url(output: KafkaOutput) -> str:
    return output.registry.url if output.registry is not None else ""


def _verdicts(request: PlanRequest, facts: JobFacts) -> Mapping[str, SubjectVerdict]:
    """The verdicts on the schemas of the declared outputs. Empty for a job that is started by hand: it writes
    what it wrote.
    """
    job = JobDefinition.of(request.desired) if request.desired is not None else None
    if job is None or job.avro:
        return {}
    return {
        name: verdict
        for name, output in job.avro_outputs.items()
        if (verdict := _verdict(name, output, facts)) is not None
    }


def _verdict(name: str, output: KafkaOutput, facts: JobFacts) -> SubjectVerdict | None:
    """None where the registry was asked about another subject, or not at all."""
    verdict = facts.subjects.get(name)
    if verdict is None or isinstance(verdict, SubjectUnknown) or verdict.subject == output.subject:
        return verdict
    return None


def fingerprint(request: PlanRequest, facts: JobFacts) -> dict[str, Data]:
    """By output, what an apply relies on: which schema is written, or that the registry accepts it."""
    return {name: _fingerprint(verdict) for name, verdict in sorted(_verdicts(request, facts).items())}


def _fingerprint(verdict: SubjectVerdict) -> Data:
    match verdict:
        case Registered(id=number):
            return {"can be written": True, "id": number}
        case Accepted():
            return {"can be written": True, "id": UNKNOWN}
        case SubjectUnknown():
            return {"can be written": UNKNOWN, "id": UNKNOWN}
        case Rejected() | NoSubject() | NotWritable():
            return {"can be written": False, "id": UNKNOWN}


def blockers(request: PlanRequest, facts: JobFacts) -> list[Blocker]:
    """The reasons that outputs have no schema to write."""
    reported = (_blocker(name, verdict) for name, verdict in _verdicts(request, facts).items())
    return [diagnostic for diagnostic in reported if diagnostic is not None]


def _blocker(name: str, verdict: SubjectVerdict) -> Blocker | None:
    match verdict:
        case Rejected(subject=subject, reasons=reasons, level=level):
            mode = f" (compatibility {level})" if level is not None else ""
            why = f"The subject {subject} does not accept the schema of output {name}{mode}.\n" + "\n".join(
                reasons
            )
            ways = (
                "change the schema so that it is compatible",
                f"write a new subject for a new form of records: subject = {_quoted(f'{subject}-v2')}",
            )
            return blocker(codes.SCHEMA_REJECTED, why=why, ways_out=ways)
        case NoSubject(subject=subject):
            why = f"The schema registry has no subject {subject}, and output {name} declares no schema."
            ways = (
                'declare the schema, and apply registers it: schema = file("NAME.avsc")',
                'write a subject that exists: subject = "NAME"',
            )
            return blocker(codes.SUBJECT_MISSING, why=why, ways_out=ways)
        case NotWritable(subject=subject, version=version, why=reason):
            why = f"Output {name} writes version {version} of the subject {subject}, and it {reason}."
            return blocker(
                codes.SUBJECT_MISSING, why=why, ways_out=('declare the schema: schema = file("NAME.avsc")',)
            )
        case Registered() | Accepted() | SubjectUnknown():
            return None


def _quoted(text: str) -> str:
    return f'"{text}"'


def steps(case: JobCase, recorded: JobDefinition | None) -> Iterator[Step]:
    """The steps by which apply registers schemas."""
    for name, verdict in _verdicts(case.request, case.facts).items():
        if isinstance(verdict, Accepted) and _is_new(name, case.desired, recorded):
            what = f"registers the schema of output {name} as"
            if verdict.newest is None:
                text, why = f"{what} the first version of the subject {verdict.subject}", "it does not exist"
            else:
                changed = f": it {'; it '.join(verdict.fields)}" if verdict.fields else ""
                text = (
                    f"{what} a new version of the subject {verdict.subject}, after version {verdict.newest}"
                    f"{changed}"
                )
                level = f" (compatibility {verdict.level})" if verdict.level is not None else ""
                why = f"the registry accepts it{level}"
            yield Step(text=text, effect=Effect.METADATA, why=why)


def reasons(case: JobCase, recorded: JobDefinition | None) -> Iterator[str]:
    """The registered schemas that are written, where that is news."""
    for name, verdict in _verdicts(case.request, case.facts).items():
        if isinstance(verdict, Registered) and _is_new(name, case.desired, recorded):
            yield (
                f"output {name} writes version {verdict.version} of the subject {verdict.subject} "
                f"(id {verdict.id})"
            )


def _is_new(name: str, desired: JobDefinition, recorded: JobDefinition | None) -> bool:
    return recorded is None or recorded.avro.get(name) != desired.avro.get(name)


def drift(case: JobCase, recorded: JobDefinition) -> list[str]:
    """The changes by the registry to outputs that are declared as they are recorded."""
    texts = []
    for name, verdict in _verdicts(case.request, case.facts).items():
        before = _written_before(name, case.desired.avro_outputs[name], recorded)
        text = _drift(name, verdict, before) if before is not None else ""
        if text:
            texts.append(text)
    return texts


def _drift(name: str, verdict: SubjectVerdict, before: WrittenSchema) -> str:
    match verdict:
        case Accepted(subject=subject) | Rejected(subject=subject):
            return f"the subject {subject} no longer has the schema of output {name} (id {before.id})"
        case NoSubject(subject=subject):
            return f"the subject {subject} of output {name} does not exist any more"
        case Registered(subject=subject, version=version, id=number) if number != before.id:
            return (
                f"output {name} writes the schema with id {before.id}, and version {version} of the subject "
                f"{subject} has id {number}"
            )
        case _:
            return ""


def unknown(request: PlanRequest, facts: JobFacts) -> Iterator[str]:
    """The questions that registries did not answer, in words."""
    for name, verdict in _verdicts(request, facts).items():
        if isinstance(verdict, SubjectUnknown):
            yield f"output {name}: {verdict.why}"


def warnings(case: JobCase) -> Iterator[Diagnostic]:
    """The same as warnings, with what it means."""
    for name, verdict in _verdicts(case.request, case.facts).items():
        if isinstance(verdict, SubjectUnknown):
            text = f"Output {name}: {verdict.why}. {_meaning(name, case.desired)}"
            yield warning(codes.WRITTEN_SCHEMA_UNKNOWN, text, address=case.request.address)


def _meaning(name: str, desired: JobDefinition) -> str:
    output, written = desired.avro_outputs[name], desired.avro.get(name)
    if written is None or written.id is None:
        return (
            f"Whether the subject {output.subject} has a schema for it, or accepts one, is unknown: apply "
            "stops before it changes anything."
        )
    return (
        f"Whether the subject {output.subject} still has its schema is unknown; the output writes the one "
        f"that it wrote before (id {written.id})."
    )


# What is carried out


def refusals(requests: Sequence[ChangeRequest]) -> list[Diagnostic]:
    """The reasons that outputs cannot write what was planned, as the registries are now."""
    reader, diagnostics = SubjectReader(), list[Diagnostic]()
    for request in requests:
        job = JobDefinition.of(request.action.planned)
        if not JobPayload.of(request.action.payload).analyse:
            continue
        for name, verdict in reader.of(request.address, job).items():
            diagnostic = _refusal(name, job, verdict)
            if diagnostic is not None:
                diagnostics.append(diagnostic.at(address=request.address))
    return diagnostics


def _refusal(name: str, job: JobDefinition, verdict: SubjectVerdict) -> Diagnostic | None:
    planned, at = job.avro.get(name), ("output", name, "kafka", "schema")
    blocked = _blocker(name, verdict)
    if blocked is not None:
        return replace(blocked.as_error(blocked.why), attribute=at)
    if isinstance(verdict, SubjectUnknown):
        if planned is not None and planned.id is not None:
            return None  # what an id means never changes
        why = f"Output {name}: {verdict.why}. Nothing was changed."
        return error(codes.WRITTEN_SCHEMA_UNKNOWN, why, attribute=at)
    now = _written(verdict)
    if planned is None or now is None or now.schema != planned.schema:
        return _changed(name, job, "is not the one of the plan")
    if planned.id is not None and now.id != planned.id:
        return _changed(name, job, f"does not have the id {planned.id} any more")
    return None


def _changed(name: str, job: JobDefinition, what: str) -> Diagnostic:
    subject = job.avro_outputs[name].subject
    why = f"The schema of output {name} under the subject {subject} {what}. Plan and apply again."
    return error(codes.REGISTRY_CHANGED, why, attribute=("output", name, "kafka", "schema"))


def register(request: ChangeRequest, name: str) -> StageDone:
    """Registers the schema of an output; again it gives the same id. Raises ``Failure``."""
    output = JobDefinition.of(request.action.planned).avro_outputs[name]
    assert output.registry is not None, "a plan without a registry is an error"
    assert output.schema is not None, "only a declared schema is registered"
    try:
        number = registered(output.registry, output.subject, output.schema)
    except RegistryRejected as answer:
        why = f"The subject {output.subject} does not accept the schema of output {name}: {answer}."
        raise Failure(error(codes.SCHEMA_REJECTED, why, address=request.address)) from None
    except (RegistryProblem, NotFound) as failure:
        why = f"The schema of output {name} is not registered under {output.subject}: {failure}."
        raise Failure(error(codes.SCHEMA_NOT_REGISTERED, why, address=request.address)) from None
    message = f"the schema of output {name} has the id {number} under the subject {output.subject}"
    return StageDone(messages=(message,), note=RegisteredNote(id=number).data)
