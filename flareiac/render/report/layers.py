"""Places the nodes of a directed graph in layers, so that links lead from the left to the right. Pure.

Each connected part is placed by itself, one below the other: cycles are opened, a node stands right of those
that lead to it, a link over several layers gets a bend in each, the order in a layer follows the neighbours,
and heights are the nearest to those of the neighbours that keep one row of distance (by pooling adjacent
violators).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from itertools import pairwise
from typing import Final, TypeAlias, TypeVar

from flareiac.kernel.lazy_dataclass import dataclass

Place: TypeAlias = tuple[int, float]
"""The layer, and the row from the top of the picture."""
_Node: TypeAlias = str | tuple[str, str, int]
"""A node of the graph, or the bend of a link in a layer."""
_T = TypeVar("_T")
_SWEEPS: Final = 8
_BEND: Final = 0.5
"""The rows that a bend takes of the one that a node takes."""
_BETWEEN: Final = 0.5


@dataclass(slots=True, kw_only=True)
class Placed:
    """``places`` by node. ``bends`` by link, from its source to its target, both left out. ``rows`` is the
    height.
    """

    places: dict[str, Place] = field(default_factory=dict)
    bends: dict[tuple[str, str], list[Place]] = field(default_factory=dict)
    rows: float = 0.0


def placed(nodes: Sequence[str], links: Iterable[tuple[str, str]]) -> Placed:
    """The places of ``nodes``, whose order decides where nothing else does. A link to itself is left out."""
    known = dict.fromkeys(nodes)
    kept = [(a, b) for a, b in dict.fromkeys(links) if a != b and a in known and b in known]
    whole = Placed()
    for part in _parts(nodes, kept):
        _place(part, [link for link in kept if link[0] in part], whole)
    return whole


def _parts(nodes: Sequence[str], links: Sequence[tuple[str, str]]) -> list[dict[str, None]]:
    """The nodes of each connected part, in the order of their first ones."""
    beside = _neighbours([*links, *((b, a) for a, b in links)])
    parts: list[dict[str, None]] = []
    seen: set[str] = set()
    for node in nodes:
        if node not in seen:
            reached, ahead = {node}, [node]
            while ahead:
                new = [other for other in beside.get(ahead.pop(), ()) if other not in reached]
                reached.update(new)
                ahead += new
            seen |= reached
            parts.append({each: None for each in nodes if each in reached})
    return parts


def _neighbours(links: Iterable[tuple[_T, _T]]) -> dict[_T, list[_T]]:
    after: dict[_T, list[_T]] = {}
    for source, target in links:
        after.setdefault(source, []).append(target)
    return after


def _place(part: Mapping[str, None], links: Sequence[tuple[str, str]], whole: Placed) -> None:
    forward = _without_cycles(part, links)
    layer_of: dict[_Node, int] = dict(_layers(part, forward).items())
    steps: list[tuple[_Node, _Node]] = []
    chains: dict[tuple[str, str], list[_Node]] = {}
    for source, target in forward:
        bends: list[_Node] = []
        for layer in range(layer_of[source] + 1, layer_of[target]):
            bends.append((source, target, layer))
            layer_of[bends[-1]] = layer
        chains[source, target] = bends
        ends: list[_Node] = [source, *bends, target]
        steps += pairwise(ends)
    layers: list[list[_Node]] = [[] for _ in range(max(layer_of.values()) + 1)]
    for node, layer in layer_of.items():
        layers[layer].append(node)
    after, before = _neighbours(steps), _neighbours((b, a) for a, b in steps)
    _order(layers, before, after)
    row = _rows(layers, before, after)
    start = whole.rows + _BETWEEN if whole.rows else 0.0
    top = start - min(row.values())
    whole.places |= {node: (layer_of[node], row[node] + top) for node in part}
    for source, target in links:
        turned = (source, target) not in chains
        chain = chains[target, source][::-1] if turned else chains[source, target]
        whole.bends[source, target] = [(layer_of[bend], row[bend] + top) for bend in chain]
    whole.rows = max(row.values()) + top + 1


def _without_cycles(nodes: Iterable[str], links: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """The links, where those that close a cycle are turned round."""
    after = _neighbours(links)
    opened: set[str] = set()
    done: set[str] = set()
    closing: set[tuple[str, str]] = set()
    for root in nodes:
        walk = [] if root in done else [(root, iter(after.get(root, ())))]
        opened.update(node for node, _ in walk)
        while walk:
            node, ahead = walk[-1]
            for other in ahead:
                if other in opened:
                    closing.add((node, other))
                elif other not in done:
                    opened.add(other)
                    walk.append((other, iter(after.get(other, ()))))
                    break
            else:
                opened.discard(node)
                done.add(node)
                walk.pop()
    return [*dict.fromkeys((b, a) if (a, b) in closing else (a, b) for a, b in links)]


def _layers(nodes: Iterable[str], links: Sequence[tuple[str, str]]) -> dict[str, int]:
    """The layer of each node: right of all that lead to it, and one that nothing leads to beside its first
    target.
    """
    sources = _neighbours((b, a) for a, b in links)
    targets = _neighbours(links)
    layer: dict[str, int] = {}
    waiting = [*nodes]
    while waiting:
        node = waiting[-1]
        unknown = [source for source in sources.get(node, ()) if source not in layer]
        if unknown:
            waiting += unknown
        else:
            layer[node] = max((layer[source] + 1 for source in sources.get(node, ())), default=0)
            waiting.pop()
    for node in nodes:
        if node not in sources and node in targets:
            layer[node] = min(layer[target] for target in targets[node]) - 1
    return {node: layer[node] for node in nodes}


def _order(
    layers: Sequence[list[_Node]],
    before: Mapping[_Node, Sequence[_Node]],
    after: Mapping[_Node, Sequence[_Node]],
) -> None:
    """Sorts each layer by the mean position of the neighbours in the one beside it, there and back."""
    for sweep in range(_SWEEPS):
        downward = sweep % 2 == 0
        beside, turn = (before, layers) if downward else (after, layers[::-1])
        for fixed, layer in pairwise(turn):
            at = {node: float(number) for number, node in enumerate(fixed)}
            own = {node: float(number) for number, node in enumerate(layer)}
            layer.sort(key=_mean(beside, at, own))


def _rows(
    layers: Sequence[list[_Node]],
    before: Mapping[_Node, Sequence[_Node]],
    after: Mapping[_Node, Sequence[_Node]],
) -> dict[_Node, float]:
    row: dict[_Node, float] = {}
    for layer in layers:
        row |= _apart(layer, lambda _node: 0.0)
    for sweep in range(_SWEEPS):
        beside, turn = (before, layers) if sweep % 2 == 0 else (after, layers[::-1])
        for layer in turn:
            row |= _apart(layer, _mean(beside, row, row))
    return row


def _mean(
    beside: Mapping[_Node, Sequence[_Node]], at: Mapping[_Node, float], own: Mapping[_Node, float]
) -> Callable[[_Node], float]:
    def mean(node: _Node) -> float:
        near = [at[other] for other in beside.get(node, ())]
        return sum(near) / len(near) if near else own[node]

    return mean


def _apart(layer: Sequence[_Node], wanted: Callable[[_Node], float]) -> dict[_Node, float]:
    """The rows of a layer in its order, the nearest to the ``wanted`` ones (least squares) that keep their
    distances.
    """
    offsets: list[float] = []
    pools: list[tuple[float, int]] = []
    last = 0.0
    for node in layer:
        size = _BEND if isinstance(node, tuple) else 1.0
        offsets.append(offsets[-1] + (size + last) / 2 if offsets else 0.0)
        last = size
        mean, count = wanted(node) - offsets[-1], 1
        while pools and pools[-1][0] > mean:
            other, others = pools.pop()
            mean, count = (mean * count + other * others) / (count + others), count + others
        pools.append((mean, count))
    bases = [mean for mean, count in pools for _ in range(count)]
    return {node: base + offset for node, base, offset in zip(layer, bases, offsets, strict=True)}
