"""Compares a task's result with its forecast. Pure.

A forecast and its result are equal when every number of the forecast that the result has is the same. Numbers
of a forecast are exact for one snapshot: a run that began on a later one (``snapshot_before`` differs) is
reported as such and is not measured by them. What is only estimated (written files) is no part of a forecast.
Whatever was forecast, rows must be as many after a rewrite as before, no file may have failed, and no more
snapshots may be gone than Iceberg was to take when it was asked.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from flareiac.kernel.data import Data
from flareiac.kernel.diagnostics import Diagnostic, error, warning
from flareiac.sdk.maintenance import Judgement, MaintenanceTask
from flareiac_iceberg import codes
from flareiac_iceberg.maintenance.humanize import size

_WORDS: Final = {
    "rewritten_files": "data files rewritten",
    "rewritten_bytes": "rewritten",
    "added_files": "data files written",
    "removed_delete_files": "delete files removed",
    "rewritten_delete_files": "delete files rewritten",
    "added_delete_files": "delete files written",
    "rewritten_manifests": "manifests rewritten",
    "added_manifests": "manifests written",
    "expired_snapshots": "snapshots expired",
    "dropped_refs": "branches and tags dropped",
    "deleted_data_files": "data files deleted",
    "deleted_delete_files": "delete files deleted",
    "deleted_manifests": "manifests deleted",
    "deleted_manifest_lists": "manifest lists deleted",
    "orphans": "files that no snapshot names",
    "orphan_bytes": "in them",
    "deleted_rows": "rows deleted",
}
_BYTES: Final = frozenset({"rewritten_bytes", "orphan_bytes"})
_REWRITES: Final = {
    "rewrite_data_files": ("rewritten_files", "data file"),
    "rewrite_delete_files": ("rewritten_delete_files", "delete file"),
    "rewrite_manifests": ("rewritten_manifests", "manifest"),
}


def judge(task: MaintenanceTask, result: Mapping[str, Data]) -> Judgement:
    """What was done, in words, beside what was expected; complaints where it is wrong."""
    done = ", ".join(
        _told(name, result[name])
        for name in _WORDS
        if isinstance(result.get(name), int) and (result[name] or name in task.forecast)
    )
    messages = [f"{task.name}: {done or 'nothing was left to do'}"]
    if task.forecast:
        messages.append(f"{task.name}: {_compared(task.forecast, result)}")
    return Judgement(messages=tuple(messages), diagnostics=tuple(_complaints(task, result)))


def _told(name: str, number: int) -> str:
    return f"{size(number)} {_WORDS[name]}" if name in _BYTES else f"{number:,} {_WORDS[name]}"


def _compared(forecast: Mapping[str, int], result: Mapping[str, Data]) -> str:
    began, meant = result.get("snapshot_before"), forecast.get("snapshot_before")
    other = [
        name
        for name, number in forecast.items()
        if name in _WORDS and name in result and result[name] != number
    ]
    if not other:
        return "as forecast"
    texts = ", ".join(
        f"{_told(name, forecast[name])} expected and {_told(name, result[name])}" for name in other
    )
    moved = began is not None and meant is not None and began != meant
    return (
        f"other than forecast, because the table was written meanwhile: {texts}"
        if moved
        else f"other than forecast: {texts}"
    )


def _complaints(task: MaintenanceTask, result: Mapping[str, Data]) -> Iterator[Diagnostic]:
    kind = task.work.kind if task.work is not None else None
    rewrite = _REWRITES.get(kind or "")
    before, after = result.get("rows_before"), result.get("rows_after")
    if rewrite is not None and before is not None and after is not None and before != after:
        yield error(
            codes.ROWS_CHANGED,
            f"{task.name}: there were {before:,} rows in snapshot {result.get('snapshot_before')} and "
            f"{after:,} in snapshot {result.get('snapshot_after')}, and a rewrite must not change them. Set "
            "the table back (flareiac table rollback) before its old snapshots expire.",
        )
    failed = result.get("failed_files") or 0
    if failed:
        yield warning(
            codes.REWRITE_INCOMPLETE,
            f"{task.name} could not rewrite {failed:,} files. With partial_progress, what failed is left "
            "for the next run. Mostly it is a conflict with a writer; the log of the engine shows why.",
        )
    if rewrite is not None and result.get(rewrite[0]) == 0 and task.forecast.get(rewrite[0], 1):
        yield warning(
            codes.NOTHING_REWRITTEN,
            f"{task.name} ended without an error, and no {rewrite[1]} was rewritten. A writer or an expiry "
            "may have come in between; the next plan looks again.",
        )
    expired, meant = result.get("expired_snapshots"), result.get("allowed_snapshots")
    # Else a newer snapshot may have pushed an older one out
    alone = result.get("snapshot_before") == result.get("snapshot_after")
    if kind == "expire_snapshots" and expired is not None and meant is not None and expired > meant and alone:
        yield error(
            codes.TOO_MANY_EXPIRED,
            f"{task.name}: {expired:,} snapshots are gone, {meant:,} were to go. Another tool may expire "
            "snapshots of this table at the same time, and it knows nothing of the readers and writers "
            "declared here. Let only one of them do it.",
        )
