"""Counts a table's small data files, from a few manifests where they suffice, else as last measured. Never
opens a data file.
"""

import time
from collections.abc import Sequence
from typing import Final

from flareiac.kernel.data import Attributes
from flareiac.kernel.diagnostics import Failure
from flareiac.kernel.records import decode
from flareiac_iceberg.format.manifests import Manifest
from flareiac_iceberg.maintenance.contents import Contents, Read, Table
from flareiac_iceberg.maintenance.figures import Figures
from flareiac_iceberg.maintenance.file_rewrite import limits_of
from flareiac_iceberg.maintenance.kinds.compaction.measure import DataFiles, RewriteFigures
from flareiac_iceberg.maintenance.kinds.compaction.settings import TARGET, Compaction

_MANIFESTS: Final = 10
_BYTES: Final = 1024**2
"""Of all manifests of a table together: a status of a thousand tables waits for the answer."""


def small_files(table: Table, measured: Figures | None, read: Read) -> Attributes:
    """``small_files``, ``looked_at_files`` and ``looked_at`` as ``statistics.survey`` tells. ``measured``:
    figures of the last time.
    """
    if table.current is None:
        return _told(None)
    if measured is None or measured.uuid != table.metadata["table-uuid"]:
        return _told(_counted(table, read))
    data = measured.kinds.get("compaction")
    rewrite = None if data is None else decode(RewriteFigures, data)
    last = (rewrite.small, rewrite.files) if rewrite is not None and rewrite.few is None else None
    if last is not None and measured.snapshot_id == table.current["snapshot-id"]:
        return _told(last)
    found = _counted(table, read)
    return _told(last, measured.measured_ms) if found is None and last is not None else _told(found)


def _counted(table: Table, read: Read) -> tuple[int, int] | None:
    """How many data files compaction calls small, declared or not, and of how many that it looks at; None
    where too many manifests would tell it.
    """
    data = table.attributes.get("compaction")
    settings = decode(Compaction, data) if data is not None and data["enabled"] else Compaction()
    contents = Contents(table, read, int(time.time() * 1000))
    try:
        if not _are_few(contents.data_manifests):
            return None
        count = DataFiles(
            settings, table, limits_of(settings, table.properties, TARGET, everything=settings.rewrite_all)
        )
        contents.count([count])
    # The other figures are true all the same; a caller that needs the manifests gets the error
    except Failure:
        return None
    figures = count.figures()
    return figures.small, figures.files


def _are_few(manifests: Sequence[Manifest]) -> bool:
    return len(manifests) <= _MANIFESTS and sum(item.length for item in manifests) <= _BYTES


def _told(found: tuple[int, int] | None, at: int | None = None) -> Attributes:
    small, files = found or (None, None)
    return {"small_files": small, "looked_at_files": files, "looked_at": at}
