"""The values of ``output`` blocks. Pure."""

from flareiac.config.own_blocks import OUTPUT
from flareiac.config.shape import check_shape
from flareiac.config.variables import flag
from flareiac.kernel import codes
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.lang.evaluate import evaluate
from flareiac.lang.scope import Scope
from flareiac.lang.syntax import AttributeNode, BlockNode
from flareiac.lang.values import Value, contains_sensitive, cty_json, is_too_deep, to_data, unknown
from flareiac.model.desired import OutputValue


def output_value(name: str, block: BlockNode, scope: Scope, diagnostics: Diagnostics) -> OutputValue:
    """The value of an output of the root module as it is recorded, with its type; None in place of one that
    is sensitive, or in error.
    """
    written = _written(name, block, scope, diagnostics)
    if written is None:
        return OutputValue(value=None)
    node, value = written
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


def called_output(name: str, block: BlockNode, scope: Scope, diagnostics: Diagnostics) -> Value:
    """The value of an output of a module that is called; unknown where it is in error."""
    written = _written(name, block, scope, diagnostics)
    if written is None:
        return unknown()
    return written[1].with_sensitive(flag(block, "sensitive", False, scope, diagnostics))


def _written(
    name: str, block: BlockNode, scope: Scope, diagnostics: Diagnostics
) -> tuple[AttributeNode, Value] | None:
    """The attribute with the value, and the value; None where it is missing."""
    node = block.body.attribute("value")
    check_shape(block, OUTPUT, diagnostics)
    if node is None:
        diagnostics.error(
            codes.OUTPUT_WITHOUT_VALUE,
            f'The output "{name}" needs one. Write value = ...',
            subject=block.header_span,
        )
        return None
    return node, evaluate(node.expr, scope, diagnostics)
