"""The steps that make Spark keep state from batch to batch."""

import re
from collections.abc import Collection, Mapping
from enum import StrEnum
from typing import Final

from sqlglot import exp

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark.sql.functions import AGGREGATES
from flareiac_spark.sql.parse import parsed
from flareiac_spark.sql.relations import name_of, tables_of
from flareiac_spark.sql.tree import sources_of

_MAY_HOLD_STATE: Final = re.compile(
    r"\b(group\s+by|distinct|join|count|sum|avg|min|max|window|union|except|intersect|limit|having)\b",
    re.IGNORECASE,
)


class Stateful(StrEnum):
    AGGREGATION = "aggregation"
    DISTINCT = "distinct rows"
    JOIN = "join of two streams"
    LIMIT = "limit"
    UNKNOWN = "unknown"
    """The SQL cannot be read here and has words that may mean state."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StatefulStep:
    """One reason why a step holds state."""

    step: str
    kind: Stateful


def stateful_steps(steps: Mapping[str, str], streams: Collection[str]) -> tuple[StatefulStep, ...]:
    """The steps of a chain (in order) that hold state, with the kind of it. A step that reads a stream is one
    itself.
    """
    streaming = {name.lower() for name in streams}
    stateful: list[StatefulStep] = []
    for name, sql in steps.items():
        stateful.extend(StatefulStep(step=name, kind=kind) for kind in state_of(sql, streaming))
        tree = parsed(sql)
        if tree is None or any(name_of(table).lower() in streaming for table in tables_of(tree)):
            streaming.add(name.lower())
    return tuple(stateful)


def state_of(sql: str, streams: Collection[str] | None) -> tuple[Stateful, ...]:
    """The kinds of state that a query holds, once each."""
    tree = parsed(sql)
    if tree is None:
        return (Stateful.UNKNOWN,) if _MAY_HOLD_STATE.search(sql) else ()
    names = None if streams is None else {name.lower() for name in streams}
    names = names if names is None else names | _streaming_ctes(tree, names)
    kinds: dict[Stateful, None] = {}
    for select in tree.find_all(exp.Select):
        kinds |= dict.fromkeys(_select_state(select, names))
    for operation in tree.find_all(exp.SetOperation):
        if (not isinstance(operation, exp.Union) or operation.args.get("distinct")) and _reads(
            operation, names
        ):
            kinds[Stateful.DISTINCT] = None
    return tuple(kinds)


def _select_state(select: exp.Select, streams: set[str] | None) -> list[Stateful]:
    kinds: list[Stateful] = []
    streaming = [source for source in sources_of(select) if _reads(source, streams)]
    if not streaming:
        return kinds
    if select.args.get("group") or any(
        _aggregates(expr) for expr in (*select.expressions, select.args.get("having"))
    ):
        kinds.append(Stateful.AGGREGATION)
    if isinstance(select.args.get("distinct"), exp.Distinct):
        kinds.append(Stateful.DISTINCT)
    if len(streaming) > 1:
        kinds.append(Stateful.JOIN)
    if select.args.get("limit") is not None and not kinds:
        kinds.append(Stateful.LIMIT)
    return kinds


def _reads(node: exp.Expr, streams: set[str] | None) -> bool:
    if streams is None:
        return True
    return any(table.name.lower() in streams for table in node.find_all(exp.Table))


def _aggregates(expr: exp.Expr | None) -> bool:
    """Returns True if an expression holds an aggregate of this select (not one inside OVER, nor one of a
    subquery).
    """
    if expr is None:
        return False
    for node in expr.find_all(exp.AggFunc, exp.Anonymous):
        if isinstance(node, exp.Anonymous) and node.name.lower() not in AGGREGATES:
            continue
        inside: exp.Expr | None = node
        while inside is not None and inside is not expr and not isinstance(inside, exp.Window | exp.Query):
            inside = inside.parent
        if not isinstance(inside, exp.Window | exp.Query):
            return True
    return False


def _streaming_ctes(tree: exp.Expr, streams: set[str]) -> set[str]:
    """CTEs that read a stream, directly or through an earlier one."""
    streaming: set[str] = set()
    for cte in tree.find_all(exp.CTE, bfs=False):
        if _reads(cte.this, streams | streaming):
            streaming.add(cte.alias.lower())
    return streaming
