"""Evaluates a module: variables, locals, resources and outputs in dependency order, into ``Desired``.

Touches the file system only through ``read_module``. One run reports every problem it can find; what depends
on something broken is left out silently, so that one mistake is reported once.
"""

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cache, partial
from typing import TypeAlias

from flareiac.config.blocks import Module, collect, declared_at
from flareiac.config.expand import Instance, instances
from flareiac.config.files import ModuleFiles, read_module
from flareiac.config.kept_blocks import KeptBlocks, LaterSpans, Meaning, is_plain, surroundings_of
from flareiac.config.members import members
from flareiac.config.meta import depends_on, imports, lifecycle, removals
from flareiac.config.registry import Registry
from flareiac.config.settings import check_version, read_settings
from flareiac.config.shape import check_shape
from flareiac.config.symbols import BUILT_IN_ROOTS, LazyNames, check_declared, kind_and_name, node_of
from flareiac.config.variables import Inputs, check_condition, flag, validate_variables, variable_values
from flareiac.kernel import codes
from flareiac.kernel.addresses import Address, InstanceKey, render_key
from flareiac.kernel.articles import with_article
from flareiac.kernel.data import UNKNOWN, Attributes, Data, Reference, digest, is_known, references
from flareiac.kernel.diagnostics import Diagnostic, Diagnostics, error
from flareiac.kernel.graph import Cycle, topological
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.paths import Path, render_path
from flareiac.kernel.sources import Source, Span
from flareiac.kernel.types import RefType
from flareiac.lang.decode import DecodedBody, decode_body
from flareiac.lang.evaluate import evaluate
from flareiac.lang.functions import functions
from flareiac.lang.inner_span import inner_span
from flareiac.lang.parse import parse_file
from flareiac.lang.references import Traversal
from flareiac.lang.references import references as traversals_of
from flareiac.lang.scope import Scope
from flareiac.lang.syntax import AttributeNode, BlockNode
from flareiac.lang.values import (
    Value,
    contains_sensitive,
    cty_json,
    from_data,
    is_too_deep,
    lazy_object,
    object_value,
    resource_value,
    string,
    to_data,
    tuple_value,
    unknown,
)
from flareiac.model.desired import Desired, DesiredResource, Import, OutputValue
from flareiac.model.references import reached_by_declaration
from flareiac.model.relocation import BoundPlace, bound_places
from flareiac.sdk.project import Project
from flareiac.sdk.references import Resolved
from flareiac.sdk.requests import Question, ReadRequest
from flareiac.sdk.resource_type import Decoded, Kind, ResourceType
from flareiac.sdk.results import Present, Recorded
from flareiac.sdk.schema import Block, Nesting

