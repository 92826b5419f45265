"""Sorts the top-level blocks of a module by what they declare. Pure; evaluates nothing."""

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import TypeVar

from flareiac.config.own_blocks import CHECK, OWN_BLOCKS
from flareiac.config.shape import check_shape
from flareiac.kernel import codes
from flareiac.kernel.addresses import NAME_RULE, is_name
from flareiac.kernel.articles import with_article
from flareiac.kernel.diagnostics import Diagnostics, Related, did_you_mean
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.sources import Span
from flareiac.lang.syntax import AttributeNode, BlockNode, Body

_CODE = 'A step with python = "module:function" runs your own code (flareiac explain job.step.python).'
_LATER = {
    "ephemeral": "ephemeral blocks are not supported yet. A secret block names where a value is; no "
    "state and no plan holds it (flareiac explain secret).",
}
_OTHERWISE = {
    "provider": "It is not needed: each connection has a block of its own, which holds its settings.",
    "terraform": "The settings of a project stand in a flareiac block: required_version, backend.",
    "backend": "It stands inside of the flareiac block (flareiac explain state).",
    "resource": 'A resource is a block of its own type: TYPE "NAME" { ... }, without the word resource.',
    "local": "Several values stand in one locals block: locals { name = value }; local.name reads one.",
    "var": 'A variable is declared with variable "NAME" { ... }; var.NAME reads it.',
    "udf": _CODE,
    "function": _CODE,
    "sink": "What a job writes to stands in its output blocks (flareiac explain job.output).",
    "source": "What a job reads is a stream block, or a table (flareiac explain stream).",
    "view": "A query that a job computes is one of its step blocks (flareiac explain job.step).",
    "query": "A query that a job runs is one of its step blocks (flareiac explain job.step).",
    "pipeline": "A job block holds inputs, steps and outputs (flareiac explain job).",
    "database": "It is called namespace here (flareiac explain namespace).",
    "schema": "It is called namespace here; the columns of a table are its column blocks.",
    "schedule": "cron or a timer of systemd runs flareiac restart or apply (flareiac explain service).",
    "trigger": "When a batch starts is the attribute trigger of a job (flareiac explain job.trigger).",
    "cluster": "Spark's cluster is an engine block, Kafka's a kafka block.",
    "test": "flareiac validate checks the files; apply has Spark check the SQL before it changes anything.",
}
"""Blocks that other tools have and this one has not, with the place of what they would say."""

OTHER_BLOCKS = frozenset({*_LATER, *_OTHERWISE})


def instead_of(block_type: str) -> str | None:
    """Returns the replacement of a block type that only other tools have, in one or two sentences."""
    return _LATER.get(block_type) or _OTHERWISE.get(block_type)


_Item = TypeVar("_Item", AttributeNode, BlockNode)
_PLAIN = (*OWN_BLOCKS, "data")


@dataclass(slots=True)
class Module:
    """The declarations of one module by name; ``resources`` by block address (``table.orders``,
    ``data.table.raw``).
    """

    variables: dict[str, BlockNode] = field(default_factory=dict)
    locals: dict[str, AttributeNode] = field(default_factory=dict)
    outputs: dict[str, BlockNode] = field(default_factory=dict)
    checks: dict[str, BlockNode] = field(default_factory=dict)
    resources: dict[str, BlockNode] = field(default_factory=dict)
    calls: dict[str, BlockNode] = field(default_factory=dict)
    """The ``module`` blocks."""
    imports: list[BlockNode] = field(default_factory=list)
    removed: list[BlockNode] = field(default_factory=list)
    moved: list[BlockNode] = field(default_factory=list)
    settings: list[BlockNode] = field(default_factory=list)
    policies: dict[str, BlockNode] = field(default_factory=dict)


def collect(bodies: Iterable[Body], resource_types: Mapping[str, object], diagnostics: Diagnostics) -> Module:
    """The module that the bodies of its files make together."""
    module = Module()
    for body in bodies:
        for attribute in body.attributes:
            diagnostics.error(
                codes.ATTRIBUTE_OUTSIDE_BLOCK,
                f'Only blocks stand at the top of a file. Put "{attribute.name}" into a locals block, or '
                "into the block it belongs to.",
                subject=attribute.name_span,
            )
        for block in body.blocks:
            _sort(block, module, resource_types, diagnostics)
    for block in module.checks.values():
        _look_at_check(block, module, resource_types, diagnostics)
    return module


def _sort(
    block: BlockNode, module: Module, resource_types: Mapping[str, object], diagnostics: Diagnostics
) -> None:
    named = {
        "variable": module.variables,
        "output": module.outputs,
        "check": module.checks,
        "policy": module.policies,
        "module": module.calls,
    }
    listed = {
        "import": module.imports,
        "removed": module.removed,
        "moved": module.moved,
        "flareiac": module.settings,
    }
    kind = block.type
    if kind in named:
        if _labelled(block, diagnostics):
            name = block.labels[0]
            _put(named[kind], name, block, f'{kind} "{name}"', diagnostics)
    elif kind in listed:
        if _unlabelled(block, diagnostics):
            listed[kind].append(block)
    elif kind == "locals":
        if _unlabelled(block, diagnostics):
            _sort_locals(block, module, diagnostics)
    elif kind == "data":
        _sort_data(block, module, resource_types, diagnostics)
    elif kind not in resource_types:
        _refuse(block, resource_types, diagnostics)
    elif _labelled(block, diagnostics):
        address = f"{kind}.{block.labels[0]}"
        _put(module.resources, address, block, address, diagnostics)


