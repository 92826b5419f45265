"""Measures the size and the storage of every recorded resource that holds data. Reads only; asks no
engine.
"""

import time
from collections.abc import Callable
from functools import partial

from flareiac.app.figures_cache import known_figures
from flareiac.app.workspace import Workspace
from flareiac.model.references import recorded_references
from flareiac.model.snapshot import Snapshot
from flareiac.planning.fan_out import Unanswered, answers, workers
from flareiac.planning.observe import TIMEOUT
from flareiac.sdk.statistics import ReportsStatistics, Statistics, StatisticsRequest, StatisticsSheet


def sheets(workspace: Workspace) -> list[StatisticsSheet]:
    """Returns the sheets of all installed types."""
    return [
        kind.maintaining.sheet
        for kind in workspace.installed.registry.types.values()
        if kind.maintaining.sheet is not None
    ]


def statistics(workspace: Workspace, snapshot: Snapshot) -> dict[StatisticsSheet, dict[str, Statistics]]:
    """The statistics of what is recorded, by sheet and address."""
    by_sheet: dict[StatisticsSheet, dict[str, Statistics]] = {}
    for address, answer in _ask(workspace, snapshot).items():
        sheet = workspace.installed.registry.types[snapshot.resources[address].type].maintaining.sheet
        assert sheet is not None, "a type whose driver reports statistics has a sheet"
        by_sheet.setdefault(sheet, {})[address] = (
            _unanswered(sheet, answer) if isinstance(answer, Unanswered) else answer
        )
    return by_sheet


def _ask(workspace: Workspace, snapshot: Snapshot) -> dict[str, Statistics | Unanswered]:
    known = known_figures(snapshot.lineage, workspace.project.workspace)
    calls: dict[str, Callable[[], Statistics]] = {}
    for address, record in sorted(snapshot.resources.items()):
        driver = workspace.driver(record.provider, record.type)
        if isinstance(driver, ReportsStatistics):
            request = StatisticsRequest(
                address=address,
                recorded=record.recorded(),
                references=recorded_references(snapshot, record),
                now=time.time(),
                known=known.get(address, {}),
                runs=record.maintenance,
            )
            calls[address] = partial(driver.statistics, request)
    with workers("statistics", workspace.parallelism) as pool:
        return answers(pool, calls, TIMEOUT)


def _unanswered(sheet: StatisticsSheet, answer: Unanswered) -> Statistics:
    problem = answer.diagnostics[0].line
    return Statistics(
        figures={"trouble": problem},
        cells=("-",) * len(sheet.columns),
        lines=(f"not known: {problem}",),
        trouble=(("not known", problem),),
    )