_META = frozenset({"count", "for_each", "depends_on", "lifecycle"})
ReadData: TypeAlias = Callable[[Question], Present | Diagnostic | None]
"""The function that reads a ``data`` block: its object (None: no one is asked, as in ``validate``), or the
reason that it is not known.
"""
EMBEDDED = "embedded"
"""The name of the instance that stands for a connection type of which nothing is declared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DataBlocks:
    """The way in which data blocks are read. ``partial``: what takes values of a data block about which no
    one is asked is left out, and is no error.
    """

    read: ReadData = lambda _question: None
    partial: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """An evaluated module and the texts it was read from (for snippets in diagnostics)."""

    desired: Desired
    sources: Mapping[str, Source]


@dataclass(slots=True)
class _Evaluation:
    """The results so far while nodes are evaluated in order."""

    registry: Registry
    project: Project
    diagnostics: Diagnostics
    text_is_read: bool
    """True where all files could be read: else a block that seems undeclared may stand in an unread file."""
    recorded: Callable[[str], Recorded | None]
    data: DataBlocks
    scope: Scope = field(init=False)
    module: Module = field(default_factory=Module)
    variables: dict[str, Value] = field(default_factory=dict)
    locals: dict[str, Value] = field(default_factory=dict)
    resources: dict[str, DesiredResource] = field(default_factory=dict)
    names: dict[str, dict[str, None]] = field(default_factory=dict)
    traversals: dict[str, list[Traversal]] = field(default_factory=dict)
    instances: dict[str, list[InstanceKey]] = field(default_factory=dict)
    repeated: dict[str, Value] = field(default_factory=dict)
    """The values of blocks with ``count`` or ``for_each`` that others have asked for: each instance of such a
    block refers to one instance of another, as a rule.
    """
    failed: set[str] = field(default_factory=set)
    unread: dict[str, Diagnostic] = field(default_factory=dict)
    unasked: set[str] = field(default_factory=set)
    bound: list[BoundPlace] = field(default_factory=list)
    kept: KeptBlocks = field(init=False)
    seen: dict[tuple[str, tuple[str, ...]], str] = field(default_factory=dict)
    """Digests of what blocks see, by their type and what they name."""
    unkept: set[str] = field(default_factory=set)
    """Blocks of which something was reported that is not about one instance: they are judged in each run."""

    def needs(self, node: str) -> list[str]:
        """The nodes that a node mentions, declared or not."""
        found = [node_of(item, self.registry.types) for item in self.traversals.get(node, ())]
        return [item for item in found if item is not None]


def load(
    project: Project,
    registry: Registry,
    inputs: Callable[[ModuleFiles], Inputs],
    recorded: Callable[[str], Recorded | None],
    diagnostics: Diagnostics,
    data: DataBlocks | None = None,
) -> Configuration:
    """The configuration in ``project.root``. ``recorded`` gives what the last apply recorded of an address
    (None: nothing).
    """
    files = read_module(project.root, diagnostics)
    bodies = [parse_file(source, diagnostics) for source in files.configuration]
    text_is_read = not diagnostics.has_errors
    evaluation = _Evaluation(
        registry=registry,
        project=project,
        diagnostics=diagnostics,
        text_is_read=text_is_read,
        recorded=recorded,
        data=data or DataBlocks(),
    )
    evaluation.module = collect(bodies, registry.types, diagnostics)
    for address in evaluation.module.resources:
        kind, name = kind_and_name(address)
        evaluation.names.setdefault(kind, {})[name] = None
    evaluation.scope = _scope(evaluation)
    evaluation.kept = KeptBlocks(
        project.root,
        lambda kind, start: _surroundings(evaluation, kind, start),
        [function.call for function in registry.functions],
    )
    given = inputs(files)
    check_version(evaluation.module.settings, diagnostics)
    read_settings(evaluation.module.settings, registry.backends, diagnostics)
    _embed_connections(evaluation)
    evaluation.variables = variable_values(evaluation.module.variables, given, evaluation.scope, diagnostics)
    validate_variables(evaluation.module.variables, evaluation.variables, evaluation.scope, diagnostics)
    evaluation.failed |= {f"var.{name}" for name, value in evaluation.variables.items() if not value.is_known}
    order = _order(evaluation)
    outputs = _evaluate(evaluation, order)
    evaluation.kept.close()
    desired = Desired(
        resources=evaluation.resources,
        outputs=outputs,
        imports=_importable(
            imports(
                evaluation.module.imports,
                evaluation.resources,
                evaluation.failed,
                evaluation.scope,
                diagnostics,
            ),
            registry,
            diagnostics,
        ),
        removed=removals(
            evaluation.module.removed, evaluation.module.resources, evaluation.scope, diagnostics
        ),
        variables=_shown(evaluation.variables),
        values={name: to_data(value) for name, value in evaluation.variables.items()},
        unread=evaluation.unread,
        bound=tuple(evaluation.bound),
        digest=_digest(files, evaluation.variables),
    )
    sources = {**files.sources, **{item.path: item for item in given.given if isinstance(item, Source)}}
    return Configuration(desired=desired, sources=sources)


def _importable(
    found: tuple[Import, ...], registry: Registry, diagnostics: Diagnostics
) -> tuple[Import, ...]:
    """Without those of what exists only because it was declared: nothing of it could be adopted."""
    kept: list[Import] = []
    for item in found:
        kind = item.to.partition(".")[0]
        if kind in registry.types and registry.types[kind].import_ids == "":
            declared = f"{with_article(kind, capital=True)} exists only because it is declared."
            why = f"{declared} Remove the import block of {item.to}."
            diagnostics.error(codes.INVALID_IMPORT, why, subject=item.span)
        else:
            kept.append(item)
    return tuple(kept)


def _digest(files: ModuleFiles, variables: Mapping[str, Value]) -> str:
    content = hashlib.sha256()
    for source in files.configuration:
        content.update(source.path.encode() + b"\0" + source.text.encode() + b"\0")
    return digest([content.hexdigest(), _shown(dict(sorted(variables.items())))])


def _shown(variables: Mapping[str, Value]) -> Attributes:
    """The values of variables as they are recorded: without the sensitive ones."""
    return {name: None if contains_sensitive(value) else to_data(value) for name, value in variables.items()}


def _scope(evaluation: _Evaluation) -> Scope:
    root = evaluation.project.root

    def lookup(name: str) -> Value | None:
        module = evaluation.module
        match name:
            case "var":
                return _values_of("var", module.variables, evaluation.variables)
            case "local":
                return _values_of("local", module.locals, evaluation.locals)
            case "path":
                places = {"root": ".", "module": ".", "cwd": os.getcwd()}  # noqa: PTH109  # as text
                return lazy_object({key: string(text) for key, text in places.items()}, name)
            case "flareiac":
                return lazy_object({"workspace": string(evaluation.project.workspace)}, name)
            case "data":
                kinds = [item.removeprefix("data.") for item in evaluation.registry.types if "." in item]
                return lazy_object(
                    LazyNames(dict.fromkeys(kinds), lambda key: _blocks(evaluation, f"data.{key}")), "data"
                )
            case kind if kind in evaluation.registry.types:
                return _blocks(evaluation, kind)
            case _:
                return None

    return Scope(
        lookup=lookup,
        functions=functions(root, evaluation.registry.functions),
        roots=lambda: [
            *BUILT_IN_ROOTS[:4],
            "data",
            *(item for item in evaluation.registry.types if "." not in item),
        ],
    )


def _values_of(root: str, declared: Mapping[str, object], values: Mapping[str, Value]) -> Value:
    """A root symbol with the values so far of what is declared under it."""
    return lazy_object(LazyNames(declared, lambda key: values.get(key, unknown()), unknown()), root)


def _blocks(evaluation: _Evaluation, kind: str) -> Value:
    """Returns the value of a block type's name: its blocks by name."""
    return lazy_object(
        LazyNames(_named(evaluation, kind), lambda key: _block_value(evaluation, f"{kind}.{key}"), unknown()),
        kind,
    )


