"""Decides whether a table's files may be deleted with it. Pure."""

from collections.abc import Mapping, Sequence
from typing import Final

from flareiac.kernel.data import Data
from flareiac.kernel.diagnostics import Diagnostic, error
from flareiac.sdk.changes import Blocker, blocker
from flareiac_iceberg import codes
from flareiac_iceberg.table.purge_check import Doomed

_EVERYWHERE: Final = "purge_everywhere"
_DROP: Final = 'on_destroy = "drop"'
_FORGET: Final = "flareiac state rm ADDRESS"
_ALL: Final = f'on_destroy = "{_EVERYWHERE}"'
_SHOWN: Final = 3
_PROPERTY: Final = "gc.enabled"
_WHY: Final = (
    f"Its property {_PROPERTY} is not true, as of the source or the copy of a snapshot: purging "
    "it would destroy others."
)


def shares_files(properties: Mapping[str, Data]) -> bool:
    """Returns True if the table's properties forbid to delete its files; Iceberg takes any text but ``true``
    for that.
    """
    return str(properties.get(_PROPERTY, "true")).lower() != "true"


def unpurgeable() -> Blocker:
    """The blocker of a removed table that is to be purged and cannot be."""
    why = (
        f"The table cannot be purged. {_WHY} Write the line below in its block (put it back first) and "
        "apply, then remove the block: its files stay."
    )
    return blocker(codes.FILES_SHARED, why, ('on_destroy = "drop"',))


def not_purged(table: str) -> Diagnostic:
    """Complains of the same when it has become so since the plan was made."""
    advice = 'Nothing was changed. Write on_destroy = "drop" in its block and apply, then remove the block.'
    return error(codes.FILES_SHARED, f"The table {table} was not purged. {_WHY} {advice}")


def unsafe_purge(doomed: Doomed, mode: str) -> tuple[Blocker, ...]:
    """The reasons why a table cannot be purged, by the files that the purge would delete."""
    blockers: list[Blocker] = []
    if doomed.unknown:
        why = f"Whether another entry of this table still needs its files is not known. {doomed.unknown}"
        blockers.append(blocker(codes.FILES_SHARED, why, (_DROP,)))
    if doomed.entries:
        why = (
            f"{_some(doomed.entries)} is this very table under another name: to purge it would destroy both. "
            "Remove one of the two with its files kept: take it out of the state, or write the line below in "
            "its block (put it back first) and apply, then remove the block."
        )
        blockers.append(blocker(codes.FILES_SHARED, why, (_FORGET, _DROP)))
    if mode == _EVERYWHERE:
        return tuple(blockers)
    if doomed.copies:
        why = (
            f"Another catalog may have a copy of this table: {_some(doomed.copies)} has its uuid and is not "
            "of its history. A killed writer leaves such a file, too; then delete it by hand."
        )
        blockers.append(blocker(codes.FILES_SHARED, why, (_DROP, _ALL)))
    if doomed.outside:
        why = (
            f"{len(doomed.outside):,} of the {doomed.files:,} files that its metadata names lie outside of "
            f"the location of the table: {_some(doomed.outside)}. Others may have put them there. Write one "
            "of the lines below in its block (put it back first) and apply, then remove the block."
        )
        blockers.append(blocker(codes.FILES_OUTSIDE, why, (_DROP, _ALL)))
    return tuple(blockers)


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
    return f"{', '.join(names[:_SHOWN])}{more}"
