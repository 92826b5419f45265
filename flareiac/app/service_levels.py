"""Asks how fresh the tables and topics are that readers outside of the project have. Reads only."""

import time
from collections.abc import Callable, Iterable
from functools import partial

from flareiac.app.workspace import Workspace
from flareiac.model.applied_from import OutsideReader
from flareiac.model.references import recorded_references
from flareiac.model.service_levels import ReaderStatus
from flareiac.model.snapshot import Snapshot
from flareiac.planning.fan_out import Unanswered, answers, workers
from flareiac.planning.observe import TIMEOUT
from flareiac.planning.service_levels import status_of
from flareiac.sdk.freshness import Freshness, FreshnessRequest, ReportsFreshness


def outside_readers(
    workspace: Workspace, snapshot: Snapshot, *, only_bounded: bool = False
) -> tuple[ReaderStatus, ...]:
    """The readers that were declared at the last apply, each with every table and topic that it reads.
    ``only_bounded``: those with a service level alone. What cannot be asked hides nothing else.
    """
    readers = [
        reader
        for reader in (snapshot.applied.readers if snapshot.applied is not None else ())
        if reader.level is not None or not only_bounded
    ]
    answer_of = _freshness(workspace, snapshot, readers)
    now_ms = int(time.time() * 1000)
    return tuple(
        status_of(reader, answer_of.get(reader.subject, "this state does not manage it"), now_ms)
        for reader in readers
    )


def _freshness(
    workspace: Workspace, snapshot: Snapshot, readers: Iterable[OutsideReader]
) -> dict[str, Freshness | str]:
    groups: dict[str, set[str]] = {}
    for reader in readers:
        groups.setdefault(reader.subject, set()).update({reader.known_as} - {""})
    calls: dict[str, Callable[[], Freshness]] = {}
    for address, names in sorted(groups.items()):
        record = snapshot.resources.get(address)
        driver = None if record is None else workspace.driver(record.provider, record.type)
        if record is not None and isinstance(driver, ReportsFreshness):
            request = FreshnessRequest(
                address=address,
                recorded=record.recorded(),
                references=recorded_references(snapshot, record),
                groups=tuple(sorted(names)),
            )
            calls[address] = partial(driver.freshness, request)
    if not calls:
        return {}
    with workers("freshness", workspace.parallelism) as pool:
        answered = answers(pool, calls, TIMEOUT)
    return {
        address: answer.diagnostics[0].detail if isinstance(answer, Unanswered) else answer
        for address, answer in answered.items()
    }
