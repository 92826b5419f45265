"""The parts that performers share: Iceberg's actions on Spark, and the table's own metadata. Runs where Spark
runs, and sees the standard library and the contract of table tasks alone.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from flareiac.sdk.table_tasks import KnownRefusal, Step, TableWork, TaskRefusal
from flareiac_iceberg_runtime import codes

NO_COLLECTION = KnownRefusal(
    error_class="GC_DISABLED",
    code=codes.REMOVAL_FORBIDDEN,
    advice="Set the property gc.enabled to true if no other table has these files; or set enabled = false "
    "in the block.",
)


def actions(work: TableWork) -> Any:
    """Iceberg's actions on Spark."""
    jvm = work.session._jvm
    return jvm.org.apache.iceberg.spark.actions.SparkActions.get(work.session._jsparkSession)


def current(work: TableWork) -> int | None:
    """The current snapshot of the main branch."""
    snapshot = work.table.currentSnapshot()
    return None if snapshot is None else int(snapshot.snapshotId())


def total(done: Sequence[Step], name: str) -> int:
    """The sum of one figure of these commits' summaries."""
    return sum(int(step.summary.get(name, "0")) for step in done)


def is_partial(options: Mapping[str, str]) -> bool:
    """Returns True if groups of files are committed by themselves, so that one commit is not all of the
    work.
    """
    return str(options.get("partial-progress.enabled", "false")).lower() == "true"


def java_exception(failure: BaseException) -> Any:
    """The exception of Iceberg's behind one of the bridge to the JVM; None where it is none of these."""
    return getattr(failure, "java_exception", None)


def refuse_without_gc(work: TableWork) -> None:
    """Raises ``TaskRefusal`` where the table says that its files are not to be deleted."""
    said = work.table.properties().get("gc.enabled")
    if said is not None and str(said).lower() != "true":  # what is not true is false to Iceberg
        raise TaskRefusal(
            "GC_DISABLED", f'The table says gc.enabled = "{said}": its files may belong to other tables, too.'
        )
