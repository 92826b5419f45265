"""How much there is of everything recorded that holds data, and how it is kept. Reads only; asks no engine."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout

from flareiac.app.bench import Bench
from flareiac.app.known_figures import known_figures
from flareiac.kernel.data import Attributes
from flareiac.kernel.diagnostics import Failure
from flareiac.model.references import recorded_references
from flareiac.model.snapshot import Snapshot
from flareiac.planning.observe import TIMEOUT, breakdown, silence
from flareiac.sdk.capabilities import Surveying, SurveyRequest


def surveys(bench: Bench, snapshot: Snapshot) -> dict[str, Attributes]:
    """What ``Surveying.survey`` tells, by address; ``trouble`` alone, a sentence, where it cannot be told."""
    known = known_figures(snapshot.lineage, bench.project.workspace)
    asked: list[tuple[Surveying, SurveyRequest]] = []
    for address, record in sorted(snapshot.resources.items()):
        driver = bench.driver(record.provider, record.type)
        if isinstance(driver, Surveying):
            request = SurveyRequest(
                address=address,
                recorded=record.recorded(),
                references=recorded_references(snapshot, record),
                known=known.get(address, {}),
                runs=record.upkeep,
            )
            asked.append((driver, request))
    return dict(_answers(bench, asked))


def _answers(bench: Bench, asked: list[tuple[Surveying, SurveyRequest]]) -> Mapping[str, Attributes]:
    pool = ThreadPoolExecutor(max_workers=max(1, bench.parallelism), thread_name_prefix="survey")
    try:
        waiting = {request.address: pool.submit(driver.survey, request) for driver, request in asked}
        found: dict[str, Attributes] = {}
        for address, answer in waiting.items():
            try:
                found[address] = answer.result(timeout=TIMEOUT)
            except Failure as failure:
                found[address] = {"trouble": failure.diagnostics[0].line}
            except FutureTimeout:
                found[address] = {"trouble": silence(address, TIMEOUT).detail}
            except Exception as bug:  # noqa: BLE001 - one resource that cannot be read must not hide what is known of the others
                found[address] = {"trouble": breakdown(address, bug).detail}
        return found
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
