"""python-hcl2's grammar as an LALR table: the one place that knows that package.

Its grammar file defines the syntax, and lark compiles it to the table. That takes two seconds and an import
of lark, so that the compiled form is checked in beside this module, as ``grammar_table.json``, under the
digest of the grammar it was made from; ``python -m flareiac.lang.grammar`` writes it. Where another version
of python-hcl2 is installed, whose grammar differs, the first command compiles that one and keeps the table in
the user's cache directory.

Lexer, parser and tree are our own (``tokens``, ``lalr``, ``build``): python-hcl2's cost five times as much,
its tokens have no place, and what HCL refuses is lost in them.
"""

import hashlib
import importlib.util
import json
from functools import cache
from pathlib import Path
from typing import Any, Final

from flareiac.kernel import codes, user_cache
from flareiac.kernel.diagnostics import Failure, error
from flareiac.kernel.lazy_dataclass import dataclass

FORMAT: Final = 2
"""The version of what is kept. With another one it is made again."""
_KEPT: Final = "grammar_table"
"""The name in the user's cache directory."""
SHIPPED: Final = Path(__file__).with_name("grammar_table.json")
_AMENDMENTS: Final = (
    ("!unary_op : (MINUS | NOT) expr_term", "!unary_op : (MINUS | NOT) (expr_term | unary_op)"),
    (
        "function_call : identifier (COLONS identifier COLONS identifier)?",
        "function_call : identifier (COLONS identifier)*",
    ),
)
"""The productions in which HCL is wider than the grammar: repeated unary operators, and any number of
namespaces before a function's name.
"""
_WRAPPERS: Final = frozenset({"expr_term", "string_part", "braces_index", "object_elem_key"})
"""Rules that add nothing to a single child."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One production: the name that its handler goes by, how many symbols it takes, and how its value is
    made.

    ``spliced``: a list that its parent takes in; ``transparent``: the one child's value as it is.
    """

    name: str
    size: int
    spliced: bool
    transparent: bool
    origin: str


class Jumps(dict[tuple[int, str, str], int]):
    """The state after a reduction in a state, before a terminal: past all the transparent reductions (the
    ladder of precedence) that follow it. Learnt while parsing.

    A number before a closing brace climbs the whole ladder, one production a rung, and each of them hands
    its one child on as it is:

        literal -> term -> unary -> product -> sum -> comparison -> equality -> and -> or -> ...

    The rungs depend on the state below and on the next terminal alone, so that the climb is done once for
    each of these pairs. It ends at the first production that makes a value, or where the terminal is shifted.
    """

    def __init__(self, states: list[dict[str, int]], rules: list[Rule]) -> None:
        self._states, self._rules = states, rules

    def __missing__(self, step: tuple[int, str, str]) -> int:
        below, origin, kind = step
        while True:
            state = self._states[below][origin]
            action = self._states[state].get(kind, 0)
            if action >= 0 or not self._rules[-1 - action].transparent:
                self[step] = state
                return state
            origin = self._rules[-1 - action].origin


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """An LALR(1) table. ``states[s][symbol]`` is the state to go to, or ``-1 - rule`` to reduce."""

    states: list[dict[str, int]]
    rules: list[Rule]
    start: int
    end: int
    jumps: Jumps


@cache
def table() -> Table:
    """The parse table of the installed grammar: the one that is checked in, one that an earlier command has
    kept, or else compiled now. Raises ``Failure`` for a grammar that is not known.
    """
    grammar = _grammar()
    text = SHIPPED.read_text(encoding="utf-8") if SHIPPED.exists() else ""
    return _decode(json.loads(text if text.startswith(_head(grammar)) else _kept_text(grammar)))


def _kept_text(grammar: str) -> str:
    """The compiled form of a grammar that is not the checked-in one's."""
    kept = user_cache.read_whole(_KEPT)
    if kept is not None and kept.startswith(_head(grammar).encode()):
        return kept.decode()
    text = _table_text(grammar)
    user_cache.keep_whole(_KEPT, text.encode())
    return text


def shipped_text() -> str:
    """The content of ``grammar_table.json``."""
    return _table_text(_grammar())


@cache
def grammar_digest() -> str:
    """The digest of the installed grammar and of the form of its table. Raises ``Failure`` for a grammar that
    is not known.
    """
    return _digest(_grammar())


def _head(grammar: str) -> str:
    return f'{{"digest":"{_digest(grammar)}"'


def _digest(grammar: str) -> str:
    return hashlib.sha256(f"{FORMAT} {grammar}".encode()).hexdigest()


def _grammar() -> str:
    spec = importlib.util.find_spec("hcl2")
    if spec is None or spec.origin is None:
        raise ImportError("python-hcl2 is not installed")
    text = (Path(spec.origin).parent / "hcl2.lark").read_text(encoding="utf-8")
    return _amended(text)


def _amended(text: str) -> str:
    """The grammar with what HCL allows beyond it. Raises ``Failure`` where a production is another one than
    those that were compared with HCL.
    """
    for old, new in _AMENDMENTS:
        if old not in text and new not in text:
            why = f"The grammar of the installed python-hcl2 has no production {old!r}."
            advice = "Install a version that FlareIaC was tested with: pip install 'python-hcl2>=8.1.2,<9'"
            raise Failure(error(codes.GRAMMAR_NOT_KNOWN, f"{why} {advice}"))
        text = text.replace(old, new)
    return text


def _table_text(grammar: str) -> str:
    """The table in JSON, one rule or state on a line. Rules are sorted, equal ones are one, and states are
    numbered as they are reached: lark's own order differs from run to run.
    """
    from lark import Lark
    from lark.parsers.lalr_analysis import Shift
    from lark.parsers.lalr_parser import LALR_Parser

    lark = Lark(grammar, parser="lalr")
    parser = lark.parser.parser
    assert isinstance(parser, LALR_Parser)
    parse_table = parser._parse_table
    written = {
        rule: _json(
            [rule.alias or rule.origin.name, len(rule.expansion), rule.options.expand1, rule.origin.name]
        )
        for rule in lark.rules
    }
    rules = sorted(set(written.values()))
    reached = [parse_table.start_states["start"]]
    for state in reached:  # grows while it is gone through
        following = [arg for _, (action, arg) in sorted(parse_table.states[state].items()) if action is Shift]
        reached.extend(each for each in dict.fromkeys(following) if each not in reached)
    number = {state: index for index, state in enumerate(reached)}
    states = [
        _json(
            {
                symbol: number[arg] if action is Shift else -1 - rules.index(written[arg])
                for symbol, (action, arg) in parse_table.states[state].items()
            }
        )
        for state in reached
    ]
    separator = ",\n"
    return (
        f'{_head(grammar)},"start":0,"end":{number[parse_table.end_states["start"]]},\n'
        f'"rules":[\n{separator.join(rules)}],\n"states":[\n{separator.join(states)}]}}\n'
    )


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), sort_keys=True)


def _decode(data: dict[str, Any]) -> Table:
    rules = [
        Rule(
            name=name,
            size=size,
            spliced=origin.startswith("_"),
            transparent=size == 1 and (expand or origin in _WRAPPERS) and not origin.startswith("_"),
            origin=origin,
        )
        for name, size, expand, origin in data["rules"]
    ]
    states = data["states"]
    return Table(states=states, rules=rules, start=data["start"], end=data["end"], jumps=Jumps(states, rules))


if __name__ == "__main__":
    SHIPPED.write_text(shipped_text(), encoding="utf-8")
