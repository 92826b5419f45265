"""Reads from a table's metadata when the table was made. Pure."""

import re
from collections.abc import Iterable
from typing import Final

from flareiac.kernel.data import Attributes, Data

_NUMBER: Final = re.compile(r"(\d{5,})-")
"""The number in the name of a metadata file, as every library writes it: the first has 00000."""


def made_ms(location: str, metadata: Attributes) -> int | None:
    """The time when the table was made (ms since 1970), None where its metadata no longer tells.
    ``location``: the place of the metadata file.

    The metadata names its earlier files until there are too many: the number in its own name says how many
    there were. Then the very first snapshot stands for it, until that expires.
    """
    match metadata:
        case {"metadata-log": [{"timestamp-ms": int(first)}, *_] as log} if _number(location) == len(log):
            return first
        case {"snapshots": [_, *_] as snapshots}:
            return _first(snapshots)
        case {"metadata-log": [_, *_]}:
            return None
        case {"last-updated-ms": int(now)}:
            return now
        case _:
            return None


def _number(location: str) -> int | None:
    match = _NUMBER.match(location.rpartition("/")[2])
    return None if match is None else int(match[1])


def _first(snapshots: Iterable[Data]) -> int | None:
    # Not the one without a parent: a table that is replaced has such a snapshot again.
    for snapshot in snapshots:
        match snapshot:
            case {"sequence-number": 1, "timestamp-ms": int(at)}:
                return at
            case _:
                pass
    return None
