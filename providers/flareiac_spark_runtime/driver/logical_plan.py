"""Reads Spark's logical plans through the JVM; changes nothing."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

STATEFUL: Final = frozenset(
    {
        "Aggregate",
        "Distinct",
        "Deduplicate",
        "DeduplicateWithinWatermark",
        "GlobalLimit",
        "Offset",
        "FlatMapGroupsWithState",
        "FlatMapGroupsInPandasWithState",
        "TransformWithState",
        "TransformWithStateInPandas",
        "TransformWithStateInPySpark",
        "MapGroups",
        "FlatMapGroupsInPandas",
        "FlatMapCoGroupsInPandas",
    }
)


def analysed(frame: "DataFrame") -> Any:
    """The analysed plan of a frame."""
    return frame._jdf.queryExecution().analyzed()


def nodes(plan: Any, enter: Callable[[str], bool] = lambda _view: True) -> Iterator[Any]:
    """The plan's nodes and those of its subqueries, outermost first. ``enter``: whether to go into a
    temporary view of that name.
    """
    waiting = [plan]
    while waiting:
        node = waiting.pop()
        yield node
        name = view_name(node)
        if name is None or enter(name):
            waiting += [*_elements(node.subqueries()), *_elements(node.children())]


def view_name(node: Any) -> str | None:
    """The name of a temporary view, if that is what the node stands for."""
    return str(node.desc().identifier().table()) if kind(node) == "View" else None


def kind(node: Any) -> str:
    return str(node.getClass().getSimpleName())


def columns(node: Any) -> list[str]:
    """The names of the columns that a node gives."""
    return [str(column.name()) for column in _elements(node.output())]


def condition_columns(node: Any) -> list[str]:
    """The names of the columns that a filter's condition reads."""
    read = node.condition().references().toSeq()
    return [str(column.name()) for column in _elements(read)]


def is_deterministic(node: Any) -> bool:
    """Returns True if a node by itself gives the same rows of the same rows each time."""
    return all(expression.deterministic() for expression in _elements(node.expressions()))


def joins_streams(node: Any) -> bool:
    return kind(node) == "Join" and all(child.isStreaming() for child in _elements(node.children()))


def holds_state(node: Any) -> bool:
    """Returns True if a streaming query remembers something at this node from batch to batch."""
    return joins_streams(node) or (kind(node) in STATEFUL and bool(node.isStreaming()))


def is_watermark(node: Any) -> bool:
    return kind(node) == "EventTimeWatermark" and bool(node.isStreaming())


def _elements(sequence: Any) -> list[Any]:
    return [sequence.apply(at) for at in range(sequence.size())]
