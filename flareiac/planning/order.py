"""From planned resources to the graph of operations. Each pass adds edges of one kind, and says why it stands
where it stands.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from flareiac.kernel.data import references
from flareiac.kernel.graph import topological
from flareiac.model.plan import Edge, EdgeKind, Operation, PlannedDuty, PlannedResource, Verb
from flareiac.planning.claims import applies
from flareiac.planning.impacts import HARD
from flareiac.sdk.changes import Action, Claim, Relation

_VERBS: Mapping[Action, tuple[Verb, ...]] = {
    Action.NO_OP: (),
    Action.CREATE: (Verb.CREATE,),
    Action.ADOPT: (Verb.ADOPT,),
    Action.UPDATE: (Verb.UPDATE,),
    Action.REPLACE: (Verb.DELETE, Verb.CREATE),
    Action.DELETE: (Verb.DELETE,),
    Action.FORGET: (Verb.FORGET,),
    Action.RECORD: (Verb.RECORD,),
}
_REMOVING = (Verb.DELETE, Verb.FORGET)


@dataclass(slots=True)
class _Draft:
    """The graph while the passes work on it."""

    resources: Mapping[str, PlannedResource]
    claims: Sequence[Claim]
    running: Sequence[Claim]
    due: Sequence[PlannedDuty]
    edges: dict[str, list[Edge]] = field(default_factory=dict)
    of: dict[str, list[tuple[Verb, str]]] = field(default_factory=dict)
    duties: dict[str, tuple[str, str]] = field(default_factory=dict)

    def add(self, verb: Verb, address: str) -> str:
        node = f"{verb.value}:{address}"
        if node not in self.edges:
            self.edges[node] = []
            self.of.setdefault(address, []).append((verb, node))
        return node

    def node(self, address: str, *verbs: Verb) -> str | None:
        return next((node for verb, node in self.of.get(address, ()) if verb in verbs), None)

    def link(self, node: str | None, after: str | None, kind: EdgeKind, reason: str) -> None:
        if node and after and node != after and all(edge.after != after for edge in self.edges[node]):
            self.edges[node].append(Edge(after=after, kind=kind, reason=reason))


_MAKING = (Verb.CREATE, Verb.ADOPT, Verb.UPDATE, Verb.RECORD)


def _operations(draft: _Draft) -> None:
    """First: the nodes, since every other pass links them."""
    for address, resource in draft.resources.items():
        for verb in _VERBS[resource.action]:
            draft.add(verb, address)


def _references(draft: _Draft) -> None:
    """What a resource refers to is there before it is made."""
    for address, resource in draft.resources.items():
        node = draft.node(address, *_MAKING)
        for needed in resource.dependencies:
            draft.link(
                node, draft.node(needed, *_MAKING), EdgeKind.REFERENCE, f"{address} refers to {needed}"
            )


def _replacements(draft: _Draft) -> None:
    """The old object is gone before the new one takes its name."""
    for address, resource in draft.resources.items():
        if resource.action is Action.REPLACE:
            draft.link(
                draft.node(address, Verb.CREATE),
                draft.node(address, Verb.DELETE),
                EdgeKind.REPLACE_ORDER,
                "same name",
            )


def _removals(draft: _Draft) -> None:
    """What is removed goes after everything that used it: dependents are removed, or changed so that they no
    longer need it.

    What is replaced is there again under the same name: users that are changed wait for the new one, and have
    only stopped before.
    """
    for address, resource in draft.resources.items():
        users = draft.node(address, *_REMOVING, *_MAKING)
        for needed in dict.fromkeys([*resource.dependencies, *references(resource.recorded)]):
            if (
                needed in draft.resources
                and draft.resources[needed].action is Action.REPLACE
                and draft.node(address, *_REMOVING) is None
            ):
                continue
            draft.link(
                draft.node(needed, *_REMOVING), users, EdgeKind.DESTROY_ORDER, f"{address} uses {needed}"
            )


def _quiescing(draft: _Draft) -> None:
    """A running query that a change would kill stops before that change and starts after it; one that goes is
    gone before it.
    """
    for claim in draft.running:
        subject, holder = draft.resources.get(claim.subject), draft.resources.get(claim.holder)
        if subject is None or holder is None or holder.recorded is None or subject.recorded is None:
            continue
        hard = [
            item
            for item in subject.proposal.disturbs
            if item.reaction in HARD and applies(item, claim, claim.subject)
        ]
        change = draft.node(claim.subject, Verb.UPDATE, Verb.DELETE, Verb.CREATE)
        if not hard or change is None:
            continue
        reason = f"{claim.holder} {claim.relation} {claim.subject}: {hard[0].reason}"
        removal = draft.node(claim.holder, *_REMOVING)
        if removal is not None:
            draft.link(change, removal, EdgeKind.QUIESCE, reason)
            continue
        draft.link(change, draft.add(Verb.QUIESCE, claim.holder), EdgeKind.QUIESCE, reason)
        draft.link(
            draft.node(claim.holder, *_MAKING),
            draft.node(claim.holder, Verb.QUIESCE),
            EdgeKind.QUIESCE,
            "stop, change, start",
        )


def _feeding(draft: _Draft) -> None:
    """A finite run that fills a table ends before a job starts that looks rows up in it."""
    writers = [claim for claim in draft.claims if claim.relation is Relation.WRITES and claim.completes]
    for writer in writers:
        for reader in draft.claims:
            if (
                reader.subject == writer.subject
                and reader.relation is Relation.LOOKS_UP
                and reader.holder != writer.holder
            ):
                reason = f"{writer.holder} fills {writer.subject}, which {reader.holder} reads"
                draft.link(
                    draft.node(reader.holder, *_MAKING),
                    draft.node(writer.holder, *_MAKING),
                    EdgeKind.FEEDS,
                    reason,
                )


def _maintenance(draft: _Draft) -> None:
    """Last: one after the other on each table, when the table is as planned and those who use it run as
    planned.

    What they hold is looked at again then. A long rewrite keeps no query waiting.
    """
    before: dict[str, str] = {}
    for item in draft.due:
        address, node = item.address, f"maintain:{item.address}#{item.duty.name}"
        draft.edges[node] = []
        draft.duties[node] = (address, item.duty.name)
        draft.link(node, draft.node(address, *_MAKING), EdgeKind.MAINTENANCE, f"{address} is as planned then")
        for claim in draft.claims:
            if claim.subject == address and claim.relation in (Relation.WRITES, Relation.STREAMS_FROM):
                users = draft.node(claim.holder, *_MAKING)
                draft.link(
                    node,
                    users,
                    EdgeKind.MAINTENANCE,
                    f"{claim.holder} {claim.relation} {address}: what it needs is known then",
                )
        draft.link(node, before.get(address), EdgeKind.MAINTENANCE, "one kind of maintenance at a time")
        before[address] = node


PASSES: tuple[Callable[[_Draft], None], ...] = (
    _operations,
    _references,
    _replacements,
    _removals,
    _quiescing,
    _feeding,
    _maintenance,
)


def order(
    resources: Sequence[PlannedResource],
    claims: Sequence[Claim],
    running: Sequence[Claim] = (),
    due: Sequence[PlannedDuty] = (),
) -> tuple[Operation, ...]:
    """The operations in an order that keeps every edge.

    ``running``: the claims of what may run now; ``due``: maintenance, of each resource in its order. Raises
    ``Cycle``.
    """
    draft = _Draft({item.address: item for item in resources}, claims, running, due)
    for each in PASSES:
        each(draft)
    nodes = {node: [edge.after for edge in edges] for node, edges in draft.edges.items()}
    where = {node: (address, verb, "") for address, found in draft.of.items() for verb, node in found}
    where |= {node: (address, Verb.MAINTAIN, name) for node, (address, name) in draft.duties.items()}
    return tuple(
        Operation(
            id=node,
            address=where[node][0],
            verb=where[node][1],
            duty=where[node][2],
            edges=tuple(draft.edges[node]),
        )
        for node in topological(nodes)
    )