def _named(evaluation: _Evaluation, kind: str) -> dict[str, None]:
    """The declared names of a block type."""
    return evaluation.names.get(kind, {})


def _embed_connections(evaluation: _Evaluation) -> None:
    """A connection type of which nothing is declared gets its embedded instance, so that it can be the
    default of an attribute.
    """
    for name, kind in evaluation.registry.embedded_connections().items():
        if not _named(evaluation, name):
            address = Address(name, EMBEDDED)
            _resolve(evaluation, address, kind, {}, (), None)
            evaluation.instances[f"{name}.{EMBEDDED}"] = [None]


def _order(evaluation: _Evaluation) -> Sequence[str]:
    module, types = evaluation.module, evaluation.registry.types
    nodes: dict[str, AttributeNode | BlockNode] = {
        **{f"var.{name}": block for name, block in module.variables.items()},
        **{f"local.{name}": node for name, node in module.locals.items()},
        **module.resources,
        **{f"output.{name}": block for name, block in module.outputs.items()},
    }
    needs: dict[str, list[str]] = {f"var.{name}": [] for name in module.variables}
    for name, node in nodes.items():
        found = evaluation.traversals[name] = traversals_of(node)
        if name not in needs:
            complaints = evaluation.diagnostics if evaluation.text_is_read else Diagnostics()
            if not check_declared(found, nodes, types, complaints):
                evaluation.failed.add(name)
            needs[name] = [need for need in evaluation.needs(name) if need in nodes]
    fall_back = cache(partial(_default_connections, evaluation))  # it is the same for all of a type
    for name in module.resources:
        needs[name] += fall_back(kind_and_name(name)[0])
    try:
        order = [name for name in topological(needs) if not name.startswith("var.")]
    except Cycle as cycle:
        evaluation.diagnostics.error(
            codes.VALUE_CYCLE,
            f"{' -> '.join(cycle.nodes)}. Break the circle by writing one of these values out.",
            subject=declared_at(nodes[cycle.nodes[0]]),
        )
        evaluation.failed |= set(nodes)
        return []
    for name in order:
        if not evaluation.failed.isdisjoint(needs[name]):
            evaluation.failed.add(name)
    return order


