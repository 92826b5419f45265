"""What does Iceberg say of a table, asked through the JVM? Identity, and which snapshot carries a mark. Touches the catalog."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from flareiac_spark.driver.column_types import quote
from flareiac_spark.driver.refusal import Refusal


@dataclass(frozen=True, slots=True, kw_only=True)
class Marked:
    """A snapshot with a mark, and the rows it added, where Iceberg counted them."""

    snapshot_id: int
    rows: int | None


def spell(identifier: Sequence[str]) -> str:
    """``("lake", "demo", "flights")`` as Spark reads it."""
    return ".".join(quote(part) for part in identifier)


def load(session: Any, identifier: Sequence[str], uuid: str | None) -> Any:
    """Iceberg's own table object. Raises ``Refusal`` if there is no such table or another one of that name."""
    from pyspark.errors import AnalysisException

    shown = ".".join(identifier)
    try:
        table = session._jvm.org.apache.iceberg.spark.Spark3Util.loadIcebergTable(session._jsparkSession, spell(identifier))
    except AnalysisException:
        raise Refusal("TABLE_NOT_FOUND", f"The table {shown} does not exist.") from None
    found = str(table.uuid().toString())
    if uuid is not None and found != uuid:
        why = f"The table {shown} is another one than planned: it has the uuid {found} and not {uuid}. It was dropped and created anew."
        raise Refusal("TABLE_REPLACED", why)
    return table


def find_mark(session: Any, identifier: Sequence[str], key: str, value: str) -> Marked | None:
    """The newest snapshot among the current one's ancestors whose summary carries ``key = value``."""
    from pyspark.sql import functions as F  # noqa: N812 - the name under which everybody knows it

    table = load(session, identifier, None)
    found = (
        session.table(f"{spell(identifier)}.snapshots")
        .where(F.element_at("summary", key) == value)
        .select("committed_at", "snapshot_id", "summary")
        .collect()
    )
    for row in sorted(found, key=lambda row: row.committed_at, reverse=True):
        if session._jvm.org.apache.iceberg.util.SnapshotUtil.isAncestorOf(table, row.snapshot_id):
            rows = row.summary.get("added-records", "0")
            return Marked(snapshot_id=row.snapshot_id, rows=int(rows))
    return None


def current_snapshot(session: Any, identifier: Sequence[str]) -> Marked | None:
    """The newest snapshot of the main branch, None if the table is empty."""
    snapshot = load(session, identifier, None).currentSnapshot()
    if snapshot is None:
        return None
    rows = snapshot.summary().get("added-records")
    return Marked(snapshot_id=snapshot.snapshotId(), rows=int(rows) if rows is not None else 0)
