"""Blocks of ``condition`` and ``error_message``: validations of variables, pre- and postconditions, and the
assertions of ``check`` blocks. Pure.
"""

from collections.abc import Iterable
from dataclasses import replace

from flareiac.config.own_blocks import CHECKED, DATA_LIFECYCLE, LIFECYCLE
from flareiac.config.shape import check_shape
from flareiac.kernel import codes
from flareiac.kernel.articles import with_article
from flareiac.kernel.diagnostics import Diagnostic, Diagnostics, Severity, error
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.types import BOOL, STRING
from flareiac.lang.conversion import ConversionError, convert
from flareiac.lang.evaluate import Evaluator, evaluate
from flareiac.lang.scope import Scope
from flareiac.lang.syntax import AttributeNode, BlockNode, Expression
from flareiac.lang.values import Value
from flareiac.model.conditions import ConditionResult, Moment, Owning, Status

_WITHOUT_MESSAGE = "The condition does not hold."
_CODES = {
    Owning.RESOURCE: {
        Moment.BEFORE: codes.PRECONDITION_OF_RESOURCE,
        Moment.AFTER: codes.POSTCONDITION_OF_RESOURCE,
    },
    Owning.OUTPUT: {Moment.BEFORE: codes.PRECONDITION_FAILED},
    Owning.CHECK: {Moment.ALWAYS: codes.CHECK_FAILED},
    Owning.VARIABLE: {Moment.GIVEN: codes.INVALID_VARIABLE_VALUE},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """The thing whose conditions are evaluated, by its address, and the scope that they see."""

    owning: Owning
    address: str
    scope: Scope

    def result(self, block: BlockNode, diagnostics: Diagnostics) -> ConditionResult | None:
        """The answer of one block; None after complaining about its shape."""
        parts = written_condition(block, diagnostics)
        return None if parts is None else self.decided(Moment(block.type), *parts)

    def results(self, blocks: Iterable[BlockNode], diagnostics: Diagnostics) -> list[ConditionResult]:
        """The answers of several blocks, but for those of a wrong shape."""
        return [each for block in blocks if (each := self.result(block, diagnostics)) is not None]

    def decided(self, moment: Moment, condition: Expression, message: Expression) -> ConditionResult:
        """The answer of a condition. A check warns of what does not hold; all others are errors."""
        problems = Diagnostics()
        status = self._status(condition, problems)
        if status is Status.FAIL:
            values = Evaluator(self.scope, problems).values_of(condition)
            text = _message(evaluate(message, self.scope, problems))
            failed = error(_CODES[self.owning][moment], text, subject=condition.span, values=values)
            problems = Diagnostics(items=[failed])
        problem = next(iter(problems), None)
        return ConditionResult(
            owning=self.owning,
            address=self.address,
            moment=moment,
            status=status,
            message="" if problem is None else problem.detail,
            problem=None if problem is None else self._weighed(problem),
        )

    def _status(self, condition: Expression, problems: Diagnostics) -> Status:
        result = evaluate(condition, self.scope, problems)
        if len(problems):
            return Status.ERROR
        try:
            holds = convert(result, BOOL)
            reason = "it is null" if holds.is_null else ""
        except ConversionError as problem:
            holds, reason = result, str(problem)
        if reason:
            why = f"The condition must be true or false: {reason}."
            problems.error(codes.CONDITION_NOT_BOOL, why, subject=condition.span)
            return Status.ERROR
        if not holds.is_known:
            return Status.UNKNOWN
        return Status.PASS if holds.raw is True else Status.FAIL

    def _weighed(self, problem: Diagnostic) -> Diagnostic:
        if self.owning in (Owning.RESOURCE, Owning.CHECK):
            problem = problem.at(address=self.address)
        return replace(problem, severity=Severity.WARNING) if self.owning is Owning.CHECK else problem


@dataclass(frozen=True, slots=True)
class Lifecycles:
    """The ``lifecycle`` blocks of a resource; there is one at most, unless that is a mistake."""

    blocks: tuple[BlockNode, ...]

    @property
    def has_postconditions(self) -> bool:
        return any(nested.body.blocks_of(Moment.AFTER) for nested in self.blocks)

    def before(
        self, address: str, scope: Scope, answers: list[ConditionResult], diagnostics: Diagnostics
    ) -> Diagnostic | None:
        """Adds the answers of the preconditions. Returns the complaint of one that does not hold."""
        return self._add(Moment.BEFORE, address, scope, answers, diagnostics)

    def after(
        self, address: str, scope: Scope, answers: list[ConditionResult], diagnostics: Diagnostics
    ) -> Diagnostic | None:
        """Adds the answers of the postconditions. Returns the complaint of one that does not hold."""
        return self._add(Moment.AFTER, address, scope, answers, diagnostics)

    def _add(
        self,
        moment: Moment,
        address: str,
        scope: Scope,
        answers: list[ConditionResult],
        diagnostics: Diagnostics,
    ) -> Diagnostic | None:
        checked = Checked(owning=Owning.RESOURCE, address=address, scope=scope)
        blocks = [each for nested in self.blocks for each in nested.body.blocks_of(moment)]
        results = checked.results(blocks, diagnostics)
        answers.extend(results)
        return next((each.problem for each in results if each.problem is not None), None)

    def refuse_for_data(self, diagnostics: Diagnostics) -> None:
        """Data is only read: nothing of it is created, changed or removed here."""
        managed = LIFECYCLE.attributes.keys() - DATA_LIFECYCLE.attributes.keys()
        for attribute in (each for nested in self.blocks for each in nested.body.attributes):
            if attribute.name in managed:
                why = (
                    "It is only read: nothing of it is created, changed or removed here. Remove "
                    f"{attribute.name}."
                )
                diagnostics.error(codes.DATA_WITH_LIFECYCLE, why, subject=attribute.name_span)


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


def _message(value: Value) -> str:
    """The message that the author wrote, or what is said in place of one that cannot be shown."""
    if value.sensitive:
        return f"{_WITHOUT_MESSAGE} Its error_message has a sensitive part and is not shown."
    try:
        text = convert(value, STRING).raw
    except ConversionError:
        text = None
    return text if isinstance(text, str) and text else _WITHOUT_MESSAGE
