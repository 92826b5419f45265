"""Whom rows concern that keep the partitioning before a change. Pure."""

from collections.abc import Iterable, Iterator

from flareiac.kernel.diagnostics import Diagnostic, warning
from flareiac.sdk.changes import Relation, Sharing, Usage
from flareiac_iceberg import codes
from flareiac_iceberg.table.changes import AddPartitionField, Change, RemovePartitionField
from flareiac_iceberg.table.observed import ObservedTable


def rows_of_earlier_layout(
    address: str, usages: Iterable[Usage], changes: Iterable[Change], observed: ObservedTable
) -> Iterator[Diagnostic]:
    """A warning for each writer that replaces partitions of a table whose rows stay in files of the
    partitioning before these changes. ``usages`` are those on this table.
    """
    relaid = any(isinstance(change, AddPartitionField | RemovePartitionField) for change in changes)
    if not relaid or observed.identity.snapshot_id is None:
        return
    for usage in usages:
        if usage.relation is Relation.WRITES and usage.sharing is Sharing.REPLACES_PARTITIONS:
            yield warning(
                codes.ROWS_OF_EARLIER_LAYOUT,
                f'{usage.holder} ({usage.reason}) writes {address} with mode = "{usage.mode}". Iceberg '
                "replaces files of the present partitioning only, and rows that are there stay in files of "
                "the one before. The job stops, and writes nothing, where it would replace a partition that "
                "has such rows. Rewrite all files after this change: in the compaction block of the table "
                'write rewrite_all = true and every = "1d", and remove rewrite_all once it has run.',
                address=address,
            )
