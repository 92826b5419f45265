"""Counts a table's small data files, from a few manifests where they suffice, else as last measured. Never
opens a data file.
"""

import time
from collections.abc import Sequence
from typing import Final

from flareiac.kernel.diagnostics import Failure
from flareiac.kernel.records import decode
from flareiac_iceberg.format.manifests import Manifest
from flareiac_iceberg.maintenance.contents import Contents, Read, Table
from flareiac_iceberg.maintenance.figures import Figures, SmallFiles
from flareiac_iceberg.maintenance.file_rewrite import limits_of
from flareiac_iceberg.maintenance.kinds.compaction.measure import DataFiles, RewriteFigures
from flareiac_iceberg.maintenance.kinds.compaction.settings import TARGET, Compaction

_MANIFESTS: Final = 10
_BYTES: Final = 1024**2
"""The limit on the bytes of all manifests of a table together: a status of a thousand tables waits for the
answer.
"""


def small_files(table: Table, measured: Figures | None, read: Read) -> SmallFiles:
    """``measured``: figures of the last time."""
    if table.current is None:
        return SmallFiles()
    if measured is None or measured.uuid != table.metadata["table-uuid"]:
        return _counted(table, read) or SmallFiles()
    data = measured.kinds.get("compaction")
    rewrite = None if data is None else decode(RewriteFigures, data)
    if rewrite is None or rewrite.few is not None:
        return _counted(table, read) or SmallFiles()
    is_now = measured.snapshot_id == table.current["snapshot-id"]
    last = SmallFiles(
        small=rewrite.small, files=rewrite.files, at_ms=None if is_now else measured.measured_ms
    )
    return last if is_now else _counted(table, read) or last


def _counted(table: Table, read: Read) -> SmallFiles | None:
    """The number of data files that compaction calls small, declared or not, and of those that it looks at;
    None where too many manifests would have to be read.
    """
    data = table.attributes.get("compaction")
    declared = None if data is None else decode(Compaction, data)
    settings = declared if declared is not None and declared.enabled else Compaction()
    contents = Contents(table, read, int(time.time() * 1000))
    limits = limits_of(settings, table.properties, TARGET, everything=settings.rewrite_all)
    count = DataFiles(settings, table, limits)
    try:
        if not _are_few(contents.data_manifests):
            return None
        contents.count([count])
    # The other figures are true all the same; a caller that needs the manifests gets the error
    except Failure:
        return None
    figures = count.figures()
    return SmallFiles(small=figures.small, files=figures.files)


def _are_few(manifests: Sequence[Manifest]) -> bool:
    return len(manifests) <= _MANIFESTS and sum(manifest.length for manifest in manifests) <= _BYTES
