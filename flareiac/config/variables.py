"""The values of variables: default, environment, variable files, command line, in this order of precedence
(as Terraform's). Pure.
"""

from collections.abc import Mapping, Sequence

from flareiac.config.conditions import Checked, written_condition
from flareiac.config.own_blocks import VARIABLE
from flareiac.kernel import codes
from flareiac.kernel.diagnostics import Diagnostics, did_you_mean
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.sources import Source, Span
from flareiac.kernel.types import (
    BOOL,
    NUMBER,
    STRING,
    BoolType,
    ListType,
    MapType,
    NumberType,
    ObjectType,
    SetType,
    TupleType,
    Type,
)
from flareiac.lang.conversion import ConversionError, convert, named
from flareiac.lang.evaluate import evaluate
from flareiac.lang.parse import parse_expression, parse_file
from flareiac.lang.references import references
from flareiac.lang.scope import Scope
from flareiac.lang.syntax import BlockNode
from flareiac.lang.type_expressions import TypeConstraint, parse_type
from flareiac.lang.values import Value, string, unknown
from flareiac.model.conditions import ConditionResult, Moment, Owning

ENVIRONMENT_PREFIX = "FLAREIAC_VAR_"
"""The prefix of the environment variables that give values to variables."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """A single value from outside. ``text`` is HCL, unless the variable takes a string, number or bool: then
    it is that.
    """

    name: str
    text: str
    origin: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """All values from outside, lowest precedence first within each field."""

    environment: Mapping[str, str]
    files: Sequence[Source] = ()
    given: Sequence[Given | Source] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _GivenValue:
    value: Value | None
    text: str | None
    origin: str
    span: Span | None = None


def variable_values(
    blocks: Mapping[str, BlockNode], inputs: Inputs, scope: Scope, diagnostics: Diagnostics
) -> dict[str, Value]:
    """The value of each declared variable; unknown where it could not be had, so that nothing else complains
    about it.
    """
    given_values = _outside(blocks, inputs, scope, diagnostics)
    return {
        name: _Variable(name, block, scope, diagnostics).value(given_values.get(name)) or unknown()
        for name, block in blocks.items()
    }


def validate_variable(
    name: str, address: str, block: BlockNode, scope: Scope, diagnostics: Diagnostics
) -> list[ConditionResult]:
    """Checks the ``validation`` blocks of a variable, in a scope where ``var`` has the values of all and what
    else they mention is evaluated. Returns the answers, of which those that do not hold are reported.
    """
    checked = Checked(owning=Owning.VARIABLE, address=address, scope=scope)
    results: list[ConditionResult] = []
    for nested in block.body.blocks_of("validation"):
        parts = written_condition(nested, diagnostics)
        if parts is None:
            continue
        condition, message = parts
        if not any((each.root, *each.steps[:1]) == ("var", name) for each in references(condition)):
            diagnostics.error(
                codes.VALIDATION_OF_SOMETHING_ELSE,
                f"It does not mention var.{name}. A validation checks the value of its own variable; it may "
                "compare it with others.",
                subject=condition.span,
            )
            continue
        result = checked.decided(Moment.GIVEN, condition, message)
        results.append(result)
        if result.problem is not None:
            diagnostics.add(result.problem)
    return results


def called_variable(  # noqa: PLR0913 - one value, from where it comes, and where it goes
    name: str,
    block: BlockNode,
    value: Value | None,
    origin: str,
    span: Span | None,
    scope: Scope,
    diagnostics: Diagnostics,
) -> Value | None:
    """The value of a variable of a module that is called, from an argument (None: there is none) or by
    default; None after complaining.
    """
    given = None if value is None else _GivenValue(value=value, text=None, origin=origin, span=span)
    if given is None and block.body.attribute("default") is None:
        return None  # said once, of the call
    return _Variable(name, block, scope, diagnostics).value(given)


def _outside(
    blocks: Mapping[str, BlockNode], inputs: Inputs, scope: Scope, diagnostics: Diagnostics
) -> dict[str, _GivenValue]:
    given_values: dict[str, _GivenValue] = {}
    for key, text in inputs.environment.items():
        name = key.removeprefix(ENVIRONMENT_PREFIX)
        if (
            name != key
            and name in blocks
            and _is_text(text, name, f"environment variable {key}", diagnostics)
        ):
            given_values[name] = _GivenValue(value=None, text=text, origin=f"environment variable {key}")
    for given in (*inputs.files, *inputs.given):
        if isinstance(given, Source):
            _read_file(given, blocks, scope, given_values, diagnostics)
        elif not _is_text(given.name + given.text, given.name, given.origin, diagnostics):
            continue
        elif given.name in blocks:
            given_values[given.name] = _GivenValue(value=None, text=given.text, origin=given.origin)
        else:
            diagnostics.error(
                codes.UNDECLARED_VARIABLE,
                f'"{given.name}" has a value from {given.origin}. Declare it: variable "{given.name}" {{}}, '
                f"or leave it out.{did_you_mean(given.name, blocks)}",
            )
    return given_values


def _is_text(text: str, name: str, origin: str, diagnostics: Diagnostics) -> bool:
    """Returns True if a text from outside is valid UTF-8; Python keeps other bytes as halves of surrogate
    pairs.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        shown = name.encode(errors="replace").decode()
        diagnostics.error(
            codes.VARIABLE_NOT_UTF8,
            f'The value of "{shown}" from {origin.encode(errors="replace").decode()} has a byte that does '
            "not belong to any character.",
        )
        return False
    return True


