"""The check that no more expired than was to. Pure."""

from collections.abc import Iterator, Mapping

from flareiac.kernel.data import Data
from flareiac.kernel.diagnostics import Diagnostic, error
from flareiac.sdk.maintenance import MaintenanceTask
from flareiac_iceberg import codes


def complaints(task: MaintenanceTask, result: Mapping[str, Data]) -> Iterator[Diagnostic]:
    """Counts only where no one committed meanwhile: else a newer snapshot may have pushed an older one
    out.
    """
    expired, meant = result.get("expired_snapshots"), result.get("allowed_snapshots")
    alone = result.get("snapshot_before") == result.get("snapshot_after")
    if expired is not None and meant is not None and expired > meant and alone:
        yield error(
            codes.TOO_MANY_EXPIRED,
            f"{task.name}: {expired:,} snapshots are gone, {meant:,} were to go. Another tool may expire "
            "snapshots of this table at the same time, and it knows nothing of the readers and writers "
            "declared here. Let only one of them do it.",
        )
