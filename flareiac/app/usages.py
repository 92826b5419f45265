"""The usages that the recorded resources have of each other. Reads only; asks nobody."""

from flareiac.app.workspace import Workspace
from flareiac.model.references import recorded_references
from flareiac.model.snapshot import Snapshot
from flareiac.planning.usages import collect_running
from flareiac.sdk.changes import Usage
from flareiac.sdk.references import Resolved


def recorded_usages(workspace: Workspace, snapshot: Snapshot) -> tuple[Usage, ...]:
    """Raises ``Failure`` for a record that its type cannot read."""
    references: dict[str, Resolved] = {}
    for record in snapshot.resources.values():
        references |= recorded_references(snapshot, record)
    references |= {address: record.referenced() for address, record in snapshot.resources.items()}
    return collect_running(snapshot, workspace.installed.registry.types, references)