def _read_file(
    source: Source,
    blocks: Mapping[str, BlockNode],
    scope: Scope,
    given_values: dict[str, _GivenValue],
    diagnostics: Diagnostics,
) -> None:
    body = parse_file(source, diagnostics)
    for block in body.blocks:
        diagnostics.error(
            codes.BLOCK_IN_VARIABLE_FILE, "Write name = value, one on a line.", subject=block.header_span
        )
    for attribute in body.attributes:
        if attribute.name in blocks:
            value = evaluate(attribute.expr, scope, diagnostics)
            given_values[attribute.name] = _GivenValue(
                value=value, text=None, origin=source.path, span=attribute.span
            )
        else:
            diagnostics.warning(
                codes.UNDECLARED_VARIABLE,
                f'{source.path} gives "{attribute.name}" a value that nothing '
                f"uses.{did_you_mean(attribute.name, blocks)}",
                subject=attribute.name_span,
            )


@dataclass(frozen=True, slots=True)
class _Variable:
    """One declared variable. Its methods return None after complaining."""

    name: str
    block: BlockNode
    scope: Scope
    diagnostics: Diagnostics

    def value(self, given: _GivenValue | None) -> Value | None:
        """The value as the type, whether it comes from outside or is the default."""
        _check_attributes(self.block, self.diagnostics)
        written = self.block.body.attribute("type")
        constraint = parse_type(written.expr, self.diagnostics) if written else None
        if written and constraint is None:
            return None
        sensitive = self.flag("sensitive", False)
        value, span = self.raw(given, constraint, hidden=sensitive)
        # The lines of a complaint would show a sensitive value
        span = self.block.header_span if sensitive else span
        if value is not None and value.is_null and not self.flag("nullable", True):
            value = self.default()
            if value is None or value.is_null:
                detail = f'The variable "{self.name}" has nullable = false.'
                self.diagnostics.error(codes.VARIABLE_NULL, detail, subject=span)
                return None
        if value is None:
            return None
        try:
            value = value.with_sensitive(sensitive)
            return constraint.apply(value) if constraint else value
        except ConversionError as problem:
            origin = given.origin if given else "its default"
            detail = f'The value of "{self.name}" from {origin}: {problem}.'
            self.diagnostics.error(codes.VARIABLE_TYPE, detail, subject=span)
            return None

    def flag(self, name: str, default: bool) -> bool:
        return flag(self.block, name, default, self.scope, self.diagnostics)

    def default(self) -> Value | None:
        written = self.block.body.attribute("default")
        if written is None:
            return None
        mentioned = references(written.expr)
        for each in mentioned:
            self.diagnostics.error(
                codes.DEFAULT_NOT_FIXED,
                f"A default is a fixed value, and {each} is not one. Leave the default null, and choose in a "
                f"local value: locals {{ {self.name} = coalesce(var.{self.name}, {each}) }}.",
                subject=each.span,
            )
        return None if mentioned else evaluate(written.expr, self.scope, self.diagnostics)

    def raw(
        self, given: _GivenValue | None, constraint: TypeConstraint | None, *, hidden: bool
    ) -> tuple[Value | None, Span]:
        """The value as it was given, and where."""
        header = self.block.header_span
        if given is not None and given.value is not None:
            return given.value, given.span or header
        if given is not None:
            text = given.text or ""
            # As typed: the shell's words are no HCL
            if constraint is None or constraint.type in (STRING, NUMBER, BOOL):
                return string(text), header
            return self.spelled(text, given.origin, constraint.type, hidden=hidden), header
        if written := self.block.body.attribute("default"):
            return self.default(), written.expr.span
        self.diagnostics.error(
            codes.VARIABLE_WITHOUT_VALUE,
            f'The variable "{self.name}" has no default. Give it a value with -var {self.name}=..., in '
            f"flareiac.vars.hcl, or as FLAREIAC_VAR_{self.name} in the environment.",
            subject=header,
        )
        return None, header

    def spelled(self, text: str, origin: str, wanted: Type, *, hidden: bool) -> Value | None:
        """The value that the command line or the environment spells in HCL."""
        diagnostics = Diagnostics()
        expression = parse_expression(Source(f"<{origin}>", text), diagnostics)
        value = evaluate(expression, self.scope, diagnostics) if expression else None
        if not diagnostics.has_errors:
            return value
        reason = next(iter(diagnostics)).line
        if hidden:
            reason = "The variable is sensitive, so that the reason is not shown."
        self.diagnostics.error(
            codes.VARIABLE_TYPE,
            f'The value of "{self.name}" from {origin}: it takes {named(wanted)}, written in HCL: -var '
            f"'{self.name}={_example(wanted)}'. {reason}",
            subject=self.block.header_span,
        )
        return None


