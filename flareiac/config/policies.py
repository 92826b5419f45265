"""``policy`` blocks as rules. Pure."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Final, TypeVar

from flareiac.config import own_blocks
from flareiac.config.own_blocks import EXCEPTION, RULE
from flareiac.config.policy_names import NAMES, Subject
from flareiac.config.rule_library import BuiltIn, library
from flareiac.config.shape import check_shape
from flareiac.kernel import codes
from flareiac.kernel.addresses import NAME_RULE, is_name
from flareiac.kernel.diagnostics import Diagnostics, did_you_mean
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.sources import Span
from flareiac.kernel.types import STRING, ListType, Type
from flareiac.lang.conversion import ConversionError, convert
from flareiac.lang.evaluate import evaluate
from flareiac.lang.references import Traversal, references
from flareiac.lang.scope import Scope
from flareiac.lang.syntax import AttributeNode, BlockNode, Expression
from flareiac.lang.values import Value, contains_sensitive
from flareiac.model.policy import Enforcement

POLICY: Final = "policy"
PARAMETER: Final = "param"
"""The symbol of the parameters of a built-in rule, within its own expressions."""
_OWN: Final = ("condition", "when", "message")
_SYMBOLS: Final = ("var", "local", "path", "flareiac")
_Word = TypeVar("_Word", bound=StrEnum)


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleException:
    """A rule allows something for a time. ``addresses``: as of ``-target``; empty: whatever it is about.
    ``until``: UTC seconds at which it ends.
    """

    addresses: tuple[str, ...]
    reason: str
    expires: str
    until: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule. It is asked once for each ``subject`` of one of ``types`` at one of ``addresses`` (empty:
    all) for which ``when`` holds.
    """

    policy: str
    name: str
    subject: Subject
    enforcement: Enforcement
    condition: Expression
    when: Expression | None = None
    message: Expression | None = None
    use: str = ""
    description: str = ""
    types: frozenset[str] = frozenset()
    addresses: tuple[str, ...] = ()
    parameters: Mapping[str, Value] = field(default_factory=dict)
    exceptions: tuple[RuleException, ...] = ()
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyContext:
    """The values that expressions of policies see before a plan exists. ``declared``: variables and locals,
    as ``var.x`` and ``local.x``; ``types``: the resource types.
    """

    scope: Scope
    declared: Collection[str]
    types: Collection[str]


def rules_of(
    blocks: Iterable[BlockNode], context: PolicyContext, diagnostics: Diagnostics
) -> tuple[Rule, ...]:
    """The rules of all ``policy`` blocks, but for those that are wrong, which are reported."""
    return tuple(rule for block in blocks for rule in _rules(block, context, diagnostics))


def _rules(block: BlockNode, context: PolicyContext, diagnostics: Diagnostics) -> Iterator[Rule]:
    check_shape(block, own_blocks.POLICY, diagnostics)
    reader = _Reader(context, diagnostics)
    weight = reader.word(block, "enforcement", Enforcement, Enforcement.MANDATORY)
    seen: dict[str, Span] = {}
    nested = block.body.blocks_of("rule")
    if not nested:
        why = 'It has no rule. Write rule "name" { use = "owner_required" }, or one with a condition.'
        diagnostics.error(codes.INVALID_RULE, why, subject=block.header_span)
    for each in nested:
        if len(each.labels) != 1 or not is_name(each.labels[0]):
            why = f'A rule block takes one name: rule "name" {{ ... }}. {NAME_RULE}'
            diagnostics.error(codes.WRONG_LABELS, why, subject=each.header_span)
            continue
        if each.labels[0] in seen:
            first = seen[each.labels[0]]
            why = f"The rule {each.labels[0]} was declared first at {first}. Rename one of them."
            diagnostics.error(codes.DECLARED_TWICE, why, subject=each.header_span)
            continue
        seen[each.labels[0]] = each.header_span
        rule = reader.rule(block.labels[0], each, weight)
        if rule is not None:
            yield rule


