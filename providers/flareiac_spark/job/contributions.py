"""The contributors to the plan of a job: each concern that is no change of the job by itself adds its steps,
blockers, reasons, diagnostics and drift. Pure.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from typing import Final, TypeAlias

from flareiac.kernel.diagnostics import Diagnostic, warning
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.changes import (
    Blocker,
    Step,
)
from flareiac.sdk.requests import PlanRequest
from flareiac_spark import codes
from flareiac_spark.change.drift import rolled_back
from flareiac_spark.column_types import table_columns
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.generation import broker_positions
from flareiac_spark.generation.job_case import JobCase
from flareiac_spark.job import file_folders, health, samples, schemas, written_schemas
from flareiac_spark.job.plan_steps import quarantine_steps
from flareiac_spark.job.refusals import NO_POSITION, NOT_KNOWN, is_running
from flareiac_spark.observation.job import JobFacts, reach_complaints


@dataclass(frozen=True, slots=True, kw_only=True)
class Contribution:
    """The part of one concern in a plan."""

    steps: tuple[Step, ...] = ()
    blockers: tuple[Blocker, ...] = ()
    reasons: tuple[str, ...] = ()
    """Sentences of the plan that ask for nothing."""
    drift: tuple[str, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    unknown: tuple[str, ...] = ()
    """The parts that could not be determined."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedJob:
    """A job whose own changes are judged. ``recorded`` None: it is made. ``blockers`` are those of its
    changes and of its start; ``restarts``: it stops and starts again for them.
    """

    case: JobCase
    recorded: JobDefinition | None
    blockers: Sequence[Blocker]
    restarts: bool

    def is_blocked_by(self, *codes: str) -> bool:
        """Returns True if one of the blockers has one of these codes."""
        return any(blocker.code in codes for blocker in self.blockers)


Contributor: TypeAlias = Callable[[PlannedJob], Contribution]


def contributed(planned: PlannedJob) -> Contribution:
    """Joins the parts of all contributors, in their order."""
    parts = [contributor(planned) for contributor in CONTRIBUTORS]
    return Contribution(
        **{
            each.name: tuple(entry for part in parts for entry in getattr(part, each.name))
            for each in fields(Contribution)
        }
    )


def _outputs(planned: PlannedJob) -> Contribution:
    case, recorded = planned.case, planned.recorded
    return Contribution(reasons=(*_left_null(case, recorded), *_at_least_once(case.desired, recorded)))


def _written_schemas(planned: PlannedJob) -> Contribution:
    case, recorded = planned.case, planned.recorded
    return Contribution(
        steps=tuple(written_schemas.steps(case, recorded)),
        blockers=tuple(written_schemas.blockers(case.request, case.facts)),
        reasons=tuple(written_schemas.reasons(case, recorded)),
        drift=() if recorded is None else tuple(written_schemas.drift(case, recorded)),
        diagnostics=tuple(written_schemas.warnings(case)),
        unknown=tuple(written_schemas.unknown(case.request, case.facts)),
    )


def _quarantines(planned: PlannedJob) -> Contribution:
    """A query of bad records starts with the others of its job."""
    if planned.recorded is not None and not planned.restarts:
        return Contribution()
    return Contribution(steps=tuple(quarantine_steps(planned.case.desired, planned.recorded)))


def _health(planned: PlannedJob) -> Contribution:
    if planned.recorded is None:
        return Contribution()
    besides = reach_complaints(planned.case.facts.reach)
    return Contribution(diagnostics=health.warnings(planned.case.request, besides=besides))


def _folders(planned: PlannedJob) -> Contribution:
    """A folder that is missing is one report: a blocker, or else a warning."""
    case, missing = planned.case, codes.SOURCE_FOLDER_MISSING.id
    absent = () if planned.is_blocked_by(missing) else _absent_folders(case.request, case.facts)
    return Contribution(diagnostics=(*absent, *file_folders.warnings(case)))


def _rolled_back_tables(planned: PlannedJob) -> Contribution:
    case, recorded = planned.case, planned.recorded
    texts = () if recorded is None else rolled_back(case.request, recorded, case.facts)
    return Contribution(drift=tuple(texts), diagnostics=tuple(_undone(case.request, texts)))


def _read_schemas(planned: PlannedJob) -> Contribution:
    case, blocked = planned.case, planned.is_blocked_by(codes.AVRO_COLUMN_DIFFERS.id)
    return Contribution(
        reasons=tuple(schemas.later_versions(case.facts)),
        diagnostics=tuple(schemas.warnings(case.request, case.facts, blocked=blocked)),
    )


def _samples(planned: PlannedJob) -> Contribution:
    return Contribution(diagnostics=tuple(samples.warnings(planned.case.request, planned.case.facts)))


def _positions(planned: PlannedJob) -> Contribution:
    """A position that is lost or not known is one report: a blocker, or else a warning."""
    case = planned.case
    diagnostics: list[Diagnostic] = []
    if not planned.is_blocked_by(*NO_POSITION, *NOT_KNOWN):
        diagnostics += broker_positions.warnings(case)
        if is_running(case.facts):
            diagnostics += broker_positions.lost_warnings(case)
    if planned.restarts:
        diagnostics += broker_positions.short_retention(case)
    return Contribution(
        diagnostics=tuple(diagnostics), unknown=broker_positions.unknown(case.desired, case.facts)
    )


CONTRIBUTORS: Final[tuple[Contributor, ...]] = (
    _outputs,
    _written_schemas,
    _quarantines,
    _health,
    _folders,
    _rolled_back_tables,
    _read_schemas,
    _samples,
    _positions,
)
"""In the order in which a plan shows their parts."""


def _absent_folders(request: PlanRequest, facts: JobFacts) -> Iterator[Diagnostic]:
    for path in facts.absent:
        yield warning(
            codes.SOURCE_FOLDER_MISSING,
            f"{request.address} reads {path}. It cannot start until that folder is there: create it before "
            "the apply, or correct the path.",
            address=request.address,
        )


def _undone(request: PlanRequest, texts: Sequence[str]) -> Iterator[Diagnostic]:
    for text in texts:
        yield warning(
            codes.TABLE_ROLLED_BACK,
            f"{text}. Set the table to its newest snapshot again, or have a new generation write "
            "everything again "
            '(start_from = "earliest", rebuild = "truncate").',
            address=request.address,
        )


def _left_null(case: JobCase, recorded: JobDefinition | None) -> Iterator[str]:
    """Optional columns that an output does not give, where that is news: Spark fills them with null without a
    word.
    """
    for name, output in case.desired.table_outputs.items():
        before = recorded.table_outputs.get(name) if recorded is not None else None
        names = [
            column.name
            for column in table_columns(output.table, case.request.references)
            if not column.required
        ]
        left = [column for column in names if column not in output.columns]
        news = [column for column in left if before is None or column in before.columns]
        if news and len(left) < len(names):
            yield (
                f"output {name} gives no {', '.join(news)}: null in the rows that it writes to {output.table}"
            )


def _at_least_once(desired: JobDefinition, recorded: JobDefinition | None) -> Iterator[str]:
    """The promise of an output to a topic, where it is new."""
    before = recorded.kafka_outputs if recorded is not None else {}
    for name, output in desired.kafka_outputs.items():
        if name not in before:
            yield (
                f"output {name} writes to {output.place} at least once: a batch that is done again writes "
                "its records again"
            )
