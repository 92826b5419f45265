"""Rewrites position delete files of a table through Iceberg's action, each commit with the mark of the
operation.
"""

from collections.abc import Mapping
from dataclasses import field
from typing import Final

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.table_tasks import OPERATION, Performed, Performer, TableWork
from flareiac_iceberg_runtime.performing import actions, is_partial, total


@dataclass(frozen=True, slots=True, kw_only=True)
class RewriteDeleteFiles:
    """Position deletes; ``options`` are Iceberg's, by their own names."""

    options: Mapping[str, str] = field(default_factory=dict)


def rewrite_delete_files(work: TableWork, task: RewriteDeleteFiles) -> Performed:
    """A table without position deletes is left as it is."""
    before = work.steps()
    if not before or is_partial(task.options):
        snapshot = work.table.currentSnapshot()
        if snapshot is not None and snapshot.summary().get("total-delete-files") not in (None, "0"):
            action = actions(work).rewritePositionDeletes(work.table).options(dict(task.options))
            action.snapshotProperty(OPERATION, work.key).execute()
    done = work.steps()
    return Performed(
        result={
            **work.outcome(done),
            "rewritten_delete_files": total(done, "removed-delete-files"),
            "added_delete_files": total(done, "added-delete-files"),
            "rewritten_bytes": total(done, "removed-files-size"),
        },
        found=bool(before) and len(before) == len(done),
    )


PERFORMER: Final = Performer(
    kind="rewrite_delete_files",
    task=RewriteDeleteFiles,
    perform=rewrite_delete_files,
    doing="rewriting delete files",
)
