"""The readers and writers of what a plan touches, from the usages of its resources. Pure."""

from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Final

from flareiac.kernel.addresses import block_type
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.model.plan import Plan, PlannedResource
from flareiac.sdk.changes import Action, Relation, Usage
from flareiac.sdk.data_flow import Link
from flareiac.sdk.resource_type import ResourceType

DRAWN: Final = (Relation.STREAMS_FROM, Relation.LOOKS_UP, Relation.KEEPS_STATE_IN, Relation.WRITES)
_GOING: Final = (Action.DELETE, Action.FORGET)
_MOST_ASKED: Final = 2_000
"""So many resources are asked for their usages: asking one of a large query takes milliseconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """The most that a picture may hold."""

    nodes: int
    links: int


FOR_A_COMMENT: Final = Size(nodes=60, links=150)
"""So many does Mermaid draw, and a person read, in the width of a comment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A resource in the picture. ``reason``: of its change (see ``Change``); empty of one that is left as it
    is.
    """

    address: str
    type: str
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lineage:
    """The touched resources with their direct readers and writers. ``left_out`` counts nodes that would be
    too many.
    """

    nodes: tuple[Node, ...] = ()
    links: tuple[Link, ...] = ()
    left_out: int = 0


class Uses:
    """The usages that planned resources have of each other, asked for as they are needed."""

    def __init__(
        self, plan: Plan, types: Mapping[str, ResourceType], *, most_asked: int = _MOST_ASKED
    ) -> None:
        self._plan, self._types, self._most_asked = plan, types, most_asked
        self._known: dict[str, tuple[Usage, ...]] = {}
        self.resources = {resource.address: resource for resource in plan.resources}
        self._dependent: dict[str, list[str]] = {}
        for resource in plan.resources:
            if resource.action not in _GOING:
                for address in resource.dependencies:
                    self._dependent.setdefault(address, []).append(resource.address)

    def by(self, address: str) -> tuple[Usage, ...]:
        """The usages of a resource once the plan is applied; none of one that goes, or that is not
        asked.
        """
        if address not in self._known:
            resource = self.resources[address]
            kind, attributes = self._types.get(resource.type), resource.desired
            if kind is None or attributes is None or len(self._known) >= self._most_asked:
                return ()
            self._known[address] = kind.relations.usages(address, attributes, self._plan.references)
        return self._known[address]

    def of(self, subject: str) -> Iterator[Usage]:
        """The usages that others have of a resource."""
        for holder in self._dependent.get(subject, ()):
            yield from (usage for usage in self.by(holder) if usage.subject == subject)


def lineage(
    uses: Uses, touched: Iterable[PlannedResource], reasons: Mapping[str, str], size: Size
) -> Lineage:
    """The picture of the ``touched`` resources, the most important of them first. ``reasons`` by address."""
    return _fitted((link for resource in touched for link in _links(uses, resource)), reasons, size)


def lineage_of(
    uses: Iterable[tuple[str, str, Relation]], reasons: Mapping[str, str], size: Size, first: Container[str]
) -> Lineage:
    """The picture of all usages, of what is among ``first`` before the rest. ``uses``: subject, holder and
    relation. ``reasons`` by address, of what the page has a place for.
    """
    drawn = [_flow(*use) for use in uses if use[2] in DRAWN]
    drawn.sort(key=lambda link: link.source not in first and link.target not in first)
    return _fitted(drawn, reasons, size)


def _fitted(drawn: Iterable[Link], reasons: Mapping[str, str], size: Size) -> Lineage:
    """As many of the links as fit, the first of them."""
    nodes: dict[str, None] = {}
    links: dict[Link, None] = {}
    left_out: set[str] = set()
    for link in drawn:
        ends = {link.source: None, link.target: None}
        new = [end for end in ends if end not in nodes]
        if len(nodes) + len(new) > size.nodes or len(links) >= size.links:
            left_out.update(new)
        else:
            nodes.update(ends)
            links[link] = None
    return Lineage(
        nodes=tuple(
            Node(address=address, type=block_type(address), reason=reasons.get(address, ""))
            for address in nodes
        ),
        links=tuple(links),
        left_out=len(left_out),
    )


def _flow(subject: str, holder: str, relation: Relation) -> Link:
    writes = relation is Relation.WRITES
    source, target = (holder, subject) if writes else (subject, holder)
    return Link(source=source, target=target, relation=relation)


def _links(uses: Uses, resource: PlannedResource) -> Iterator[Link]:
    for usage in (*uses.by(resource.address), *uses.of(resource.address)):
        if usage.relation in DRAWN and usage.subject in uses.resources:
            yield _flow(usage.subject, usage.holder, usage.relation)
    for step in resource.proposal.steps:
        for subject in sorted({hit.subject or resource.address for hit in step.hits} or {resource.address}):
            if subject in uses.resources:
                yield from (_read(uses, subject, reader.address) for reader in step.readers)


def _read(uses: Uses, subject: str, reader: str) -> Link:
    """The link of a reader that a step names; a consumer outside of the project just looks."""
    usages = uses.by(reader) if reader in uses.resources else ()
    relation = next(
        (usage.relation for usage in usages if usage.subject == subject and usage.relation in DRAWN),
        Relation.LOOKS_UP,
    )
    return Link(source=subject, target=reader, relation=relation)
