"""Meta-arguments and the blocks about addresses: ``depends_on``, ``lifecycle``, ``import``, ``removed``.
Pure.
"""

from collections.abc import Callable, Container, Mapping, Sequence
from decimal import Decimal

from flareiac.config.expand import Instance, instances
from flareiac.config.own_blocks import IMPORT, LIFECYCLE, REMOVED
from flareiac.config.shape import check_shape
from flareiac.config.variables import flag
from flareiac.config.written_address import written_address
from flareiac.kernel import codes
from flareiac.kernel.addresses import Address, InstanceKey, parse_address, parse_module
from flareiac.kernel.codes import Code
from flareiac.kernel.diagnostics import Diagnostics, did_you_mean
from flareiac.kernel.paths import Path
from flareiac.lang.evaluate import evaluate
from flareiac.lang.references import Traversal, references
from flareiac.lang.scope import Scope
from flareiac.lang.syntax import BlockNode, Expression, Variable
from flareiac.lang.values import contains_sensitive
from flareiac.model.desired import Import, Lifecycle, Removed
from flareiac.sdk.schema import Block

_LATER = ("create_before_destroy",)


def depends_on(block: BlockNode, diagnostics: Diagnostics) -> list[str]:
    """The block addresses that ``depends_on`` names."""
    attribute = block.body.attribute("depends_on")
    if attribute is None:
        return []
    traversals = references(attribute.expr)
    if not traversals:
        diagnostics.error(
            codes.INVALID_DEPENDS_ON,
            "It takes a list of resources: depends_on = [table.orders].",
            subject=attribute.expr.span,
        )
    return [
        ".".join([traversal.root, *map(str, traversal.steps[: 2 if traversal.root == "data" else 1])])
        for traversal in traversals
        if traversal.steps
    ]


def lifecycle(block: BlockNode | None, schema: Block, scope: Scope, diagnostics: Diagnostics) -> Lifecycle:
    """The ``lifecycle`` block of a resource, or what holds without one."""
    nested = block.body.blocks_of("lifecycle") if block else ()
    if not nested:
        return Lifecycle()
    _only_one(nested, diagnostics)
    body = nested[0].body
    ignored: tuple[Path, ...] = ()
    ignores_all = False
    for attribute in body.attributes:
        if attribute.name == "ignore_changes":
            ignores_all = isinstance(attribute.expr, Variable) and attribute.expr.name == "all"
            everything = tuple((name,) for name in (*schema.attributes, *schema.blocks))
            ignored = everything if ignores_all else _ignored(attribute.expr, schema, diagnostics)
        elif attribute.name in _LATER:
            diagnostics.error(
                codes.LIFECYCLE_NOT_SUPPORTED,
                f"{attribute.name} cannot be used here. Leave it out.",
                subject=attribute.name_span,
            )
        elif attribute.name not in LIFECYCLE.attributes:
            diagnostics.error(
                codes.UNKNOWN_ATTRIBUTE,
                f'There is no attribute "{attribute.name}" in a lifecycle block. It takes '
                f"{', '.join((*LIFECYCLE.attributes, *LIFECYCLE.blocks))}."
                f"{did_you_mean(attribute.name, LIFECYCLE.attributes)}",
                subject=attribute.name_span,
            )
    for inner in body.blocks:
        if inner.type not in LIFECYCLE.blocks:
            diagnostics.error(
                codes.UNKNOWN_BLOCK,
                f'There is no block "{inner.type}" in a lifecycle block. It takes '
                f"{' and '.join(LIFECYCLE.blocks)} blocks.{did_you_mean(inner.type, LIFECYCLE.blocks)}",
                subject=inner.type_span,
            )
    return Lifecycle(
        prevent_destroy=flag(nested[0], "prevent_destroy", False, scope, diagnostics),
        ignore_changes=ignored,
        ignores_all=ignores_all,
    )


def _ignored(expression: Expression, schema: Block, diagnostics: Diagnostics) -> tuple[Path, ...]:
    """The paths of a list of attributes."""
    mentioned = references(expression)
    ignored = tuple(map(_attribute_path, mentioned))
    if ignored and ("all",) not in ignored:
        _check_ignored(mentioned, schema, diagnostics)
        return ignored
    diagnostics.error(
        codes.INVALID_IGNORE_CHANGES,
        "It takes a list of attributes, ignore_changes = [properties], or the word all without brackets: "
        "ignore_changes = all.",
        subject=expression.span,
    )
    return ()


def _only_one(blocks: Sequence[BlockNode], diagnostics: Diagnostics) -> None:
    for block in blocks[1:]:
        diagnostics.error(
            codes.ONE_BLOCK_ALLOWED,
            f'There are several "{block.type}" blocks. Put everything into one block.',
            subject=block.header_span,
        )


def _check_ignored(traversals: Sequence[Traversal], schema: Block, diagnostics: Diagnostics) -> None:
    """A name that the resource does not have would protect nothing."""
    known = [*schema.attributes, *schema.blocks]
    for traversal in traversals:
        if traversal.root not in known:
            hint = did_you_mean(traversal.root, known).strip() or f"Attributes here: {', '.join(known)}."
            diagnostics.error(
                codes.INVALID_IGNORE_CHANGES,
                f'There is no attribute "{traversal.root}". {hint}',
                subject=traversal.span,
            )


def _attribute_path(traversal: Traversal) -> Path:
    return (traversal.root, *(step for step in traversal.steps if step is not None))


