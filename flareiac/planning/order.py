"""From planned resources to the graph of operations. Each pass adds edges of one kind, and says why it stands
where it stands.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace

from flareiac.kernel.data import references
from flareiac.kernel.graph import topological
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.model.plan import Edge, EdgeKind, Operation, PlannedResource, PlannedTask, Verb
from flareiac.planning.impacts import HARD
from flareiac.planning.usages import applies
from flareiac.sdk.changes import QUIESCE, Action, Effect, Relation, Stage, Usage

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
    """The graph while the passes work on it. ``first``: where a change with stages begins to depend on what
    it refers to; ``early``: the last of its stages that come before that.
    """

    resources: Mapping[str, PlannedResource]
    usages: Sequence[Usage]
    running: Sequence[Usage]
    due: Sequence[PlannedTask]
    operations: dict[str, Operation] = field(default_factory=dict)
    edges: dict[str, list[Edge]] = field(default_factory=dict)
    of: dict[str, list[str]] = field(default_factory=dict)
    first: dict[str, str] = field(default_factory=dict)
    early: dict[str, str] = field(default_factory=dict)

    def add(
        self,
        verb: Verb,
        address: str,
        name: str = "",
        *,
        stage: str = "",
        text: str = "",
        effect: Effect | None = None,
    ) -> str:
        node = f"{verb.value}:{address}" + (f"#{name}" if name else "")
        if node not in self.edges:
            task = name if verb is Verb.MAINTAIN else ""
            self.operations[node] = Operation(
                id=node, address=address, verb=verb, task=task, stage=stage, text=text, effect=effect
            )
            self.edges[node] = []
            self.of.setdefault(address, []).append(node)
        return node

    def node(self, address: str, *verbs: Verb) -> str | None:
        return next((node for node in self.of.get(address, ()) if self.operations[node].verb in verbs), None)

    def start(self, address: str) -> str | None:
        """Returns the node with which the making of a resource begins, once what it refers to is as
        planned.
        """
        return self.first.get(address) or self.node(address, *_MAKING)

    def link(self, node: str | None, after: str | None, kind: EdgeKind, reason: str) -> None:
        if node and after and node != after and all(edge.after != after for edge in self.edges[node]):
            self.edges[node].append(Edge(after=after, kind=kind, reason=reason))


_MAKING = (Verb.CREATE, Verb.ADOPT, Verb.UPDATE, Verb.RECORD)


def _operations(draft: _Draft) -> None:
    """First: the nodes, since every other pass links them."""
    for address, resource in draft.resources.items():
        for verb in _VERBS[resource.action]:
            draft.add(verb, address, text=resource.proposal.closing if verb in _MAKING else "")


def _stages(draft: _Draft) -> None:
    """Second: a change with stages is a chain that ends with the change itself."""
    for address, resource in draft.resources.items():
        before: str | None = None
        for stage in resource.proposal.stages:
            node = _stage(draft, address, stage)
            draft.link(node, before, EdgeKind.STAGES, f"the stages of {address} follow one another")
            if stage.early or stage.name == QUIESCE:
                draft.early[address] = node
            else:
                draft.first.setdefault(address, node)
            before = node
        done = f"all stages of {address} are done then"
        draft.link(draft.node(address, *_MAKING), before, EdgeKind.STAGES, done)


def _stage(draft: _Draft, address: str, stage: Stage) -> str:
    if stage.name == QUIESCE:
        return draft.add(Verb.QUIESCE, address, stage=stage.name, text=stage.text, effect=stage.effect)
    return draft.add(Verb.STAGE, address, stage.name, stage=stage.name, text=stage.text, effect=stage.effect)


def _early_stages(draft: _Draft) -> None:
    """Completes the early stages of a resource, which must see the world unchanged, before anything that it
    refers to changes. Runs after the changes that would kill a running query, because their reason says more.
    """
    for address, last in draft.early.items():
        resource = draft.resources[address]
        for needed in dict.fromkeys([*resource.dependencies, *references(resource.recorded)]):
            for verb in (Verb.UPDATE, Verb.DELETE):
                change = draft.node(needed, verb)
                draft.link(change, last, EdgeKind.STAGES, f"{address} is not changed before that")


def _references(draft: _Draft) -> None:
    """Orders the resources that a resource refers to before its making."""
    for address, resource in draft.resources.items():
        node = draft.start(address)
        for needed in resource.dependencies:
            draft.link(
                node, draft.node(needed, *_MAKING), EdgeKind.REFERENCE, f"{address} refers to {needed}"
            )


def _replacements(draft: _Draft) -> None:
    """The old object is gone before the new one takes its name."""
    for address, resource in draft.resources.items():
        if resource.action is Action.REPLACE:
            draft.link(
                draft.start(address),
                draft.node(address, Verb.DELETE),
                EdgeKind.REPLACE_ORDER,
                f"the new {address} takes the name of the old one",
            )


def _removals(draft: _Draft) -> None:
    """Orders a removal after everything that used the resource: dependents are removed, or changed so that
    they no longer need it.

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
            reason = f"{address} uses {needed} until then"
            draft.link(draft.node(needed, *_REMOVING), users, EdgeKind.DESTROY_ORDER, reason)


