"""Compares two unions, in two parts: what is united, and what the columns are made of.

Between both what lies below is compared, so that the columns of the inputs have their names.
"""

from functools import partial

from sqlglot import exp

from flareiac_spark.sql.change_kinds import ChangeKind
from flareiac_spark.sql.differences.comparison import Comparison
from flareiac_spark.sql.differences.labels import relations_of
from flareiac_spark.sql.differences.matching import parting
from flareiac_spark.sql.operators import Union, UnionColumn


def compare_united(both: Comparison, old: Union, new: Union, *, feeds_state: bool) -> None:
    """Compares the kind of union, and the number of its inputs."""
    add = partial(both.add, step=new.step, feeds_state=feeds_state)
    if old.kind != new.kind:
        was, now = old.kind.upper(), new.kind.upper()
        add(ChangeKind.PROJECTION, old=was, new=now, detail="how relations are put together")
    if len(old.inputs) != len(new.inputs):
        was, now = (" and ".join(map(relations_of, one.inputs)) for one in (old, new))
        add(ChangeKind.SOURCES, old=was, new=now, detail="other relations are united")


def compare_union_columns(both: Comparison, old: Union, new: Union, *, feeds_state: bool) -> None:
    """Compares the columns, when the inputs have been compared."""
    if old.kind != "union" and len(old.columns) != len(new.columns):
        before, after = ((each.exprs[0] for each in one.columns) for one in (old, new))
        texts, detail = (both.old.listed(before), both.new.listed(after)), "what rows are compared by"
        both.add(ChangeKind.PROJECTION, new.step, *texts, feeds_state=feeds_state, detail=detail)
    for column in new.columns:
        _column(both, old, new, column, feeds_state=feeds_state)


def _column(both: Comparison, old: Union, new: Union, column: UnionColumn, *, feeds_state: bool) -> None:
    match = _partner(both, old, new, column.exprs)
    if match is None:
        text, detail = both.new.show(column.exprs[0]), "a column of the union"
        both.add(ChangeKind.PROJECTION, new.step, new=text, feeds_state=feeds_state, detail=detail)
        return
    both.same_name((old.id, match.name), (new.id, column.name))
    for was, now in zip(match.exprs, column.exprs, strict=False):
        if both.old.text(was) != both.new.text(now):
            where, texts = parting(was, now, new.step), (both.old.show(was), both.new.show(now))
            both.add(ChangeKind.PROJECTION, where, *texts, feeds_state=feeds_state)


def _partner(both: Comparison, old: Union, new: Union, exprs: list[exp.Expr]) -> UnionColumn | None:
    """The old column that is made of the same; else the next one without a partner, where the numbers of
    columns are equal.
    """
    texts = [both.new.text(expr) for expr in exprs]
    free = [column for column in old.columns if (old.id, column.name) not in both.old.names]
    same = [column for column in free if [both.old.text(expr) for expr in column.exprs] == texts]
    return same[0] if same else free[0] if free and len(old.columns) == len(new.columns) else None
