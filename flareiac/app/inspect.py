"""The use cases of ``status`` and ``logs``: what the recorded resources that run are doing. Reads only."""

from flareiac.app.recorded import recorded
from flareiac.app.workspace import Workspace
from flareiac.kernel import codes
from flareiac.kernel.diagnostics import Failure, error
from flareiac.model.references import recorded_references
from flareiac.model.snapshot import Snapshot
from flareiac.sdk.capabilities import Inspecting
from flareiac.sdk.run_status import LogText, RunStatus


def status(workspace: Workspace, snapshot: Snapshot) -> dict[str, RunStatus]:
    """Each recorded resource that runs, by address."""
    found: dict[str, RunStatus] = {}
    for address, record in sorted(snapshot.resources.items()):
        driver = workspace.driver(record.provider, record.type)
        if isinstance(driver, Inspecting):
            found[address] = driver.inspect(address, record.recorded(), recorded_references(snapshot, record))
    return found


def log_of(workspace: Workspace, snapshot: Snapshot, address: str) -> LogText | None:
    """The log of one resource, None where nothing was written yet. Raises ``Failure`` for what does not
    run.
    """
    record = recorded(snapshot, address)
    driver = workspace.driver(record.provider, record.type)
    if not isinstance(driver, Inspecting):
        raise Failure(error(codes.DOES_NOT_RUN, f"{address} does not run, so it has no status and no log."))
    return driver.log(address, record.recorded())
