"""The use cases of ``status`` and ``logs``: what the recorded resources that run are doing. Reads only."""

from collections.abc import Callable
from functools import partial

from flareiac.app.state.recorded import connection_of, recorded
from flareiac.app.workspace import Workspace
from flareiac.kernel import codes
from flareiac.kernel.diagnostics import Diagnostic, Failure, error
from flareiac.model.references import recorded_references
from flareiac.model.snapshot import Snapshot
from flareiac.planning.fan_out import Unanswered, answers, workers
from flareiac.planning.observe import TIMEOUT
from flareiac.sdk.capabilities import ConnectionControl, Inspecting
from flareiac.sdk.run_status import LogText, RunStatus


def status(workspace: Workspace, snapshot: Snapshot) -> dict[str, RunStatus]:
    """Each recorded resource that runs, by address. One that cannot be asked hides no other."""
    calls: dict[str, Callable[[], RunStatus]] = {}
    for address, record in sorted(snapshot.resources.items()):
        driver = workspace.driver(record.provider, record.type)
        if isinstance(driver, Inspecting):
            references = recorded_references(snapshot, record)
            calls[address] = partial(driver.inspect, address, record.recorded(), references)
    with workers("status", workspace.parallelism) as pool:
        answered = answers(pool, calls, TIMEOUT)
    return {
        address: _unknown(answer) if isinstance(answer, Unanswered) else answer
        for address, answer in answered.items()
    }


def _unknown(answer: Unanswered) -> RunStatus:
    return RunStatus(phase="unknown", health=tuple(diagnostic.line for diagnostic in answer.diagnostics))


def log_of(workspace: Workspace, snapshot: Snapshot, address: str) -> LogText | None:
    """The log of one resource, or of what a connection runs; None where nothing was written yet. Raises
    ``Failure`` for what does not run.
    """
    connection = connection_of(snapshot, address, workspace.installed.registry.types)
    if connection is not None:
        session = workspace.session(workspace.installed.registry.provider_of[connection.type])
        if not isinstance(session, ConnectionControl):
            raise Failure(_does_not_run(address))
        return session.connection_log(connection)
    record = recorded(snapshot, address)
    driver = workspace.driver(record.provider, record.type)
    if not isinstance(driver, Inspecting):
        raise Failure(_does_not_run(address))
    return driver.log(address, record.recorded())


def _does_not_run(address: str) -> Diagnostic:
    return error(codes.DOES_NOT_RUN, f"{address} does not run, so it has no status and no log.")