def _example(wanted: Type) -> str:
    """A value of a type, as one would write it."""
    match wanted:
        case ListType(element) | SetType(element):
            return f"[{_example(element)}]"
        case TupleType(elements):
            return f"[{', '.join(map(_example, elements))}]"
        case MapType(element):
            return f"{{ a = {_example(element)} }}"
        case ObjectType(attributes):
            return f"{{ {', '.join(f'{name} = {_example(kind)}' for name, kind in attributes.items())} }}"
        case NumberType():
            return "1"
        case BoolType():
            return "true"
        case _:
            return '"a"'


def _check_attributes(block: BlockNode, diagnostics: Diagnostics) -> None:
    for attribute in block.body.attributes:
        if attribute.name not in VARIABLE.attributes:
            hint = did_you_mean(attribute.name, VARIABLE.attributes)
            diagnostics.error(
                codes.UNKNOWN_ATTRIBUTE,
                f'There is no attribute "{attribute.name}" in a variable block. It takes '
                f"{', '.join(VARIABLE.attributes)}.{hint}",
                subject=attribute.name_span,
            )
    for nested in block.body.blocks:
        if nested.type not in VARIABLE.blocks:
            diagnostics.error(
                codes.UNKNOWN_BLOCK,
                f'There is no block "{nested.type}" in a variable block. It takes validation.',
                subject=nested.header_span,
            )


def flag(block: BlockNode, name: str, default: bool, scope: Scope, diagnostics: Diagnostics) -> bool:
    """The value of a bool attribute of a block that has no schema."""
    attribute = block.body.attribute(name)
    if attribute is None:
        return default
    try:
        return bool(convert(evaluate(attribute.expr, scope, diagnostics), BOOL).raw is True)
    except ConversionError as problem:
        diagnostics.error(
            codes.WRONG_TYPE, f'"{name}" takes true or false: {problem}.', subject=attribute.expr.span
        )
        return default
