"""One call of a module, while it is evaluated: its declarations, the values of its names, the instances of
its blocks. Reads the name of the working directory.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from functools import cache

from flareiac.config.blocks import Module, declared_at
from flareiac.config.evaluation import Evaluation
from flareiac.config.kept_blocks import surroundings_of
from flareiac.config.members import members
from flareiac.config.output_values import output_value
from flareiac.config.symbols import BUILT_IN_ROOTS, LazyNames, check_declared, kind_and_name, node_of
from flareiac.config.variables import Inputs, validate_variable, variable_values
from flareiac.kernel import codes
from flareiac.kernel.addresses import Address, InstanceKey, render_key
from flareiac.kernel.data import UNKNOWN
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.graph import Cycle, topological
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.types import RefType
from flareiac.lang.evaluate import evaluate
from flareiac.lang.references import references as traversals_of
from flareiac.lang.scope import Scope
from flareiac.lang.syntax import AttributeNode, BlockNode
from flareiac.lang.values import (
    Value,
    from_data,
    lazy_object,
    object_value,
    resource_value,
    string,
    tuple_value,
    unknown,
)
from flareiac.model.desired import OutputValue
from flareiac.model.references import reached_by_declaration
from flareiac.sdk.owner import Owner
from flareiac.sdk.schema import Block

EMBEDDED = "embedded"
"""The name of the instance that stands for a connection type of which nothing is declared."""


@dataclass(slots=True, kw_only=True, eq=False)
class ModuleCall:
    """One call of a module. Its nodes are ``var.x``, ``local.x``, ``output.x`` and the addresses of its
    blocks; they are evaluated in the order of their references.
    """

    evaluation: Evaluation
    module: Module
    text_is_read: bool
    """True where all files could be read: else a block that seems undeclared may stand in an unread file."""
    scope: Scope = field(init=False)
    """The symbols of the module's expressions; what is not evaluated yet is unknown in it."""
    owner: Owner | None = field(init=False, default=None)
    """The one of the project, for blocks that name none."""
    variables: dict[str, Value] = field(init=False, default_factory=dict)
    locals: dict[str, Value] = field(init=False, default_factory=dict)
    outputs: dict[str, OutputValue] = field(init=False, default_factory=dict)
    instances: dict[str, list[InstanceKey]] = field(init=False, default_factory=dict)
    """The keys of the instances of each block that was evaluated."""
    failed: set[str] = field(init=False, default_factory=set)
    """The nodes that are wrong, or depend on one that is: nothing more is said of what depends on them."""
    unkept: set[str] = field(init=False, default_factory=set)
    """Blocks of which something was reported that is not about one instance: they are judged in each run."""
    _names: dict[str, dict[str, None]] = field(init=False, default_factory=dict)
    _mentioned: dict[str, list[str]] = field(init=False, default_factory=dict)
    _repeated: dict[str, Value] = field(init=False, default_factory=dict)
    """The values of blocks with ``count`` or ``for_each`` that others have asked for: each instance of such a
    block refers to one instance of another, as a rule.
    """
    _seen: dict[tuple[str, tuple[str, ...]], str] = field(init=False, default_factory=dict)
    """Digests of what blocks see, by their type and what they name."""

    def __post_init__(self) -> None:
        for address in self.module.resources:
            kind, name = kind_and_name(address)
            self._names.setdefault(kind, {})[name] = None
        self.scope = Scope(
            lookup=self._lookup,
            functions=self.evaluation.functions,
            roots=lambda: [
                *BUILT_IN_ROOTS[:4],
                "data",
                *(name for name in self.evaluation.types if "." not in name),
            ],
        )

    def named(self, kind: str) -> Mapping[str, None]:
        """The declared names of a block type."""
        return self._names.get(kind, {})

    def needs(self, node: str) -> Sequence[str]:
        """The nodes that a node mentions, declared or not; none before ``order``."""
        return self._mentioned.get(node, ())

    def is_broken(self, node: str) -> bool:
        """Returns True if the node failed, or one that it mentions."""
        return not self.failed.isdisjoint([node, *self.needs(node)])

    def take(self, inputs: Inputs) -> None:
        """Gives the variables their values. ``validate`` checks each, once what its checks need is there."""
        blocks, diagnostics = self.module.variables, self.evaluation.diagnostics
        self.variables = variable_values(blocks, inputs, self.scope, diagnostics)
        self.failed |= {f"var.{name}" for name, value in self.variables.items() if not value.is_known}

    def order(self) -> Sequence[str]:
        """All nodes, each after those that it needs (a variable: what its validations mention); none after a
        circle. Nodes that mention what is not declared, and those that need such a node, have failed then.
        """
        nodes = self._nodes()
        needs = {name: self._needed_by(name, node, nodes) for name, node in nodes.items()}
        fall_back = cache(self._default_connections)  # it is the same for all of a type
        for name in self.module.resources:
            needs[name] += fall_back(kind_and_name(name)[0])
        try:
            order = topological(needs)
        except Cycle as cycle:
            self.evaluation.diagnostics.error(
                codes.VALUE_CYCLE,
                f"{' -> '.join(cycle.nodes)}. {_way_out_of(cycle.nodes)}",
                subject=declared_at(nodes[cycle.nodes[0]]),
            )
            self.failed |= set(nodes)
            return []
        for name in order:
            if not self.failed.isdisjoint(needs[name]):
                self.failed.add(name)
        return order

    def validate(self, name: str) -> None:
        """Checks the value of a variable. It has failed where that is not valid."""
        node, diagnostics = f"var.{name}", self.evaluation.diagnostics
        if self.is_broken(node):
            self.failed.add(node)
            return
        before = len(diagnostics)
        validate_variable(name, self.module.variables[name], self.scope, diagnostics)
        if len(diagnostics) > before:
            self.failed.add(node)

    def evaluate_local(self, name: str) -> None:
        """Gives a local its value: an unknown one where it has failed."""
        node, diagnostics = f"local.{name}", self.evaluation.diagnostics
        if self.is_broken(node):
            self.failed.add(node)
            self.locals[name] = unknown()
            return
        before = len(diagnostics)
        self.locals[name] = evaluate(self.module.locals[name].expr, self.scope, diagnostics)
        if len(diagnostics) > before:
            self.failed.add(node)

    def evaluate_output(self, name: str) -> None:
        """Gives an output its value; one that is broken gets none."""
        if not self.is_broken(f"output.{name}"):
            block = self.module.outputs[name]
            self.outputs[name] = output_value(name, block, self.scope, self.evaluation.diagnostics)

    def embedded(self) -> list[Address]:
        """The addresses of the connections that need no block: of each such type of which nothing is
        declared.
        """
        types = self.evaluation.registry.embedded_connections()
        return [Address(name, EMBEDDED) for name in types if not self.named(name)]

    def choices(self, target: str) -> list[str]:
        """The addresses of the connections of a type among which one is chosen that is not named."""
        if not self.evaluation.registry.is_implied(target):
            return []
        blocks = [f"{target}.{name}" for name in self.named(target) or (EMBEDDED,)]
        return [f"{block}{render_key(key)}" for block in blocks for key in self.instances.get(block, ())]

    def surroundings(self, kind: str, start: tuple[str, ...]) -> str:
        """The digest of what a block of a type sees that names these addresses."""
        known = self._seen.get((kind, start))
        if known is None:
            resources = self.evaluation.resources
            reached = sorted(reached_by_declaration(start, resources))
            targets = sorted(set(_referred_types(self.evaluation.types[kind].schema)))
            known = self._seen[(kind, start)] = surroundings_of(
                [(address, resources[address].attributes) for address in reached],
                {target: self.choices(target) for target in targets},
            )
        return known

    def _nodes(self) -> dict[str, AttributeNode | BlockNode]:
        module = self.module
        return {
            **{f"var.{name}": block for name, block in module.variables.items()},
            **{f"local.{name}": node for name, node in module.locals.items()},
            **module.resources,
            **{f"output.{name}": block for name, block in module.outputs.items()},
        }

    def _needed_by(
        self, name: str, node: AttributeNode | BlockNode, nodes: Mapping[str, AttributeNode | BlockNode]
    ) -> list[str]:
        """The declared nodes that a node needs; those of a variable are mentioned by its validations."""
        types, traversals = self.evaluation.types, traversals_of(node)
        mentioned = [other for each in traversals if (other := node_of(each, types)) is not None]
        self._mentioned[name] = mentioned
        complaints = self.evaluation.diagnostics if self.text_is_read else Diagnostics()
        if not check_declared(traversals, nodes, types, complaints):
            self.failed.add(name)
        return [
            need for need in mentioned if need in nodes and not (need == name and name.startswith("var."))
        ]

    def _default_connections(self, kind: str) -> list[str]:
        """The declared connections that attributes of a type fall back to."""
        wanted = set(_referred_types(self.evaluation.types[kind].schema))
        return [
            f"{target}.{name}"
            for target in sorted(filter(self.evaluation.registry.is_implied, wanted))
            for name in self.named(target)
        ]

    def _lookup(self, name: str) -> Value | None:
        types = self.evaluation.types
        match name:
            case "var":
                return _values_of("var", self.module.variables, self.variables)
            case "local":
                return _values_of("local", self.module.locals, self.locals)
            case "path":
                places = {"root": ".", "module": ".", "cwd": os.getcwd()}  # noqa: PTH109  # as text
                return lazy_object({key: string(text) for key, text in places.items()}, name)
            case "flareiac":
                return lazy_object({"workspace": string(self.evaluation.project.workspace)}, name)
            case "data":
                kinds = [kind.removeprefix("data.") for kind in types if "." in kind]
                return lazy_object(
                    LazyNames(dict.fromkeys(kinds), lambda key: self._blocks(f"data.{key}")), "data"
                )
            case kind if kind in types:
                return self._blocks(kind)
            case _:
                return None

    def _blocks(self, kind: str) -> Value:
        """Returns the value of a block type's name: its blocks by name."""
        names = LazyNames(self.named(kind), lambda key: self._value_of(f"{kind}.{key}"), unknown())
        return lazy_object(names, kind)

    def _value_of(self, block: str) -> Value:
        """Returns the value of a reference such as ``table.orders``: one resource, a tuple of them (count) or
        a map (for_each).
        """
        if block in self.failed or block not in self.instances:
            return unknown()
        if block in self._repeated:
            return self._repeated[block]
        kind, name = kind_and_name(block)
        values = {key: self._instance_value(Address(kind, name, key)) for key in self.instances[block]}
        declared = self.module.resources.get(block)
        if declared is not None and declared.body.attribute("count"):
            value = tuple_value(values.values())
        elif declared is not None and declared.body.attribute("for_each"):
            value = object_value({str(key): each for key, each in values.items()})
        else:
            return values[None]
        # Blocks are evaluated in the order of their references, so this one is whole
        self._repeated[block] = value
        return value

    def _instance_value(self, address: Address) -> Value:
        text, evaluation = str(address), self.evaluation
        resource = evaluation.resources[text]
        recorded = evaluation.recorded(text)
        attributes = {
            name: from_data(value) if name not in resource.members else members(value, resource.members[name])
            for name, value in resource.attributes.items()
        }
        for name, type_ in evaluation.types[address.type].computed.items():
            if name in attributes:
                continue
            value = UNKNOWN if recorded is None else recorded.identity.get(name, UNKNOWN)
            attributes[name] = unknown(type_) if value is UNKNOWN else from_data(value)
        return resource_value(text, address.type, attributes)


def _way_out_of(circle: Sequence[str]) -> str:
    variable = next((node for node in circle if node.startswith("var.")), None)
    if variable is None:
        return "Break the circle by writing one of these values out."
    return (
        f"{variable} is in the circle by what its validation blocks mention. Move that check to a variable "
        "that none of the others mentions."
    )


def _values_of(root: str, declared: Mapping[str, object], values: Mapping[str, Value]) -> Value:
    """A root symbol with the values so far of what is declared under it."""
    return lazy_object(LazyNames(declared, lambda key: values.get(key, unknown()), unknown()), root)


def _referred_types(schema: Block) -> Iterator[str]:
    for attribute in schema.attributes.values():
        if isinstance(attribute.type, RefType):
            yield from attribute.type.to
    for nested in schema.blocks.values():
        yield from _referred_types(nested.block)
