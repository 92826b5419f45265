"""A kind of maintenance that no package knows: it polishes the data files of a table."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from flareiac.kernel.data import Attributes, Data
from flareiac.kernel.diagnostics import Diagnostic, Diagnostics, warning
from flareiac.sdk.changes import Effect
from flareiac.sdk.maintenance import MaintenanceTask
from flareiac.sdk.schema import Block
from flareiac.sdk.table_tasks import KnownRefusal, Performed, Performer, TableWork, TaskRefusal
from flareiac_iceberg import codes
from flareiac_iceberg.maintenance.columns import Surroundings
from flareiac_iceberg.maintenance.contents import Contents
from flareiac_iceberg.maintenance.declaration import Declaration
from flareiac_iceberg.maintenance.kind import Kind
from flareiac_iceberg.maintenance.schema_parts import always, number
from flareiac_iceberg.maintenance.task_builder import Case


@dataclass(frozen=True, slots=True, kw_only=True)
class Polish:
    enabled: bool = True
    every: int | None = None
    coats: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Dull:
    """So many files are dull."""

    files: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PolishFiles:
    coats: int


def canonical(given: Attributes, _around: Surroundings, _diagnostics: Diagnostics) -> Polish:
    return Polish(**given)


def measure(_settings: Polish, contents: Contents) -> Dull:
    return Dull(files=contents.totals.files or 0)


def plan(case: Case, settings: Polish, found: Dull | None) -> MaintenanceTask:
    assert found is not None
    if not found.files:
        return case.idle("no file is dull", of=case.figures.snapshot_id)
    return case.due(
        f"polish {found.files} files",
        PolishFiles(coats=settings.coats),
        of=case.figures.snapshot_id,
        forecast={"polished_files": found.files},
    )


def polish_files(work: TableWork, task: PolishFiles) -> Performed:
    if task.coats > 9:
        raise TaskRefusal("TOO_THICK", f"{task.coats} coats do not hold.")
    return Performed(result={**work.outcome(work.steps()), "polished_files": 2, "coats": task.coats})


def complaints(task: MaintenanceTask, result: Mapping[str, Data]) -> Iterator[Diagnostic]:
    if result["coats"] > 1:
        yield warning(codes.REWRITE_INCOMPLETE, f"{task.name} must dry.")


PERFORMER: Final = Performer(
    kind="polish_files",
    task=PolishFiles,
    perform=polish_files,
    doing="polishing files",
    refusals=(
        KnownRefusal(error_class="TOO_THICK", code=codes.REMOVAL_FORBIDDEN, advice="Write fewer coats."),
    ),
)
POLISH: Final = Kind(
    declaration=Declaration(
        name="polish",
        block=Block(description="Polishes files.", attributes={**always(), "coats": number("How many.", 1)}),
        settings=Polish,
        canonical=canonical,
    ),
    figures=Dull,
    measure=measure,
    plan=plan,
    performer=PERFORMER,
    effect=Effect.REWRITES_DATA,
    words={"polished_files": "file|polished"},
    complaints=complaints,
)
