"""Runs the grammar's table over terminals; each reduction makes a node at once, so that no second tree is
built.
"""

from collections.abc import Mapping
from typing import Final

from flareiac.kernel import codes
from flareiac.lang.build import Builder, Part
from flareiac.lang.grammar import Table
from flareiac.lang.syntax import Body
from flareiac.lang.syntax_errors import SyntaxTrouble
from flareiac.lang.tokens import Token

KEYWORDS: Final[Mapping[str, str]] = {
    "if": "IF",
    "in": "IN",
    "for": "FOR",
    "else": "ELSE",
    "endif": "ENDIF",
    "endfor": "ENDFOR",
    "null": "NULL",
    "true": "TRUE",
    "false": "FALSE",
}


DEPTH_LIMIT: Final = 400
"""Symbols that may be open at once: some hundred levels of nesting, far below what would exhaust Python's
stack later.
"""

TOO_DEEP: Final = "Split this with local values."


def parse(tokens: list[Token], table: Table, builder: Builder) -> Body:
    """The body that terminals spell. Raises ``SyntaxTrouble``."""
    states, rules, jumps, end_state = table.states, table.rules, table.jumps, table.end
    state_stack = [table.start]
    value_stack: list[Part] = []
    handlers = builder.handlers
    end = len(builder.text)
    tokens.append(Token("$END", "", end, end))
    for token in tokens:
        kind, is_word = token.kind, token.text in KEYWORDS
        while True:
            actions = states[state_stack[-1]]
            if is_word and token.kind == "NAME":
                keyword = KEYWORDS[token.text]
                kind = keyword if keyword in actions else "NAME"
            action = actions.get(kind)
            if action is None:
                raise unexpected(token, actions, builder.text)
            if action >= 0:
                state_stack.append(action)
                value_stack.append(token if kind == token.kind else token._replace(kind=kind))
                if len(state_stack) > DEPTH_LIMIT:
                    raise SyntaxTrouble(codes.TOO_DEEP, TOO_DEEP, token.start, token.end)
                break
            rule = rules[-1 - action]
            size = rule.size
            if rule.transparent:
                state_stack.pop()
            else:
                values: list[Part] = []
                if size:
                    for part in value_stack[-size:]:
                        if part.__class__ is list:
                            values.extend(part)
                        elif part is not None:
                            values.append(part)
                    del state_stack[-size:]
                    del value_stack[-size:]
                value_stack.append(values if rule.spliced else handlers[rule.name](values))
            below = state_stack[-1]
            if is_word:
                state_stack.append(states[below][rule.origin])
            else:
                step = (below, rule.origin, kind)
                reached = jumps.get(step)
                if reached is None:
                    reached = jumps[step] = _reached(table, below, rule.origin, kind)
                state_stack.append(reached)
            if kind == "$END" and state_stack[-1] == end_state:
                result = value_stack[-1]
                assert isinstance(result, Body)
                return result
    raise AssertionError("the table accepts or refuses the end of the text")


def _reached(table: Table, below: int, origin: str, kind: str) -> int:
    """The state after a reduction and all the transparent ones (the ladder of precedence) that follow it
    before ``kind``.
    """
    while True:
        state = table.states[below][origin]
        action = table.states[state].get(kind)
        if action is None or action >= 0 or not table.rules[-1 - action].transparent:
            return state
        origin = table.rules[-1 - action].origin


_EXPRESSION_STARTS: Final = frozenset({"LPAR", "LSQB", "DBLQUOTE", "INT_LITERAL"})


_APART: Final = (
    "Each attribute stands on a line of its own, without a comma; a block on one line takes one attribute."
)


def unexpected(token: Token, actions: Mapping[str, int], text: str) -> SyntaxTrouble:
    """The sentence for a terminal that fits nowhere."""
    wants_value = actions.keys() >= _EXPRESSION_STARTS
    if token.kind in {"NL_OR_COMMENT", "$END"}:
        if wants_value:
            return _trouble(token, "The line ends where an expression should follow.")
        if "EQ" in actions and "LBRACE" in actions:
            return _trouble(
                token,
                'A name alone means nothing: write name = value for an attribute, or name "label" { for a '
                "block.",
            )
        if "LBRACE" in actions:
            return _trouble(token, "The opening brace of a block stands on the line of its header.")
        return _trouble(token, "The line ends before the expression does." + _wanted(actions))
    shown = text[token.start : token.end]
    if wants_value:
        return _trouble(token, f"An expression should stand here, not {shown}.")
    if token.kind in {"EQ", "COLON"} and "LBRACE" in actions and "EQ" not in actions:
        return _trouble(token, "An attribute's name is one word without quotes, followed by =.")
    if token.kind == "COLON" and "EQ" in actions:
        return _trouble(token, "Unexpected :. Attributes are written name = value.")
    if token.kind == "EQ" and "DOUBLE_EQ" in actions:
        return _trouble(
            token, "Unexpected =. To compare two values, write ==. To set an attribute, begin a new line."
        )
    if token.kind == "COMMA" and "RBRACE" in actions and "COMMA" not in actions:
        return _trouble(token, f"Unexpected comma. {_APART}")
    if token.kind == "LBRACE" and "EQ" not in actions and "COMMA" not in actions:
        return _trouble(token, "A block or an object cannot begin here.")
    return _trouble(token, f"Unexpected {shown}.{_wanted(actions)}")


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


def _wanted(actions: Mapping[str, int]) -> str:
    wanted = [shown for kind, shown in _SHOWN.items() if kind in actions]
    if not wanted:
        return ""
    return f" Expected {' or '.join(wanted)}."


def _trouble(token: Token, detail: str) -> SyntaxTrouble:
    return SyntaxTrouble(
        codes.INVALID_SYNTAX,
        detail,
        token.start,
        max(token.end, token.start + 1) if token.kind != "$END" else token.end,
    )
