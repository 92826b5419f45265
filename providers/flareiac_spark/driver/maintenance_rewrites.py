"""Rewrites files and manifests of a table without changing a row, through Iceberg's actions, each commit
with our mark.
"""

import re
from typing import Any

from flareiac.sdk.table_tasks import OPERATION, RewriteDataFiles, RewriteDeleteFiles
from flareiac_spark.control import Maintained
from flareiac_spark.driver.maintenance_marks import Step, TableWork, outcome, steps, total

_PARTIAL = "partial-progress.enabled"
_ZORDER = re.compile(r"\s*zorder\s*\((?P<columns>.*)\)\s*", re.IGNORECASE | re.DOTALL)


def rewrite_data_files(bench: TableWork, work: RewriteDataFiles) -> Maintained:
    """``failed_files`` are those of groups whose commit failed, with partial progress; the rest is one commit
    or none.
    """
    before = steps(bench)
    if before and not _is_partial(work.options):
        return Maintained(result=_rewritten(bench, before, 0), found=True)
    action = _ordered(bench, bench.actions.rewriteDataFiles(bench.table), work)
    if work.where is not None:
        converter = bench.jvm.org.apache.spark.sql.execution.datasources.SparkExpressionConverter
        resolved = converter.collectResolvedSparkExpression(
            bench.session._jsparkSession, bench.name, work.where
        )
        action = action.filter(converter.convertToIcebergExpression(resolved))
    done = action.options(dict(work.options)).snapshotProperty(OPERATION, bench.key).execute()
    after = steps(bench)
    found = bool(before) and len(before) == len(after)
    return Maintained(result=_rewritten(bench, after, int(done.failedDataFilesCount())), found=found)


def rewrite_delete_files(bench: TableWork, work: RewriteDeleteFiles) -> Maintained:
    """Position deletes; a table without any is left as it is."""
    before = steps(bench)
    if not before or _is_partial(work.options):
        snapshot = bench.table.currentSnapshot()
        if snapshot is not None and snapshot.summary().get("total-delete-files") not in (None, "0"):
            bench.actions.rewritePositionDeletes(bench.table).options(dict(work.options)).snapshotProperty(
                OPERATION, bench.key
            ).execute()
    after = steps(bench)
    counts = {
        "rewritten_delete_files": total(after, "removed-delete-files"),
        "added_delete_files": total(after, "added-delete-files"),
        "rewritten_bytes": total(after, "removed-files-size"),
    }
    return Maintained(
        result={**outcome(bench, after), **counts}, found=bool(before) and len(before) == len(after)
    )


def rewrite_manifests(bench: TableWork) -> Maintained:
    """Those of the current partition spec, into as few as the target size allows."""
    before = steps(bench)
    if not before and bench.current is not None:
        bench.actions.rewriteManifests(bench.table).snapshotProperty(OPERATION, bench.key).execute()
    after = steps(bench)
    counts = {
        "rewritten_manifests": total(after, "manifests-replaced"),
        "added_manifests": total(after, "manifests-created"),
    }
    return Maintained(result={**outcome(bench, after), **counts}, found=bool(before))


def _is_partial(options: Any) -> bool:
    return str(options.get(_PARTIAL, "false")).lower() == "true"


def _rewritten(bench: TableWork, done: tuple[Step, ...], failed: int) -> dict[str, int | None]:
    return {
        **outcome(bench, done),
        "rewritten_files": total(done, "deleted-data-files"),
        "rewritten_bytes": total(done, "removed-files-size"),
        "added_files": total(done, "added-data-files"),
        "removed_delete_files": total(done, "removed-delete-files"),
        "failed_files": failed,
    }


def _ordered(bench: TableWork, action: Any, work: RewriteDataFiles) -> Any:
    match work.strategy:
        case "binpack":
            return action.binPack()
        case "sort":
            return (
                action.sort() if work.sort_order is None else action.sort(_sort_order(bench, work.sort_order))
            )
        case "zorder":
            return action.zOrder(_columns(bench, work.sort_order or ""))


def _sort_order(bench: TableWork, text: str) -> Any:
    """As the procedure reads it; by a parser of our own, because a session's may be wrapped in others."""
    state = bench.session._jsparkSession.sessionState()
    parser = bench.jvm.org.apache.spark.sql.catalyst.parser.extensions.IcebergSparkSqlExtensionsParser(
        state.sqlParser()
    )
    order = bench.jvm.org.apache.iceberg.SortOrder.builderFor(bench.table.schema())
    for field in parser.parseSortOrder(text):
        order = order.sortBy(field.term(), field.direction(), field.nullOrder())
    return order.build()


def _columns(bench: TableWork, text: str) -> Any:
    """``zorder(a, `b c`)``, or the names alone, as an array of Java strings."""
    listed = _ZORDER.fullmatch(text)
    names = [
        name.replace("``", "`") if name else plain.strip()
        for name, plain in _NAME.findall(listed["columns"] if listed else text)
    ]
    array = bench.session.sparkContext._gateway.new_array(bench.jvm.java.lang.String, len(names))
    for at, name in enumerate(names):
        array[at] = name
    return array


_NAME = re.compile(r"\s*(?:`((?:[^`]|``)*)`|([^,`]+))\s*(?:,|$)")
