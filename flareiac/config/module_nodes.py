"""The nodes of one module: what is declared in it, and what each mentions. Pure; evaluates nothing.

A node is ``var.x``, ``local.x``, ``output.x``, ``module.x`` (the instances of a call) or the address of a
block. Beside nodes, others may mention an output of a module: ``module.x.name``.
"""

from collections.abc import Iterable, Mapping
from dataclasses import field, replace

from flareiac.config.blocks import scoped_data
from flareiac.config.meta import depends_on
from flareiac.config.module_tree import ModuleText
from flareiac.config.own_blocks import MODULE
from flareiac.config.symbols import check_declared, kind_and_name, node_of
from flareiac.kernel import codes
from flareiac.kernel.diagnostics import Diagnostics, did_you_mean
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.lang.references import Traversal
from flareiac.lang.references import references as traversals_of
from flareiac.lang.syntax import AttributeNode, BlockNode


@dataclass(slots=True, kw_only=True, eq=False)
class ModuleNodes:
    """The nodes of a module, the same for all its calls."""

    text: ModuleText
    nodes: Mapping[str, AttributeNode | BlockNode]
    mentioned: dict[str, list[str]] = field(default_factory=dict)
    """The nodes that each node mentions, declared or not; a call has those that decide its instances."""
    arguments: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    """The nodes that each argument of a call mentions, by call and variable."""
    after: dict[str, list[str]] = field(default_factory=dict)
    """The names in the ``depends_on`` of each call, and of each block that mentions a call."""
    undeclared: set[str] = field(default_factory=set)
    """The nodes that mention what is not declared."""
    names: dict[str, dict[str, None]] = field(default_factory=dict)
    """The declared names of each block type."""

    def with_block(self, name: str, block: BlockNode, types: Mapping[str, object]) -> "ModuleNodes":
        """The nodes with one block more."""
        kind, label = kind_and_name(name)
        mentions = _mentions(traversals_of(block), self.text, types)
        return replace(
            self,
            nodes={**self.nodes, name: block},
            mentioned={**self.mentioned, name: mentions},
            after={**self.after, name: depends_on(block, Diagnostics())},
            names={**self.names, kind: {**self.names.get(kind, {}), label: None}},
        )


def nodes_of(text: ModuleText, types: Mapping[str, object], diagnostics: Diagnostics) -> ModuleNodes:
    """The nodes of a module. Complains about references to what is not declared, where all of it was read."""
    module = text.module
    nodes: dict[str, AttributeNode | BlockNode] = {
        **{f"var.{name}": block for name, block in module.variables.items()},
        **{f"local.{name}": node for name, node in module.locals.items()},
        **{f"module.{name}": block for name, block in module.calls.items()},
        **module.resources,
        **{f"output.{name}": block for name, block in module.outputs.items()},
        **{f"check.{name}": block for name, block in module.checks.items()},
    }
    known = ModuleNodes(text=text, nodes=nodes)
    for address in module.resources:
        kind, name = kind_and_name(address)
        known.names.setdefault(kind, {})[name] = None
    complaints = diagnostics if text.text_is_read else Diagnostics()
    for name, node in nodes.items():
        traversals = _traversals(name, node)
        if name.startswith("module.") and isinstance(node, BlockNode):
            _call(name, node, known, types)
        else:
            mentions = known.mentioned[name] = _mentions(traversals, text, types)
            if isinstance(node, BlockNode) and any(each.startswith("module.") for each in mentions):
                known.after[name] = depends_on(node, Diagnostics())
        own = scoped_data(node) if name.startswith("check.") and isinstance(node, BlockNode) else {}
        fine = check_declared(traversals, {**nodes, **own} if own else nodes, types, complaints)
        if not check_outputs(traversals, text, complaints) or not fine:
            known.undeclared.add(name)
    return known


def _traversals(name: str, node: AttributeNode | BlockNode) -> list[Traversal]:
    """The references of a node. The source of a call has none: it is read before any value is known."""
    if not name.startswith("module.") or not isinstance(node, BlockNode):
        return traversals_of(node)
    attributes = [attribute for attribute in node.body.attributes if attribute.name != "source"]
    return [traversal for attribute in attributes for traversal in traversals_of(attribute)]


def _call(name: str, block: BlockNode, known: ModuleNodes, types: Mapping[str, object]) -> None:
    """Sorts the mentions of a call by what they decide."""
    arguments = known.arguments[name] = {}
    known.mentioned[name] = []
    for attribute in block.body.attributes:
        mentions = _mentions(traversals_of(attribute), known.text, types)
        if attribute.name not in MODULE.attributes:
            arguments[attribute.name] = mentions
        elif attribute.name != "depends_on":
            known.mentioned[name] += mentions
    known.after[name] = depends_on(block, Diagnostics())


def _mentions(traversals: Iterable[Traversal], text: ModuleText, types: Mapping[str, object]) -> list[str]:
    mentions: dict[str, None] = {}
    for traversal in traversals:
        node = node_of(traversal, types)
        if node is None:
            continue
        mentions[node] = None
        if traversal.root == "module":
            outputs = _outputs_of(traversal, text)
            mentions.update(dict.fromkeys(f"{node}.{output}" for output in outputs))
    return list(mentions)


def _outputs_of(traversal: Traversal, text: ModuleText) -> Iterable[str]:
    """The outputs that a traversal of a call reads: one, or all where it reads the call as a whole."""
    output = _output_name(traversal, text)
    called = text.calls.get(str(traversal.steps[0]))
    if output is not None:
        return [output]
    return called.module.outputs if called is not None else ()


def _output_name(traversal: Traversal, text: ModuleText) -> str | None:
    block = text.module.calls.get(str(traversal.steps[0]))
    if block is None:
        return None
    is_repeated = block.body.attribute("count") or block.body.attribute("for_each")
    at = 2 if is_repeated else 1
    if len(traversal.steps) <= at:
        return None
    step = traversal.steps[at]
    return step if isinstance(step, str) else None


def check_outputs(traversals: Iterable[Traversal], text: ModuleText, diagnostics: Diagnostics) -> bool:
    """Complains about outputs that the called module does not have; True if all is well."""
    good = True
    for traversal in traversals:
        if traversal.root != "module" or not traversal.steps:
            continue
        output, name = _output_name(traversal, text), str(traversal.steps[0])
        called = text.calls.get(name)
        if output is None or called is None or output in called.module.outputs:
            continue
        good = False
        if not called.text_is_read:
            continue
        declare = f'Declare output "{output}" {{ value = ... }} there.'
        diagnostics.error(
            codes.NOT_DECLARED,
            f"The module in {called.directory}, which module.{name} calls, has no output "
            f'"{output}". {did_you_mean(output, called.module.outputs).strip() or declare}',
            subject=traversal.span,
        )
    return good
