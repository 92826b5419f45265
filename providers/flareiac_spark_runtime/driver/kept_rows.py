"""Keeps the rows of a batch, so that they are computed once and can be read twice.

Spark's frame of a batch tells the order of its rows by the columns of the plan that made them. Where that
plan sorts by a column that the frame does not have (as it does for an aggregate of structs), Spark looks for
it in a kept frame and fails (``NoSuchElementException: key not found``). Such a frame is kept without its
order: the same rows, which are sorted again where needed.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def kept(frame: "DataFrame") -> Any:
    """A frame of the same rows that Spark keeps from its first use on, until ``unpersist``."""
    return (_unordered(frame) if _is_ordered_by_others(frame) else frame).persist()


def _is_ordered_by_others(frame: "DataFrame") -> bool:
    plan = frame._jdf.queryExecution().optimizedPlan()
    order, own = plan.outputOrdering(), plan.outputSet()
    return any(not order.apply(at).references().subsetOf(own) for at in range(order.size()))


def _unordered(frame: "DataFrame") -> Any:
    from pyspark.sql import DataFrame

    session = frame.sparkSession
    rows = frame._jdf.queryExecution().toRdd()
    return DataFrame(
        session._jsparkSession.internalCreateDataFrame(rows, frame._jdf.schema(), False), session
    )
