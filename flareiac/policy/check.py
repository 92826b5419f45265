"""The answers of rules about a plan. Pure: the time is an argument."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final, Literal, NamedTuple

from flareiac.config.policies import PARAMETER, Rule, RuleException
from flareiac.config.policy_names import Subject
from flareiac.kernel import codes
from flareiac.kernel.codes import Code
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.secret_masks import masked
from flareiac.kernel.sources import Span
from flareiac.kernel.types import BOOL
from flareiac.lang.conversion import ConversionError, convert
from flareiac.lang.evaluate import Evaluator, evaluate
from flareiac.lang.scope import Scope
from flareiac.lang.syntax import Expression
from flareiac.lang.values import contains_sensitive, lazy_object
from flareiac.model.plan import Plan
from flareiac.model.policy import Answer, Enforcement, Finding, PolicyResults, RuleResult
from flareiac.planning.make_plan import matches
from flareiac.policy.values import Asked, PlanValues
from flareiac.sdk.resource_type import ResourceType

LONGEST_MESSAGE: Final = 2_000
"""Characters of a message of a rule: it stands in a line of a plan and in a cell of a report."""
_COUNTED: Final = {
    Answer.FAILED: "failed",
    Answer.UNKNOWN: "unknown",
    Answer.ERROR: "errors",
    Answer.EXCEPTED: "excepted",
}


class _Unmet(NamedTuple):
    """An answer that is not "met"."""

    answer: Answer
    code: str
    message: str
    values: tuple[tuple[str, str], ...]
    span: Span


def check(
    plan: Plan, rules: Sequence[Rule], scope: Scope, types: Mapping[str, ResourceType], *, now: float
) -> PolicyResults:
    """The answers of all rules about a plan. ``scope``: what their expressions see beside the plan. ``now``:
    UTC seconds, at which an exception has or has not expired.
    """
    values = PlanValues(plan, types)
    checkers = [_Checker(rule, values, scope, now) for rule in rules]
    # All rules about one subject are asked before the next one, so that its values are made once and let go.
    for subject in Subject:
        about = [checker for checker in checkers if checker.rule.subject is subject]
        for asked in values.subjects(subject) if about else ():
            for checker in about:
                checker.ask(asked)
    used = [until for checker in checkers for until in checker.used]
    return PolicyResults(
        rules=tuple(checker.result() for checker in checkers),
        findings=tuple(finding for checker in checkers for finding in checker.findings),
        until=min(used, default=None),
    )


class _Checker:
    """Asks one rule about all its subjects."""

    def __init__(self, rule: Rule, values: PlanValues, scope: Scope, now: float) -> None:
        self.rule, self.plan, self.now = rule, values, now
        always = {Subject.PLAN.value: values.plan, PARAMETER: lazy_object(rule.parameters, PARAMETER)}
        self.scope = scope.child(always)
        self.tally = dict.fromkeys(("checked", "passed", *_COUNTED.values()), 0)
        self.findings: list[Finding] = []
        self.used: list[float] = []
        """The ends of the exceptions that allow what else refused the plan."""

    def ask(self, asked: Asked) -> None:
        """Asks about one subject, and counts the answer."""
        if self.rule.subject is not Subject.PLAN and not self.chooses(asked.address, asked.type):
            return
        met = self.answer(asked)
        if met is None:
            return
        self.tally["checked"] += 1
        if met is True:
            self.tally["passed"] += 1
            return
        finding = self.finding(asked, met)
        self.tally[_COUNTED[finding.answer]] += 1
        self.findings.append(finding)

    def result(self) -> RuleResult:
        rule = self.rule
        return RuleResult(
            policy=rule.policy,
            rule=rule.name,
            enforcement=rule.enforcement,
            use=rule.use,
            description=rule.description,
            path=rule.span.path,
            line=rule.span.start.line,
            **self.tally,
        )

    def chooses(self, address: str, kind: str) -> bool:
        rule = self.rule
        return (not rule.types or kind in rule.types) and (
            not rule.addresses or any(matches(address, pattern) for pattern in rule.addresses)
        )

    def answer(self, asked: Asked) -> Literal[True] | _Unmet | None:
        """True where the rule is met, None where it is not about this subject."""
        scope = self.scope.child({self.rule.subject.value: asked.value})
        if self.rule.when is not None:
            applies = self.truth(self.rule.when, scope)
            if not isinstance(applies, bool):
                return applies
            if not applies:
                return None
        holds = self.truth(self.rule.condition, scope)
        if not isinstance(holds, bool):
            return holds
        if holds:
            return True
        return self.unmet(Answer.FAILED, codes.RULE_NOT_MET, self.message(scope), self.rule.condition, scope)

    def truth(self, expression: Expression, scope: Scope) -> bool | _Unmet:
        """True or false; else why neither is known."""
        diagnostics = Diagnostics()
        value = evaluate(expression, scope, diagnostics)
        for problem in diagnostics:
            why = f"{problem.summary}: {problem.detail}" if problem.detail else problem.summary
            return _Unmet(Answer.ERROR, problem.code, why, problem.values, problem.subject or expression.span)
        if contains_sensitive(value):
            why = (
                "It reads what is sensitive, and its answer would tell of it. Ask about another attribute, "
                "or about the reference to the secret."
            )
            return self.unmet(Answer.ERROR, codes.RULE_READS_SENSITIVE, why, expression, scope)
        if value.is_unknown:
            why = f"It depends on what is known after apply: {_written(expression)}"
            return self.unmet(Answer.UNKNOWN, codes.RULE_NOT_KNOWN, why, expression, scope)
        try:
            holds = convert(value, BOOL).raw
        except ConversionError as problem:
            why = f"A condition is true or false: {problem}."
            return self.unmet(Answer.ERROR, codes.CONDITION_NOT_BOOL, why, expression, scope)
        if holds is None:
            why = "A condition is true or false, and this one is null."
            return self.unmet(Answer.ERROR, codes.CONDITION_NOT_BOOL, why, expression, scope)
        return holds is True

    def message(self, scope: Scope) -> str:
        """The message of the rule, or its condition where it has none that can be shown."""
        if self.rule.message is not None:
            text = evaluate(self.rule.message, scope, Diagnostics())
            if isinstance(text.raw, str) and not contains_sensitive(text) and text.raw.strip():
                whole = " ".join(text.raw.split())
                return masked(whole if len(whole) <= LONGEST_MESSAGE else f"{whole[:LONGEST_MESSAGE]}...")
        return f"This does not hold: {_written(self.rule.condition)}"

    def unmet(self, answer: Answer, code: Code, message: str, expression: Expression, scope: Scope) -> _Unmet:
        values = Evaluator(scope, Diagnostics()).values_of(expression)
        return _Unmet(answer, code.id, message, values, expression.span)

    def finding(self, asked: Asked, unmet: _Unmet) -> Finding:
        rule = self.rule
        place = rule.span if rule.use else unmet.span
        finding = Finding(
            policy=rule.policy,
            rule=rule.name,
            enforcement=rule.enforcement,
            answer=unmet.answer,
            address=asked.address,
            code=unmet.code,
            message=unmet.message,
            values=tuple((name, masked(text)) for name, text in unmet.values),
            path=place.path,
            line=place.start.line,
            column=place.start.column,
        )
        exception = _chosen(rule.exceptions, asked.address)
        if exception is None:
            return finding
        expired = exception.until <= self.now
        if not expired and rule.enforcement is Enforcement.MANDATORY:
            self.used.append(exception.until)
        return replace(
            finding,
            answer=finding.answer if expired else Answer.EXCEPTED,
            reason=exception.reason,
            expires=exception.expires,
            is_expired=expired,
        )


def _chosen(exceptions: Iterable[RuleException], address: str) -> RuleException | None:
    """The exception about an address that lasts longest; one that has expired where no other is."""
    about = [
        each
        for each in exceptions
        if not each.addresses or any(matches(address, pattern) for pattern in each.addresses)
    ]
    return max(about, key=lambda each: each.until, default=None)


def _written(expression: Expression) -> str:
    span = expression.span
    text = " ".join(expression.origin.source.text[span.start.offset : span.end.offset].split())
    return text if len(text) <= _WIDEST else f"{text[: _WIDEST - 3]}..."


_WIDEST: Final = 200
"""Characters of a condition that are shown."""
