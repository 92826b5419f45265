"""Matches the expressions of two queries that took each other's place, and finds where they part."""

from collections.abc import Callable

from sqlglot import exp

from flareiac_spark.sql.functions import WINDOWS
from flareiac_spark.sql.operators import NamedExpr, Symbol, symbols_in
from flareiac_spark.sql.tree import is_call, step_of


def paired_keys(gone: list[NamedExpr], came: list[NamedExpr]) -> list[tuple[NamedExpr, NamedExpr]]:
    """Keys that took each other's place: a window and a window, then what reads the same columns, then one
    single key and another.
    """
    pairs: list[tuple[NamedExpr, NamedExpr]] = []
    lost, more = list(gone), list(came)

    def pair(alike: Callable[[NamedExpr, NamedExpr], bool]) -> None:
        for one in list(lost):
            another = next((each for each in more if alike(one, each)), None)
            if another is not None:
                pairs.append((one, another))
                lost.remove(one)
                more.remove(another)

    pair(lambda one, another: is_window(one.expr) and is_window(another.expr))
    pair(lambda one, another: bool(_columns(one.expr) & _columns(another.expr)))
    if len(lost) == len(more):
        pairs += zip(lost, more, strict=True)
    return pairs


def _columns(expr: exp.Expr) -> set[str]:
    return {name for _, name in symbols_in(expr)}


def paired_calls(gone: list[NamedExpr], came: list[NamedExpr]) -> list[tuple[NamedExpr, NamedExpr]]:
    """Aggregates that took each other's place: by the output's name, then by their order where none is left
    over.
    """
    pairs: list[tuple[NamedExpr, NamedExpr]] = []
    lost, more = list(gone), list(came)
    for one in list(lost):
        another = next((each for each in more if each.given and each.given == one.given), None)
        if another is not None:
            pairs.append((one, another))
            lost.remove(one)
            more.remove(another)
    if len(lost) == len(more):
        pairs += zip(lost, more, strict=True)
    return pairs


def function_of(call: exp.Expr) -> str:
    wrappers = ""
    while isinstance(call, exp.Filter | exp.IgnoreNulls | exp.RespectNulls | exp.WithinGroup):
        wrappers += call.key if not isinstance(call, exp.Filter | exp.WithinGroup) else ""
        call = call.this
    return f"{wrappers}{call.name.lower()}{' distinct' if call.find(exp.Distinct) is not None else ''}"


def parting(old: exp.Expr, new: exp.Expr, step: str) -> str:
    """The step in which two expressions begin to differ."""
    while True:
        step = step_of(new, step)
        before, after = list(old.iter_expressions()), list(new.iter_expressions())
        if type(old) is not type(new) or len(before) != len(after):
            return step
        unlike = [(one, another) for one, another in zip(before, after, strict=True) if one != another]
        if len(unlike) != 1:
            return step
        old, new = unlike[0]


def occurrences(expr: exp.Expr) -> list[Symbol]:
    return [(column.table, column.name) for column in expr.find_all(exp.Column, bfs=False)]


def is_window(expr: exp.Expr) -> bool:
    return _window_call(expr) is not None


def _window_call(expr: exp.Expr) -> exp.Anonymous | None:
    return next((call for call in expr.find_all(exp.Anonymous) if is_call(call, WINDOWS)), None)


def window_change(old: exp.Expr, new: exp.Expr) -> str:
    """The argument of a window that differs, with both of its values."""
    one, another = _window_call(old), _window_call(new)
    if one is None or another is None:
        return ""
    if one.name.lower() != another.name.lower():
        return f"{one.name.lower()} -> {another.name.lower()}"
    names = ("time", "gap") if one.name.lower() == "session_window" else ("time", "size", "slide", "start")
    changed = []
    for place, name in enumerate(names):
        before, after = one.expressions[place : place + 1], another.expressions[place : place + 1]
        if before != after:
            texts = [
                ", ".join(each.sql(dialect="spark") for each in side if not isinstance(each, exp.Column))
                or "none"
                for side in (before, after)
            ]
            changed.append(f"{name} {texts[0]} -> {texts[1]}" if name != "time" else name)
    return ", ".join(changed)


def same_window(old: exp.Expr, new: exp.Expr) -> bool | None:
    """The windows of one kind have keys of one shape. Tumbling ones have not that of sliding ones, and
    sessions are another operator.
    """
    one, another = _window_call(old), _window_call(new)
    if one is None or another is None or type(old) is not type(new):
        return None
    return one.name.lower() == another.name.lower() and _slides(one) == _slides(another)


def _slides(window: exp.Anonymous) -> bool:
    arguments = window.expressions
    return window.name.lower() == "window" and len(arguments) > 2 and arguments[1] != arguments[2]


def never_null(expr: exp.Expr) -> bool:
    """Only what is plain; a column that is declared so counts as one that may be null."""
    match expr:
        case exp.Paren():
            return never_null(expr.this)
        case exp.Literal() | exp.Boolean() | exp.Is():
            return True
        case _:
            return is_call(expr, ("coalesce", "nvl", "ifnull")) and any(map(never_null, expr.expressions))
