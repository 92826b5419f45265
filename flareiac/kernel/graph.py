"""Order in a directed graph: linear in nodes and edges, and the same for the same input."""

from collections.abc import Callable, Iterable, Mapping
from heapq import heapify, heappop, heappush


class Cycle(Exception):
    """The graph has no order; ``nodes`` form a cycle, in order."""

    def __init__(self, nodes: tuple[str, ...]) -> None:
        super().__init__(" -> ".join(nodes))
        self.nodes = nodes


def topological(dependencies: Mapping[str, Iterable[str]]) -> tuple[str, ...]:
    """The nodes, each after all that it depends on (names that are no node are ignored); ties in the
    mapping's order.

    Raises ``Cycle``.
    """
    rank = {node: index for index, node in enumerate(dependencies)}
    names = list(dependencies)
    waiting = {
        node: {dependency for dependency in dependencies[node] if dependency in rank and dependency != node}
        for node in names
    }
    for node in names:
        if node in set(dependencies[node]):
            raise Cycle((node, node))
    dependents: dict[str, list[str]] = {node: [] for node in names}
    for node, needed in waiting.items():
        for dependency in needed:
            dependents[dependency].append(node)
    ready = [rank[node] for node, needed in waiting.items() if not needed]
    heapify(ready)
    order: list[str] = []
    while ready:
        node = names[heappop(ready)]
        order.append(node)
        for dependent in dependents[node]:
            waiting[dependent].discard(node)
            if not waiting[dependent]:
                heappush(ready, rank[dependent])
    if len(order) < len(names):
        raise Cycle(_find_cycle({node: waiting[node] for node in names if waiting[node]}))
    return tuple(order)


def _find_cycle(remaining: Mapping[str, set[str]]) -> tuple[str, ...]:
    path: list[str] = []
    node = next(iter(remaining))
    while node not in path:
        path.append(node)
        node = min(dependency for dependency in remaining[node] if dependency in remaining)
    return (*path[path.index(node) :], node)


def closure(start: Iterable[str], edges: Callable[[str], Iterable[str] | None]) -> list[str]:
    """Everything reachable from ``start``, itself included, each once. What ``edges`` gives None for is no
    node, and is left out.
    """
    reached: dict[str, None] = {}
    stack = list(start)
    while stack:
        node = stack.pop()
        if node not in reached and (further := edges(node)) is not None:
            reached[node] = None
            stack.extend(further)
    return list(reached)
