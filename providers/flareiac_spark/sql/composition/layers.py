"""Puts one operator above the rows of a relation, and says which columns can be read of it then."""

from collections.abc import Sequence

from sqlglot import exp

from flareiac_spark.sql.composition.composing import Made
from flareiac_spark.sql.composition.predicate_pushdown import substituted
from flareiac_spark.sql.composition.relation import Relation, given_by
from flareiac_spark.sql.composition.scope import CannotTell, Given, Source
from flareiac_spark.sql.operators import (
    Aggregate,
    Block,
    Compute,
    Dedup,
    Generate,
    NamedExpr,
    Scan,
    Union,
    UnionColumn,
)
from flareiac_spark.sql.tree import column_of


def scanned(made: Made, scan: Scan, columns: Sequence[str], *, moved: bool) -> Relation:
    """A relation that is read, with its columns. Where they are not known, ``*`` stands for all of them.
    ``moved``: they may be others than those of the query that this one is compared with.
    """
    made.known(scan)
    given = [given_by(scan.id, name.lower(), name, scan.step, place) for place, name in enumerate(columns)]
    anything = Given(
        name="*",
        shown="*",
        expr=column_of(scan.id, "*"),
        step=scan.step,
        place=(0, ""),
        open=True,
        moved=moved,
    )
    return Relation(block=Block(base=scan), given=given or [anything])


def marked(made: Made, relation: Relation, step: str) -> Relation:
    """Filters stay on the side of a watermark on which they are written: it is made of the rows that it
    sees.
    """
    mark = made.known(Compute(id=made.id("watermark"), step=step, input=relation.block, values=[]))
    return Relation(block=Block(base=mark), given=relation.given)


def deduplicated(made: Made, relation: Relation, step: str, keys: tuple[str, ...]) -> Relation:
    """``keys``: the columns that tell rows apart; empty: all of them."""
    source = Source(names=(), given=relation.given)
    values = [(key.lower(), source.find(key.lower())) for key in keys]
    dedup_keys = [NamedExpr(name=name, expr=value, step=step) for name, value in values if value is not None]
    if len(dedup_keys) < len(keys):
        raise CannotTell(f"what {step} is deduplicated by is not known")
    if not keys:
        dedup_keys = [NamedExpr(name=each.name, expr=each.value("*"), step=step) for each in relation.given]
    dedup = Dedup(id=made.id("dedup"), step=step, input=relation.block, keys=dedup_keys)
    return Relation(block=Block(base=made.known(dedup)), given=relation.given)


def distinct(made: Made, relation: Relation, step: str) -> Relation:
    """All columns are keys. Of a relation whose columns are not known, ``*`` is one key that stands for
    them.
    """
    keys = [
        NamedExpr(name=f"k{place}", expr=each.value("*"), step=step, given=each.name)
        for place, each in enumerate(relation.given)
    ]
    block = relation.block
    aggregate = made.known(
        Aggregate(id=made.id("distinct"), step=step, input=block, keys=keys, calls=[], distinct=True)
    )
    if relation.is_open:
        if len(relation.given) > 1:
            raise CannotTell("which columns are distinct is not known")
        return Relation(block=Block(base=aggregate), given=relation.given)
    given = [
        given_by(aggregate.id, f"k{place}", each.shown, step, place)
        for place, each in enumerate(relation.given)
    ]
    return Relation(block=Block(base=aggregate), given=given)


def united(made: Made, kind: str, sides: list[Relation], step: str) -> Relation:
    """The rows of two relations with equal numbers of columns, under the names of the first one.

    A union of unions is one union, as it is to Spark.
    """
    inputs: list[Block] = []
    rows: list[list[exp.Expr]] = []
    for side in sides:
        values = [column.value(column.name) for column in side.given]
        base = side.block.base
        if kind == "union" and isinstance(base, Union) and base.kind == "union" and not side.block.filters:
            for place, block in enumerate(base.inputs):
                meaning = {(base.id, column.name): column.exprs[place] for column in base.columns}
                inputs.append(block)
                rows.append([substituted(value, meaning.get) for value in values])
        else:
            inputs.append(side.block)
            rows.append(values)
    columns = [
        UnionColumn(name=f"u{place}", exprs=list(exprs))
        for place, exprs in enumerate(zip(*rows, strict=True))
    ]
    union = made.known(Union(id=made.id("union"), step=step, kind=kind, inputs=inputs, columns=columns))
    given = [
        given_by(union.id, f"u{place}", first.shown, step, place)
        for place, first in enumerate(sides[0].given)
    ]
    return Relation(block=Block(base=union), given=given)


def generated(
    made: Made, call: exp.Expr, block: Block, columns: Sequence[str], step: str, *, outer: bool
) -> Relation:
    """The rows that a function such as explode makes of each row, with the columns of the function alone.
    ``outer``: a row of which it makes none stays.
    """
    rows = made.known(Generate(id=made.id("rows"), step=step, input=block, call=call, outer=outer))
    given = [given_by(rows.id, f"g{place}", name, step, place) for place, name in enumerate(columns)]
    return Relation(block=Block(base=rows), given=given)


def computed(made: Made, block: Block, expr: exp.Expr, step: str) -> tuple[Block, exp.Expr]:
    """A value whose place of evaluation counts, and the column by which it is read."""
    value = NamedExpr(name="x0", expr=expr, step=step)
    compute = made.known(Compute(id=made.id("compute"), step=step, input=block, values=[value]))
    return Block(base=compute), column_of(compute.id, "x0")
