"""Resolves the names of columns inside one SELECT."""

from collections.abc import Callable, Sequence
from dataclasses import field, replace

from sqlglot import exp

from flareiac.kernel.lazy_dataclass import dataclass

Through = Callable[["exp.Expr", tuple[int, str]], "exp.Expr"]
"""The function that carries an expression of an operator's input (and its place there) through the
operator.
"""


class CannotTell(Exception):
    """The query cannot be composed here. The text says why, for people."""


@dataclass(slots=True, kw_only=True, eq=False)
class Given:
    """A column that a relation gives; or, ``open``, all columns of one whose columns are not known, but
    ``without``.

    ``name`` is in lower case, ``shown`` as Spark would show it: a struct that is made of the column takes it
    as a field's name. ``expr`` of an open one is a column named ``*``. ``moved``: the columns of an open one
    may be others than before.
    """

    name: str
    shown: str
    expr: exp.Expr
    step: str
    place: tuple[int, str]
    open: bool = False
    moved: bool = False
    without: frozenset[str] = frozenset()
    through: tuple[Through, ...] = ()

    def passed(self, step: Through) -> "Given":
        return replace(self, through=(*self.through, step))

    def value(self, name: str) -> exp.Expr:
        """The expression of one column, ``name`` counting for an open one only."""
        expr = self.expr.copy()
        if self.open and name != "*":
            expr.set("this", exp.to_identifier(name, quoted=True))
        place = (self.place[0], name) if self.open else self.place
        for step in self.through:
            expr = step(expr, place)
        return expr


@dataclass(slots=True, kw_only=True, eq=False)
class Source:
    """One relation of a FROM clause. ``names``: its alias, or the parts of its name; empty: no qualifier
    reaches it.
    """

    names: tuple[str, ...]
    given: list[Given]

    def answers(self, qualifier: Sequence[str]) -> bool:
        return bool(qualifier) and tuple(qualifier) == self.names[-len(qualifier) :]

    def find(self, name: str) -> exp.Expr | None:
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
    """``merged``: the columns of USING, which stand for both sides; ``shown``: their names as Spark shows
    them.
    """

    sources: list[Source]
    merged: dict[str, exp.Expr] = field(default_factory=dict)
    shown: dict[str, str] = field(default_factory=dict)
    outer: "Scope | None" = None

    def find(self, parts: Sequence[str]) -> exp.Expr | None:
        """The meaning of ``a.b.c`` as written; what stands behind the column is read as fields of it, in the
        case in which it is written, since the keys of a map and the paths of a variant mind it.
        """
        lower = [part.lower() for part in parts]
        for length in range(min(len(parts) - 1, 3), 0, -1):
            sources = [source for source in self.sources if source.answers(lower[:length])]
            if len(sources) > 1:
                raise CannotTell(f"{'.'.join(parts[:length])} names two relations")
            if sources and (expr := sources[0].find(lower[length])) is not None:
                return fields_of(expr, parts[length + 1 :])
        expr = self._unqualified(lower[0])
        if expr is not None:
            if (
                self.outer is not None
                and self.outer.maybe(lower[0])
                and not self.surely(lower[0])
                and self._moved()
            ):
                raise CannotTell(
                    f"whether {parts[0]} belongs to the query or to the one around it is not known"
                )
            return fields_of(expr, parts[1:])
        return self.outer.find(parts) if self.outer else None

    def starred(self, star: exp.Expr) -> list[Given]:
        """The columns for which ``*``, ``t.*`` and ``* EXCEPT (a)`` stand, in order."""
        inner = star if isinstance(star, exp.Star) else star.this
        if any(value for name, value in inner.args.items() if name != "except_"):
            raise CannotTell("a star that renames is not read here")
        dropped = frozenset(column.name.lower() for column in inner.args.get("except_") or ())
        qualifier = [part.name.lower() for part in star.parts[:-1]] if isinstance(star, exp.Column) else []
        sources = [source for source in self.sources if not qualifier or source.answers(qualifier)]
        if not sources:
            raise CannotTell("a star over an unknown relation")
        given = [each for source in sources for each in source.given]
        if any(each.open and each.moved for each in given):
            raise CannotTell(
                "the columns that a star stands for are not known, and may be others than before"
            )
        # the columns of USING stand first, and once
        merged = {} if qualifier else self.merged
        first = [
            Given(name=name, shown=self.shown[name], expr=expr, step="", place=(0, ""))
            for name, expr in merged.items()
            if name not in dropped
        ]
        dropped |= merged.keys()
        rest = [
            replace(each, without=each.without | dropped) if each.open else each
            for each in given
            if each.open or each.name not in dropped
        ]
        return [*first, *rest]

    def surely(self, name: str) -> bool:
        """Returns True if some relation is known to give this column."""
        return name in self.merged or any(source.knows(name) for source in self.sources)

    def maybe(self, name: str) -> bool:
        return self.surely(name) or any(source.is_open() for source in self.sources)

    def _moved(self) -> bool:
        return any(each.moved for source in self.sources for each in source.given)

    def _unqualified(self, name: str) -> exp.Expr | None:
        if name in self.merged:
            return self.merged[name].copy()
        known = [source for source in self.sources if source.knows(name)]
        candidates = known or [
            source for source in self.sources if source.is_open() and source.find(name) is not None
        ]
        if len(candidates) > 1:
            raise CannotTell(f"which relation {name} belongs to is not known")
        return candidates[0].find(name) if candidates else None


def fields_of(column: exp.Expr, names: Sequence[str]) -> exp.Expr:
    """``column.a.b``."""
    path = column
    for name in names:
        path = exp.Dot(this=path, expression=exp.to_identifier(name))
    return path
