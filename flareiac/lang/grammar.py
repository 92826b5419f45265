"""python-hcl2's grammar as an LALR table: the one place that knows that package.

Its grammar file defines the syntax; lark computes the table from it once (about a second), and the table is kept as JSON in the user's
cache directory under the digest of the grammar, so that later runs import neither package.
"""

import hashlib
import importlib.util
import json
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final

from flareiac.lang import user_cache

_FORMAT: Final = 2
_AMENDMENTS: Final = (
    ("!unary_op : (MINUS | NOT) expr_term", "!unary_op : (MINUS | NOT) (expr_term | unary_op)"),
    ("function_call : identifier (COLONS identifier COLONS identifier)?", "function_call : identifier (COLONS identifier)*"),
)
"""Where HCL is wider than the grammar: repeated unary operators, and any number of namespaces before a function's name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One production: the name that its handler goes by, how many symbols it takes, and how its value is made.

    ``spliced``: a list that its parent takes in; ``transparent``: the one child's value as it is.
    """

    name: str
    size: int
    spliced: bool
    transparent: bool
    origin: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """An LALR(1) table. ``states[s][symbol]`` is the state to go to, or ``-1 - rule`` to reduce."""

    states: list[dict[str, int]]
    rules: list[Rule]
    start: int
    end: int
    jumps: dict[tuple[int, str, str], int] = field(default_factory=dict)
    """What the parser has learnt of chains of reductions that change nothing."""


@cache
def table() -> Table:
    """The parse table, from the cache or computed."""
    text = _grammar_text()
    digest = hashlib.sha256(f"{_FORMAT} {text}".encode()).hexdigest()
    name = f"grammar-{digest[:24]}.json"
    kept = user_cache.read(name)
    if kept is not None:
        try:
            return _decode(json.loads(kept))
        except (ValueError, KeyError, TypeError, IndexError):
            pass
    computed = _compute(text)
    user_cache.keep(name, json.dumps(computed, separators=(",", ":")).encode())
    return _decode(computed)


def _grammar_text() -> str:
    spec = importlib.util.find_spec("hcl2")
    if spec is None or spec.origin is None:
        raise ImportError("python-hcl2 is not installed")
    text = (Path(spec.origin).parent / "hcl2.lark").read_text(encoding="utf-8")
    for old, new in _AMENDMENTS:
        assert old in text, "python-hcl2's grammar is not the pinned one"
        text = text.replace(old, new)
    return text


def _compute(text: str) -> dict[str, Any]:
    from lark import Lark
    from lark.parsers.lalr_analysis import Shift
    from lark.parsers.lalr_parser import LALR_Parser

    lark = Lark(text, parser="lalr")
    parser = lark.parser.parser
    assert isinstance(parser, LALR_Parser)
    found = parser._parse_table
    numbers = {rule: index for index, rule in enumerate(lark.rules)}
    order = {state: index for index, state in enumerate(found.states)}
    states = [
        {symbol: order[arg] if action is Shift else -1 - numbers[arg] for symbol, (action, arg) in actions.items()}
        for actions in found.states.values()
    ]
    rules = [[rule.alias or rule.origin.name, len(rule.expansion), rule.options.expand1, rule.origin.name] for rule in lark.rules]
    return {"states": states, "rules": rules, "start": order[found.start_states["start"]], "end": order[found.end_states["start"]]}


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
    return Table(states=data["states"], rules=rules, start=data["start"], end=data["end"])


_WRAPPERS: Final = frozenset({"expr_term", "string_part", "braces_index", "object_elem_key"})
"""Rules that add nothing to a single child."""
