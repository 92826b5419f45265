"""The figures that decide, as plain data between measuring and deciding.

    {"uuid", "location", "metadata_location", "snapshot_id", "format_version", "sorted",
     "collects": gc.enabled, "spec_ids",
     "measured_ms": when the files were looked at, which may be the last time,
     "totals":    {"files", "bytes", "delete_files", "rows"}, from the newest snapshot's summary; None where
                it does not say
     "columns":   the types of all columns by path; None where compaction names none
     "ids":       a digest of all snapshots' ids
     "marks":     by duty, the newest of our operations among the current snapshot and its ancestors:
                [its id, time of its commit]
     "history":   see ``history``; None where no expiry is declared
     "rewrite":   {"files", "small", "worn", "unfit": small or worn, "groups", "rewritten_files",
                "rewritten_bytes", "added_files", "exact"} | {"few": n} | None
     "deletes":   {"files", "small", "groups", "rewritten_files", "rewritten_bytes", "added_files", "sizes",
                "apart"} | {"few": n} | None
     "manifests": {"data": [count, bytes], "deletes": [count, bytes], "target": bytes} | None
     "rows":      see ``aged_rows`` | None
     "under":     names of other tables that its catalog knows with files below the location, or around it |
                None
     "unlisted":  why the catalog does not tell what else it holds | None
     "lost":      those of the dropped with files below the location whose metadata is gone, so that nothing
                brings them back}

``apart``: a file of deletes that is written is about one data file only. ``few``: so many files are too few
for anything, so none was looked at. None: not declared.
"""

from collections.abc import Mapping
from typing import Final

from flareiac.kernel.data import Attributes, digest

FILE_SETTINGS: Final = ("compaction", "delete_rewrite", "manifest_rewrite", "retention")


def number(summary: Mapping[str, object], name: str) -> int | None:
    """A count of a snapshot's summary, None where it is missing or no number."""
    try:
        return int(str(summary[name]))
    except (KeyError, ValueError):
        return None


def settings_digest(attributes: Attributes) -> str:
    """Of the settings that figures about files depend on."""
    return digest({name: attributes.get(name) for name in FILE_SETTINGS})
