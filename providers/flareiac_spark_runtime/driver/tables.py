"""Facts of an Iceberg table, read through the JVM: its identity, and the snapshot that carries a mark.
Touches the catalog.
"""

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark_runtime.control import TableOutput
from flareiac_spark_runtime.driver import commit_marks
from flareiac_spark_runtime.driver.column_types import quote
from flareiac_spark_runtime.driver.jvm import jvm_of
from flareiac_spark_runtime.driver.refusal import Refusal

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SECOND_LOOK: Final = 1.0
"""Seconds."""

_MERGED: Final = "spark.merge-into.num-target-rows-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Marked:
    """A snapshot with a mark, and the rows that it wrote; None where it is not known how many."""

    snapshot_id: int
    rows: int | None


def quoted_name(identifier: Sequence[str]) -> str:
    """``("lake", "demo", "flights")`` as Spark reads it."""
    return ".".join(quote(part) for part in identifier)


def quoted_target(output: TableOutput) -> str:
    """The table, or the branch of it, that an output writes, as Spark reads it."""
    return quoted_name(
        output.identifier if is_main(output.branch) else (*output.identifier, f"branch_{output.branch}")
    )


def is_main(branch: str | None) -> bool:
    return branch in (None, "main")


def target(session: "SparkSession", output: TableOutput) -> Any:
    """Iceberg's table object of what an output writes. Raises ``Refusal`` if the table or its branch is not
    what was planned.
    """
    table = load(session, output.identifier, output.uuid)
    if output.branch is not None and not is_main(output.branch):
        reference = table.refs().get(output.branch)
        if reference is None or not reference.isBranch():
            shown = ".".join(output.identifier)
            why = (
                f"The table {shown} has no branch {output.branch}. Make it first: ALTER TABLE {shown} "
                f"CREATE BRANCH {quote(output.branch)}"
            )
            raise Refusal("BRANCH_NOT_FOUND", why)
    return table


def _loaded(session: "SparkSession", identifier: Sequence[str]) -> Any:
    """Iceberg's table object, None where the catalog has no such table."""
    from pyspark.errors import AnalysisException

    try:
        return jvm_of(session).org.apache.iceberg.spark.Spark3Util.loadIcebergTable(
            session._jsparkSession, quoted_name(identifier)
        )
    except AnalysisException:
        return None


def load(session: "SparkSession", identifier: Sequence[str], uuid: str | None) -> Any:
    """Iceberg's own table object. Raises ``Refusal`` if there is no such table or another one of that
    name.
    """
    shown = ".".join(identifier)
    table = _loaded(session, identifier)
    if table is None:
        # A refusal is permanent. Right after another process has created a table, a look may miss it (seen).
        time.sleep(_SECOND_LOOK)
        table = _loaded(session, identifier)
    if table is None:
        raise Refusal("TABLE_NOT_FOUND", f"The table {shown} does not exist.")
    table_uuid = str(table.uuid().toString())
    if uuid is not None and table_uuid != uuid:
        why = (
            f"The table {shown} is another one than planned: it has the uuid {table_uuid} and not {uuid}. It "
            "was dropped and created again."
        )
        raise Refusal("TABLE_REPLACED", why)
    return table


def find_mark(session: "SparkSession", output: TableOutput, key: str, value: str) -> Marked | None:
    """The newest snapshot among the ancestors of the output's branch whose summary carries ``key =
    value``.
    """
    for snapshot in commit_marks.commits(load(session, output.identifier, None), output.branch):
        if snapshot.summary.get(key) == value:
            return Marked(snapshot_id=snapshot.id, rows=rows_written(snapshot.summary))
    return None


def current_snapshot(session: "SparkSession", output: TableOutput) -> Marked | None:
    """The newest snapshot of the output's branch, None if it has none."""
    snapshot = load(session, output.identifier, None).snapshot(output.branch or "main")
    if snapshot is None:
        return None
    return Marked(snapshot_id=snapshot.snapshotId(), rows=rows_written(snapshot.summary()))


def rows_written(summary: Any) -> int | None:
    """The rows that a snapshot has of its writer; None where its summary does not say how many. A merge also
    adds those that stood in files with rows that it changed. ``summary``: a mapping, also Java's, which gives
    None for a key that it does not have.
    """
    added = int(summary.get("added-records") or 0)
    inserted, updated, copied = (
        summary.get(f"{_MERGED}{kind}") for kind in ("inserted", "updated", "copied")
    )
    if inserted is None or updated is None or copied is None:
        return added
    # Where the table is sorted, Spark computes the merged rows twice and counts them twice
    written, every = int(inserted) + int(updated), int(inserted) + int(updated) + int(copied)
    if not added or not every:
        return 0 if added == every else None
    times, rest = divmod(every, added)
    return None if rest or written % times else written // times
