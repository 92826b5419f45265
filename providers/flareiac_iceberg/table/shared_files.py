"""Decides whether a table's files may be deleted with it. Pure."""

from collections.abc import Mapping
from typing import Final

from flareiac.kernel.data import Data
from flareiac.kernel.diagnostics import Diagnostic, error
from flareiac.sdk.changes import Blocker, blocker
from flareiac_iceberg import codes

_PROPERTY: Final = "gc.enabled"
_WHY: Final = (
    f"Its property {_PROPERTY} is not true, as of the source or the copy of a snapshot: purging "
    "it would destroy others."
)


def shares_files(properties: Mapping[str, Data]) -> bool:
    """Whether the table says that its files are not to be deleted; Iceberg takes any text but ``true`` for
    that.
    """
    return str(properties.get(_PROPERTY, "true")).lower() != "true"


def unpurgeable() -> Blocker:
    """Why a removed table that is to be purged cannot be."""
    why = (
        f"The table cannot be purged. {_WHY} Write the line below in its block (put it back first) and "
        "apply, then remove the block: its files stay."
    )
    return blocker(codes.FILES_SHARED, why, ('on_destroy = "drop"',))


def not_purged(table: str) -> Diagnostic:
    """Complains of the same when it has become so since the plan was made."""
    advice = 'Nothing was changed. Write on_destroy = "drop" in its block and apply, then remove the block.'
    return error(codes.FILES_SHARED, f"The table {table} was not purged. {_WHY} {advice}")
