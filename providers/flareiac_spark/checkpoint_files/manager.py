"""Which state manages a checkpoint: the lineage that its folder carries. Touches the disk.

The file is beside the generations, or in the folder of a query that was imported: Spark does not look at it.
"""

import json
from typing import Final

from flareiac.kernel.data import read_json
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import Foreign, decode, encode
from flareiac_spark.checkpoint_log import Damaged, unreadable
from flareiac_spark.storage import Place, replace_whole

_NAME: Final = "managed-by.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Manager(Foreign):
    """The content of the file."""

    lineage: str
    version: int = 1


def manager_of(location: Place) -> str:
    """The lineage of the state that manages the checkpoint; empty where none is known, as in checkpoints of
    early versions. Raises ``Damaged``.
    """
    path = location / _NAME
    try:
        return decode(_Manager, read_json(path.read_bytes())).lineage
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError as trouble:
        raise unreadable(path, trouble) from None
    except (ValueError, TypeError, RecursionError):
        raise Damaged(path, "it does not say which state manages the checkpoint") from None


def mark(location: Place, lineage: str) -> None:
    """Makes that state the one that manages the checkpoint. Raises ``OSError``."""
    content = json.dumps(encode(_Manager(lineage=lineage))) + "\n"
    replace_whole(location / _NAME, content.encode(), mode=0o644)
