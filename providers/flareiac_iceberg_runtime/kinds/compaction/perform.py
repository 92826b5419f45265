"""Rewrites data files of a table without changing a row, through Iceberg's action, each commit with the mark
of the operation.
"""

import re
from collections.abc import Mapping
from dataclasses import field
from typing import Any, Final, Literal

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.table_tasks import OPERATION, Performed, Performer, TableWork
from flareiac_iceberg_runtime.performing import actions, is_partial, total

_ZORDER: Final = re.compile(r"\s*zorder\s*\((?P<columns>.*)\)\s*", re.IGNORECASE | re.DOTALL)
_NAME: Final = re.compile(r"\s*(?:`((?:[^`]|``)*)`|([^,`]+))\s*(?:,|$)")


@dataclass(frozen=True, slots=True, kw_only=True)
class RewriteDataFiles:
    """``sort_order`` as the procedure takes it, None for the table's own. ``options`` are Iceberg's, by their
    own names.
    """

    strategy: Literal["binpack", "sort", "zorder"]
    sort_order: str | None = None
    where: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)


def rewrite_data_files(work: TableWork, task: RewriteDataFiles) -> Performed:
    """``failed_files`` are those of groups whose commit failed, with partial progress; the rest is one commit
    or none.
    """
    before = work.steps()
    if before and not is_partial(task.options):
        done, failed = before, 0
    else:
        action = _ordered(work, task)
        if task.where is not None:
            action = action.filter(_condition(work, task.where))
        answer = action.options(dict(task.options)).snapshotProperty(OPERATION, work.key).execute()
        done, failed = work.steps(), int(answer.failedDataFilesCount())
    return Performed(
        result={
            **work.outcome(done),
            "rewritten_files": total(done, "deleted-data-files"),
            "rewritten_bytes": total(done, "removed-files-size"),
            "added_files": total(done, "added-data-files"),
            "removed_delete_files": total(done, "removed-delete-files"),
            "failed_files": failed,
        },
        found=bool(before) and len(before) == len(done),
    )


PERFORMER: Final = Performer(
    kind="rewrite_data_files",
    task=RewriteDataFiles,
    perform=rewrite_data_files,
    doing="rewriting data files",
)


def _condition(work: TableWork, where: str) -> Any:
    """The filter as Iceberg's expression, resolved by Spark against the table."""
    session = work.session
    converter = session._jvm.org.apache.spark.sql.execution.datasources.SparkExpressionConverter
    resolved = converter.collectResolvedSparkExpression(session._jsparkSession, work.name, where)
    return converter.convertToIcebergExpression(resolved)


def _ordered(work: TableWork, task: RewriteDataFiles) -> Any:
    action = actions(work).rewriteDataFiles(work.table)
    match task.strategy:
        case "binpack":
            return action.binPack()
        case "zorder":
            return action.zOrder(_columns(work, task.sort_order or ""))
        case "sort" if task.sort_order is None:
            return action.sort()
        case "sort":
            return action.sort(_sort_order(work, task.sort_order))


def _sort_order(work: TableWork, text: str) -> Any:
    """As the procedure reads it; by a parser of our own, because a session's may be wrapped in others."""
    jvm = work.session._jvm
    state = work.session._jsparkSession.sessionState()
    parser = jvm.org.apache.spark.sql.catalyst.parser.extensions.IcebergSparkSqlExtensionsParser(
        state.sqlParser()
    )
    order = jvm.org.apache.iceberg.SortOrder.builderFor(work.table.schema())
    for term in parser.parseSortOrder(text):
        order = order.sortBy(term.term(), term.direction(), term.nullOrder())
    return order.build()


def _columns(work: TableWork, text: str) -> Any:
    """``zorder(a, `b c`)``, or the names alone, as an array of Java strings."""
    listed = _ZORDER.fullmatch(text)
    names = [
        name.replace("``", "`") if name else plain.strip()
        for name, plain in _NAME.findall(listed["columns"] if listed else text)
    ]
    array = work.session.sparkContext._gateway.new_array(work.session._jvm.java.lang.String, len(names))
    for at, name in enumerate(names):
        array[at] = name
    return array
