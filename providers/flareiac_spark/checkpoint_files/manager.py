"""Reads and writes the mark of a checkpoint: the lineage of the state that manages it, and the other end of a
move. Touches the disk.

The file is beside the generations, or in the folder of a query that was imported: Spark does not look at it.
"""

import json
from dataclasses import field
from typing import Final

from flareiac.kernel.data import read_json
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import SPARSE, Foreign, decode
from flareiac_spark_runtime.checkpoint_log import ARRIVING_FROM, MANAGED_BY, MOVED_TO, Damaged, unreadable
from flareiac_spark_runtime.storage import Place, replace_whole

VERSION: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark(Foreign):
    """The content of the file. ``arriving_from``: it is a copy of the checkpoint there, which need not be
    complete; ``moved_to``: it has left for that place. No query starts in a folder with one of them.
    """

    lineage: str
    arriving_from: str = field(default="", metadata=SPARSE)
    moved_to: str = field(default="", metadata=SPARSE)


def mark_of(location: Place) -> Mark | None:
    """The mark of a checkpoint; None where it has none, as in checkpoints of early versions. Raises
    ``Damaged``.
    """
    path = location / MANAGED_BY
    try:
        return decode(Mark, read_json(path.read_bytes()))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise unreadable(path, error) from None
    except (ValueError, TypeError, RecursionError):
        raise Damaged(path, "it does not say which state manages the checkpoint") from None


def manager_of(location: Place) -> str:
    """The lineage of the state that manages the checkpoint; empty where none is known. Raises ``Damaged``."""
    note = mark_of(location)
    return note.lineage if note is not None else ""


def mark(location: Place, lineage: str, *, arriving_from: str = "", moved_to: str = "") -> None:
    """Makes that state the one that manages the checkpoint. Raises ``OSError``."""
    ends = {ARRIVING_FROM: arriving_from, MOVED_TO: moved_to}
    content = {"lineage": lineage, "version": VERSION, **{name: text for name, text in ends.items() if text}}
    replace_whole(location / MANAGED_BY, f"{json.dumps(content)}\n".encode(), mode=0o644)
