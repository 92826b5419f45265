"""Makes texts of expressions and templates after the grammar of the language. Pure but for the chance it is
given.
"""

import random
from collections.abc import Callable

from flareiac.lang.escapes import quote
from tests.mutations.mutate import ARGUMENTS, function_names

_NAMES = ("a", "x", "item", "key", "each", "é", "for", "null", "in", "_", "a-b", "𝒳")
_BINARY = ("+", "-", "*", "/", "%", "==", "!=", "<", ">=", "&&", "||")
_FORMATS = ("%s", "%d", "%5.2f", "%v", "%q", "%-10s", "%%", "%[2]s", "%05d", "%x", "%e", "%#v")
_TEXTS = (
    "",
    "a",
    "ä",
    "e\u0301",
    "\n",
    "\t",
    "${",
    "%{",
    "a b",
    "-1",
    "1e3",
    "2026-01-01T00:00:00Z",
    "\u202e",
)
_PLAIN = ("1", "0", "-7", "2.5", "1e3", "true", "false", "null", '"a"', '"b c"', "[]", "{}", "[1, 2, 3]")


def expression(choose: random.Random, depth: int = 4) -> str:
    """The text of an expression, mostly a valid one, nested up to ``depth`` levels."""
    if depth <= 0:
        return _leaf(choose)
    return choose.choice(_FORMS)(choose, depth - 1)


def _leaf(choose: random.Random) -> str:
    kind = choose.random()
    if kind < 0.5:
        return choose.choice(_PLAIN)
    if kind < 0.7:
        return choose.choice(_NAMES)
    if kind < 0.9:
        return choose.choice(ARGUMENTS)
    return quote(choose.choice((*_FORMATS, *_TEXTS)))


def _operation(choose: random.Random, depth: int) -> str:
    left, right = expression(choose, depth), expression(choose, depth)
    return f"{left} {choose.choice(_BINARY)} {right}"


def _unary(choose: random.Random, depth: int) -> str:
    return f"{choose.choice('!-')}{expression(choose, depth)}"


def _condition(choose: random.Random, depth: int) -> str:
    return " ".join(
        (expression(choose, depth), "?", expression(choose, depth), ":", expression(choose, depth))
    )


def _call(choose: random.Random, depth: int) -> str:
    given = ", ".join(expression(choose, depth) for _ in range(choose.choice((0, 1, 1, 2, 2, 3))))
    return f"{choose.choice(function_names())}({given}{choose.choice(('', '', '', '...', ','))})"


def _format(choose: random.Random, depth: int) -> str:
    verbs = "".join(choose.choice(_FORMATS) for _ in range(choose.randrange(1, 4)))
    given = "".join(f", {expression(choose, depth)}" for _ in range(choose.randrange(4)))
    return f"{choose.choice(('format', 'formatlist'))}({quote(verbs)}{given})"


def _list(choose: random.Random, depth: int) -> str:
    return f"[{', '.join(expression(choose, depth) for _ in range(choose.randrange(4)))}]"


def _object(choose: random.Random, depth: int) -> str:
    pairs = [
        f"{_key(choose, depth)} {choose.choice('=:')} {expression(choose, depth)}"
        for _ in range(choose.randrange(4))
    ]
    return "{ " + choose.choice((", ", "\n")).join(pairs) + " }"


def _key(choose: random.Random, depth: int) -> str:
    kind = choose.randrange(4)
    if kind == 0:
        return f"({expression(choose, depth)})"
    return quote(choose.choice(_TEXTS)) if kind == 1 else choose.choice(_NAMES)


def _for(choose: random.Random, depth: int) -> str:
    names = choose.choice(("x", "k, v", "x, x"))
    over, value, name = expression(choose, depth), expression(choose, depth), choose.choice(("x", "v", "k"))
    when = f" if {expression(choose, depth)}" if choose.random() < 0.3 else ""
    if choose.random() < 0.5:
        return f"[for {names} in {over} : {value}{when}]"
    return f"{{for {names} in {over} : {name} => {value}{choose.choice(('', '...'))}{when}}}"


def _traversal(choose: random.Random, depth: int) -> str:
    steps = ("[0]", ".a", '["a"]', "[*]", ".*", ".0", "[-1]", f"[{expression(choose, depth - 1)}]")
    return (
        f"{expression(choose, depth)}{''.join(choose.choice(steps) for _ in range(choose.randrange(1, 4)))}"
    )


def _template(choose: random.Random, depth: int) -> str:
    inside = "".join(_part(choose, depth) for _ in range(choose.randrange(1, 4)))
    kind = choose.randrange(4)
    if kind == 0:
        return f"<<EOT\n{inside}\nEOT\n"
    if kind == 1:
        return f"<<-EOT\n    {inside}\n  two\n  EOT\n"
    return f'"{inside}"'


def _part(choose: random.Random, depth: int) -> str:
    strip = choose.choice(("", "", "~"))
    value = expression(choose, depth)
    return choose.choice(
        (
            f"${{{strip}{value}{strip}}}",
            f"%{{{strip} if {value} {strip}}}a%{{ else }}b%{{ endif {strip}}}",
            f"%{{ for x in {value} }}${{x}} %{{ endfor {strip}}}",
            "$${no} %%{no}",
            " text\\n\\u00e9 ",
        )
    )


def _parenthesized(choose: random.Random, depth: int) -> str:
    return f"({expression(choose, depth)})"


_FORMS: tuple[Callable[[random.Random, int], str], ...] = (
    _operation,
    _unary,
    _condition,
    _call,
    _call,
    _call,
    _call,
    _format,
    _list,
    _object,
    _for,
    _for,
    _traversal,
    _template,
    _template,
    _parenthesized,
)
