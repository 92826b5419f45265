"""One spelling for expressions of one meaning."""

from collections.abc import Callable
from typing import Final

from sqlglot import exp

from flareiac_spark.sql.durations import normalized_duration
from flareiac_spark.sql.functions import WINDOWS
from flareiac_spark.sql.negation import is_stable

VARIABLE: Final = "variable"
"""In the meta of an identifier that stands for a lambda's variable: its place."""

_SAME_FUNCTION: Final = {
    "nvl": "coalesce",
    "ifnull": "coalesce",
    "lcase": "lower",
    "ucase": "upper",
    "char_length": "length",
    "character_length": "length",
    "len": "length",
    "power": "pow",
    "substr": "substring",
    "cardinality": "size",
    "reduce": "aggregate",
    "regexp_like": "rlike",
    "mean": "avg",
    "first_value": "first",
    "any_value": "first",
    "last_value": "last",
    "every": "bool_and",
    "any": "bool_or",
    "some": "bool_or",
    "std": "stddev_samp",
    "stddev": "stddev_samp",
    "variance": "var_samp",
    "approx_percentile": "percentile_approx",
    "array_agg": "collect_list",
}
"""Other names of functions, for which Spark's optimizer makes the same plan."""

_OPERATORS: Final = (
    exp.EQ,
    exp.NEQ,
    exp.NullSafeEQ,
    exp.NullSafeNEQ,
    exp.GT,
    exp.GTE,
    exp.LT,
    exp.LTE,
    exp.Add,
    exp.Mul,
    exp.Mod,
    exp.BitwiseAnd,
    exp.BitwiseOr,
    exp.DPipe,
)

Namer = Callable[[str, str], str]
"""The text of a column, given its operator's id and its name."""


def normalize(node: exp.Expr, named: Namer) -> str:
    """Equal texts mean equal values. It is no SQL."""
    match node:
        case exp.Paren():
            return normalize(node.this, named)
        case exp.Column():
            return named(node.table, node.name)
        case exp.Identifier() | exp.Literal() | exp.Var() | exp.DataType():
            return _word(node)
        case exp.And() | exp.Or() | exp.Between() if len(operands_of(node)) > 1:
            return _conjunction(node, named)
        case exp.Binary() if isinstance(node, _OPERATORS):
            return _operator(node, named)
        case exp.Bracket(expressions=[exp.Literal(is_string=True) as key]):
            return f"dot<expression={key.name}, this={normalize(node.this, named)}>"
        case exp.In() if is_stable(node) and all(isinstance(each, exp.Literal) for each in node.expressions):
            listed = list(dict.fromkeys(normalize(each, named) for each in node.expressions))
            return (
                f"in<{normalize(node.this, named)}, {listed}, {_parts(node, named, 'this', 'expressions')}>"
            )
        case exp.Case():
            return f"case<{', '.join(_cases(node, named))}>"
        case exp.Anonymous():
            return _call(node, named)
        case exp.Alias():
            return f"{normalize(node.this, named)} as {node.alias!r}"
        case exp.Interval(unit=exp.Var() as unit):
            return f"interval<{normalize(node.this, named)} {unit.name.lower().removesuffix('s')}>"
        case _:
            return f"{node.key}<{', '.join(_parts(node, named))}>"


def _word(node: exp.Expr) -> str:
    """Of a node without parts."""
    match node:
        case exp.Identifier():
            return f"variable {node.meta[VARIABLE]}" if VARIABLE in node.meta else node.name
        case exp.Literal(is_string=True):
            return repr(node.name)
        case exp.DataType():
            return str(node.sql(dialect="spark"))  # names of fields in their case
        case _:
            return node.name.lower()


def _conjunction(node: exp.Expr, named: Namer) -> str:
    """What is random is asked as often, and in the order, as it is written."""
    operands = [normalize(part, named) for part in operands_of(node)]
    if is_stable(node):
        operands = list(dict.fromkeys(operands))
    if len(operands) == 1:
        return operands[0]
    return f"{'or' if isinstance(node, exp.Or) else 'and'}({', '.join(operands)})"


