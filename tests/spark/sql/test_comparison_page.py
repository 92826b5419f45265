"""The page about the comparison of queries shows what the code makes of its example."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from sqlglot import exp

from flareiac_spark.sql.compare import compare_queries
from flareiac_spark.sql.composition import compose
from flareiac_spark.sql.operators import Aggregate, Block, Composed, Scan
from flareiac_spark.sql.query import Query
from tests.docs.fences import fences

PAGE: Final = Path(__file__).parents[3] / "flareiac" / "docs" / "dev" / "comparison.md"
COLUMNS: Final = {"orders": {"id": "long", "region": "string", "amount": "long", "ts": "timestamptz"}}


def _fence(argument: str) -> str:
    return next(fence.text for fence in fences(PAGE) if fence.argument == argument)


def _query(argument: str) -> Query:
    """The steps of a fence, each behind a comment with its name. The last one is written."""
    parts = re.split(r"^-- (\w+)\n", _fence(argument), flags=re.MULTILINE)[1:]
    steps = dict(zip(parts[::2], parts[1::2], strict=True))
    return Query(steps=steps, source=list(steps)[-1], streams=["orders"], columns=COLUMNS)


def _shown(composed: Composed) -> Iterator[str]:
    yield from _block(composed.block)
    yield ", ".join(f"{output.name} = {_text(output.expr)}" for output in composed.outputs)


def _block(block: Block) -> Iterator[str]:
    match block.base:
        case Aggregate() as operator:
            keys = ", ".join(_text(key.expr) for key in operator.keys)
            calls = ", ".join(_text(call.expr) for call in operator.calls)
            yield f"Aggregate {operator.id}: keys {keys}, calls {calls}"
            yield from _block(operator.input)
        case Scan() as operator:
            filters = ", ".join(_text(each.expr) for each in block.filters)
            yield f"Scan {operator.id} of {operator.relation}, filters {filters}"
        case other:
            raise AssertionError(f"the example has no {other}")


def _text(expr: exp.Expr) -> str:
    return str(expr.sql()).replace('"', "")


def test_the_example_is_composed_as_the_page_shows() -> None:
    seen = [line for side in ("old", "new") for line in (side, *_shown(compose(_query(side))))]
    lines = re.sub(r"^(old|new) +", r"\1\n", _fence("operators"), flags=re.MULTILINE).splitlines()
    assert seen == [line.strip() for line in lines if line.strip()]


def test_the_example_differs_in_what_the_page_names() -> None:
    differences = compare_queries(_query("old"), _query("new")).differences
    shown = [f"{each.part} of {each.step}: {f'{each.old} '.lstrip()}-> {each.new}" for each in differences]
    assert shown == _fence("differences").splitlines()