def _default_connections(evaluation: _Evaluation, kind: str) -> list[str]:
    """The declared connections that attributes of a type fall back to."""
    wanted = set(_referred_types(evaluation.registry.types[kind].schema))
    return [
        f"{target}.{name}"
        for target in sorted(filter(evaluation.registry.is_implied, wanted))
        for name in _named(evaluation, target)
    ]


def _referred_types(schema: Block) -> Iterator[str]:
    for attribute in schema.attributes.values():
        if isinstance(attribute.type, RefType):
            yield from attribute.type.to
    for nested in schema.blocks.values():
        yield from _referred_types(nested.block)


def _evaluate(evaluation: _Evaluation, order: Sequence[str]) -> dict[str, OutputValue]:
    outputs: dict[str, OutputValue] = {}
    for node in order:
        kind, name = node.split(".", 1)
        if kind == "output":
            if not _broken(evaluation, node):
                outputs[name] = _output(evaluation, name, evaluation.module.outputs[name])
        elif kind == "local":
            evaluation.locals[name] = unknown() if node in evaluation.failed else _local(evaluation, name)
        elif _broken(evaluation, node):
            evaluation.failed.add(node)
            _look_through(evaluation, node)
        else:
            _resource_block(evaluation, node, evaluation.module.resources[node])
    return outputs


def _broken(evaluation: _Evaluation, node: str) -> bool:
    return not evaluation.failed.isdisjoint([node, *evaluation.needs(node)])


def _look_through(evaluation: _Evaluation, node: str) -> None:
    """Reports what is wrong in a block beside the references that it cannot be evaluated for."""
    block = evaluation.module.resources[node]
    if block.body.attribute("count") is None and block.body.attribute("for_each") is None:
        decode_body(
            block.body,
            evaluation.registry.types[kind_and_name(node)[0]].schema,
            evaluation.scope,
            evaluation.diagnostics,
            meta=_META,
        )


def _local(evaluation: _Evaluation, name: str) -> Value:
    before = len(evaluation.diagnostics)
    value = evaluate(evaluation.module.locals[name].expr, evaluation.scope, evaluation.diagnostics)
    if len(evaluation.diagnostics) > before:
        evaluation.failed.add(f"local.{name}")
    return value


def _output(evaluation: _Evaluation, name: str, block: BlockNode) -> OutputValue:
    diagnostics, scope = evaluation.diagnostics, evaluation.scope
    node = block.body.attribute("value")
    check_shape(block, ("value", "description", "sensitive", "depends_on"), ("precondition",), diagnostics)
    if node is None:
        diagnostics.error(
            codes.OUTPUT_WITHOUT_VALUE,
            f'The output "{name}" needs one. Write value = ...',
            subject=block.header_span,
        )
        return OutputValue(value=None)
    for nested in block.body.blocks_of("precondition"):
        check_condition(nested, scope, diagnostics, codes.PRECONDITION_FAILED)
    value = evaluate(node.expr, scope, diagnostics)
    sensitive = flag(block, "sensitive", False, scope, diagnostics)
    if contains_sensitive(value) and not sensitive:
        diagnostics.error(
            codes.SENSITIVE_OUTPUT,
            f'Add sensitive = true to the output "{name}"; it is then never shown.',
            subject=node.expr.span,
        )
    if sensitive:
        return OutputValue(value=None, sensitive=True)
    if is_too_deep(value):
        diagnostics.error(
            codes.TOO_DEEP, "Use a part of it, or split it into several outputs.", subject=node.expr.span
        )
        return OutputValue(value=None)
    data, kind = to_data(value), cty_json(value.type)
    return OutputValue(value=data, type=None if kind == "dynamic" and data is not None else kind)


def _resource_block(evaluation: _Evaluation, node: str, block: BlockNode) -> None:
    kind = evaluation.registry.types[kind_and_name(node)[0]]
    _refuse_lifecycle(kind, block, evaluation.diagnostics)
    if _is_as_kept(evaluation, node, block, kind):
        return
    problems, hidden = Diagnostics(), _hidden_by(evaluation, node)
    found = instances(block, evaluation.scope, problems)
    for problem in problems:
        _complain(evaluation, problem, hidden if problem.code == codes.COUNT_NOT_KNOWN.id else None)
    if found is None:
        evaluation.failed.add(node)
        return
    evaluation.instances[node] = [item.key for item in found]
    before = len(evaluation.diagnostics)
    declared = depends_on(block, evaluation.diagnostics)
    if len(evaluation.diagnostics) > before:
        evaluation.unkept.add(node)
    mentioned = dict.fromkeys([*evaluation.needs(node), *declared])
    needed = [item for item in mentioned if item in evaluation.instances]
    for item in found:
        if not _instance(evaluation, block, kind, item, needed, hidden):
            evaluation.failed.add(node)


