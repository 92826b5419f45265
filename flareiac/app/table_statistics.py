"""How much there is of everything recorded that holds data, and how it is kept. Reads only; asks no
engine.
"""

from collections.abc import Callable
from functools import partial

from flareiac.app.figures_cache import known_figures
from flareiac.app.workspace import Workspace
from flareiac.kernel.data import Attributes
from flareiac.model.references import recorded_references
from flareiac.model.snapshot import Snapshot
from flareiac.planning.fan_out import Unanswered, answers, workers
from flareiac.planning.observe import TIMEOUT
from flareiac.sdk.capabilities import ReportsStatistics, SurveyRequest


def surveys(workspace: Workspace, snapshot: Snapshot) -> dict[str, Attributes]:
    """What ``ReportsStatistics.survey`` tells, by address; ``trouble`` alone, a sentence, where it cannot be
    determined.
    """
    known = known_figures(snapshot.lineage, workspace.project.workspace)
    calls: dict[str, Callable[[], Attributes]] = {}
    for address, record in sorted(snapshot.resources.items()):
        driver = workspace.driver(record.provider, record.type)
        if isinstance(driver, ReportsStatistics):
            request = SurveyRequest(
                address=address,
                recorded=record.recorded(),
                references=recorded_references(snapshot, record),
                known=known.get(address, {}),
                runs=record.upkeep,
            )
            calls[address] = partial(driver.survey, request)
    with workers("survey", workspace.parallelism) as pool:
        found = answers(pool, calls, TIMEOUT)
    return {
        address: {"trouble": answer.diagnostics[0].line} if isinstance(answer, Unanswered) else answer
        for address, answer in found.items()
    }