class _Reader:
    """Reads the parts of ``rule`` blocks. Its methods complain about what is wrong."""

    def __init__(self, context: PolicyContext, diagnostics: Diagnostics) -> None:
        self.context, self.diagnostics = context, diagnostics

    def rule(self, policy: str, block: BlockNode, weight: Enforcement) -> Rule | None:
        before = len(self.diagnostics)
        check_shape(block, RULE, self.diagnostics)
        used = self.built_in(block)
        if len(self.diagnostics) > before:
            return None
        parts = self.own_parts(block) if used is None else used.expressions
        if parts is None:
            return None
        subject = self.subject(block, parts.values()) if used is None else used.subject
        types = self.types(block, subject)
        rule = Rule(
            policy=policy,
            name=block.labels[0],
            subject=subject,
            enforcement=self.word(block, "enforcement", Enforcement, weight),
            condition=parts["condition"],
            when=parts.get("when"),
            message=parts.get("message"),
            use=used.name if used is not None else "",
            description=self.text(block, "description") or (used.description if used is not None else ""),
            types=self.chosen_types(block, types, used),
            addresses=self.addresses(block, subject),
            parameters={} if used is None else self.parameters(block, used),
            exceptions=tuple(filter(None, map(self.exception, block.body.blocks_of("exception")))),
            span=parts["condition"].span if used is None else block.header_span,
        )
        return rule if len(self.diagnostics) == before else None

    def own_parts(self, block: BlockNode) -> Mapping[str, Expression] | None:
        """The expressions of a rule that is no built-in one."""
        parts = {name: node.expr for name in _OWN if (node := block.body.attribute(name)) is not None}
        given = block.body.attribute("parameters")
        if "condition" in parts and given is None:
            return parts
        why = (
            "Without use, a rule needs a condition and takes no parameters. flareiac explain policy lists "
            "the built-in rules."
        )
        at = block.header_span if given is None else given.name_span
        self.diagnostics.error(codes.INVALID_RULE, why, subject=at)
        return None

    def built_in(self, block: BlockNode) -> BuiltIn | None:
        attribute = block.body.attribute("use")
        if attribute is None:
            return None
        name = self.text(block, "use")
        known = library()
        if name not in known:
            if name:
                why = (
                    f'There is no built-in rule "{name}".{did_you_mean(name, known)} They are '
                    f"{', '.join(sorted(known))}."
                )
                self.diagnostics.error(codes.INVALID_RULE, why, subject=attribute.expr.span)
            return None
        for own in _OWN:
            if (node := block.body.attribute(own)) is not None:
                why = f"A rule with use has its {own} already. Leave out one of the two."
                self.diagnostics.error(codes.INVALID_RULE, why, subject=node.name_span)
        return known[name]

    def chosen_types(self, block: BlockNode, written: frozenset[str], used: BuiltIn | None) -> frozenset[str]:
        if used is None or not used.types:
            return written
        node = block.body.attribute("types")
        if node is not None and (strange := written - used.types):
            about, other = ", ".join(sorted(used.types)), ", ".join(sorted(strange))
            why = f"{used.name} is about {about}, not about {other}."
            self.diagnostics.error(codes.INVALID_RULE, why, subject=node.expr.span)
        return written or used.types

    def subject(self, block: BlockNode, expressions: Iterable[Expression]) -> Subject:
        """The subject that the expressions name beside the plan. Complains about names that do not exist."""
        named: dict[Subject, Traversal] = {}
        for traversal in [each for expression in expressions for each in references(expression)]:
            if traversal.root in list(Subject):
                named.setdefault(Subject(traversal.root), traversal)
            self.check_name(traversal)
        chosen = [subject for subject in named if subject is not Subject.PLAN]
        if len(chosen) > 1:
            why = (
                f"It names {' and '.join(chosen)}, and a rule is asked about one of them. resource.change is "
                "the change of a resource, change.after has the attributes after a change."
            )
            self.diagnostics.error(codes.INVALID_RULE, why, subject=named[chosen[1]].span)
        if not named:
            why = (
                "Its condition names neither plan, change, resource nor consumer, so that it says nothing of "
                "a plan. A variable is checked by its validation block."
            )
            self.diagnostics.error(codes.INVALID_RULE, why, subject=block.header_span)
        return chosen[0] if chosen else Subject.PLAN

    def check_name(self, traversal: Traversal) -> None:
        root, steps = traversal.root, traversal.steps
        if root in list(Subject):
            names = NAMES[Subject(root)]
            if steps and isinstance(steps[0], str) and steps[0] not in names:
                hint = did_you_mean(steps[0], names) or f" It has {', '.join(names)}."
                why = f'"{root}" has no "{steps[0]}".{hint} flareiac explain policy.{root} has their types.'
                self.diagnostics.error(codes.INVALID_RULE, why, subject=traversal.span)
        elif root in ("var", "local"):
            if steps and isinstance(steps[0], str) and f"{root}.{steps[0]}" not in self.context.declared:
                same = [
                    each.partition(".")[2] for each in self.context.declared if each.startswith(f"{root}.")
                ]
                why = f"Nothing declares {root}.{steps[0]}.{did_you_mean(steps[0], same)}"
                self.diagnostics.error(codes.NOT_DECLARED, why, subject=traversal.span)
        elif root in self.context.types or root == "data":
            why = (
                f'A rule reads the plan: plan.resources["{traversal}"] is the resource as planned, and a '
                "rule that names resource is asked about each one."
            )
            self.diagnostics.error(codes.INVALID_RULE, why, subject=traversal.span)
        elif root not in _SYMBOLS:
            known = (*Subject, *_SYMBOLS)
            why = (
                f'There is no "{root}" in a rule.{did_you_mean(root, known)} It may name {", ".join(known)}.'
            )
            self.diagnostics.error(codes.INVALID_RULE, why, subject=traversal.span)

    def types(self, block: BlockNode, subject: Subject) -> frozenset[str]:
        node = block.body.attribute("types")
        if node is None:
            return frozenset()
        names = self.texts(block, "types")
        self.must_choose(node, subject, (Subject.CHANGE, Subject.RESOURCE))
        for name in names:
            if name not in self.context.types:
                why = f'There is no resource type "{name}".{did_you_mean(name, self.context.types)}'
                self.diagnostics.error(codes.INVALID_RULE, why, subject=node.expr.span)
        return frozenset(names)

    def addresses(self, block: BlockNode, subject: Subject) -> tuple[str, ...]:
        node = block.body.attribute("addresses")
        if node is None:
            return ()
        self.must_choose(node, subject, (Subject.CHANGE, Subject.RESOURCE, Subject.CONSUMER))
        return self.texts(block, "addresses")

    def must_choose(self, node: AttributeNode, subject: Subject, among: Collection[Subject]) -> None:
        value = self.value(node, ListType(STRING))
        if subject not in among:
            why = f"{node.name} chooses among {', '.join(among)}; this rule is about the {subject}."
            self.diagnostics.error(codes.INVALID_RULE, why, subject=node.name_span)
        elif value is not None and not value.raw:
            why = f"With no {node.name} the rule is about nothing. Leave the attribute out, or the rule."
            self.diagnostics.error(codes.INVALID_RULE, why, subject=node.expr.span)

    def parameters(self, block: BlockNode, used: BuiltIn) -> Mapping[str, Value]:
        node = block.body.attribute("parameters")
        given = {} if node is None else self.given(node, used)
        at = block.header_span if node is None else node.expr.span
        values = {}
        for name, parameter in used.parameters.items():
            value = given.get(name, parameter.default)
            if value is None:
                why = f"{used.name} needs the parameter {name}: {parameter.description}"
                self.diagnostics.error(codes.INVALID_RULE, why, subject=at)
                continue
            try:
                values[name] = convert(value, parameter.type)
            except ConversionError as problem:
                why = f"The parameter {name} of {used.name}: {problem}."
                self.diagnostics.error(codes.INVALID_RULE, why, subject=at)
        return values

    def given(self, node: AttributeNode, used: BuiltIn) -> Mapping[str, Value]:
        value = evaluate(node.expr, self.context.scope, self.diagnostics)
        if not isinstance(value.raw, Mapping):
            if not value.is_unknown:
                why = 'parameters are an object: parameters = { pattern = "^[a-z_]+$" }.'
                self.diagnostics.error(codes.INVALID_RULE, why, subject=node.expr.span)
            return {}
        known = ", ".join(used.parameters) or "none"
        for name in value.raw:
            if name not in used.parameters:
                hint = did_you_mean(name, used.parameters)
                why = f'{used.name} has no parameter "{name}".{hint} It has {known}.'
                self.diagnostics.error(codes.INVALID_RULE, why, subject=node.expr.span)
        return value.raw

    def exception(self, block: BlockNode) -> RuleException | None:
        before = len(self.diagnostics)
        check_shape(block, EXCEPTION, self.diagnostics)
        reason, expires = self.text(block, "reason"), self.text(block, "expires")
        if (not reason.strip() or not expires.strip()) and len(self.diagnostics) == before:
            why = 'An exception has a reason and ends: reason = "TEAM-12: moves", expires = "2027-03-31".'
            self.diagnostics.error(codes.INVALID_EXCEPTION, why, subject=block.header_span)
        addresses: tuple[str, ...] = ()
        if (node := block.body.attribute("addresses")) is not None:
            addresses = self.texts(block, "addresses")
            if not addresses and len(self.diagnostics) == before:
                why = (
                    "An exception for no address allows nothing. Name addresses, or leave the attribute out."
                )
                self.diagnostics.error(codes.INVALID_EXCEPTION, why, subject=node.expr.span)
        until = _end_of(expires)
        if until is None and len(self.diagnostics) == before:
            node = block.body.attribute("expires")
            why = (
                f'"{expires}" is no date. Write expires = "2027-03-31" (to the end of that day, UTC), or a '
                'time with its zone: "2027-03-31T18:00:00Z".'
            )
            at = block.header_span if node is None else node.expr.span
            self.diagnostics.error(codes.INVALID_EXCEPTION, why, subject=at)
        if until is None or len(self.diagnostics) > before:
            return None
        return RuleException(addresses=addresses, reason=reason, expires=expires, until=until)

    def word(self, block: BlockNode, name: str, words: type[_Word], default: _Word) -> _Word:
        node = block.body.attribute(name)
        if node is None:
            return default
        text = self.text(block, name)
        if text in list(words):
            return words(text)
        if text:
            why = f'"{text}" is no {name}.{did_you_mean(text.lower(), words)} It is {" or ".join(words)}.'
            self.diagnostics.error(codes.INVALID_RULE, why, subject=node.expr.span)
        return default

    def text(self, block: BlockNode, name: str) -> str:
        node = block.body.attribute(name)
        value = self.value(node, STRING) if node is not None else None
        return value.raw if value is not None and isinstance(value.raw, str) else ""

    def texts(self, block: BlockNode, name: str) -> tuple[str, ...]:
        node = block.body.attribute(name)
        value = self.value(node, ListType(STRING)) if node is not None else None
        return tuple(part.raw for part in value.raw) if value is not None else ()

    def value(self, node: AttributeNode, wanted: Type) -> Value | None:
        """A known value of a type, which nobody has to keep secret; None after complaining."""
        before = len(self.diagnostics)
        value = evaluate(node.expr, self.context.scope, self.diagnostics)
        if len(self.diagnostics) > before:
            return None
        try:
            value = convert(value, wanted)
        except ConversionError as problem:
            self.diagnostics.error(codes.INVALID_RULE, f"{node.name}: {problem}.", subject=node.expr.span)
            return None
        parts_known = (
            value.is_known and not value.is_null and not any(part.is_null for _, part in value.parts)
        )
        if not parts_known or contains_sensitive(value):
            why = (
                f"{node.name} is not known, null or sensitive. It is read before the plan, and shown: write "
                "it out, or take it from a variable."
            )
            self.diagnostics.error(codes.INVALID_RULE, why, subject=node.expr.span)
            return None
        return value


def _end_of(text: str) -> float | None:
    """UTC seconds at which a date (with its day) or a time with its zone is over; None for anything else."""
    try:
        moment = datetime.fromisoformat(text)
        if len(text) == len("2027-03-31"):
            return (moment.replace(tzinfo=UTC) + timedelta(days=1)).timestamp()
        return moment.timestamp() if moment.tzinfo is not None else None
    except (ValueError, OverflowError):
        return None