def imports(
    blocks: Sequence[BlockNode],
    resources: Mapping[str, object],
    has_failed: Callable[[Address], bool],
    scope: Scope,
    diagnostics: Diagnostics,
) -> tuple[Import, ...]:
    """The ``import`` blocks: which object becomes which instance. Those of blocks that have failed wait until
    these are right.
    """
    each = [
        _import(block, resources, has_failed, instance.scope, diagnostics)
        for block in blocks
        for instance in _repeated(block, scope, codes.INVALID_IMPORT, diagnostics)
    ]
    return tuple(import_entry for import_entry in each if import_entry is not None)


def _repeated(block: BlockNode, scope: Scope, code: Code, diagnostics: Diagnostics) -> Sequence[Instance]:
    """The instances of a block about addresses, which takes ``for_each`` and no ``count``."""
    if (count := block.body.attribute("count")) is not None:
        why = "Its instances have names and no numbers: write for_each, with each.key in the address."
        diagnostics.error(code, why, subject=count.name_span)
        return ()
    return instances(block, scope, diagnostics) or ()


def _import(
    block: BlockNode,
    resources: Mapping[str, object],
    has_failed: Callable[[Address], bool],
    scope: Scope,
    diagnostics: Diagnostics,
) -> Import | None:
    body = block.body
    to, name = body.attribute("to"), body.attribute("id")
    others = {attribute.name for attribute in body.attributes} - IMPORT.attributes.keys()
    if to is None or name is None or others or body.blocks:
        detail = (
            'It takes to and id: to = table.orders and id = "...". Where another state manages the object, '
            "it takes takeover = true as well."
        )
        diagnostics.error(codes.INVALID_IMPORT, detail, subject=block.header_span)
        return None
    before = len(diagnostics)
    address = _address(to.expr, scope, diagnostics)
    parsed = None if address is None else parse_address(address)
    value = evaluate(name.expr, scope, diagnostics)
    if len(diagnostics) > before or (parsed is not None and has_failed(parsed)):
        return None
    if address is None or parsed is None or address not in resources:
        which = f" There is no {address}." if address and body.attribute("for_each") else ""
        detail = f"Declare the block that the object is to become.{which}"
        diagnostics.error(codes.IMPORT_TARGET_UNKNOWN, detail, subject=to.expr.span)
        return None
    if contains_sensitive(value):
        why = f"The id of the import of {address} is sensitive. Plans, reports and the state show it."
        way_out = "Name the object by what may be shown, or wrap it in nonsensitive(...)."
        diagnostics.error(codes.SENSITIVE_ATTRIBUTE, f"{why} {way_out}", subject=name.expr.span)
        return None
    if not isinstance(value.raw, str):
        detail = "It must be known when planning."
        diagnostics.error(codes.INVALID_IMPORT_ID, detail, subject=name.expr.span)
        return None
    takeover = flag(block, "takeover", False, scope, diagnostics)
    return Import(to=address, id=value.raw, takeover=takeover, span=block.header_span)


def removals(
    blocks: Sequence[BlockNode], declared: Container[str], scope: Scope, diagnostics: Diagnostics
) -> tuple[Removed, ...]:
    """The ``removed`` blocks: what is no longer managed, and whether the object goes too. ``declared``: the
    addresses of blocks, calls of modules and instances.
    """
    each = [
        _removal(block, declared, instance.scope, diagnostics)
        for block in blocks
        for instance in _repeated(block, scope, codes.INVALID_REMOVED, diagnostics)
    ]
    return tuple(removal for removal in each if removal is not None)


def _removal(
    block: BlockNode, declared: Container[str], scope: Scope, diagnostics: Diagnostics
) -> Removed | None:
    check_shape(block, REMOVED, diagnostics)
    source, before = block.body.attribute("from"), len(diagnostics)
    address = _address(source.expr, scope, diagnostics) if source else None
    if len(diagnostics) > before:
        return None
    if source is None or address is None or (parse_address(address) or parse_module(address)) is None:
        why = "It takes from: from = table.orders."
        diagnostics.error(codes.INVALID_REMOVED, why, subject=block.header_span)
        return None
    if address in declared:
        diagnostics.error(
            codes.DECLARED_AND_REMOVED,
            f"{address} has a block and a removed block. A removed block is for what has no block any "
            "more. Delete one of the two.",
            subject=source.expr.span,
        )
        return None
    nested = block.body.blocks_of("lifecycle")
    _only_one(nested, diagnostics)
    for each in nested:
        check_shape(each, REMOVED.blocks["lifecycle"].block, diagnostics)
    destroy = flag(nested[0], "destroy", False, scope, diagnostics) if nested else False
    return Removed(source=address, destroy=destroy, span=block.header_span)


def _address(expression: Expression, scope: Scope, diagnostics: Diagnostics) -> str | None:
    """The address that an expression spells; the keys in it may be computed."""

    def key(written: Expression) -> InstanceKey:
        before, value = len(diagnostics), evaluate(written, scope, diagnostics)
        match value.raw:
            case str() as text if not contains_sensitive(value):
                return text
            case Decimal() as number if number == number.to_integral_value():
                return int(number)
            case _ if len(diagnostics) == before:
                why = "A key is a text or a whole number that is known when planning, and not sensitive."
                diagnostics.error(codes.INVALID_KEY_OF_ADDRESS, why, subject=written.span)
        return None

    return written_address(expression, key)
