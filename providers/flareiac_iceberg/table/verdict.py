"""The effect of a change of a table on the queries that run on it, and on those who read its plan. Pure.

Each change says both of itself: one table of truth for plan texts and for stopping queries.
"""

from typing import ClassVar, Final

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.changes import Effect, Hit, Impact, Reaction, Relation, Step


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The effect of a change on a query that runs on the table, by the query's use of it; each as reaction
    and reason.
    """

    writes: Impact
    streams_from: Impact
    looks_up: Impact
    writes_unless: Impact | None = None
    """For writers that do not tolerate it."""

    def all(self) -> tuple[Impact, ...]:
        unless = () if self.writes_unless is None else (self.writes_unless,)
        return (self.writes, *unless, self.streams_from, self.looks_up)


def runs_on(relation: Relation, reason: str) -> Impact:
    return Impact(relation=relation, reaction=Reaction.RUNS_ON, reason=reason)


def stops(relation: Relation, reason: str, tolerance: str = "") -> Impact:
    return Impact(relation=relation, reaction=Reaction.STOPS_FIRST, reason=reason, tolerance=tolerance)


_UNMOVED: Final = "a running query is not affected"
_LOOKED_UP: Final = (
    "Spark ends a query at its next batch when the columns of a table that it looks up are "
    "no longer those it began with"
)
STREAM_RUNS_ON: Final = runs_on(Relation.STREAMS_FROM, _UNMOVED)
LOOKUP_RUNS_ON: Final = runs_on(Relation.LOOKS_UP, _UNMOVED)
LOOKUP_STOPS: Final = stops(Relation.LOOKS_UP, _LOOKED_UP)
UNHURT: Final = Verdict(
    writes=runs_on(Relation.WRITES, "a running query takes it from its second batch on"),
    streams_from=STREAM_RUNS_ON,
    looks_up=LOOKUP_RUNS_ON,
)


class TableChange:
    """One change: a member of the closed union ``changes.Change``.

    ``text`` and ``why`` say it in words; ``{0.path}`` in them is a field.
    """

    __slots__ = ()
    text: ClassVar[str] = ""
    why: ClassVar[str] = ""
    effect: ClassVar[Effect] = Effect.METADATA

    def step(self) -> Step:
        """The change in words."""
        text, why = self.text.format(self), self.why.format(self)
        return Step(text=text, effect=self.effect, why=why, hits=self.hits())

    def hits(self) -> tuple[Hit, ...]:
        """The columns or parts whose readers notice the change, beyond those who notice its effect."""
        return ()

    def verdict(self) -> Verdict:
        """The behaviour of Spark 4.1 with Iceberg 1.12 (measured with running queries; the suite of facts
        measures it again).
        """
        return UNHURT


def metadata(text: str, why: str = "", hits: tuple[Hit, ...] = ()) -> Step:
    """A step that changes metadata only."""
    return Step(text=text, effect=Effect.METADATA, why=why, hits=hits)


def losing(text: str, why: str, hits: tuple[Hit, ...] = ()) -> Step:
    """A step that loses data."""
    return Step(text=text, effect=Effect.LOSES_DATA, why=why, hits=hits)


def of_column(path: str) -> tuple[Hit, ...]:
    """The readers of one column notice it."""
    return (Hit(columns=(path.lower(),)),)
