"""Blocks of ``condition`` and ``error_message``: validations of variables, pre- and postconditions, and the
assertions of ``check`` blocks. Pure.
"""

from flareiac.config.own_blocks import CHECKED
from flareiac.config.shape import check_shape
from flareiac.kernel import codes
from flareiac.kernel.articles import with_article
from flareiac.kernel.codes import Code
from flareiac.kernel.diagnostics import Diagnostic, Diagnostics, error
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.types import BOOL, STRING
from flareiac.lang.conversion import ConversionError, convert
from flareiac.lang.evaluate import evaluate
from flareiac.lang.scope import Scope
from flareiac.lang.syntax import AttributeNode, BlockNode, Expression
from flareiac.lang.values import Value

_WITHOUT_MESSAGE = "The condition does not hold."


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The answer of one condition. ``holds``: None where the condition is not known, or is in error.
    ``problem``: the error to report where it does not hold, or where it cannot be evaluated.
    """

    holds: bool | None
    problem: Diagnostic | None = None


def check_condition(block: BlockNode, scope: Scope, diagnostics: Diagnostics, code: Code) -> None:
    """Evaluates a condition; one that does not hold is an error with this code and its own message."""
    parts = written_condition(block, diagnostics)
    if parts is None:
        return
    verdict = decide(*parts, scope, diagnostics, code)
    if verdict.problem is not None:
        diagnostics.add(verdict.problem)


def written_condition(block: BlockNode, diagnostics: Diagnostics) -> tuple[Expression, Expression] | None:
    """Returns the condition and the message of a block; None after complaining that one is missing."""
    check_shape(block, CHECKED, diagnostics)
    condition, message = block.body.attribute("condition"), block.body.attribute("error_message")
    if isinstance(condition, AttributeNode) and isinstance(message, AttributeNode):
        return condition.expr, message.expr
    diagnostics.error(
        codes.INCOMPLETE_CHECK,
        f"{with_article(block.type, capital=True)} block takes condition and error_message, and one of "
        "them is missing.",
        subject=block.header_span,
    )
    return None


def decide(
    condition: Expression, message: Expression, scope: Scope, diagnostics: Diagnostics, code: Code
) -> Verdict:
    """Evaluates a condition. What is wrong in its expressions is reported; ``code`` is that of the error
    where it does not hold.
    """
    before = len(diagnostics)
    result = evaluate(condition, scope, diagnostics)
    if len(diagnostics) > before:
        return Verdict(holds=None)
    try:
        holds = convert(result, BOOL)
    except ConversionError as problem:
        why = f"The condition must be true or false: {problem}."
        return Verdict(holds=None, problem=error(codes.CONDITION_NOT_BOOL, why, subject=condition.span))
    if holds.is_null:
        why = "The condition must be true or false, and it is null."
        return Verdict(holds=None, problem=error(codes.CONDITION_NOT_BOOL, why, subject=condition.span))
    if not holds.is_known:
        return Verdict(holds=None)
    if holds.raw is True:
        return Verdict(holds=True)
    told = _message(evaluate(message, scope, diagnostics))
    return Verdict(holds=False, problem=error(code, told, subject=condition.span))


def _message(value: Value) -> str:
    """The message that the author wrote, or what is said in place of one that cannot be shown."""
    if value.sensitive:
        return f"{_WITHOUT_MESSAGE} Its error_message has a sensitive part and is not shown."
    try:
        text = convert(value, STRING).raw
    except ConversionError:
        text = None
    return text if isinstance(text, str) and text else _WITHOUT_MESSAGE
