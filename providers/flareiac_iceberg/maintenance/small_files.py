"""Counts a table's small data files, from a few manifests where they suffice, else as last measured. Never
opens a data file.
"""

from collections.abc import Sequence
from typing import Final

from flareiac.kernel.data import Attributes
from flareiac.kernel.diagnostics import Failure
from flareiac_iceberg.format.manifests import Manifest
from flareiac_iceberg.maintenance.figures import known_figures
from flareiac_iceberg.maintenance.measure import Read, Table, small_files_of

_MANIFESTS: Final = 10
_BYTES: Final = 1024**2
"""Of all manifests of a table together: a status of a thousand tables waits for the answer."""


def small_files(table: Table, known: Attributes, read: Read) -> Attributes:
    """``small_files``, ``looked_at_files`` and ``looked_at`` as ``statistics.survey`` tells. ``known``:
    figures of the last time.
    """
    if table.current is None:
        return _told(None)
    measured = known_figures(known)
    if measured is None or measured.uuid != table.metadata["table-uuid"]:
        return _told(_counted(table, read))
    rewrite = measured.rewrite
    last = (rewrite.small, rewrite.files) if rewrite is not None and rewrite.few is None else None
    if last is not None and measured.snapshot_id == table.current["snapshot-id"]:
        return _told(last)
    found = _counted(table, read)
    return _told(last, measured.measured_ms) if found is None and last is not None else _told(found)


def _counted(table: Table, read: Read) -> tuple[int, int] | None:
    try:
        return small_files_of(table, read, _are_few)
    # The other figures are true all the same; a caller that needs the manifests gets the error
    except Failure:
        return None


def _are_few(manifests: Sequence[Manifest]) -> bool:
    return len(manifests) <= _MANIFESTS and sum(item.length for item in manifests) <= _BYTES


def _told(found: tuple[int, int] | None, at: int | None = None) -> Attributes:
    small, files = found or (None, None)
    return {"small_files": small, "looked_at_files": files, "looked_at": at}
