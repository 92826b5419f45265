"""Compares declared columns with the newest schemas of a registry, for a plan. Touches the registry."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final, TypeAlias

from flareiac.kernel.diagnostics import Failure
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark.sources.avro.compatibility import tolerated
from flareiac_spark_runtime.sources.avro.differences import Difference, differences
from flareiac_spark_runtime.sources.avro.registry import (
    NotFound,
    Registry,
    RegistryAccess,
    RegistryProblem,
    SubjectVersion,
)
from flareiac_spark_runtime.sources.avro.types import AvroType, NotAvro, parse
from flareiac_spark_runtime.sources.resolved import SpecColumn

TIMEOUT_S: Final = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaRead:
    """The question of a stream to a registry: the subjects of its values. ``columns`` are those of the value.
    ``row`` gives the record that they are read from, None for a schema that has none; by itself that is the
    whole value.
    """

    registry: RegistryAccess
    subjects: tuple[str, ...]
    columns: tuple[SpecColumn, ...]
    row: Callable[[AvroType], AvroType | None] = lambda schema: schema


@dataclass(frozen=True, slots=True, kw_only=True)
class LatestSchema:
    """The newest version of a subject, and where the columns part from it. ``tolerated``: what a later
    version may do to the columns by the ``level`` of compatibility, None where they do not mind.
    """

    subject: str
    version: int
    differences: tuple[Difference, ...]
    level: str = ""
    tolerated: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaUnknown:
    """Nothing is known of the newest schema. ``why`` is without a full stop."""

    why: str


SchemaFinding: TypeAlias = LatestSchema | SchemaUnknown


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedSubject:
    """The answer of a registry about a subject. ``level``: the mode of compatibility for later versions, None
    where the registry does not say it.
    """

    newest: SubjectVersion
    level: str | None


SubjectAnswer: TypeAlias = AskedSubject | SchemaUnknown


def asked(access: RegistryAccess, subjects: Iterable[str]) -> dict[str, SubjectAnswer]:
    """The answers of a registry about each subject; where it gives no answer, it is asked for no other one.
    Raises nothing.
    """
    subject_answers: dict[str, SubjectAnswer] = {}
    try:
        registry = Registry(access, timeout_s=TIMEOUT_S)
        for subject in subjects:
            subject_answers[subject] = _asked(registry, subject)
    except (RegistryProblem, Failure) as error:
        why = error.diagnostics[0].line if isinstance(error, Failure) else str(error)
        silent = SchemaUnknown(why=why.rstrip("."))
        return {subject: subject_answers.get(subject, silent) for subject in subjects}
    return subject_answers


def _asked(registry: Registry, subject: str) -> SubjectAnswer:
    try:
        newest = registry.latest(subject)
    except NotFound as answer:
        return SchemaUnknown(why=f"the schema registry has no subject {subject} ({answer})")
    try:
        return AskedSubject(newest=newest, level=registry.compatibility(subject))
    except (NotFound, RegistryProblem):
        return AskedSubject(newest=newest, level=None)


def compared(read: SchemaRead, answers: Mapping[str, SubjectAnswer]) -> tuple[SchemaFinding, ...]:
    """One for each subject; what keeps it from being known is said once."""
    findings = (_compared(answers[subject], read) for subject in read.subjects)
    return tuple(dict.fromkeys(findings))


def _compared(answer: SubjectAnswer, read: SchemaRead) -> SchemaFinding:
    if isinstance(answer, SchemaUnknown):
        return answer
    version = answer.newest
    name = f"version {version.version} of the subject {version.subject}"
    if version.schema.kind != "AVRO":
        return SchemaUnknown(why=f"{name} is a schema of kind {version.schema.kind}, not of Avro")
    try:
        tree = parse(version.schema.text, version.schema.references)
    except NotAvro as error:
        return SchemaUnknown(why=f"{name} cannot be read: {error}")
    if (row := read.row(tree)) is None:
        return SchemaUnknown(why=f"{name} is not a schema of values of the format")
    return LatestSchema(
        subject=version.subject,
        version=version.version,
        differences=tuple(differences(row, read.columns)),
        level=answer.level or "",
        tolerated=tolerated(answer.level, row, read.columns) if answer.level is not None else None,
    )
