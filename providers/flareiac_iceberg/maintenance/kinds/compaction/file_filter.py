"""Selects the files that may hold rows of a filter, by partition values and column bounds, as Iceberg itself
does.
"""

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final, cast

from flareiac.kernel.data import Attributes
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_iceberg.format.manifests import Entry
from flareiac_iceberg.maintenance.kinds.compaction.where_clause import parsed

if TYPE_CHECKING:
    from pyiceberg.expressions import BooleanExpression, UnboundPredicate
    from pyiceberg.schema import Schema

_OTHERWISE: Final = frozenset({"uuid", "float", "double"})
"""Types whose values Iceberg orders in its own way (signed halves, a zero below zero), and after rounding."""
_WHOLE: Final = frozenset({"int", "long"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Takes every file, unless it is given a test. ``exact``: whether the engine will take the same files."""

    test: Callable[[int, Entry], bool] | None = None
    exact: bool = True

    def may_match(self, spec_id: int, entry: Entry) -> bool:
        return self.test is None or self.test(spec_id, entry)


UNREAD: Final = Filter(exact=False)
"""For a filter that is not plain, or does not fit the table: every file may match."""


def filter_of(text: str, metadata: Attributes) -> Filter:
    """The test of a filter over a table's files; ``UNREAD`` where it cannot be weighed here."""
    plain = parsed(text)
    if plain is None:
        return UNREAD
    from pyiceberg.expressions import NotEqualTo, NotIn
    from pyiceberg.expressions.visitors import (
        _InclusiveMetricsEvaluator,
        expression_evaluator,
        inclusive_projection,
        rewrite_not,
    )
    from pyiceberg.schema import Schema
    from pyiceberg.table.metadata import TableMetadataUtil
    from pyiceberg.typedef import Record

    try:
        table = TableMetadataUtil.parse_obj(metadata)
        schema = table.schema()
        positive = rewrite_not(plain)
        predicates = list(_predicates(positive))
        if any(_is_compared_otherwise(predicate, schema) for predicate in predicates):
            return UNREAD
        expression = _as_spark(positive)
        # The library's own scan uses this class; a scan itself would open the files that are only to be
        # counted here.
        metrics = _InclusiveMetricsEvaluator(schema, expression, case_sensitive=False)
        tests: dict[int, Callable[[Record], bool]] = {}
        for spec_id, spec in table.specs().items():
            projected = inclusive_projection(schema, spec, case_sensitive=False)(expression)
            tests[spec_id] = expression_evaluator(
                Schema(*spec.partition_type(schema).fields), projected, False
            )
    except Exception:  # noqa: BLE001 - literals that do not fit their columns, types that the library does not know: only Spark can tell
        return UNREAD

    def test(spec_id: int, entry: Entry) -> bool:
        try:
            return bool(tests[spec_id](Record(*entry.partition))) and bool(
                metrics.eval(cast(Any, _as_data_file(entry)))
            )
        except (TypeError, ValueError):
            return True  # values that the library cannot compare: the file may hold such rows

    # Iceberg passes over files that hold nothing but the value; the library does not.
    return Filter(
        test=test, exact=not any(isinstance(predicate, NotEqualTo | NotIn) for predicate in predicates)
    )


def _predicates(expression: "BooleanExpression") -> "Iterator[UnboundPredicate]":
    """The comparisons of an expression without negations."""
    from pyiceberg.expressions import And, Or, UnboundPredicate

    if isinstance(expression, And | Or):
        yield from _predicates(expression.left)
        yield from _predicates(expression.right)
    elif isinstance(expression, UnboundPredicate):
        yield expression


def _is_compared_otherwise(predicate: "UnboundPredicate", schema: "Schema") -> bool:
    """Returns True where Spark or Iceberg may compare this column and these literals in another way than the
    library.
    """
    from pyiceberg.expressions import LiteralPredicate, SetPredicate
    from pyiceberg.expressions.literals import LongLiteral

    literals: list[Any] = []
    if isinstance(predicate, LiteralPredicate):
        literals = [predicate.literal]
    elif isinstance(predicate, SetPredicate):
        literals = list(predicate.literals)
    column = predicate.term.bind(schema, case_sensitive=False).ref()
    kind = str(column.field.field_type)
    return bool(literals) and (
        kind in _OTHERWISE
        or (kind in _WHOLE and not all(isinstance(literal, LongLiteral) for literal in literals))
    )


def _as_spark(expression: "BooleanExpression") -> "BooleanExpression":
    """As Spark hands a filter on: a comparison that every row must pass takes no row without a value. To the
    library, "not equal" does.
    """
    from pyiceberg.expressions import And, LiteralPredicate, NotNull, SetPredicate

    if isinstance(expression, And):
        return And(_as_spark(expression.left), _as_spark(expression.right))
    if isinstance(expression, LiteralPredicate | SetPredicate):
        return And(NotNull(term=expression.term), expression)
    return expression


def _as_data_file(entry: Entry) -> SimpleNamespace:
    return SimpleNamespace(
        record_count=entry.records,
        value_counts=entry.values,
        null_value_counts=entry.nulls,
        nan_value_counts=entry.nans,
        lower_bounds=entry.lower,
        upper_bounds=entry.upper,
    )
