"""Selects the files that may hold rows of a filter, by partition values and column bounds, as Iceberg itself
does.
"""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, Final, cast
from uuid import UUID

from flareiac.kernel.data import Attributes, Data
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_iceberg.format.manifests import Entry
from flareiac_iceberg.maintenance.kinds.compaction.where_clause import parsed


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
    expression = parsed(text)
    if expression is None:
        return UNREAD
    from pyiceberg.expressions.visitors import (
        _InclusiveMetricsEvaluator,
        expression_evaluator,
        inclusive_projection,
    )
    from pyiceberg.schema import Schema
    from pyiceberg.table.metadata import TableMetadataUtil
    from pyiceberg.typedef import Record

    try:
        table = TableMetadataUtil.parse_obj(metadata)
        schema = table.schema()
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
            return bool(tests[spec_id](Record(*map(_literal, entry.partition)))) and bool(
                metrics.eval(cast(Any, _as_data_file(entry)))
            )
        except (TypeError, ValueError):
            return True  # values that the library cannot compare: the file may hold such rows

    return Filter(test=test)


def _literal(value: Data) -> Data:
    """A partition value as the library has it in expressions: a uuid is its bytes."""
    return value.bytes if isinstance(value, UUID) else value


def _as_data_file(entry: Entry) -> SimpleNamespace:
    return SimpleNamespace(
        record_count=entry.records,
        value_counts=entry.values,
        null_value_counts=entry.nulls,
        nan_value_counts=entry.nans,
        lower_bounds=entry.lower,
        upper_bounds=entry.upper,
    )
