"""The codes of what a performer answers. ``codes.md`` of ``flareiac_iceberg`` explains them."""

from typing import Final

from flareiac.kernel.codes import Code

REMOVAL_FORBIDDEN: Final = Code("FIK117", "The table forbids the removal of files")
ORPHANS_TOO_YOUNG: Final = Code("FIK119", "Orphan files must be older than 24 hours")
PATHS_DIFFER_IN_PREFIX: Final = Code("FIK120", "A location may have two spellings")
FILES_OF_UNKNOWN_OWNER: Final = Code("FIK126", "Files below the table's location may not be its own")
FILES_OF_OTHER_TABLE: Final = Code("FIK127", "Another table has files below the table's location")
ORPHANS_IN_USE: Final = Code("FIK128", "Files to be removed are in use under another spelling")
ORPHANS_NOT_REMOVED: Final = Code("FIK123", "Some orphan files could not be removed")
ROWS_WITHOUT_AGE: Final = Code("FIK125", "The column gives rows no age")
MORE_ROWS_THAN_FORECAST: Final = Code("FIK139", "More rows would be deleted than forecast")
BRANCH_RETENTION_TOO_SHORT: Final = Code(
    "FIK118", "The retention of a branch gives up snapshots that are needed"
)
MORE_EXPIRED_THAN_FORECAST: Final = Code("FIK136", "More would expire than forecast")
SNAPSHOTS_NOT_EXPIRED: Final = Code("FIK124", "Snapshots that were to expire still exist")
