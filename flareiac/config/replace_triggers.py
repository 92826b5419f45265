"""The ``replace_triggered_by`` of a resource: what it names, as addresses and attributes. Pure."""

from collections.abc import Iterator

from flareiac.config.module_call import ModuleCall
from flareiac.config.symbols import node_of
from flareiac.config.written_address import written_address
from flareiac.kernel import codes
from flareiac.kernel.addresses import InstanceKey, render_key
from flareiac.kernel.articles import with_article
from flareiac.kernel.diagnostics import Diagnostics, did_you_mean
from flareiac.lang.references import Traversal, literal_key, references
from flareiac.lang.syntax import BlockNode, Index, Node, Splat, TupleConstructor, children
from flareiac.model.desired import ReplaceTrigger
from flareiac.sdk.resource_type import Kind, ResourceType

_OWN_KEYS = frozenset({"each.key", "count.index"})


def replace_triggers(block: BlockNode, key: InstanceKey, call: ModuleCall) -> tuple[ReplaceTrigger, ...]:
    """The triggers of the instance of a block that has this key."""
    triggers: list[ReplaceTrigger] = []
    for nested in block.body.blocks_of("lifecycle"):
        attribute = nested.body.attribute("replace_triggered_by")
        if attribute is None:
            continue
        diagnostics, types = call.evaluation.diagnostics, call.evaluation.types
        if not types[block.type].planning.is_replaceable:
            replaceable = [name for name, each in types.items() if each.planning.is_replaceable]
            why = (
                f"{with_article(block.type, capital=True)} cannot be replaced by the change of another "
                f"resource; these can: {', '.join(replaceable)}. Remove replace_triggered_by."
            )
            diagnostics.error(codes.INVALID_REPLACE_TRIGGER, why, subject=attribute.name_span)
            continue
        if (computed := _computed_index(attribute.expr)) is not None:
            why = "An index is written out here, or it is each.key or count.index."
            diagnostics.error(codes.INVALID_REPLACE_TRIGGER, why, subject=computed.span)
            continue
        named = [each for each in references(attribute.expr) if str(each) not in _OWN_KEYS]
        if not isinstance(attribute.expr, TupleConstructor) or not named:
            why = (
                "It takes a list of resources, or of attributes of them: replace_triggered_by = [TYPE.NAME]."
            )
            diagnostics.error(codes.INVALID_REPLACE_TRIGGER, why, subject=attribute.expr.span)
            continue
        triggers += _triggers(named, key, call, diagnostics)
    return tuple(triggers)


def _computed_index(node: Node) -> Node | None:
    """The first index inside a node that is neither written out nor the key of the instance."""
    match node:
        case Splat():
            return node
        case Index(key=key) if not (literal_key(key) is not None or _is_own_key(key)):
            return key
    return next(
        (computed for each in children(node) if (computed := _computed_index(each)) is not None), None
    )


def _is_own_key(expression: Node) -> bool:
    return written_address(expression, literal_key) in _OWN_KEYS


def _triggers(
    named: list[Traversal], key: InstanceKey, call: ModuleCall, diagnostics: Diagnostics
) -> Iterator[ReplaceTrigger]:
    types = call.evaluation.types
    for traversal in named:
        node = node_of(traversal, types)
        kind = types.get(traversal.root)
        if kind is None or kind.kind is not Kind.MANAGED or node is None:
            why = (
                f"{traversal} is nothing that a plan changes. It takes managed resources: "
                f"{', '.join(sorted(name for name, each in types.items() if each.kind is Kind.MANAGED))}."
            )
            diagnostics.error(codes.INVALID_REPLACE_TRIGGER, why, subject=traversal.span)
            continue
        keys, steps = call.instances.get(node, []), list(traversal.steps[1:])
        if keys != [None] and steps:
            # An index that is not written out is each.key or count.index
            wanted = key if steps[0] is None else steps[0]
            keys, steps = [each for each in keys if each == wanted], steps[1:]
        if steps and not _has(kind, str(steps[0])):
            known = [*kind.schema.attributes, *kind.schema.blocks, *kind.computed]
            hint = did_you_mean(str(steps[0]), known).strip() or f"It has {', '.join(known)}."
            why = f'{node} has no "{steps[0]}". {hint}'
            diagnostics.error(codes.INVALID_REPLACE_TRIGGER, why, subject=traversal.span)
            continue
        yield ReplaceTrigger(
            addresses=tuple(f"{call.prefix}{node}{render_key(each)}" for each in keys),
            path=tuple(step for step in steps if step is not None),
        )


def _has(kind: ResourceType, name: str) -> bool:
    return name in kind.schema.attributes or name in kind.schema.blocks or name in kind.computed
