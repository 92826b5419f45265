"""Runs the grammar's table over terminals; each reduction makes a node at once, so that no second tree is
built. lark's own loop knows neither transparent rules nor words that are keywords in some places only.
"""

from collections.abc import Set as AbstractSet
from typing import Final, NamedTuple

from flareiac.kernel import codes
from flareiac.lang.build import Builder, Part
from flareiac.lang.grammar import Table
from flareiac.lang.syntax import Body
from flareiac.lang.syntax_errors import InvalidSyntax
from flareiac.lang.tokens import Token

_KEYWORDS: Final = frozenset({"if", "in", "for", "else", "endif", "endfor", "null", "true", "false"})
_DEPTH_LIMIT: Final = 400
"""Symbols that may be open at once: some hundred levels of nesting, far below what would exhaust Python's
stack later.
"""


def parse(tokens: list[Token], table: Table, builder: Builder) -> Body:
    """The body that terminals spell. Raises ``InvalidSyntax``.

    The one hot loop of the front end: what it needs is in local names, and nothing in it is a function.
    """
    states, rules, jumps, accepted = table.states, table.rules, table.jumps, table.end
    handlers = builder.handlers
    state_stack = [table.start]
    value_stack: list[Part] = []
    end = len(builder.text)
    for token in [*tokens, Token("$END", "", end, end)]:
        own = token.kind
        keyword = token.text.upper() if own == "NAME" and token.text in _KEYWORDS else None
        while (below := state_stack[-1]) != accepted:
            actions = states[below]
            # A word is a keyword where the grammar takes one, and a name anywhere else
            kind = own if keyword is None or keyword not in actions else keyword
            action = actions.get(kind)
            if action is None:
                raise unexpected(token, actions.keys(), builder.text)
            if action >= 0:
                state_stack.append(action)
                value_stack.append(token if kind is own else token._replace(kind=kind))
                if len(state_stack) > _DEPTH_LIMIT:
                    detail = "Split this with local values."
                    raise InvalidSyntax(codes.TOO_DEEP, detail, token.start, token.end)
                break
            rule = rules[-1 - action]
            if rule.transparent:
                state_stack.pop()
            else:
                values: list[Part] = []
                if size := rule.size:
                    for part in value_stack[-size:]:
                        if part.__class__ is list:
                            values.extend(part)
                        elif part is not None:
                            values.append(part)
                    del state_stack[-size:]
                    del value_stack[-size:]
                value_stack.append(values if rule.spliced else handlers[rule.name](*values))
            # What a word is may change from state to state, so that it jumps over none
            below = state_stack[-1]
            state_stack.append(
                jumps[below, rule.origin, kind] if keyword is None else states[below][rule.origin]
            )
    result = value_stack[0]
    assert isinstance(result, Body)
    return result


class _Case(NamedTuple):
    """The sentence for an error at which certain terminals could stand and certain others could not."""

    tokens: AbstractSet[str]
    possible: AbstractSet[str]
    impossible: AbstractSet[str]
    sentence: str


_ENDS: Final = frozenset({"NL_OR_COMMENT", "$END"})
_VALUE: Final = frozenset({"LPAR", "LSQB", "DBLQUOTE", "INT_LITERAL"})
_NONE: Final = frozenset[str]()
_CASES: Final = (
    _Case(_ENDS, _VALUE, _NONE, "The line ends where an expression should follow."),
    _Case(
        _ENDS,
        {"EQ", "LBRACE"},
        _NONE,
        'A name alone means nothing: write name = value for an attribute, or name "label" {{ for a block.',
    ),
    _Case(_ENDS, {"LBRACE"}, _NONE, "The opening brace of a block stands on the line of its header."),
    _Case(_ENDS, _NONE, _NONE, "The line ends before the expression does.{wanted}"),
    _Case(_NONE, _VALUE, _NONE, "An expression should stand here, not {shown}."),
    _Case(
        {"EQ", "COLON"},
        {"LBRACE"},
        {"EQ"},
        "An attribute's name is one word without quotes, followed by =.",
    ),
    _Case({"COLON"}, {"EQ"}, _NONE, "Unexpected :. Attributes are written name = value."),
    _Case(
        {"EQ"},
        {"DOUBLE_EQ"},
        _NONE,
        "Unexpected =. To compare two values, write ==. To set an attribute, begin a new line.",
    ),
    _Case(
        {"COMMA"},
        {"RBRACE"},
        {"COMMA"},
        "Unexpected comma. Each attribute stands on a line of its own, without a comma; a block on one line "
        "takes one attribute.",
    ),
    _Case({"LBRACE"}, _NONE, {"EQ", "COMMA"}, "A block or an object cannot begin here."),
    _Case(_NONE, _NONE, _NONE, "Unexpected {shown}.{wanted}"),
)
"""The first that fits; one without terminals is about any."""
_SHOWN: Final = {
    "RBRACE": "}",
    "RPAR": ")",
    "RSQB": "]",
    "COMMA": ",",
    "EQ": "=",
    "COLON": ":",
    "LBRACE": "{",
    "IN": "in",
    "FOR_OBJECT_ARROW": "=>",
}


def unexpected(token: Token, possible: AbstractSet[str], text: str) -> InvalidSyntax:
    """The sentence for a terminal that fits nowhere."""
    sentence = next(
        case.sentence
        for case in _CASES
        if (not case.tokens or token.kind in case.tokens)
        and case.possible <= possible
        and case.impossible.isdisjoint(possible)
    )
    wanted = " or ".join(shown for kind, shown in _SHOWN.items() if kind in possible)
    detail = sentence.format(
        shown=text[token.start : token.end], wanted=f" Expected {wanted}." if wanted else ""
    )
    end = token.end if token.kind == "$END" else max(token.end, token.start + 1)
    return InvalidSyntax(codes.INVALID_SYNTAX, detail, token.start, end)
