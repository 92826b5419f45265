"""The built-in rules: policies in the language itself, which ``use`` names. Reads one file of the package."""

import textwrap
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Final

from flareiac.config.policy_names import Subject
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.sources import Source
from flareiac.kernel.types import Type
from flareiac.lang.conversion import convert
from flareiac.lang.evaluate import evaluate
from flareiac.lang.parse import parse_file
from flareiac.lang.references import references
from flareiac.lang.scope import Scope
from flareiac.lang.syntax import BlockNode, Expression, literal_text
from flareiac.lang.type_expressions import parse_type
from flareiac.lang.values import Value

FILE: Final = "built_in_rules.hcl"
_WIDTH: Final = 118
"""Columns of the documentation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A parameter of a built-in rule. ``default`` None: it has to be given. ``written``: the default as it is
    written, for the documentation.
    """

    type: Type
    description: str
    default: Value | None = None
    written: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltIn:
    """A built-in rule. ``types``: the resource types that it is about; empty: all. ``expressions``:
    ``condition``, ``message``, and ``when`` where it has one.
    """

    name: str
    description: str
    subject: Subject
    types: frozenset[str]
    expressions: Mapping[str, Expression]
    parameters: Mapping[str, Parameter]


@cache
def library() -> Mapping[str, BuiltIn]:
    """All of them by name. The file is the program's own: a mistake in it fails a test, no user."""
    source = Source(FILE, files("flareiac.config").joinpath(FILE).read_text("utf-8"))
    diagnostics = Diagnostics()
    known = {
        block.labels[0]: _built_in(block, diagnostics) for block in parse_file(source, diagnostics).blocks
    }
    assert not diagnostics.has_errors, next(iter(diagnostics)).line
    return known


def _built_in(block: BlockNode, diagnostics: Diagnostics) -> BuiltIn:
    expressions = {
        name: node.expr
        for name in ("condition", "when", "message")
        if (node := block.body.attribute(name)) is not None
    }
    roots = {each.root for expression in expressions.values() for each in references(expression)}
    subject = next((each for each in Subject if each in roots and each is not Subject.PLAN), Subject.PLAN)
    types = block.body.attribute("types")
    listed = evaluate(types.expr, Scope(), diagnostics).raw if types is not None else ()
    return BuiltIn(
        name=block.labels[0],
        description=_text(block, "description"),
        subject=subject,
        types=frozenset(part.raw for part in listed),
        expressions=expressions,
        parameters={
            nested.labels[0]: _parameter(nested, diagnostics) for nested in block.body.blocks_of("parameter")
        },
    )


def _parameter(block: BlockNode, diagnostics: Diagnostics) -> Parameter:
    written, default = block.body.attribute("type"), block.body.attribute("default")
    assert written is not None, "a parameter has a type"
    constraint = parse_type(written.expr, diagnostics)
    assert constraint is not None, "a parameter has a type that can be read"
    value = evaluate(default.expr, Scope(), diagnostics) if default is not None else None
    return Parameter(
        type=constraint.type,
        description=_text(block, "description"),
        default=None if value is None else convert(value, constraint.type),
        written="" if default is None else _written(default.expr),
    )


def _written(expression: Expression) -> str:
    span = expression.span
    return expression.origin.source.text[span.start.offset : span.end.offset]


def _text(block: BlockNode, name: str) -> str:
    node = block.body.attribute(name)
    return (literal_text(node.expr) if node is not None else None) or ""


def rules_page() -> str:
    """The built-in rules as sections of a page, each under a heading that ``explain`` finds."""
    return "\n".join(_section(rule) for _, rule in sorted(library().items()))


def _section(rule: BuiltIn) -> str:
    about = f"Asked about each {rule.subject}" if rule.subject is not Subject.PLAN else "Asked once"
    of = f" of {' and '.join(f'`{name}`' for name in sorted(rule.types))}" if rule.types else ""
    lines = [f"## `{rule.name}`", "", textwrap.fill(f"{rule.description} {about}{of}.", _WIDTH), ""]
    for name, parameter in rule.parameters.items():
        default = f"Default: `{parameter.written}`." if parameter.written else "Required."
        listed = f"- `{name}` ({parameter.type}): {parameter.description} {default}"
        lines.append(textwrap.fill(listed, _WIDTH, subsequent_indent="  "))
    if rule.parameters:
        lines.append("")
    return "\n".join(lines)
