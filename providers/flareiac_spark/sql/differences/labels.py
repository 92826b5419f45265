"""The names of operators in texts for people."""

from flareiac_spark.sql.operators import (
    Aggregate,
    Block,
    Compute,
    Dedup,
    Generate,
    Join,
    Limit,
    Operator,
    Scan,
    Sort,
    Union,
    below,
)


def operator_label(operator: Operator) -> str:
    match operator:
        case Aggregate(distinct=True):
            return "distinct rows"
        case Aggregate():
            return "an aggregation"
        case Dedup():
            return "a deduplication"
        case Join():
            return (
                "a join of two streams"
                if operator.stateful
                else f"the join with {relations_of(operator.table)}"
            )
        case Limit():
            return "a limit"
        case Sort():
            return "an order of rows"
        case Generate():
            return "rows made of one row"
        case Compute():
            return "computed values"
        case Scan() | Union():
            return "a relation"


def kind_label(join: Join) -> str:
    return f"left {join.kind}" if join.kind in ("semi", "anti") else join.kind


def relations_of(block: Block) -> str:
    """The names of the relations that rows come from."""
    names: dict[str, None] = {}

    def visit(each: Block) -> None:
        if isinstance(each.base, Scan):
            names[each.base.relation] = None
        for inner in below(each.base):
            visit(inner)

    visit(block)
    return ", ".join(names)