@dataclass(frozen=True, slots=True)
class _Unasked:
    """No one was asked about the data block of this address."""

    address: str


_Hidden: TypeAlias = Diagnostic | _Unasked | None
"""The reason that values are unknown that the world has, None if they are not."""


def _complain(evaluation: _Evaluation, complaint: Diagnostic, hidden: _Hidden) -> None:
    """Says of an unknown value why it is unknown."""
    match hidden:
        case Diagnostic():
            evaluation.diagnostics.add(hidden)
        case _Unasked(address) if not evaluation.data.partial:
            why = (
                f"It comes from {address}, about which no one was asked (-refresh=none), and the state does "
                "not hold what it was. Plan without -refresh=none."
            )
            evaluation.diagnostics.add(
                replace(complaint, code=codes.DATA_NOT_READ.id, summary=codes.DATA_NOT_READ.title, detail=why)
            )
        case _Unasked():
            pass
        case None:
            evaluation.diagnostics.add(complaint)


def _hidden_by(evaluation: _Evaluation, node: str) -> _Hidden:
    """Returns the reason why something that a node mentions, itself or through others, was not read. Its
    values are unknown for that reason.
    """
    seen: set[str] = set()
    unasked: _Unasked | None = None
    stack = [node] if evaluation.unread or evaluation.unasked else []
    while stack:
        each = stack.pop()
        if each in seen:
            continue
        seen.add(each)
        for key in evaluation.instances.get(each, ()):
            if (address := f"{each}{render_key(key)}") in evaluation.unread:
                return evaluation.unread[address]
            if address in evaluation.unasked:
                unasked = unasked or _Unasked(address)
        stack.extend(evaluation.needs(each))
    return unasked


def _refuse_lifecycle(kind: ResourceType, block: BlockNode, diagnostics: Diagnostics) -> None:
    for nested in block.body.blocks_of("lifecycle") if kind.kind is Kind.DATA else ():
        why = (
            "It is only read: nothing of it is created, changed or removed here. Remove the lifecycle block."
        )
        diagnostics.error(codes.DATA_WITH_LIFECYCLE, why, subject=nested.header_span)


def _instance(
    evaluation: _Evaluation,
    block: BlockNode,
    kind: ResourceType,
    instance: Instance,
    needed: Sequence[str],
    hidden: _Hidden,
) -> bool:
    diagnostics = evaluation.diagnostics
    before, later = len(diagnostics), len(diagnostics.later)
    address = Address(kind.name, block.labels[-1], instance.key)
    decoded = decode_body(block.body, kind.schema, instance.scope, diagnostics, meta=_META)
    _refuse_sensitive(decoded, kind, address, diagnostics)
    attributes = dict(decoded.attributes)
    if _errors_since(diagnostics, before):  # what is in error is not known either
        return False
    if not is_known(attributes):
        # An error of another instance is reported once
        if hidden is not None or f"{kind.name}.{block.labels[-1]}" not in evaluation.failed:
            for item in _unknown_attributes(decoded, block, address):
                _complain(evaluation, item, hidden)
        return False
    _fill_connections(evaluation, kind.schema, attributes, block, diagnostics)
    if _errors_since(diagnostics, before):
        return False
    bound = len(evaluation.bound)
    start = _resolve(evaluation, address, kind, attributes, needed, (block, decoded))
    quiet = (len(diagnostics), len(diagnostics.later)) == (before, later)
    if quiet and _can_be_kept(evaluation, block, kind, needed):
        resource = evaluation.resources[str(address)]
        meaning = Meaning(
            start=start,
            attributes=resource.attributes,
            dependencies=resource.dependencies,
            bound=tuple(evaluation.bound[bound:]),
            has_lifecycle=bool(block.body.blocks_of("lifecycle")),
        )
        evaluation.kept.add(block, str(address), kind.canonical, meaning)
        # The spans of thousands of blocks, kept until a diagnostic needs them, would be a tenth of the memory
        evaluation.resources[str(address)] = replace(resource, spans=_later_spans(evaluation, block, kind))
    return not _errors_since(diagnostics, before)


