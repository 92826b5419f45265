"""Sorts the top-level blocks of a module by what they declare. Pure; evaluates nothing."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath

from flareiac.config.files import SUFFIX
from flareiac.kernel import codes
from flareiac.kernel.addresses import NAME_RULE, is_name
from flareiac.kernel.diagnostics import Diagnostics, Related, did_you_mean
from flareiac.kernel.sources import Span
from flareiac.lang.syntax import AttributeNode, BlockNode, Body

_LATER = {
    "module": "Modules",
    "moved": "moved blocks",
    "check": "check blocks",
    "kafka": "Kafka connections",
    "topic": "Kafka topics",
    "secret": "Secrets",
}
_PLAIN = ("flareiac", "variable", "locals", "output", "import", "removed", "data")


@dataclass(slots=True)
class Module:
    """The declarations of one module by name; ``resources`` by block address (``table.orders``,
    ``data.table.raw``).
    """

    variables: dict[str, BlockNode] = field(default_factory=dict)
    locals: dict[str, AttributeNode] = field(default_factory=dict)
    outputs: dict[str, BlockNode] = field(default_factory=dict)
    resources: dict[str, BlockNode] = field(default_factory=dict)
    imports: list[BlockNode] = field(default_factory=list)
    removed: list[BlockNode] = field(default_factory=list)
    settings: list[BlockNode] = field(default_factory=list)


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
    return module


def _sort(
    block: BlockNode, module: Module, resource_types: Mapping[str, object], diagnostics: Diagnostics
) -> None:
    match block.type:
        case "variable" if _labelled(block, diagnostics):
            _put(module.variables, block.labels[0], block, f'variable "{block.labels[0]}"', diagnostics)
        case "output" if _labelled(block, diagnostics):
            _put(module.outputs, block.labels[0], block, f'output "{block.labels[0]}"', diagnostics)
        case "locals" if _unlabelled(block, diagnostics):
            for attribute in block.body.attributes:
                _put_local(module, attribute, diagnostics)
            for nested in block.body.blocks:
                diagnostics.error(
                    codes.UNKNOWN_BLOCK,
                    f'A locals block takes name = value, and no block "{nested.type}".',
                    subject=nested.type_span,
                )
        case "import" if _unlabelled(block, diagnostics):
            module.imports.append(block)
        case "removed" if _unlabelled(block, diagnostics):
            module.removed.append(block)
        case "flareiac" if _unlabelled(block, diagnostics):
            module.settings.append(block)
        case "data":
            _sort_data(block, module, resource_types, diagnostics)
        case kind if kind in resource_types:
            if _labelled(block, diagnostics):
                address = f"{kind}.{block.labels[0]}"
                _put(module.resources, address, block, address, diagnostics)
        case kind if kind in _LATER:
            diagnostics.error(
                codes.BLOCK_NOT_SUPPORTED,
                f"{_LATER[kind]} cannot be read by this version.",
                subject=block.header_span,
            )
        case kind if kind not in _PLAIN:
            known = [*_PLAIN, *(name for name in resource_types if "." not in name)]
            diagnostics.error(
                codes.UNKNOWN_BLOCK_TYPE,
                f'There is no block type "{kind}". Known block types are '
                f"{', '.join(sorted(known))}.{did_you_mean(kind, known)}",
                subject=block.header_span,
            )
        case _:
            pass


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
        f'A {block.type} block takes one name: {block.type} "name" {{ ... }}.',
        subject=block.header_span,
    )
    return False


def _named(block: BlockNode, diagnostics: Diagnostics) -> bool:
    """Whether the last label is a name. What is none would make an address that cannot be read again, or that
    of another block.
    """
    if is_name(block.labels[-1]):
        return True
    diagnostics.error(
        codes.INVALID_BLOCK_NAME,
        f'"{block.labels[-1]}" cannot be the name of a {block.type} block. {NAME_RULE}',
        subject=block.label_nodes[-1].span,
    )
    return False


def _unlabelled(block: BlockNode, diagnostics: Diagnostics) -> bool:
    if not block.labels:
        return True
    diagnostics.error(
        codes.WRONG_LABELS,
        f"A {block.type} block takes no name: {block.type} {{ ... }}.",
        subject=block.header_span,
    )
    return False


def _put(
    into: dict[str, BlockNode], name: str, block: BlockNode, what: str, diagnostics: Diagnostics
) -> None:
    if name in into:
        _duplicate(what, block.header_span, into[name].header_span, diagnostics)
    else:
        into[name] = block


def _put_local(module: Module, attribute: AttributeNode, diagnostics: Diagnostics) -> None:
    earlier = module.locals.get(attribute.name)
    if earlier is not None:
        _duplicate(f"local.{attribute.name}", attribute.name_span, earlier.name_span, diagnostics)
    else:
        module.locals[attribute.name] = attribute


def _duplicate(what: str, second: Span, first: Span, diagnostics: Diagnostics) -> None:
    overriding = any(
        PurePath(span.path).name.removesuffix(SUFFIX).endswith(("_override", "override"))
        for span in (first, second)
    )
    override = (
        " A file of overrides is read like any other file here: blocks are never merged."
        if overriding
        else ""
    )
    diagnostics.error(
        codes.DECLARED_TWICE,
        f"{what} was declared first at {first}. Each name stands for one thing in a module: rename or "
        f"remove one of them.{override}",
        subject=second,
        related=(Related(span=first, message="first declared here"),),
    )