def _operator(node: exp.Binary, named: Namer) -> str:
    name = "concat" if isinstance(node, exp.DPipe) else node.key
    return f"{name}({normalize(node.left, named)}, {normalize(node.right, named)})"


def _call(call: exp.Anonymous, named: Namer) -> str:
    name, arguments = call.name.lower(), _arguments(call, named)
    if name == "equal_null":
        return f"nullsafeeq({', '.join(arguments)})"
    return f"{_SAME_FUNCTION.get(name, name)}({', '.join(arguments)})"


def _parts(node: exp.Expr, named: Namer, *but: str) -> list[str]:
    """What a node is made of, without what is not said."""
    return [
        f"{key}={_value(value, named)}"
        for key, value in sorted(node.args.items())
        if key not in but and value not in (None, False, [])
    ]


def same_text(expr: exp.Expr) -> str:
    """Equal texts mean equal values of the same operators' columns."""
    return normalize(expr, lambda giver, name: f"{giver}.{name}")


def operands_of(node: exp.Expr) -> list[exp.Expr]:
    """``a AND (b AND c)`` as a, b, c, and so is BETWEEN; of anything else itself."""
    inner = node
    while isinstance(inner, exp.Paren):
        inner = inner.this
    if not isinstance(inner, exp.And | exp.Or):
        return _bounds(inner)
    kind = type(inner)
    found: list[exp.Expr] = []
    waiting: list[exp.Expr] = [inner]
    while waiting:
        part = waiting.pop()
        while isinstance(part, exp.Paren):
            part = part.this
        if isinstance(part, kind):
            waiting += [part.right, part.left]
        else:
            found += _bounds(part) if kind is exp.And else [part]
    return found


def _bounds(part: exp.Expr) -> list[exp.Expr]:
    if not isinstance(part, exp.Between) or part.args.get("symmetric") or not is_stable(part):
        return [part]
    low, high = part.args["low"], part.args["high"]
    return [
        exp.GTE(this=part.this.copy(), expression=low.copy()),
        exp.LTE(this=part.this.copy(), expression=high.copy()),
    ]


def _window(call: exp.Anonymous, named: Namer) -> list[str]:
    """Its time, size, slide and start. Windows that slide by their size do not overlap, and need not say
    so.
    """
    days_count = call.name.lower() == "session_window"
    time, *durations = call.expressions
    texts = [
        normalized_duration(each.name, days_count=days_count) if each.is_string else normalize(each, named)
        for each in durations
    ]
    is_tumbling = not days_count and len(texts) == 2 and texts[0] == texts[1]
    return [normalize(time, named), *(texts[:1] if is_tumbling else texts)]


def _arguments(call: exp.Anonymous, named: Namer) -> list[str]:
    if call.name.lower() in WINDOWS and call.expressions:
        return _window(call, named)
    arguments = [normalize(argument, named) for argument in call.expressions]
    return ["*"] if call.name.lower() == "count" and arguments in (["star<>"], ["1"]) else arguments


def _cases(case: exp.Case, named: Namer) -> list[str]:
    """``CASE a WHEN b`` compares a with b, and ELSE NULL says nothing."""
    subject, default = case.args.get("this"), case.args.get("default")
    conditions = [
        exp.EQ(this=subject.copy(), expression=each.this.copy()) if subject is not None else each.this
        for each in case.args["ifs"]
    ]
    if subject is not None and not is_stable(subject):
        conditions = [exp.Tuple(expressions=[each.left, each.right]) for each in conditions]
    found = [
        f"{normalize(condition, named)}: {normalize(each.args['true'], named)}"
        for condition, each in zip(conditions, case.args["ifs"], strict=True)
    ]
    return (
        found
        if default is None or isinstance(default, exp.Null)
        else [*found, f"else {normalize(default, named)}"]
    )


def _value(value: object, named: Namer) -> str:
    if isinstance(value, exp.Expr):
        return normalize(value, named)
    return f"[{', '.join(_value(item, named) for item in value)}]" if isinstance(value, list) else repr(value)
