"""The word for a change of results: a token that fits this one change and no other. Pure."""

from collections.abc import Iterable
from typing import Final

from flareiac.kernel.data import Data, canonical, digest
from flareiac_spark.change.changes import ResultsChange

_LENGTH: Final = 12


def token_of(address: str, changes: Iterable[ResultsChange], used: Data) -> str:
    """Derived from what is and what would be, so that it stops fitting as soon as either side is something
    else. ``used``: the one that was given last; the same change needs another one when it is made again.
    """
    sides: list[Data] = sorted(canonical([change.path, change.before, change.after]) for change in changes)
    return token(address, [*sides, used] if used else sides)


def token(address: str, sides: Data) -> str:
    """The token of plain data about one job: the same change of another job needs a token of its own."""
    return digest([address, sides])[:_LENGTH]
