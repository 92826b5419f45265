"""The use cases of ``status`` and ``logs``: what the recorded resources that run are doing. Reads only."""

from flareiac.app.recorded import recorded
from flareiac.app.workspace import Workspace
from flareiac.kernel import codes
from flareiac.kernel.data import Attributes
from flareiac.kernel.diagnostics import Failure, error
from flareiac.model.references import recorded_references
from flareiac.model.snapshot import Snapshot
from flareiac.sdk.capabilities import Inspecting


def status(workspace: Workspace, snapshot: Snapshot) -> list[Attributes]:
    """One row for each recorded resource that runs, by address."""
    rows: list[Attributes] = []
    for address, record in sorted(snapshot.resources.items()):
        driver = workspace.driver(record.provider, record.type)
        if isinstance(driver, Inspecting):
            rows.append(
                {
                    "address": address,
                    **driver.inspect(address, record.recorded(), recorded_references(snapshot, record)),
                }
            )
    return rows


def row(workspace: Workspace, snapshot: Snapshot, address: str) -> Attributes:
    """What one resource is doing. Raises ``Failure`` for what does not run."""
    record = recorded(snapshot, address)
    driver = workspace.driver(record.provider, record.type)
    if not isinstance(driver, Inspecting):
        raise Failure(error(codes.DOES_NOT_RUN, f"{address} does not run, so it has no status and no log."))
    return driver.inspect(address, record.recorded(), recorded_references(snapshot, record))
