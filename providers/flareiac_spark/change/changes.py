"""What one difference between two definitions of a job means for what runs: a closed union."""

from collections.abc import Iterable
from typing import Final, TypeAlias

from flareiac.kernel.data import Data
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.paths import Path
from flareiac_spark.sql.change_kinds import ColumnChange


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted:
    """Not part of what runs."""

    path: Path
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Live:
    """Taken without a restart."""

    path: Path
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reworded:
    """Another text that is taken for the same query: it is recorded, and what runs goes on.

    ``proven``: the version of the Spark whose plans prove it; empty where only apply can, before its first
    effect.
    """

    path: Path
    text: str
    proven: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pinned:
    """Spark keeps the value that the checkpoint was started with."""

    path: Path
    text: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Restarted:
    """The query stops and starts on the same checkpoint. ``warning``: what becomes other than before, for a
    person to know.

    ``column``: the output column of a step that it is about, if it is about one, so that several are put into
    one sentence.
    """

    path: Path
    text: str
    why: str
    warning: str = ""
    column: ColumnChange | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Mixed:
    """The query would start on the same checkpoint, and its results would mix two meanings; it needs a
    person's word.

    ``known`` False: whether it does so cannot be determined. ``before`` and ``after`` are what the word is
    given for.
    """

    path: Path
    text: str
    why: str
    undo: str
    before: Data
    after: Data
    known: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """It cannot go on from this checkpoint. ``rereadable``: a new generation that reads again can;
    ``carries``: so can one that takes over the offsets, where these can be taken over.
    """

    path: Path
    text: str
    why: str
    undo: str
    rereadable: bool = True
    carries: bool = True


JobChange: TypeAlias = Noted | Live | Reworded | Pinned | Restarted | Mixed | Refused
GRAVITY: Final = (Noted, Live, Reworded, Pinned, Restarted, Mixed, Refused)
"""From what concerns nothing that runs to what cannot be done."""


def gravity(change: JobChange) -> int:
    """Greater is graver."""
    return GRAVITY.index(type(change))


def blocks(found: Iterable[JobChange]) -> bool:
    """True where one of the changes asks for a person's word, or cannot be carried out."""
    return any(isinstance(change, Mixed | Refused) for change in found)
