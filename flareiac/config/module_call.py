"""One call of a module, while it is evaluated: its declarations, the values of its names, the instances of
its blocks. Reads the name of the working directory.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import field, replace

from flareiac.config.blocks import Module
from flareiac.config.conditions import Checked
from flareiac.config.evaluation import Evaluation
from flareiac.config.expand import instances
from flareiac.config.kept_blocks import surroundings_of
from flareiac.config.members import members
from flareiac.config.meta import depends_on
from flareiac.config.module_nodes import ModuleNodes
from flareiac.config.module_tree import ROOT, CallSite, ModuleText
from flareiac.config.never_known import never_known, reason
from flareiac.config.output_values import called_output, output_value
from flareiac.config.registry import referred_types
from flareiac.config.symbols import BUILT_IN_ROOTS, LazyNames, kind_and_name
from flareiac.config.variables import Inputs, called_variable, validate_variable, variable_values
from flareiac.kernel import codes
from flareiac.kernel.addresses import Address, InstanceKey, ModuleStep, module_text, render_key
from flareiac.kernel.data import UNKNOWN, is_known
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.lang.evaluate import evaluate
from flareiac.lang.scope import Scope
from flareiac.lang.syntax import BlockNode
from flareiac.lang.values import (
    Value,
    from_data,
    lazy_object,
    null,
    object_value,
    resource_value,
    string,
    tuple_value,
    unknown,
)
from flareiac.model.conditions import Owning
from flareiac.model.desired import OutputValue
from flareiac.model.references import reached_by_declaration
from flareiac.sdk.owner import Owner

EMBEDDED = "embedded"
"""The name of the instance that stands for a connection type of which nothing is declared."""


@dataclass(slots=True, kw_only=True, eq=False)
class ModuleCall:
    """One call of a module: the root module, or an instance of a ``module`` block. Its nodes are evaluated in
    the order of their references (``config.order``).
    """

    evaluation: Evaluation
    site: CallSite
    nodes: ModuleNodes
    path: tuple[ModuleStep, ...] = ()
    outer: Scope | None = None
    """The scope in which the arguments of the call are evaluated; None for the root module."""
    parent: "ModuleCall | None" = None
    scope: Scope = field(init=False)
    """The symbols of the module's expressions; what is not evaluated yet is unknown in it."""
    owner: Owner | None = field(init=False, default=None)
    """The one of the project, for blocks that name none."""
    variables: dict[str, Value] = field(init=False, default_factory=dict)
    locals: dict[str, Value] = field(init=False, default_factory=dict)
    outputs: dict[str, OutputValue] = field(init=False, default_factory=dict)
    """The outputs of the root module."""
    output_values: dict[str, Value] = field(init=False, default_factory=dict)
    """The outputs of a module that is called."""
    inner: dict[str, dict[InstanceKey, "ModuleCall"]] = field(init=False, default_factory=dict)
    """The instances of each ``module`` block that was evaluated, by name and key."""
    instances: dict[str, list[InstanceKey]] = field(init=False, default_factory=dict)
    """The keys of the instances of each block that was evaluated."""
    failed: set[str] = field(init=False)
    """The nodes that are wrong, or depend on one that is: nothing more is said of what depends on them. An
    output of a call that is wrong stands here as ``module.x.name``.
    """
    unkept: set[str] = field(init=False, default_factory=set)
    """Blocks of which something was reported that is not about one instance: they are judged in each run."""
    prefix: str = field(init=False)
    """The beginning of the addresses of its resources; empty in the root module."""
    _reached: dict[str, tuple[str, ...]] = field(init=False, default_factory=dict)
    """The instances that locals, variables and outputs were made of."""
    _repeated: dict[str, Value] = field(init=False, default_factory=dict)
    """The values of blocks with ``count`` or ``for_each`` that others have asked for: each instance of such a
    block refers to one instance of another, as a rule.
    """
    _seen: dict[tuple[str, tuple[str, ...]], str] = field(init=False, default_factory=dict)
    """Digests of what blocks see, by their type and what they name."""

    def __post_init__(self) -> None:
        self.prefix = f"{module_text(self.path)}." if self.path else ""
        self.failed = set(self.nodes.undeclared)
        self.owner = self.parent.owner if self.parent else None
        for name, called in self.text.calls.items():
            if called is None:
                self.failed.add(f"module.{name}")
        self.scope = Scope(
            lookup=self._lookup,
            functions=self.evaluation.functions(self.text.directory),
            roots=lambda: [
                *BUILT_IN_ROOTS[:4],
                *(["module"] if self.module.calls else []),
                "data",
                *(name for name in self.evaluation.types if "." not in name),
            ],
        )

    @property
    def text(self) -> ModuleText:
        """The module that is called, as it is written."""
        return self.site.text

    @property
    def module(self) -> Module:
        """The declarations of the module."""
        return self.site.text.module

    def named(self, kind: str) -> Mapping[str, None]:
        """The declared names of a block type."""
        return self.nodes.names.get(kind, {})

    def needs(self, node: str) -> Sequence[str]:
        """The nodes that a node mentions, declared or not."""
        return self.nodes.mentioned.get(node, ())

    def is_broken(self, node: str) -> bool:
        """Returns True if the node failed, or one that it mentions or falls back to."""
        if not self.failed.isdisjoint([node, *self.needs(node)]):
            return True
        return node in self.module.resources and any(
            f"{target}.{name}" in holder.nodes.undeclared
            for target in self.evaluation.registry.fallbacks(kind_and_name(node)[0])
            if (holder := self._holder(target)).nodes.undeclared
            for name in holder.named(target)
        )

    def take(self, inputs: Inputs) -> None:
        """Gives the variables their values. ``validate`` checks each, once what its checks need is there."""
        blocks, diagnostics = self.module.variables, self.evaluation.diagnostics
        self.variables = variable_values(blocks, inputs, self.scope, diagnostics)
        self.failed |= {f"var.{name}" for name, value in self.variables.items() if not value.is_known}

    def evaluate(self, node: str) -> None:
        """Evaluates a variable, local or output, after all that it needs."""
        kind, name = kind_and_name(node)
        {
            "var": self._evaluate_variable,
            "local": self._evaluate_local,
            "output": self._evaluate_output,
        }[kind](name)

    def _evaluate_variable(self, name: str) -> None:
        """Gives a variable its value, but in the root module, where ``take`` has done so, and checks it. It
        has failed where the value is not valid.
        """
        node, block, diagnostics = f"var.{name}", self.module.variables[name], self.evaluation.diagnostics
        before = len(diagnostics)
        if self.parent is not None:
            value = self._argument(name, self.parent)
            self.variables[name] = unknown() if value is None else value
            if value is None:
                self.failed.add(node)
        if self.is_broken(node):
            self.failed.add(node)
            return
        results = validate_variable(name, f"{self.prefix}{node}", block, self.scope, diagnostics)
        self.evaluation.conditions.extend(results)
        if len(diagnostics) > before:
            self.failed.add(node)

    def _argument(self, name: str, parent: "ModuleCall") -> Value | None:
        """The value of an argument as the type of the variable, or the default; None where it is wrong."""
        assert self.outer is not None
        assert self.site.block is not None
        block, diagnostics = self.module.variables[name], self.evaluation.diagnostics
        mentions = parent.nodes.arguments[f"module.{self.site.name}"].get(name, ())
        if not parent.failed.isdisjoint(mentions):
            return None
        argument = self.site.block.body.attribute(name)
        given = None
        if argument is not None:
            before = len(diagnostics)
            given = evaluate(argument.expr, self.outer, diagnostics)
            if len(diagnostics) > before:
                return None
        return called_variable(
            name,
            block,
            given,
            f"module {self.site.name}",
            argument.expr.span if argument else None,
            self.scope,
            diagnostics,
        )

    def _evaluate_local(self, name: str) -> None:
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

    def _evaluate_output(self, name: str) -> None:
        """Gives an output its value; one that is broken gets none."""
        node, block, diagnostics = f"output.{name}", self.module.outputs[name], self.evaluation.diagnostics
        before = len(diagnostics)
        if self.is_broken(node):
            self._fail_output(name)
            return
        if self.parent is None:
            self.outputs[name] = output_value(name, block, self.scope, diagnostics)
        else:
            self.output_values[name] = called_output(name, block, self.scope, diagnostics)
        checked = Checked(owning=Owning.OUTPUT, address=f"{self.prefix}{node}", scope=self.scope)
        conditions = block.body.blocks_of("precondition")
        self.evaluation.conditions.extend(checked.results(conditions, diagnostics))
        if len(diagnostics) > before:
            self._fail_output(name)
        elif self.parent is None:
            self._warn_of_never_known(name, block)

    def _fail_output(self, name: str) -> None:
        """Lets an output fail, and what mentions it in the module that calls."""
        self.failed.add(f"output.{name}")
        if self.parent is not None:
            self.parent.failed.add(f"module.{self.site.name}.{name}")

    def _warn_of_never_known(self, name: str, block: BlockNode) -> None:
        """Warns of an output of the root module that no apply gives a value."""
        value = block.body.attribute("value")
        if value is None or is_known(self.outputs[name].value):
            return
        function = never_known(value.expr, self.module.locals)
        if function is not None:
            detail = f'The output "{name}" never has a value, for it comes from {reason(function)}'
            self.evaluation.diagnostics.warning(codes.KNOWN_AFTER_APPLY, detail, subject=value.expr.span)

    def make_calls(self, node: str) -> list["ModuleCall"]:
        """Makes the instances of a ``module`` block. One that is broken has none."""
        name, diagnostics = kind_and_name(node)[1], self.evaluation.diagnostics
        block = self.module.calls[name]
        self.inner[name] = {}
        if self.is_broken(node):
            self.failed.add(node)
            return []
        before = len(diagnostics)
        after = depends_on(block, diagnostics)
        expanded = instances(block, self.scope, diagnostics)
        if expanded is None or len(diagnostics) > before or not self.failed.isdisjoint(after):
            self.failed.add(node)
            return []
        site = self.site.inner[name]
        for instance in expanded:
            call = ModuleCall(
                evaluation=self.evaluation,
                site=site,
                nodes=self.evaluation.nodes[site.text],
                path=(*self.path, ModuleStep(name, instance.key)),
                outer=instance.scope,
                parent=self,
            )
            self.inner[name][instance.key] = call
        return [*self.inner[name].values()]

    def behind(self, node: str) -> Iterator[tuple["ModuleCall", str]]:
        """The nodes that a node mentions, each in the call that has it."""
        if node.startswith("var.") and self.parent is not None:
            arguments = self.parent.nodes.arguments[f"module.{self.site.name}"]
            for mention in arguments.get(node.removeprefix("var."), ()):
                yield from self.parent.meant(mention)
        else:
            for mention in self.needs(node):
                yield from self.meant(mention)

    def meant(self, mention: str) -> Iterator[tuple["ModuleCall", str]]:
        """The nodes that a mention means: those of each instance of a call, or the node of that name."""
        kind, name = kind_and_name(mention)
        if kind != "module":
            yield self, mention
            return
        call, _, output = name.partition(".")
        if output:
            for each in self.inner.get(call, {}).values():
                yield each, f"output.{output}"

    def reached(self, node: str) -> tuple[str, ...]:
        """The addresses of the instances that a node is, or is made of through locals, variables and outputs
        of modules.
        """
        if node in self.module.resources:
            return tuple(f"{self.prefix}{node}{render_key(key)}" for key in self.instances.get(node, ()))
        if node not in self._reached:
            self._reached[node] = ()  # a variable's checks may mention the variable
            behind = [address for call, other in self.behind(node) for address in call.reached(other)]
            self._reached[node] = tuple(dict.fromkeys(behind))
        return self._reached[node]

    def handled_first(self, node: str) -> tuple[str, ...]:
        """The addresses that come before each instance of a block though no attribute refers to them: what
        its values were made of, and what ``depends_on`` names, its own or that of a call that it is in.
        """
        through = [each for each in self.needs(node) if each not in self.module.resources]
        addresses = [address for each in through for address in self.reached(each)]
        addresses += self._named_first(self.nodes.after.get(node, ()))
        call = self
        while call.parent is not None:
            addresses += call.parent._named_first(call.parent.nodes.after[f"module.{call.site.name}"])
            call = call.parent
        return tuple(dict.fromkeys(addresses))

    def _named_first(self, named: Iterable[str]) -> Iterator[str]:
        """The addresses that names of a ``depends_on`` stand for."""
        for name in named:
            kind, call = kind_and_name(name)
            if kind == "module":
                for each in self.inner.get(call, {}).values():
                    yield from each.contents()
            else:
                yield from self.reached(name)

    def all(self) -> Iterator["ModuleCall"]:
        """This call and those that it makes, each before those that it makes itself."""
        yield self
        for calls in self.inner.values():
            for call in calls.values():
                yield from call.all()

    def has_failed(self, address: Address) -> bool:
        """Returns True if the block of an address is wrong, or a call that leads to it."""
        call: ModuleCall | None = self
        for step in address.module:
            if call is None or f"module.{step.name}" in call.failed:
                return call is not None
            call = call.inner.get(step.name, {}).get(step.key)
        return call is not None and f"{address.type}.{address.name}" in call.failed

    def contents(self) -> Iterator[str]:
        """The addresses of all instances in this call and in those that it makes."""
        for call in self.all():
            for node in call.module.resources:
                yield from call.reached(node)

    def embedded(self) -> list[Address]:
        """The addresses of the connections that need no block: of each such type of which nothing is
        declared.
        """
        types = self.evaluation.registry.embedded_connections()
        return [Address(name, EMBEDDED) for name in types if not self.named(name)]

    def choices(self, target: str) -> list[str]:
        """The addresses of the connections of a type among which one is chosen that is not named: those of
        the module, else those of the module that calls it.
        """
        if not self.evaluation.registry.is_implied(target):
            return []
        holder = self._holder(target)
        blocks = [f"{target}.{name}" for name in holder.named(target) or (EMBEDDED,)]
        return [
            f"{holder.prefix}{block}{render_key(key)}"
            for block in blocks
            for key in holder.instances.get(block, ())
        ]

    def _holder(self, target: str) -> "ModuleCall":
        """The call whose connections of a type are the defaults here."""
        call = self
        while call.parent is not None and not call.named(target):
            call = call.parent
        return call

    def with_block(self, evaluation: Evaluation, node: str, block: BlockNode) -> "ModuleCall":
        """This call with one more block, for an evaluation of its own: nothing is added to this one."""
        inner = copy(self)
        inner.evaluation = evaluation
        module = replace(self.module, resources={**self.module.resources, node: block})
        inner.site = replace(self.site, text=replace(self.text, module=module))
        inner.nodes = self.nodes.with_block(node, block, evaluation.types)
        inner.instances, inner.failed, inner.unkept = dict(self.instances), set(self.failed), set(self.unkept)
        inner.scope = replace(self.scope, lookup=inner._lookup)
        return inner

    def surroundings(self, kind: str, start: tuple[str, ...]) -> str:
        """The digest of what a block of a type sees that names these addresses."""
        known = self._seen.get((kind, start))
        if known is None:
            resources = self.evaluation.resources
            reached = sorted(reached_by_declaration(start, resources))
            targets = sorted(set(referred_types(self.evaluation.types[kind].schema)))
            known = self._seen[(kind, start)] = surroundings_of(
                [(address, resources[address].attributes) for address in reached],
                {target: self.choices(target) for target in targets},
            )
        return known

    def _lookup(self, name: str) -> Value | None:
        types = self.evaluation.types
        match name:
            case "var":
                return _values_of("var", self.module.variables, self.variables)
            case "local":
                return _values_of("local", self.module.locals, self.locals)
            case "path":
                places = {"root": ROOT, "module": self.text.directory, "cwd": os.getcwd()}  # noqa: PTH109  # as text
                return lazy_object({key: string(text) for key, text in places.items()}, name)
            case "module" if self.module.calls:
                return lazy_object(LazyNames(self.module.calls, self._module_value, unknown()), name)
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
        values = {
            key: self.instance_value(Address(kind, name, key, self.path)) for key in self.instances[block]
        }
        declared = self.module.resources.get(block)
        if declared is not None and declared.body.attribute("count"):
            value = tuple_value(values.values())
        elif declared is not None and declared.body.attribute("for_each"):
            value = object_value({str(key): each for key, each in values.items()})
        else:
            return values[None] if values else null()  # enabled = false
        # Blocks are evaluated in the order of their references, so this one is whole
        self._repeated[block] = value
        return value

    def _module_value(self, name: str) -> Value:
        """The value of ``module.x``: the outputs of one call, a tuple of such objects (count) or a map
        (for_each).
        """
        if f"module.{name}" in self.failed or name not in self.inner:
            return unknown()
        block = self.module.calls[name]
        values = {key: call._outputs_value() for key, call in self.inner[name].items()}
        if block.body.attribute("count"):
            return tuple_value(values.values())
        if block.body.attribute("for_each"):
            return object_value({str(key): each for key, each in values.items()})
        return values[None]

    def _outputs_value(self) -> Value:
        """The outputs so far; those to come are unknown."""
        return object_value({name: self.output_values.get(name, unknown()) for name in self.module.outputs})

    def instance_value(self, address: Address) -> Value:
        """The value of one instance that was evaluated."""
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


def _values_of(root: str, declared: Mapping[str, object], values: Mapping[str, Value]) -> Value:
    """A root symbol with the values so far of what is declared under it."""
    return lazy_object(LazyNames(declared, lambda key: values.get(key, unknown()), unknown()), root)
