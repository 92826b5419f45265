"""A composed query as one text, and the columns of outer queries that it reads."""

from collections.abc import Iterable, Sequence

from sqlglot import exp

from flareiac_spark.sql.normalize import normalize
from flareiac_spark.sql.operators import (
    Aggregate,
    Block,
    Composed,
    Compute,
    Condition,
    Dedup,
    Generate,
    Join,
    Limit,
    Operator,
    Scan,
    Sort,
    Union,
    all_below,
    below,
    read_by,
)
from flareiac_spark.sql.tree import column_of


def fingerprint(composed: Composed) -> tuple[str, list[exp.Expr]]:
    """Equal texts over equal outer columns mean the same rows."""
    return _Fingerprint(composed).written()


class _Fingerprint:
    def __init__(self, composed: Composed) -> None:
        self._composed = composed
        self._ids = {
            operator.id: f"o{place}" for place, operator in enumerate(all_below(composed.block.base))
        }
        self._outer: dict[tuple[str, str], str] = {}

    def written(self) -> tuple[str, list[exp.Expr]]:
        outputs = ", ".join(
            f"{self._text(each.expr)} but {sorted(each.without)}" for each in self._composed.outputs
        )
        text = f"{outputs} of {self._block(self._composed.block)}"
        return text, [column_of(giver, name) for giver, name in self._outer]

    def _text(self, expr: exp.Expr) -> str:
        return normalize(expr, self._named)

    def _named(self, giver: str, name: str) -> str:
        if giver in self._ids:
            return f"{self._ids[giver]}.{name}"
        return self._outer.setdefault((giver, name), f"outer{len(self._outer)}")

    def _block(self, block: Block) -> str:
        inputs = ", ".join(self._block(each) for each in below(block.base))
        return f"({self._operator(block.base)} over [{inputs}] where {self._conditions(block.filters)})"

    def _texts(self, exprs: Iterable[exp.Expr]) -> list[str]:
        return [self._text(expr) for expr in exprs]

    def _conditions(self, conditions: Sequence[Condition]) -> list[str]:
        return self._texts(each.expr for each in conditions)

    def _operator(self, operator: Operator) -> str:
        match operator:
            case Scan():
                return f"scan {operator.relation}"
            case Aggregate():
                groups, calls = (
                    self._texts(each.expr for each in named_exprs)
                    for named_exprs in (operator.keys, operator.calls)
                )
                return f"group {groups} {operator.sets} {calls}"
            case Join():
                keys = [f"{self._text(left)} = {self._text(right)}" for left, right in operator.keys]
                return f"{operator.kind} join {keys} {self._conditions(operator.rest)}"
            case Union():
                return f"{operator.kind} {[self._texts(column.exprs) for column in operator.columns]}"
            case Generate():
                return f"rows {operator.outer} {self._text(operator.call)}"
            case Limit():
                return f"limit {self._text(operator.count)}"
            case Dedup() | Compute() | Sort():
                return f"{type(operator).__name__} {self._texts(read_by(operator))}"
