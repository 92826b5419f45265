"""The columns that can be named inside and above a join."""

from typing import Final

from sqlglot import exp

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark.sql.composition.scope import CannotTell, Scope, Source, Through
from flareiac_spark.sql.normalize import same_text
from flareiac_spark.sql.operators import Join, NamedExpr
from flareiac_spark.sql.tree import column_of, written_where

_LEFT, _RIGHT = 0, 1
_PADDED: Final = {"left": {_RIGHT}, "right": {_LEFT}, "full": {_LEFT, _RIGHT}}
"""The sides that give nulls to rows without a match."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Joined:
    """``inside``: for ON. ``outside``: for what reads the join. ``equal``: the equations that USING or
    NATURAL mean.
    """

    inside: Scope
    outside: Scope
    equal: list[exp.Expr]


def join_kind(node: exp.Join) -> str:
    """inner, left, right, full, semi or anti. Raises ``CannotTell`` for others."""
    side, kind, method = (str(node.args.get(name) or "").lower() for name in ("side", "kind", "method"))
    if any(
        node.args.get(name) for name in ("global_", "match_condition", "pivots", "expressions")
    ) or method not in ("", "natural"):
        raise CannotTell("this kind of join is not read here")
    match side, kind:
        case "" | "left", "semi" | "anti":
            return kind
        case "", "" | "inner" | "cross":
            return "inner"
        case "left" | "right" | "full", "" | "outer":
            return side
        case _:
            raise CannotTell(f"{side} {kind} JOIN is not read here".upper())


def joined(join: Join, node: exp.Join, scope: Scope, source: Source) -> Joined:
    """Fills the join's ``kept`` as columns are read, if it is one of two streams."""
    kept = _Kept(join)
    padded = _PADDED.get(join.kind, set())
    inner = [kept.on(side) if join.stateful else None for side in (_LEFT, _RIGHT)]
    outer = [
        kept.on(side) if join.stateful else _nullable if side in padded else None for side in (_LEFT, _RIGHT)
    ]
    left, right = _passed(scope, inner[_LEFT]), _passed(Scope(sources=[source]), inner[_RIGHT])
    shared = _shared(node, scope, source)
    equal: list[exp.Expr] = []
    for name in shared:
        one, other = left.find([name]), right.find([name])
        if one is None or other is None:
            raise CannotTell(f"{name} is not a column of both sides")
        equal.append(exp.EQ(this=one, expression=other))
    above_left, above_right = _passed(scope, outer[_LEFT]), _passed(Scope(sources=[source]), outer[_RIGHT])
    merged, names = dict(above_left.merged), dict(scope.shown)
    for name in shared:
        merged[name] = _merged(join.kind, above_left.find([name]), above_right.find([name]))
        names[name] = _name_above(source if join.kind == "right" else scope, name)
    visible = (
        above_left.sources if join.kind in ("semi", "anti") else [*above_left.sources, *above_right.sources]
    )
    if join.kind in ("semi", "anti"):
        merged, names = dict(above_left.merged), dict(scope.shown)
    inside = Scope(
        sources=[*left.sources, *right.sources], merged=left.merged, shown=scope.shown, outer=scope.outer
    )
    return Joined(
        inside=inside,
        outside=Scope(sources=visible, merged=merged, shown=names, outer=scope.outer),
        equal=equal,
    )


class _Kept:
    """The columns that a join of two streams keeps of its sides."""

    def __init__(self, join: Join) -> None:
        self._join = join
        self._names: dict[tuple[int, str], str] = {}

    def on(self, side: int) -> Through:
        def keep(expr: exp.Expr, place: tuple[int, str]) -> exp.Expr:
            text = side, same_text(expr)
            if text not in self._names:
                name = self._names[text] = f"c{len(self._names)}"
                order = side, f"{place[0]:05d}{place[1]}"
                self._join.kept.append(NamedExpr(name=name, expr=expr, step=self._join.step, place=order))
            return written_where(column_of(self._join.id, self._names[text]), expr)

        return keep


def _nullable(expr: exp.Expr, _: tuple[int, str]) -> exp.Expr:
    """An expression that is made below an outer join is not the same as one made above, of nulls."""
    return expr if isinstance(expr, exp.Column) else exp.Anonymous(this="@nullable", expressions=[expr])


def _passed(scope: Scope, step: Through | None) -> Scope:
    if step is None:
        return scope
    sources = [
        Source(names=source.names, given=[each.passed(step) for each in source.given])
        for source in scope.sources
    ]
    merged = {name: step(expr, (0, name)) for name, expr in scope.merged.items()}
    return Scope(sources=sources, merged=merged, shown=scope.shown, outer=scope.outer)


def _shared(node: exp.Join, scope: Scope, source: Source) -> list[str]:
    if using := node.args.get("using"):
        return [str(identifier.name).lower() for identifier in using]
    if str(node.args.get("method") or "").lower() != "natural":
        return []
    if source.is_open() or any(each.is_open() for each in scope.sources):
        raise CannotTell("the columns of a NATURAL JOIN are not known")
    names = dict.fromkeys(each.name for one in scope.sources for each in one.given)
    return [name for name in names if source.knows(name)]


def _name_above(side: Scope | Source, name: str) -> str:
    """A merged column is called as in the side that gives its values."""
    if isinstance(side, Scope) and name in side.shown:
        return side.shown[name]
    sources = side.sources if isinstance(side, Scope) else [side]
    return next((each.shown for source in sources for each in source.given if each.name == name), name)


def _merged(kind: str, left: exp.Expr | None, right: exp.Expr | None) -> exp.Expr:
    if left is None or right is None:
        raise CannotTell("a column of USING is not known")
    match kind:
        case "right":
            return right
        case "full":
            return exp.Anonymous(this="coalesce", expressions=[left, right])
        case _:
            return left