def _can_be_kept(
    evaluation: _Evaluation, block: BlockNode, kind: ResourceType, needed: Sequence[str]
) -> bool:
    """Returns True if a block means the same in each run in which nothing changes that it names."""
    types = evaluation.registry.types
    pure = frozenset(function.name for function in evaluation.registry.functions)
    return (
        kind.follows_from_text
        and f"{kind.name}.{block.labels[-1]}" not in evaluation.unkept
        and all(evaluation.instances[item] == [None] for item in needed)
        and is_plain(block, pure, lambda root: root in types)
    )


def _is_as_kept(evaluation: _Evaluation, node: str, block: BlockNode, kind: ResourceType) -> bool:
    """Takes over what a block meant in an earlier run, where it means the same by its text and by what it
    names.
    """
    if not kind.follows_from_text:
        return False
    if any(evaluation.instances.get(item) != [None] for item in evaluation.needs(node)):
        return False
    address = Address(kind.name, block.labels[-1])
    meaning = evaluation.kept.find(block, str(address), kind.canonical)
    if meaning is None:
        return False

    evaluation.instances[node] = [None]
    evaluation.bound.extend(meaning.bound)
    evaluation.resources[str(address)] = DesiredResource(
        address=address,
        provider=evaluation.registry.provider_of[address.type],
        kind=kind.kind,
        attributes=_as_recorded(evaluation, str(address), meaning.attributes),
        dependencies=meaning.dependencies,
        lifecycle=lifecycle(
            block if meaning.has_lifecycle else None, kind.schema, evaluation.scope, evaluation.diagnostics
        ),
        span=block.header_span,
        spans=_later_spans(evaluation, block, kind),
    )
    return True


def _later_spans(evaluation: _Evaluation, block: BlockNode, kind: ResourceType) -> LaterSpans:
    """Returns the spans of a plain block, which means the same in every scope."""
    return LaterSpans(
        lambda: decode_body(block.body, kind.schema, evaluation.scope, Diagnostics(), meta=_META).spans
    )


def _as_recorded(evaluation: _Evaluation, address: str, attributes: Attributes) -> Attributes:
    """The recorded attributes where the declared ones are the same: most are, and what is held once takes
    half the memory and is compared at once.
    """
    recorded = evaluation.recorded(address)
    return recorded.attributes if recorded is not None and recorded.attributes == attributes else attributes


def _surroundings(evaluation: _Evaluation, kind: str, start: tuple[str, ...]) -> str:
    """The digest of what a block of a type sees that names these addresses."""
    known = evaluation.seen.get((kind, start))
    if known is None:
        resources = evaluation.resources
        reached = sorted(reached_by_declaration(start, resources))
        targets = sorted(set(_referred_types(evaluation.registry.types[kind].schema)))
        known = evaluation.seen[(kind, start)] = surroundings_of(
            [(address, resources[address].attributes) for address in reached],
            {target: _choices(evaluation, target) for target in targets},
        )
    return known


def _errors_since(diagnostics: Diagnostics, before: int) -> bool:
    return any(item.severity.value == "error" for item in diagnostics.items[before:])


def _refuse_sensitive(
    decoded: DecodedBody, kind: ResourceType, address: Address, diagnostics: Diagnostics
) -> None:
    for path in decoded.sensitive_paths:
        schema = kind.schema.attributes.get(str(path[0])) if path else None
        if schema is None or not schema.sensitive:
            diagnostics.error(
                codes.SENSITIVE_ATTRIBUTE,
                f"{render_path(path)} of {address} is sensitive. What resources are made of is kept in "
                "state and plan files, where no secret may be. Name the secret by reference instead.",
                subject=decoded.spans.get(path),
                address=str(address),
                attribute=path,
            )


def _unknown_attributes(decoded: DecodedBody, block: BlockNode, address: Address) -> Iterator[Diagnostic]:
    for name, value in decoded.attributes.items():
        if not is_known(value):
            yield error(
                codes.KNOWN_AFTER_APPLY,
                f"{name} of {address} comes from something that does not exist yet, and a resource can only "
                "be planned from known values. Create the other one first (apply -target), or write the "
                "value out.",
                subject=decoded.spans.get((name,), block.header_span),
                address=str(address),
                attribute=(name,),
            )


