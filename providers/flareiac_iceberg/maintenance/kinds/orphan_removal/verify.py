"""Says which metadata files stayed because only a person knows whose they are. Pure."""

from collections.abc import Iterator, Mapping
from typing import Final

from flareiac.kernel.data import Data
from flareiac.kernel.diagnostics import Diagnostic, warning
from flareiac.sdk.maintenance import MaintenanceTask
from flareiac_iceberg import codes
from flareiac_iceberg_runtime.kinds.orphan_removal.perform import UNCLEAR

_SHOWN: Final = 3


def complaints(task: MaintenanceTask, result: Mapping[str, Data]) -> Iterator[Diagnostic]:
    """One warning for all of them."""
    unclear = result.get(UNCLEAR)
    if not isinstance(unclear, list) or not unclear:
        return
    more = f" and {len(unclear) - _SHOWN} more" if len(unclear) > _SHOWN else ""
    yield warning(
        codes.METADATA_OF_UNKNOWN_OWNER,
        f"{task.name} kept {', '.join(map(str, unclear[:_SHOWN]))}{more}, and all files that these name. "
        "They have this table's uuid and are not of its history: a writer that was killed has left them, or "
        "another catalog reads a copy of the table from them. If no catalog does, delete them by hand.",
        attribute=(task.name,),
    )
