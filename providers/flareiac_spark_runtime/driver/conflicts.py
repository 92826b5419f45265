"""Recognizes commits that failed because another program committed to the table, and describes them. Pure.

Iceberg refuses such a commit as a whole. It repeats by itself what only met another version of the metadata;
what may meet other rows, as a merge does, it leaves to the writer.
"""

import re
from typing import Final

_REFUSED: Final = re.compile(
    r"Found (new )?conflicting |Found concurrently added DV|Cannot commit, (found new |missing data "
    r"files)|Missing required files to delete"
)
_FILE: Final = re.compile(r"[^\s,\[\]]+\.(?:parquet|orc|avro|puffin)")
_WAY_OUT: Final = (
    "Nothing of the batch was written; it is done again. Where this happens often, let one program at a time "
    'write the table; or write in its table block: properties = { "write.merge.isolation-level" = "snapshot" '
    "}. A merge then does not see rows that are appended while it runs, so that a key that both write can be "
    "there twice."
)


def is_conflict(message: str) -> bool:
    """Returns True if Iceberg refused a commit because of what another one changed: nothing of it is in the
    table.
    """
    return _REFUSED.match(message) is not None


def conflict_text(message: str) -> str:
    """A description of the conflict and of the way out, with few names however many files there are."""
    files = list(dict.fromkeys(_FILE.findall(message)))
    others = len(files) - 1
    more = f" and {others:,} more file{'s' * (others > 1)}" if others > 0 else ""
    text = f" ({files[0]}{more})" if files else ""
    return (
        "Another program changed the table while this batch was being written, and their rows may "
        f"meet{text}. {_WAY_OUT}"
    )
