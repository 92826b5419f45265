"""The trees of python-hcl2's own parser and of ours in one form, in which they can be compared: nested tuples
that begin with what a node is. Parts whose text python-hcl2 keeps raw are compared as marks.
"""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any, Final, TypeAlias

import hcl2
from lark import Token, Tree
from lark.exceptions import UnexpectedInput

from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.sources import Source
from flareiac.lang.parse import parse_file
from flareiac.lang.syntax import (
    Binary,
    Body,
    Call,
    Conditional,
    ForObject,
    ForTuple,
    GetAttribute,
    Index,
    Literal,
    Node,
    ObjectConstructor,
    Parentheses,
    Splat,
    SplatStep,
    Template,
    TemplateFor,
    TemplateIf,
    TupleConstructor,
    Unary,
    Variable,
)

Shape: TypeAlias = Any
"""A nested tuple of texts and numbers."""
_ESCAPE: Final = re.compile(r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))|(\$\$|%%)(?=\{)", re.DOTALL)
_PLAIN: Final = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\"}
_CONSTANTS: Final = {"true": True, "false": False, "null": None}
HEREDOC: Final = ("heredoc",)
"""python-hcl2 keeps the text of a heredoc as one token, with its templates unread."""
TRIMMED: Final = ("text",)
"""A text beside a mark such as ``~}``, which takes white space from it: python-hcl2 leaves it there."""


def of_library(text: str) -> Shape:
    """The shape of python-hcl2's tree. Raises lark's ``UnexpectedInput`` for what that does not read."""
    (body,) = _trees(hcl2.parses_to_tree(text))
    return _library_body(body)


_OPEN_ESCAPE: Final = re.compile(r'(?:\$\$|%%)\{[^}"\n]*["\n]')
"""An escaped marker of a template that no brace closes, as in ``"a $${ b"``: python-hcl2 takes the escape and
what stands up to the brace for one token, and refuses the string without one.
"""


def of_ours(body: Body) -> Shape:
    """The shape of our tree of a file."""
    return (
        tuple(("attribute", item.name, _ours(item.expr)) for item in body.attributes),
        tuple(("block", item.type, item.labels, of_ours(item.body)) for item in body.blocks),
    )


def difference(text: str) -> str | None:
    """The difference where python-hcl2 refuses a text, or reads it in another way than ours; None where both
    agree.
    """
    diagnostics = Diagnostics()
    body = parse_file(Source("main.flare.hcl", text), diagnostics, cache=False)
    is_refused = bool(list(diagnostics))
    try:
        theirs = of_library(text)
    except UnexpectedInput as refused:
        known = is_refused or _OPEN_ESCAPE.search(text) is not None
        return None if known else f"python-hcl2 alone refuses it: {refused}"
    if is_refused:
        return None  # what python-hcl2 takes too much is measured in tests/facts/test_python_hcl2.py
    ours = of_ours(body)
    return None if ours == theirs else f"ours: {ours}\ntheirs: {theirs}"


# python-hcl2's tree


def _trees(tree: Tree[Token]) -> list[Tree[Token]]:
    return [part for part in tree.children if isinstance(part, Tree) and part.data != "new_line_or_comment"]


def _words(tree: Tree[Token]) -> list[str]:
    return [str(part) for part in tree.children if isinstance(part, Token)]


def _library_body(tree: Tree[Token]) -> Shape:
    items = _trees(tree)
    attributes = [_trees(item) for item in items if item.data == "attribute"]
    return (
        tuple(("attribute", _word(name), _library(value)) for name, value in attributes),
        tuple(_library_block(item) for item in items if item.data == "block"),
    )


def _library_block(tree: Tree[Token]) -> Shape:
    *header, body = _trees(tree)
    kind, *labels = header
    texts = tuple(_library(item)[1] if item.data == "string" else _word(item) for item in labels)
    return ("block", _word(kind), texts, _library_body(body))


def _word(tree: Tree[Token]) -> str:
    return "".join(map(str, tree.scan_values(lambda part: isinstance(part, Token)))).strip()


def _library(tree: Tree[Token]) -> Shape:
    inner = _trees(tree)
    match str(tree.data):
        case "expr_term":
            return (
                ("parentheses", _library(inner[0]))
                if "(" in map(str.strip, _words(tree))
                else _library(inner[0])
            )
        case "identifier" | "keyword":
            return ("variable", _word(tree))
        case "literal_value":
            return ("literal", _CONSTANTS[_word(tree)])
        case "int_lit" | "float_lit":
            return _number(Decimal(_word(tree)))
        case "string":
            return _library_template(inner)
        case "heredoc_template" | "heredoc_template_trim":
            return HEREDOC
        case "unary_op":
            return ("unary", _words(tree)[0].strip(), _library(inner[0]))
        case "binary_op":
            operator, right = _trees(inner[1])
            return ("binary", _word(operator), _library(inner[0]), _library(right))
        case "conditional":
            return ("conditional", *map(_library, inner))
        case "tuple":
            return ("tuple", *map(_library, inner))
        case "object":
            return ("object", *(tuple(map(_library, _trees(item))) for item in inner))
        case "object_elem_key":
            return _as_key(_library(inner[0]))
        case "function_call":
            names = [_word(item) for item in inner if item.data == "identifier"]
            given = next((item for item in inner if item.data == "arguments"), None)
            expand = given is not None and "..." in map(str.strip, _words(given))
            return (
                "call",
                "::".join(names),
                expand,
                *map(_library, _trees(given) if given is not None else ()),
            )
        case "get_attr_expr_term":
            return ("attribute of", _library(inner[0]), _word(_trees(inner[1])[0]))
        case "index_expr_term":
            keys = _trees(inner[1])  # .0 has a number alone
            key = _library(keys[0]) if keys else ("literal", Decimal(_word(inner[1]).lstrip(".")))
            return ("index", _library(inner[0]), key)
        case "attr_splat_expr_term" | "full_splat_expr_term":
            return ("splat", _library(inner[0]), *map(_library_step, _trees(inner[1])))
        case "for_tuple_expr":
            return _library_for("for tuple", tree)
        case "for_object_expr":
            return _library_for("for object", tree)
        case _:
            raise AssertionError(f"python-hcl2 has a new production: {tree.data}")


def _number(value: Decimal) -> Shape:
    """python-hcl2 takes the sign of -10 into the number, and that of -1 as an operator, as HCL does."""
    return ("unary", "-", ("literal", -value)) if value.is_signed() else ("literal", value)


def _as_key(shape: Shape) -> Shape:
    """A constant as a key is a word."""
    match shape:
        case ("literal", True | False | None as value):
            return ("variable", next(word for word, each in _CONSTANTS.items() if each is value))
        case _:
            return shape


def _library_step(tree: Tree[Token]) -> Shape:
    (inner,) = _trees(tree)
    return _word(inner) if tree.data == "get_attr" else _library(inner)


def _library_for(kind: str, tree: Tree[Token]) -> Shape:
    intro, *rest = _trees(tree)
    *names, collection = _trees(intro)
    condition = [_library(_trees(item)[0]) for item in rest if item.data == "for_cond"]
    results = [_library(item) for item in rest if item.data != "for_cond"]
    group = kind == "for object" and "..." in map(str.strip, _words(tree))
    return (kind, tuple(map(_word, names)), _library(collection), group, *results, ("if", *condition))


def _library_template(parts: Sequence[Tree[Token]]) -> Shape:
    shapes: list[Shape] = []
    trims = False
    for part in parts:
        (piece,) = part.children
        if isinstance(piece, Token):
            shapes.append(_unescaped(str(piece)))
        elif str(piece.data).startswith("template_"):
            trims = trims or "~" in "".join(_words(piece))
            word = str(piece.data).removeprefix("template_").removesuffix("_start")
            shapes.append((word, *(_library(item) for item in _trees(piece))))
        else:
            trims = trims or "~" in "".join(_words(piece))
            shapes.append(("value", _library(_trees(piece)[0])))
    return _template(shapes, trims=trims)


def _template(parts: Sequence[Shape], *, trims: bool) -> Shape:
    if trims:
        parts = [part for part in parts if not isinstance(part, str)]
    joined: list[Shape] = []
    for part in parts:
        if isinstance(part, str) and joined and isinstance(joined[-1], str):
            joined[-1] += part
        elif part != "":
            joined.append(part)
    if not trims and all(isinstance(part, str) for part in joined):
        return ("literal", "".join(joined))
    return ("template", *joined)


def _unescaped(text: str) -> str:
    def meant(match: re.Match[str]) -> str:
        short, long, plain, doubled = match.groups()
        if doubled:
            return str(doubled[0])
        return _PLAIN[plain] if plain else chr(int(short or long, 16))

    return _ESCAPE.sub(meant, text)


# Our tree


def _ours(node: Any) -> Shape:
    if isinstance(node, Node) and _source_of(node).startswith("<<"):
        return HEREDOC
    match node:
        case Literal():
            return ("literal", node.value)
        case Variable():
            return ("variable", node.name)
        case GetAttribute():
            return ("attribute of", _ours(node.source), node.name)
        case Index():
            return ("index", _ours(node.source), _ours(node.key))
        case Splat():
            return ("splat", _ours(node.source), *map(_step, node.steps))
        case Call():
            return ("call", node.name, node.expand, *map(_ours, node.arguments))
        case Unary():
            return ("unary", node.operator, _ours(node.operand))
        case Binary():
            return ("binary", node.operator, _ours(node.left), _ours(node.right))
        case Conditional():
            return ("conditional", _ours(node.condition), _ours(node.then), _ours(node.otherwise))
        case Parentheses():
            return ("parentheses", _ours(node.inner))
        case TupleConstructor():
            return ("tuple", *map(_ours, node.items))
        case ObjectConstructor():
            return ("object", *((_ours(item.key), _ours(item.value)) for item in node.items))
        case ForTuple():
            condition = () if node.condition is None else (_ours(node.condition),)
            return (
                "for tuple",
                _names(node),
                _ours(node.collection),
                False,
                _ours(node.result),
                ("if", *condition),
            )
        case ForObject():
            condition = () if node.condition is None else (_ours(node.condition),)
            results = (_ours(node.result_key), _ours(node.result))
            return (
                "for object",
                _names(node),
                _ours(node.collection),
                node.group,
                *results,
                ("if", *condition),
            )
        case Template():
            return _template(list(_parts(node.parts)), trims="~" in _source_of(node))
        case _:
            raise AssertionError(f"a new kind of node: {type(node).__name__}")


def _source_of(node: Node) -> str:
    return node.origin.source.text[node.origin.base + node.start : node.origin.base + node.end]


def _names(node: ForTuple | ForObject | TemplateFor) -> tuple[str, ...]:
    return (node.value_name,) if node.key_name is None else (node.key_name, node.value_name)


def _step(step: Any) -> Shape:
    if isinstance(step, str):
        return step
    if isinstance(step, SplatStep):
        return ("splat", *map(_step, step.steps))
    return _ours(step)


def _parts(parts: Sequence[Any]) -> Iterator[Shape]:
    for part in parts:
        match part:
            case str():
                yield part
            case TemplateIf():
                yield ("if", _ours(part.condition))
                yield from _parts(part.then)
                if part.otherwise:
                    yield ("else",)
                    yield from _parts(part.otherwise)
                yield ("endif",)
            case TemplateFor():
                names = tuple(("variable", name) for name in _names(part))
                yield ("for", *names, _ours(part.collection))
                yield from _parts(part.body)
                yield ("endfor",)
            case _:
                yield ("value", _ours(part))
