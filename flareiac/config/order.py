"""The order in which the nodes of all modules are evaluated: each after those that it needs, across modules,
so that two modules may use outputs of each other. Pure.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from flareiac.config.blocks import declared_at
from flareiac.config.module_nodes import ModuleNodes
from flareiac.config.module_tree import CallSite, ModuleText
from flareiac.config.registry import Registry
from flareiac.config.symbols import kind_and_name
from flareiac.kernel import codes
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.graph import Cycle, topological
from flareiac.kernel.lazy_dataclass import dataclass


@dataclass(slots=True, kw_only=True, eq=False)
class _Graph:
    """The nodes of all modules, by the prefix of their place and their name in the module."""

    nodes: Mapping[ModuleText, ModuleNodes]
    registry: Registry

    def needs(self, site: CallSite, node: str) -> Iterator[str]:
        """The nodes that a node needs, by their whole names."""
        nodes = self.nodes[site.text]
        if site.parent is not None:
            yield f"{site.parent.prefix}module.{site.name}"
        if node.startswith("var."):
            yield from self._argument(site, node)
        for mention in nodes.mentioned[node]:
            if mention != node or not node.startswith("var."):  # a validation mentions its own variable
                yield self._whole(site, mention)
        if node in site.text.module.resources:
            yield from self._connections(site, kind_and_name(node)[0])
            yield from self._inner_of(site, nodes.after.get(node, ()))
            yield from self._after_calls(site)

    def _argument(self, site: CallSite, node: str) -> Iterator[str]:
        """The nodes that the value of a variable needs, in the module that calls."""
        if site.parent is None:
            return
        arguments = self.nodes[site.parent.text].arguments[f"module.{site.name}"]
        for mention in arguments.get(node.removeprefix("var."), ()):
            yield self._whole(site.parent, mention)

    def _after_calls(self, site: CallSite) -> Iterator[str]:
        """The nodes that come before each resource of a call, for ``depends_on`` of the call or of one that
        it is in.
        """
        while site.parent is not None:
            named = self.nodes[site.parent.text].after[f"module.{site.name}"]
            yield from (self._whole(site.parent, name) for name in named)
            yield from self._inner_of(site.parent, named)
            site = site.parent

    def _inner_of(self, site: CallSite, named: Iterable[str]) -> Iterator[str]:
        """The resources of the calls among names of ``depends_on``."""
        for name in named:
            called = site.inner.get(name.removeprefix("module.")) if name.startswith("module.") else None
            if called is not None:
                yield from self._resources(called)

    def _resources(self, site: CallSite) -> Iterator[str]:
        for each in site.all():
            yield from (f"{each.prefix}{name}" for name in each.text.module.resources)

    def _whole(self, site: CallSite, mention: str) -> str:
        """The whole name of a mention: an output of a call is a node of the called module."""
        if mention.startswith("module."):
            call, _, output = mention.removeprefix("module.").partition(".")
            if output:
                return f"{site.prefix}module.{call}.output.{output}"
        return f"{site.prefix}{mention}"

    def _connections(self, site: CallSite, kind: str) -> Iterable[str]:
        """The declared connections that attributes of a type fall back to: the module's own, else those of
        the module that calls it.
        """
        for target in self.registry.fallbacks(kind):
            holder = site
            while target not in self.nodes[holder.text].names and holder.parent is not None:
                holder = holder.parent
            for name in self.nodes[holder.text].names.get(target, ()):
                yield f"{holder.prefix}{target}.{name}"


def evaluation_order(
    root: CallSite, nodes: Mapping[ModuleText, ModuleNodes], registry: Registry, diagnostics: Diagnostics
) -> list[tuple[CallSite, str]] | None:
    """All nodes, each after those that it needs; None after a circle."""
    graph = _Graph(nodes=nodes, registry=registry)
    places: dict[str, tuple[CallSite, str]] = {}
    needs: dict[str, list[str]] = {}
    for site in root.all():
        for node in nodes[site.text].nodes:
            whole = f"{site.prefix}{node}"
            places[whole] = (site, node)
            needs[whole] = list(graph.needs(site, node))
    try:
        order = topological(needs)
    except Cycle as cycle:
        site, node = places[cycle.nodes[0]]
        diagnostics.error(
            codes.VALUE_CYCLE,
            f"{' -> '.join(cycle.nodes)}. {_way_out_of(cycle.nodes, places, nodes)}",
            subject=declared_at(nodes[site.text].nodes[node]),
        )
        return None
    return [places[whole] for whole in order]


def _way_out_of(
    circle: Sequence[str],
    places: Mapping[str, tuple[CallSite, str]],
    nodes: Mapping[ModuleText, ModuleNodes],
) -> str:
    if circle[0] == circle[-1] and len(circle) == 2:
        site, node = places[circle[0]]
        if node in site.text.module.resources:
            return "A block cannot mention itself; a postcondition calls its resource self."
    for whole, needed in pairwise(circle):
        site, node = places[whole]
        if node.startswith("var.") and needed in {
            f"{site.prefix}{each}" for each in nodes[site.text].mentioned[node]
        }:
            return (
                f"{whole} is in the circle by what its validation blocks mention. Move that check to a "
                "variable that none of the others mentions."
            )
    return "Break the circle by writing one of these values out."
