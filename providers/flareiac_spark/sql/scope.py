"""What does a column's name mean inside one SELECT?"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlglot import exp

Through = Callable[["exp.Expr", tuple[int, str]], "exp.Expr"]
"""What an operator makes of an expression of its input (and of its place there)."""


class CannotTell(Exception):
    """The query can not be composed here. The text says why, for people."""


@dataclass(slots=True, kw_only=True, eq=False)
class Given:
    """A column that a relation gives; or, ``open``, all columns of one whose columns are not known, but ``without``.

    ``expr`` of an open one is a column named ``*``.
    """

    name: str
    expr: "exp.Expr"
    step: str
    place: tuple[int, str]
    open: bool = False
    without: frozenset[str] = frozenset()
    through: tuple[Through, ...] = ()

    def passed(self, step: Through) -> "Given":
        return Given(
            name=self.name,
            expr=self.expr,
            step=self.step,
            place=self.place,
            open=self.open,
            without=self.without,
            through=(*self.through, step),
        )

    def value(self, name: str) -> "exp.Expr":
        """The expression of one column, ``name`` counting for an open one only."""
        from sqlglot import exp

        found = self.expr.copy()
        if self.open and name != "*":
            found.set("this", exp.to_identifier(name, quoted=True))
        place = (self.place[0], name) if self.open else self.place
        for step in self.through:
            found = step(found, place)
        return found


@dataclass(slots=True, kw_only=True, eq=False)
class Source:
    """One relation of a FROM clause. ``names``: its alias, or the parts of its name; empty: no qualifier reaches it."""

    names: tuple[str, ...]
    given: list[Given]

    def answers(self, qualifier: Sequence[str]) -> bool:
        return bool(qualifier) and tuple(qualifier) == self.names[-len(qualifier) :]

    def find(self, name: str) -> "exp.Expr | None":
        certain = [each for each in self.given if not each.open and each.name == name]
        if len(certain) > 1:
            raise CannotTell(f"{name} is the name of two columns")
        possible = [each for each in self.given if each.open and name not in each.without]
        if not certain and len(possible) > 1:
            raise CannotTell(f"which relation {name} belongs to is not known")
        chosen = certain or possible
        return chosen[0].value(name) if chosen else None

    def knows(self, name: str) -> bool:
        return any(not each.open and each.name == name for each in self.given)

    def is_open(self) -> bool:
        return any(each.open for each in self.given)


@dataclass(slots=True, kw_only=True, eq=False)
class Scope:
    """``merged``: the columns of USING, which stand for both sides."""

    sources: list[Source]
    merged: "dict[str, exp.Expr]" = field(default_factory=dict)
    outer: "Scope | None" = None

    def find(self, parts: Sequence[str]) -> "exp.Expr | None":
        """The meaning of ``a.b.c``; what stands behind the column is read as fields of it."""
        for length in range(min(len(parts) - 1, 3), 0, -1):
            sources = [source for source in self.sources if source.answers(parts[:length])]
            if len(sources) > 1:
                raise CannotTell(f"{'.'.join(parts[:length])} names two relations")
            if sources and (found := sources[0].find(parts[length])) is not None:
                return _fields(found, parts[length + 1 :])
        found = self._unqualified(parts[0])
        if found is not None:
            return _fields(found, parts[1:])
        return self.outer.find(parts) if self.outer else None

    def surely(self, name: str) -> bool:
        """Whether some relation is known to give this column."""
        return name in self.merged or any(source.knows(name) for source in self.sources)

    def maybe(self, name: str) -> bool:
        return self.surely(name) or any(source.is_open() for source in self.sources)

    def _unqualified(self, name: str) -> "exp.Expr | None":
        if name in self.merged:
            return self.merged[name].copy()
        known = [source for source in self.sources if source.knows(name)]
        candidates = known or [source for source in self.sources if source.is_open() and source.find(name) is not None]
        if len(candidates) > 1:
            raise CannotTell(f"which relation {name} belongs to is not known")
        return candidates[0].find(name) if candidates else None


def _fields(column: "exp.Expr", names: Sequence[str]) -> "exp.Expr":
    from sqlglot import exp

    found = column
    for name in names:
        found = exp.Dot(this=found, expression=exp.to_identifier(name))
    return found