def _quiescing(draft: _Draft) -> None:
    """A running query that a change would kill stops before that change and starts after it; one that goes is
    gone before it.
    """
    for usage in draft.running:
        subject, holder = draft.resources.get(usage.subject), draft.resources.get(usage.holder)
        if subject is None or holder is None or holder.recorded is None or subject.recorded is None:
            continue
        hard = [
            disturb
            for disturb in subject.proposal.disturbs
            if disturb.reaction in HARD and applies(disturb, usage, usage.subject)
        ]
        change = draft.node(usage.subject, Verb.UPDATE, Verb.DELETE, Verb.CREATE)
        if not hard or change is None:
            continue
        removal = draft.node(usage.holder, *_REMOVING)
        first = "is removed" if removal is not None else "stops"
        reason = f"{usage.holder} {usage.relation} {usage.subject} and {first} first: {hard[0].reason}"
        if removal is not None:
            draft.link(change, removal, EdgeKind.QUIESCE, reason)
            continue
        quiesced = draft.add(Verb.QUIESCE, usage.holder, stage=QUIESCE)
        draft.link(change, draft.early.get(usage.holder, quiesced), EdgeKind.QUIESCE, reason)
        around = f"{usage.holder} stops before {usage.subject} changes and starts after it"
        draft.link(draft.start(usage.holder), quiesced, EdgeKind.QUIESCE, around)


def _feeding(draft: _Draft) -> None:
    """A finite run that fills a table ends before a job starts that looks rows up in it."""
    writers = [usage for usage in draft.usages if usage.relation is Relation.WRITES and usage.completes]
    for writer in writers:
        for reader in draft.usages:
            if (
                reader.subject == writer.subject
                and reader.relation is Relation.LOOKS_UP
                and reader.holder != writer.holder
            ):
                reason = f"{writer.holder} fills {writer.subject}, which {reader.holder} reads"
                draft.link(
                    draft.start(reader.holder),
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
    for planned_task in draft.due:
        address = planned_task.address
        node = draft.add(Verb.MAINTAIN, address, planned_task.task.name)
        draft.link(node, draft.node(address, *_MAKING), EdgeKind.MAINTENANCE, f"{address} is as planned then")
        for usage in draft.usages:
            if usage.subject == address and usage.relation in (Relation.WRITES, Relation.STREAMS_FROM):
                users = draft.node(usage.holder, *_MAKING)
                draft.link(
                    node,
                    users,
                    EdgeKind.MAINTENANCE,
                    f"{usage.holder} {usage.relation} {address}: what it needs is known then",
                )
        draft.link(node, before.get(address), EdgeKind.MAINTENANCE, "one kind of maintenance at a time")
        before[address] = node


# Nodes come before their links. Between two operations only the first link is kept (`_Draft.link`), so that
# the pass whose reason says more comes before the one that gives the same order for a general reason.
PASSES: tuple[Callable[[_Draft], None], ...] = (
    _operations,
    _stages,
    _references,
    _replacements,
    _removals,
    _quiescing,
    _early_stages,
    _feeding,
    _maintenance,
)


def order(
    resources: Sequence[PlannedResource],
    usages: Sequence[Usage],
    running: Sequence[Usage] = (),
    due: Sequence[PlannedTask] = (),
) -> tuple[Operation, ...]:
    """The operations in an order that keeps every edge.

    ``running``: the usages of what may run now; ``due``: maintenance, of each resource in its order. Raises
    ``Cycle``.
    """
    draft = _Draft({resource.address: resource for resource in resources}, usages, running, due)
    for each in PASSES:
        each(draft)
    nodes = {node: [edge.after for edge in edges] for node, edges in draft.edges.items()}
    return tuple(
        replace(draft.operations[node], edges=tuple(draft.edges[node])) for node in topological(nodes)
    )
