"""The rows that a reader of a table sees. Deleted rows stay in data files until these are rewritten, beside
files that say which rows are deleted.
"""

from collections.abc import Iterable, Iterator

from flareiac.kernel.diagnostics import Failure
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_iceberg.format.manifests import POSITION_DELETES, Entry
from flareiac_iceberg.maintenance.contents import Contents


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveRows:
    """``exact`` None: only known to be ``at_most`` so many; both None: not known at all."""

    exact: int | None = None
    at_most: int | None = None


def live_rows(contents: Contents) -> LiveRows:
    """From the summary where nothing is deleted in place, else from the manifests.

    Deletes by position are counted where each file of them is about one data file that is still there. What
    is deleted by equality, or by a file for many data files, is only known to those who read the rows.
    """
    rows = contents.totals.rows
    if rows is None or contents.totals.delete_files == 0:
        return LiveRows(exact=rows)
    try:
        deletes = [entry for _, entry in contents.delete_files]
        if any(delete.content != POSITION_DELETES or delete.referenced is None for delete in deletes):
            return LiveRows(at_most=rows)
        data = (entry for _, entry in contents.entries(contents.data_manifests))
        return LiveRows(exact=rows - sum(_deleted(deletes, data)))
    except Failure:
        return LiveRows(at_most=rows)


def _deleted(deletes: Iterable[Entry], data: Iterable[Entry]) -> Iterator[int]:
    """The deleted rows of each data file that has some."""
    by_path: dict[str, list[Entry]] = {}
    for delete in deletes:
        by_path.setdefault(delete.referenced or "", []).append(delete)
    for entry in data:
        own = (
            delete_file.records
            for delete_file in by_path.get(entry.path, ())
            if delete_file.sequence >= entry.sequence
        )
        yield min(sum(own), entry.records)