def _refuse(block: BlockNode, resource_types: Mapping[str, object], diagnostics: Diagnostics) -> None:
    if block.type in _LATER:
        diagnostics.error(codes.BLOCK_NOT_SUPPORTED, _LATER[block.type], subject=block.header_span)
        return
    if block.type in _OTHERWISE:
        detail = f'There is no block type "{block.type}". {_OTHERWISE[block.type]}'
        diagnostics.error(codes.UNKNOWN_BLOCK_TYPE, detail, subject=block.header_span)
        return
    known = [*_PLAIN, *(name for name in resource_types if "." not in name)]
    diagnostics.error(
        codes.UNKNOWN_BLOCK_TYPE,
        f'There is no block type "{block.type}". Known block types are '
        f"{', '.join(sorted(known))}.{did_you_mean(block.type, known)}",
        subject=block.header_span,
    )


def _sort_locals(block: BlockNode, module: Module, diagnostics: Diagnostics) -> None:
    for attribute in block.body.attributes:
        _put(module.locals, attribute.name, attribute, f"local.{attribute.name}", diagnostics)
    for nested in block.body.blocks:
        diagnostics.error(
            codes.UNKNOWN_BLOCK,
            f'A locals block takes name = value, and no block "{nested.type}".',
            subject=nested.type_span,
        )


def scoped_data(check: BlockNode) -> dict[str, BlockNode]:
    """Returns the data block that a check alone reads, by its address; nothing where it has none."""
    return {
        f"data.{block.labels[0]}.{block.labels[1]}": block
        for block in check.body.blocks_of("data")
        if len(block.labels) == 2
    }


def _look_at_check(
    block: BlockNode, module: Module, resource_types: Mapping[str, object], diagnostics: Diagnostics
) -> None:
    check_shape(block, CHECK, diagnostics)
    for nested in block.body.blocks_of("data"):
        _sort_data(nested, Module(resources=dict(module.resources)), resource_types, diagnostics)
    for nested in block.body.blocks_of("data")[1:]:
        why = "A check reads one data block of its own. Declare the other one outside of it."
        diagnostics.error(codes.ONE_BLOCK_ALLOWED, why, subject=nested.header_span)
    if not block.body.blocks_of("assert"):
        why = "A check block needs an assert block, with condition and error_message."
        diagnostics.error(codes.INCOMPLETE_CHECK, why, subject=block.header_span)


def _sort_data(
    block: BlockNode, module: Module, resource_types: Mapping[str, object], diagnostics: Diagnostics
) -> None:
    known = [name.removeprefix("data.") for name in resource_types if name.startswith("data.")]
    if len(block.labels) != 2:
        diagnostics.error(
            codes.WRONG_LABELS,
            'A data block takes a type and a name: data "table" "name" { ... }.',
            subject=block.header_span,
        )
    elif block.labels[0] not in known:
        diagnostics.error(
            codes.UNKNOWN_DATA_TYPE,
            f'There is no data "{block.labels[0]}". What others own can be read as data '
            f"{', '.join(sorted(known))}.{did_you_mean(block.labels[0], known)}",
            subject=block.header_span,
        )
    elif _named(block, diagnostics):
        address = f"data.{block.labels[0]}.{block.labels[1]}"
        _put(module.resources, address, block, address, diagnostics)


def _labelled(block: BlockNode, diagnostics: Diagnostics) -> bool:
    if len(block.labels) == 1:
        return _named(block, diagnostics)
    diagnostics.error(
        codes.WRONG_LABELS,
        f'{with_article(block.type, capital=True)} block takes one name: {block.type} "name" {{ ... }}.',
        subject=block.header_span,
    )
    return False


def _named(block: BlockNode, diagnostics: Diagnostics) -> bool:
    """Returns True if the last label is a name. Any other text would make an address that cannot be read
    again, or that of another block.
    """
    if is_name(block.labels[-1]):
        return True
    diagnostics.error(
        codes.INVALID_BLOCK_NAME,
        f'"{block.labels[-1]}" cannot be the name of {with_article(block.type)} block. {NAME_RULE}',
        subject=block.label_nodes[-1].span,
    )
    return False


def _unlabelled(block: BlockNode, diagnostics: Diagnostics) -> bool:
    if not block.labels:
        return True
    diagnostics.error(
        codes.WRONG_LABELS,
        f"{with_article(block.type, capital=True)} block takes no name: {block.type} {{ ... }}.",
        subject=block.header_span,
    )
    return False


def declared_at(node: AttributeNode | BlockNode) -> Span:
    """Returns the span for diagnostics about a declaration as a whole."""
    return node.header_span if isinstance(node, BlockNode) else node.name_span


def _put(into: dict[str, _Item], name: str, declaration: _Item, what: str, diagnostics: Diagnostics) -> None:
    first = into.setdefault(name, declaration)
    if first is not declaration:
        _duplicate(what, declared_at(declaration), declared_at(first), diagnostics)


def _duplicate(what: str, second: Span, first: Span, diagnostics: Diagnostics) -> None:
    diagnostics.error(
        codes.DECLARED_TWICE,
        f"{what} was declared first at {first}. Each name stands for one thing in a module: rename or "
        f"remove one of them.",
        subject=second,
        related=(Related(span=first, message="first declared here"),),
    )
