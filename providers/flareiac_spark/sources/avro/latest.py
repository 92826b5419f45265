"""Compares declared columns with the newest schemas of a registry, for a plan. Touches the registry."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from flareiac.kernel.diagnostics import Failure
from flareiac_spark.sources.avro.differences import Difference, differences
from flareiac_spark.sources.avro.registry import (
    NotFound,
    Registry,
    RegistryAccess,
    RegistryProblem,
    SubjectVersion,
)
from flareiac_spark.sources.avro.types import NotAvro, parse
from flareiac_spark.sources.resolved import SpecColumn

TIMEOUT_S: Final = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaRead:
    """What a stream asks a registry for: the subjects of its values. ``columns`` are those of the value."""

    registry: RegistryAccess
    subjects: tuple[str, ...]
    columns: tuple[SpecColumn, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LatestSchema:
    """The newest version of a subject, and where the columns part from it."""

    subject: str
    version: int
    differences: tuple[Difference, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaUnknown:
    """Nothing is known of the newest schema. ``why`` is without a full stop."""

    why: str


SchemaFinding: TypeAlias = LatestSchema | SchemaUnknown


def compared(read: SchemaRead) -> tuple[SchemaFinding, ...]:
    """One for each subject that there is; raises nothing."""
    try:
        return tuple(_compared(Registry(read.registry, timeout_s=TIMEOUT_S), read))
    except (RegistryProblem, Failure) as trouble:
        why = trouble.diagnostics[0].line if isinstance(trouble, Failure) else str(trouble)
        return (SchemaUnknown(why=why.rstrip(".")),)


def _compared(registry: Registry, read: SchemaRead) -> Iterator[SchemaFinding]:
    for subject in read.subjects:
        try:
            found = registry.latest(subject)
        except NotFound as answer:
            yield SchemaUnknown(why=f"the schema registry has no subject {subject} ({answer})")
            continue
        yield _of_version(found, read.columns)


def _of_version(found: SubjectVersion, columns: Sequence[SpecColumn]) -> SchemaFinding:
    name = f"version {found.version} of the subject {found.subject}"
    if found.schema.kind != "AVRO":
        return SchemaUnknown(why=f"{name} is a schema of kind {found.schema.kind}, not of Avro")
    try:
        tree = parse(found.schema.text, found.schema.references)
    except NotAvro as trouble:
        return SchemaUnknown(why=f"{name} cannot be read: {trouble}")
    return LatestSchema(
        subject=found.subject, version=found.version, differences=tuple(differences(tree, columns))
    )
