"""python-hcl2's grammar as an LALR table: the one place that knows that package.

Its grammar file defines the syntax. The table that lark computes from it (in about two seconds) is checked in
beside this module, as ``grammar_table.json``; ``python -m flareiac.lang.grammar`` writes it. With another
grammar than that one's, the table is computed and kept in the user's cache directory, under the digest of the
grammar.
"""

import hashlib
import importlib.util
import json
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final

from flareiac.kernel import user_cache

_FORMAT: Final = 2
SHIPPED: Final = Path(__file__).with_name("grammar_table.json")
_AMENDMENTS: Final = (
    ("!unary_op : (MINUS | NOT) expr_term", "!unary_op : (MINUS | NOT) (expr_term | unary_op)"),
    (
        "function_call : identifier (COLONS identifier COLONS identifier)?",
        "function_call : identifier (COLONS identifier)*",
    ),
)
"""Where HCL is wider than the grammar: repeated unary operators, and any number of namespaces before a
function's name.
"""


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
    """The parse table: the one that is checked in, that of the cache, or computed."""
    text = _grammar_text()
    digest = _digest(text)
    shipped = _shipped(digest)
    if shipped is not None:
        return _decode(shipped)
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


def shipped_text() -> str:
    """What ``grammar_table.json`` holds: one state on a line."""
    text = _grammar_text()
    data = _numbered(_compute(text))
    lines = {
        name: ",\n".join(json.dumps(item, separators=(",", ":"), sort_keys=True) for item in data[name])
        for name in ("rules", "states")
    }
    return (
        f'{{"digest":"{_digest(text)}","start":{data["start"]},"end":{data["end"]},\n'
        f'"rules":[\n{lines["rules"]}],\n"states":[\n{lines["states"]}]}}\n'
    )


def _digest(text: str) -> str:
    return hashlib.sha256(f"{_FORMAT} {text}".encode()).hexdigest()


def _shipped(digest: str) -> dict[str, Any] | None:
    """The checked-in table, if it is there and of this grammar."""
    try:
        text = SHIPPED.read_text(encoding="utf-8")
    except OSError:
        return None
    found: dict[str, Any] | None = json.loads(text) if text.startswith(f'{{"digest":"{digest}"') else None
    return found


def _numbered(data: dict[str, Any]) -> dict[str, Any]:
    """The same table with states and rules in an order of their own (lark's differs from run to run), equal
    rules as one.
    """
    rules, states = data["rules"], data["states"]
    told_apart = sorted({json.dumps(rule): rule for rule in rules}.items())
    rank = {text: number for number, (text, _) in enumerate(told_apart)}
    rule_at = [rank[json.dumps(rule)] for rule in rules]
    order = [data["start"]]
    seen = set(order)
    for state in order:
        following = [
            target for _, target in sorted(states[state].items()) if target >= 0 and target not in seen
        ]
        order.extend(dict.fromkeys(following))
        seen.update(following)
    at = {old: new for new, old in enumerate(order)}
    return {
        "rules": [rule for _, rule in told_apart],
        "states": [
            {key: at[to] if to >= 0 else -1 - rule_at[-1 - to] for key, to in states[old].items()}
            for old in order
        ],
        "start": at[data["start"]],
        "end": at[data["end"]],
    }


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
        {
            symbol: order[arg] if action is Shift else -1 - numbers[arg]
            for symbol, (action, arg) in actions.items()
        }
        for actions in found.states.values()
    ]
    rules = [
        [rule.alias or rule.origin.name, len(rule.expansion), rule.options.expand1, rule.origin.name]
        for rule in lark.rules
    ]
    return {
        "states": states,
        "rules": rules,
        "start": order[found.start_states["start"]],
        "end": order[found.end_states["start"]],
    }


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


if __name__ == "__main__":
    SHIPPED.write_text(shipped_text(), encoding="utf-8")