def _fill_connections(
    evaluation: _Evaluation,
    schema: Block,
    attributes: Attributes,
    block: BlockNode,
    diagnostics: Diagnostics,
) -> None:
    """An attribute that takes a connection and is left out, here or in a block inside, means that of another
    resource that is named beside it, or the only one there is.
    """
    for name, attribute in schema.attributes.items():
        if attributes.get(name) is not None or not isinstance(attribute.type, RefType):
            continue
        if attribute.only_with and not any(attributes.get(other) for other in attribute.only_with):
            continue
        _fill_connection(evaluation, (name, attribute.type), attributes, block, diagnostics)
    for name, nested in schema.blocks.items():
        for body in _bodies(nested.nesting, attributes.get(name)):
            _fill_connections(evaluation, nested.block, body, block, diagnostics)


def _bodies(nesting: Nesting, written: Data) -> Iterable[Attributes]:
    match nesting:
        case Nesting.SINGLE:
            return () if written is None else (written,)
        case Nesting.LIST:
            return written or ()
        case Nesting.MAP:
            return (written or {}).values()


def _fill_connection(
    evaluation: _Evaluation,
    attribute: tuple[str, RefType],
    attributes: Attributes,
    block: BlockNode,
    diagnostics: Diagnostics,
) -> None:
    name, taken = attribute
    target = next(filter(evaluation.registry.is_implied, taken.to), None)
    if target is None:
        return
    found = _choices(evaluation, target)
    shared = _connections_of_named(evaluation, attributes, target)
    if len(found) == 1:
        attributes[name] = Reference(found[0])
    elif len(shared) == 1:
        attributes[name] = shared.pop()
    elif found:
        diagnostics.error(
            codes.CONNECTION_AMBIGUOUS,
            f"{'.'.join((block.type, *block.labels))} must name its {target}, as there are several: "
            f"{', '.join(found)}. Write {name} = {found[0]}, or another.",
            subject=block.header_span,
            attribute=(name,),
        )


def _choices(evaluation: _Evaluation, target: str) -> list[str]:
    """The connections of a type, among which one is chosen that is not named."""
    if not evaluation.registry.is_implied(target):
        return []
    blocks = [f"{target}.{name}" for name in _named(evaluation, target) or (EMBEDDED,)]
    return [f"{block}{render_key(key)}" for block in blocks for key in evaluation.instances.get(block, ())]


def _connections_of_named(evaluation: _Evaluation, attributes: Attributes, target: str) -> set[Reference]:
    """The connections of this type of the resources that a body names, alone or in lists: a table is in the
    catalog of its namespace, whatever their attributes for it are called.
    """
    written = [
        item for value in attributes.values() for item in (value if isinstance(value, list) else [value])
    ]
    named = [evaluation.resources.get(item.address) for item in written if isinstance(item, Reference)]
    found = (value for item in named if item is not None for value in item.attributes.values())
    return {
        item for item in found if isinstance(item, Reference) and kind_and_name(item.address)[0] == target
    }


def _resolve(
    evaluation: _Evaluation,
    address: Address,
    kind: ResourceType,
    attributes: Attributes,
    needed: Sequence[str],
    source: tuple[BlockNode, DecodedBody] | None,
) -> tuple[str, ...]:
    """Canonical attributes of one instance, with what it depends on. Returns the addresses that it names."""
    diagnostics, text = evaluation.diagnostics, str(address)
    block, decoded = source or (None, None)
    found = Diagnostics()
    written = references(attributes)
    start = [*written, *_whole_blocks(evaluation, needed, written)]
    resources = evaluation.resources
    visible = {each: resources[each].resolved() for each in reached_by_declaration(start, resources)}
    evaluation.bound.extend(bound_places(text, attributes, str(evaluation.project.root)))
    canonical = kind.canonical(
        Decoded(address=text, name=address.name, attributes=attributes), visible, evaluation.project, found
    )
    spans = decoded.spans if decoded else {}
    there: Present | None = None
    if kind.kind is Kind.DATA and not found.has_errors:
        there = _data(evaluation, address, canonical, visible, block.header_span if block else None)
        canonical = canonical | there.attributes if there is not None else canonical
    for item in (*found, *found.later):
        place = _nearest(spans, item.attribute) or (block.header_span if block else None)
        inner = _inner(block.origin.source, item, spans, attributes) if block else None
        diagnostics.add(item.at(subject=inner or place, address=text))
    meant = references(canonical)
    direct = dict.fromkeys([*meant, *written, *_whole_blocks(evaluation, needed, meant)])
    direct.pop(text, None)
    evaluation.resources[text] = DesiredResource(
        address=address,
        provider=evaluation.registry.provider_of[address.type],
        kind=kind.kind,
        attributes=canonical,
        dependencies=tuple(direct),
        lifecycle=lifecycle(block, kind.schema, evaluation.scope, diagnostics),
        span=block.header_span if block else None,
        spans=spans,
        history=there.history if there is not None else None,
        members=there.members if there is not None else {},
    )
    return tuple(dict.fromkeys(start))


