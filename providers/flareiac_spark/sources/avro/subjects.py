"""Asks a schema registry about the schemas that outputs write: whether a subject has them, or takes them.
Touches the registry.
"""

from collections.abc import Iterable, Iterator
from typing import Final, TypeAlias

from flareiac.kernel.data import parse_json
from flareiac.kernel.diagnostics import Failure
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark_runtime.sources.avro.registry import (
    NotFound,
    RegisteredSchema,
    Registry,
    RegistryAccess,
    RegistryProblem,
    RegistryRejected,
    SubjectVersion,
)
from flareiac_spark_runtime.sources.avro.spelling import spelled
from flareiac_spark_runtime.sources.avro.types import NotAvro, Record, parse

TIMEOUT_S: Final = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectQuestion:
    """The question of an output to a registry. ``schema`` is the text that it writes, None for the newest
    version of the subject.
    """

    subject: str
    schema: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Registered:
    """The subject has the schema, as this version. ``text`` is in one spelling; ``newest``: whether it was
    asked for as the newest version.
    """

    subject: str
    version: int
    id: int
    text: str
    newest: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """The subject takes the schema as its next version, after ``newest``: None for a subject that does not
    exist. ``level``: its mode of compatibility, None where the registry does not say. ``fields``: which
    fields the schema changes of that version, in words.
    """

    subject: str
    text: str
    newest: int | None = None
    level: str | None = None
    fields: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """The registry does not take the schema, for ``reasons``, which are its own."""

    subject: str
    reasons: tuple[str, ...]
    level: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NoSubject:
    """There is no such subject, and no schema to register."""

    subject: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NotWritable:
    """The newest version of the subject is no schema that an output can write, for ``why``, which goes on
    after "it".
    """

    subject: str
    version: int
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectUnknown:
    """The registry gave no answer. ``why`` is without a full stop."""

    why: str


SubjectVerdict: TypeAlias = Registered | Accepted | Rejected | NoSubject | NotWritable | SubjectUnknown


def judged(
    access: RegistryAccess, questions: Iterable[SubjectQuestion], *, timeout_s: float = TIMEOUT_S
) -> dict[SubjectQuestion, SubjectVerdict]:
    """The verdicts of a registry on each question; where it gives no answer, it is asked no other one. Raises
    nothing.
    """
    subject_verdicts: dict[SubjectQuestion, SubjectVerdict] = {}
    wanted = tuple(questions)
    try:
        registry = Registry(access, timeout_s=timeout_s)
        for question in wanted:
            subject_verdicts[question] = _judged(registry, question)
    except (RegistryProblem, Failure) as error:
        why = error.diagnostics[0].line if isinstance(error, Failure) else str(error)
        silent = SubjectUnknown(why=why.rstrip("."))
        return {question: subject_verdicts.get(question, silent) for question in wanted}
    return subject_verdicts


def registered(access: RegistryAccess, subject: str, schema: str) -> int:
    """The id of a schema, after it was registered under a subject where it was not. Raises
    ``RegistryProblem``, ``NotFound``, and ``Failure`` for a secret that this process cannot have.
    """
    return Registry(access).register(subject, schema)


def one_spelling(schema: str) -> str:
    """A schema as an output writes it. Raises ``NotAvro``."""
    return spelled(parse(schema))


def _judged(registry: Registry, question: SubjectQuestion) -> SubjectVerdict:
    newest = _newest(registry, question.subject)
    if question.schema is None:
        return NoSubject(subject=question.subject) if newest is None else _newest_of(newest)
    text = one_spelling(question.schema)
    if newest is None:
        return Accepted(subject=question.subject, text=text)
    try:
        there = registry.registered(question.subject, question.schema)
    except NotFound:
        return _compared(registry, question.subject, question.schema, newest)
    return Registered(subject=question.subject, version=there.version, id=there.id, text=text, newest=False)


def _newest(registry: Registry, subject: str) -> SubjectVersion | None:
    try:
        return registry.latest(subject)
    except NotFound:
        return None


def _newest_of(version: SubjectVersion) -> SubjectVerdict:
    if version.schema.kind != "AVRO":
        why = f"is a schema of kind {version.schema.kind}, not of Avro"
        return NotWritable(subject=version.subject, version=version.version, why=why)
    try:
        tree = parse(version.schema.text, version.schema.references)
    except NotAvro as error:
        why = f"cannot be read: {error}"
        return NotWritable(subject=version.subject, version=version.version, why=why)
    if not isinstance(tree, Record):
        return NotWritable(subject=version.subject, version=version.version, why="is not of type record")
    return Registered(
        subject=version.subject, version=version.version, id=version.id, text=spelled(tree), newest=True
    )


def _compared(registry: Registry, subject: str, schema: str, newest: SubjectVersion) -> SubjectVerdict:
    level = _level(registry, subject)
    try:
        reasons = registry.incompatibilities(subject, schema)
    except RegistryRejected as answer:
        reasons = (str(answer),)
    except NotFound:  # the subject was deleted in between
        return Accepted(subject=subject, text=one_spelling(schema), level=level)
    if reasons:
        return Rejected(subject=subject, reasons=reasons, level=level)
    return Accepted(
        subject=subject,
        text=one_spelling(schema),
        newest=newest.version,
        level=level,
        fields=tuple(_field_changes(newest.schema, schema)),
    )


def _level(registry: Registry, subject: str) -> str | None:
    try:
        return registry.compatibility(subject)
    except (NotFound, RegistryProblem):
        return None


def _field_changes(old: RegisteredSchema, new: str) -> Iterator[str]:
    """The changes of a record's fields, in words; empty where the old version is no record of Avro."""
    try:
        before, after = parse(old.text, old.references), parse(new)
    except NotAvro:
        return
    if not isinstance(before, Record) or not isinstance(after, Record):
        return
    for field in after.fields:
        other = before.field(field.name)
        if other is None:
            yield f"adds the field {field.name} ({_short(spelled(field.type))})"
        elif spelled(other.type) != spelled(field.type):
            yield (
                f"changes the field {field.name} from {_short(spelled(other.type))} to "
                f"{_short(spelled(field.type))}"
            )
    for field in before.fields:
        if after.field(field.name) is None:
            yield f"removes the field {field.name}"


def _short(text: str) -> str:
    """A type as its JSON, a simple one as its name."""
    kind = parse_json(text)
    named = kind if isinstance(kind, str) else text
    return named if len(named) <= 80 else f"{named[:77]}..."
