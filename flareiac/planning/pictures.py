"""Pictures of a configuration: what depends on what, and where data flows. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from flareiac.kernel.addresses import block_type
from flareiac.kernel.graph import closure
from flareiac.model.desired import Desired
from flareiac.model.picture import Arrow, Picture, PictureNode
from flareiac.planning.make_plan import matches
from flareiac.sdk.changes import Relation
from flareiac.sdk.data_flow import DataFlow, Link
from flareiac.sdk.references import Resolved
from flareiac.sdk.resource_type import ResourceType

_FLOWS: Final = (Relation.STREAMS_FROM, Relation.LOOKS_UP, Relation.WRITES)


def dependencies(desired: Desired) -> Picture:
    """Every declared resource, with an arrow to each that it refers to."""
    return Picture(
        kind="dependencies",
        nodes=tuple(_node(desired, address) for address in sorted(desired.resources)),
        arrows=tuple(
            Arrow(source=address, target=dependency)
            for address, resource in sorted(desired.resources.items())
            for dependency in sorted(set(resource.dependencies) - {address})
            if dependency in desired.resources
        ),
    )


def lineage(
    desired: Desired, types: Mapping[str, ResourceType], references: Mapping[str, Resolved]
) -> Picture:
    """Everything through which data flows, from sources to readers, and the columns on their way."""
    flows = [_flow(address, desired, types, references) for address in sorted(desired.resources)]
    links = dict.fromkeys(link for flow in flows for link in flow.links)
    arrows = tuple(
        Arrow(source=link.source, target=link.target, label=link.relation.value)
        for link in sorted(links, key=lambda each: (each.source, each.target, each.relation))
        if link.source in desired.resources and link.target in desired.resources
    )
    addresses = sorted({end for arrow in arrows for end in (arrow.source, arrow.target)})
    return Picture(
        kind="lineage",
        nodes=tuple(_node(desired, address) for address in addresses),
        arrows=arrows,
        columns=tuple(column for flow in flows for column in flow.columns),
    )


def focused(picture: Picture, patterns: Iterable[str], depth: int | None) -> Picture:
    """The part around the nodes that match: what leads to them and what follows from them, at most ``depth``
    arrows away (None: all of it). What leads to a neighbour on the other side is left out.
    """
    wanted = tuple(patterns)
    start = [node.address for node in picture.nodes if any(matches(node.address, each) for each in wanted)]
    after: dict[str, list[str]] = {}
    before: dict[str, list[str]] = {}
    for arrow in picture.arrows:
        after.setdefault(arrow.source, []).append(arrow.target)
        before.setdefault(arrow.target, []).append(arrow.source)
    kept = _within(start, after, depth) | _within(start, before, depth)
    return replace(
        picture,
        nodes=tuple(node for node in picture.nodes if node.address in kept),
        arrows=tuple(arrow for arrow in picture.arrows if {arrow.source, arrow.target} <= kept),
        columns=tuple(column for column in picture.columns if {column.target, column.by} <= kept),
    )


def _within(start: Iterable[str], edges: Mapping[str, list[str]], depth: int | None) -> set[str]:
    if depth is None:
        return set(closure(start, lambda address: edges.get(address, ())))
    reached = edge = set(start)
    for _hop in range(depth):
        edge = {target for address in edge for target in edges.get(address, ())} - reached
        if not edge:
            break
        reached = reached | edge
    return reached


def _flow(
    address: str,
    desired: Desired,
    types: Mapping[str, ResourceType],
    references: Mapping[str, Resolved],
) -> DataFlow:
    relations = types[block_type(address)].relations
    attributes = desired.resources[address].attributes
    if relations.data_flow is not None:
        return relations.data_flow(address, attributes, references)
    usages = relations.usages(address, attributes, references)
    return DataFlow(links=tuple(_links((usage.relation, usage.subject, usage.holder) for usage in usages)))


def _links(usages: Iterable[tuple[Relation, str, str]]) -> Iterator[Link]:
    for relation, subject, holder in usages:
        if relation is Relation.WRITES:
            yield Link(source=holder, target=subject, relation=relation)
        elif relation in _FLOWS:
            yield Link(source=subject, target=holder, relation=relation)


def _node(desired: Desired, address: str) -> PictureNode:
    return PictureNode(address=address, type=block_type(address), owner=desired.resources[address].owner)