def _data(
    evaluation: _Evaluation,
    address: Address,
    asked: Attributes,
    visible: Mapping[str, Resolved],
    place: Span | None,
) -> Present | None:
    """Reads a data block; None where no system is asked, or none can tell."""
    text = str(address)
    question = Question(
        provider=evaluation.registry.provider_of[address.type],
        type=address.type,
        request=ReadRequest(
            address=text, desired=asked, recorded=None, references=visible, cheap=False, history=True
        ),
    )
    answer = evaluation.data.read(question)
    if isinstance(answer, Diagnostic):
        evaluation.unread[text] = answer.at(subject=place, address=text)
        return None
    if answer is None:
        evaluation.unasked.add(text)
    return answer


def _nearest(spans: Mapping[Path, Span], path: Path) -> Span | None:
    """The span of the longest written part of an attribute path."""
    while path:
        if path in spans:
            return spans[path]
        path = path[:-1]
    return None


def _inner(
    source: Source, item: Diagnostic, spans: Mapping[Path, Span], attributes: Attributes
) -> Span | None:
    """The place of a part of an attribute's text."""
    outer = spans.get(item.attribute)
    value: Data = attributes
    if item.within is None or outer is None:
        return None
    for step in item.attribute:
        value = value[step] if isinstance(value, dict) else None
    return inner_span(source, outer, value, *item.within) if isinstance(value, str) else None


def _whole_blocks(evaluation: _Evaluation, needed: Sequence[str], named: Iterable[str]) -> list[str]:
    """All instances of the blocks that are mentioned, but of those of which definite instances (``named``)
    are referred to.
    """
    definite = {item.split("[")[0] for item in named}
    return [
        f"{block}{render_key(key)}"
        for block in needed
        if block not in definite
        for key in evaluation.instances[block]
    ]


def _block_value(evaluation: _Evaluation, block: str) -> Value:
    """Returns the value of a reference such as ``table.orders``: one resource, a tuple of them (count) or a
    map (for_each).
    """
    if block in evaluation.failed or block not in evaluation.instances:
        return unknown()
    if block in evaluation.repeated:
        return evaluation.repeated[block]
    keys = evaluation.instances[block]
    kind, name = kind_and_name(block)
    values = {key: _instance_value(evaluation, Address(kind, name, key)) for key in keys}
    declared = evaluation.module.resources.get(block)
    if declared is not None and declared.body.attribute("count"):
        value = tuple_value(values.values())
    elif declared is not None and declared.body.attribute("for_each"):
        value = object_value({str(key): each for key, each in values.items()})
    else:
        return values[None]
    # Blocks are evaluated in the order of their references, so this one is whole
    evaluation.repeated[block] = value
    return value


def _instance_value(evaluation: _Evaluation, address: Address) -> Value:
    text = str(address)
    resource = evaluation.resources[text]
    kind = evaluation.registry.types[address.type]
    recorded = evaluation.recorded(text)
    attributes = {
        name: from_data(value) if name not in resource.members else members(value, resource.members[name])
        for name, value in resource.attributes.items()
    }
    for name, type_ in kind.computed.items():
        if name in attributes:
            continue
        value = UNKNOWN if recorded is None else recorded.identity.get(name, UNKNOWN)
        attributes[name] = unknown(type_) if value is UNKNOWN else from_data(value)
    return resource_value(text, address.type, attributes)
