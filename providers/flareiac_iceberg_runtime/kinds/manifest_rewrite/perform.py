"""Rewrites the manifests of a table through Iceberg's action, in one commit with the mark of the
operation.
"""

from typing import Final

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.table_tasks import OPERATION, Performed, Performer, TableWork
from flareiac_iceberg_runtime.performing import actions, current, total


@dataclass(frozen=True, slots=True, kw_only=True)
class RewriteManifests:
    """All manifests of the current partition spec."""


def rewrite_manifests(work: TableWork, _task: RewriteManifests) -> Performed:
    """Rewrites the manifests of the current partition spec, into as few as the target size allows."""
    before = work.steps()
    if not before and current(work) is not None:
        actions(work).rewriteManifests(work.table).snapshotProperty(OPERATION, work.key).execute()
    done = work.steps()
    return Performed(
        result={
            **work.outcome(done),
            "rewritten_manifests": total(done, "manifests-replaced"),
            "added_manifests": total(done, "manifests-created"),
        },
        found=bool(before),
    )


PERFORMER: Final = Performer(
    kind="rewrite_manifests",
    task=RewriteManifests,
    perform=rewrite_manifests,
    doing="rewriting manifests",
)
