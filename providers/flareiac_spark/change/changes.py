"""The classes of changes of a running job, as the page about changes names them: a closed union.

``rules`` of a change are the names of the measured rules that its ``why`` quotes.
"""

from collections.abc import Iterable
from typing import Final, TypeAlias

from flareiac.kernel.data import Data
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.paths import Path
from flareiac_spark.sql.change_kinds import ColumnChange

OLD_SQL: Final = "write the old SQL again"
"""The way back where no part of the old text can be quoted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetadataOnly:
    """The attribute is no part of what runs (class *none*)."""

    path: Path
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Live:
    """The running query or application takes the change without a restart (class *live*)."""

    path: Path
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenAsSame:
    """The SQL has another text and is taken to mean the same: it is recorded, and the query runs on.

    ``proven``: the version of the Spark whose plans prove it; empty where only apply can, before its first
    effect.
    """

    path: Path
    text: str
    proven: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoEffect:
    """Spark keeps the value that the checkpoint was started with (class *no effect*)."""

    path: Path
    text: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Restart:
    """The query stops and starts on the same checkpoint (class *restart*). ``warning``: what becomes other
    than before, for a person to know.

    ``column``: the output column of a step that it is about, if it is about one, so that several are put into
    one sentence.
    """

    path: Path
    text: str
    why: str
    warning: str = ""
    column: ColumnChange | None = None
    rules: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultsChange:
    """The query would start on the same checkpoint, and its results would mean something else from then on: a
    person has to accept it (class *results change*).

    ``known`` False: whether it does so cannot be determined (class *unknown*). ``before`` and ``after`` are
    what the acceptance is given for. ``above_state``: the state is right, and rows that an output keeps are
    not.
    """

    path: Path
    text: str
    why: str
    undo: str
    before: Data
    after: Data
    known: bool = True
    above_state: bool = False
    rules: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NewGeneration:
    """The query cannot go on from this checkpoint (class *new generation*). ``rereadable``: a new generation
    that reads again can; ``carries``: so can one that takes over the offsets, where these can be taken over.
    """

    path: Path
    text: str
    why: str
    undo: str
    rereadable: bool = True
    carries: bool = True
    rules: tuple[str, ...] = ()


JobChange: TypeAlias = MetadataOnly | Live | TakenAsSame | NoEffect | Restart | ResultsChange | NewGeneration
GRAVITY: Final = (MetadataOnly, Live, TakenAsSame, NoEffect, Restart, ResultsChange, NewGeneration)
"""The classes, from the one that concerns nothing that runs to the gravest."""


def gravity(change: JobChange) -> int:
    """Greater is graver."""
    return GRAVITY.index(type(change))


def blocks(changes: Iterable[JobChange]) -> bool:
    """True where one of the changes asks for a person's word, or cannot be carried out."""
    return any(isinstance(change, ResultsChange | NewGeneration) for change in changes)


def rules_of(changes: Iterable[JobChange]) -> tuple[str, ...]:
    """The names of the rules that the changes rest on, each once."""
    return tuple(
        dict.fromkeys(
            name
            for change in changes
            if isinstance(change, Restart | ResultsChange | NewGeneration)
            for name in change.rules
        )
    )
