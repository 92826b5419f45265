"""A composed query as one text, and the columns of outer queries that it reads."""

from sqlglot import exp

from flareiac_spark.sql.negation import is_stable
from flareiac_spark.sql.normalize import normalize
from flareiac_spark.sql.operators import (
    Aggregate,
    Block,
    Composed,
    Compute,
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
        filters = [self._text(condition.expr) for condition in block.filters]
        if all(is_stable(condition.expr) for condition in block.filters):
            filters.sort()
        inputs = ", ".join(self._block(each) for each in below(block.base))
        return f"({self._operator(block.base)} over [{inputs}] where {filters})"

    def _operator(self, operator: Operator) -> str:
        match operator:
            case Scan():
                return f"scan {operator.relation}"
            case Aggregate():
                keys = [self._text(item.expr) for item in operator.keys]
                return f"group {keys} {operator.sets} {[self._text(item.expr) for item in operator.calls]}"
            case Dedup():
                return f"dedup {[self._text(item.expr) for item in operator.keys]}"
            case Join():
                keys = sorted(f"{self._text(left)} = {self._text(right)}" for left, right in operator.keys)
                rest = [self._text(item.expr) for item in operator.rest]
                stable = all(is_stable(item.expr) for item in operator.rest)
                return f"{operator.kind} join {keys} {sorted(rest) if stable else rest}"
            case Union():
                return (
                    f"{operator.kind} "
                    f"{[[self._text(expr) for expr in column.exprs] for column in operator.columns]}"
                )
            case Compute():
                return f"compute {[self._text(item.expr) for item in operator.items]}"
            case Generate():
                return f"rows {operator.outer} {self._text(operator.call)}"
            case Limit():
                return f"limit {self._text(operator.count)}"
            case Sort():
                return f"sort {[self._text(key) for key in operator.keys]}"
