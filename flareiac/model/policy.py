"""The answers of the rules of a team about one plan: what a plan records, and every renderer shows."""

from dataclasses import field
from enum import StrEnum
from typing import NamedTuple

from flareiac.kernel.data import Seconds
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import OPTIONAL, SPARSE


class Enforcement(StrEnum):
    """The weight of a rule."""

    ADVISORY = "advisory"
    """A rule that is not met is reported."""
    MANDATORY = "mandatory"
    """A plan that does not meet it cannot be applied."""


class Answer(StrEnum):
    """The answer of a rule about one subject, where it is not simply met."""

    FAILED = "failed"
    UNKNOWN = "unknown"
    """It depends on a value that is known after apply. This never counts as met."""
    ERROR = "error"
    """It could not be evaluated. This never counts as met."""
    EXCEPTED = "excepted"
    """It is not met, and an exception that has not expired allows that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleResult:
    """The result of one rule: the number of subjects by answer. ``use``: the built-in rule that it stands
    for. ``path``, ``line``: where it is written.
    """

    policy: str
    rule: str
    enforcement: Enforcement
    use: str = field(default="", metadata=SPARSE)
    description: str = field(default="", metadata=SPARSE)
    path: str
    line: int
    checked: int = 0
    passed: int = 0
    failed: int = 0
    unknown: int = 0
    errors: int = 0
    excepted: int = 0

    @property
    def name(self) -> str:
        return f"{self.policy}.{self.rule}"

    @property
    def is_met(self) -> bool:
        return not (self.failed or self.unknown or self.errors)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One subject that does not meet a rule. ``address`` is empty where the plan as a whole is the subject.
    ``code``: that of a diagnostic. ``values``: those that the condition read, by their text; never sensitive
    ones. ``path``, ``line``, ``column``: where the rule says what is not met, or what cannot be evaluated.
    ``reason``, ``expires``: of the exception that allows it, or that allowed it until it expired
    (``is_expired``).
    """

    policy: str
    rule: str
    enforcement: Enforcement
    answer: Answer
    address: str = field(default="", metadata=SPARSE)
    code: str
    message: str
    values: tuple[tuple[str, str], ...] = field(default=(), metadata=SPARSE)
    path: str
    line: int
    column: int
    reason: str = field(default="", metadata=SPARSE)
    expires: str = field(default="", metadata=SPARSE)
    is_expired: bool = field(default=False, metadata=SPARSE)

    @property
    def name(self) -> str:
        return f"{self.policy}.{self.rule}"

    @property
    def refuses(self) -> bool:
        """Returns True if the plan cannot be applied because of it."""
        return self.enforcement is Enforcement.MANDATORY and self.answer is not Answer.EXCEPTED


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyResults:
    """The answers of all rules, in the order of their files. ``until``: UTC seconds at which the first
    exception expires that allows something of this plan; None where none does.
    """

    rules: tuple[RuleResult, ...]
    findings: tuple[Finding, ...] = ()
    until: Seconds | None = field(default=None, metadata=OPTIONAL)

    @property
    def refuses(self) -> bool:
        """Returns True if a mandatory rule is not met."""
        return any(result.enforcement is Enforcement.MANDATORY and not result.is_met for result in self.rules)

    @property
    def failing(self) -> tuple[RuleResult, ...]:
        """The mandatory rules that are not met."""
        return tuple(
            result
            for result in self.rules
            if result.enforcement is Enforcement.MANDATORY and not result.is_met
        )

    @property
    def warning(self) -> tuple[RuleResult, ...]:
        """The advisory rules that are not met."""
        return tuple(
            result
            for result in self.rules
            if result.enforcement is Enforcement.ADVISORY and not result.is_met
        )


class BlockPlace(NamedTuple):
    """The place of a block in the configuration: the path as it is shown, and the line."""

    path: str
    line: int
