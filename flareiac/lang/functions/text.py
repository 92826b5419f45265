"""Functions of texts. Those that look for a part of a text do so in Unicode's form C, as texts are
compared.
"""

from collections.abc import Callable

from flareiac.kernel.types import ANY, BOOL, NUMBER, STRING, ListType, ObjectType, TupleType, Type
from flareiac.lang.functions.characters import clusters
from flareiac.lang.functions.collections_of import whole_64
from flareiac.lang.functions.define import function, takes
from flareiac.lang.functions.formatting import format_text
from flareiac.lang.functions.patterns import Match, Pattern, compiled
from flareiac.lang.functions.signature import Builtin, FunctionError, Parameter, within_limit
from flareiac.lang.values import Value, boolean, list_value, normal, null, string

_S = takes("text", STRING)


def _searching(
    name: str, parameters: tuple[Parameter, ...], returns: Type, call: Callable[..., Value], description: str
) -> Builtin:
    """A function of texts that gets them in form C: in no other are equal characters equal."""

    def of_form_c(*arguments: Value) -> Value:
        return call(*(string(normal(argument.raw)) for argument in arguments))

    return function(name, parameters, returns, of_form_c, description)


def _indent(spaces: Value, text: Value) -> Value:
    wide = min(max(whole_64(spaces, 0), 0), 10_000)
    within_limit(len(text.raw) + wide * text.raw.count("\n"))
    return string(text.raw.replace("\n", "\n" + " " * wide))


def _join(separator: Value, *lists: Value) -> Value:
    if not lists:
        raise FunctionError("at least one list is needed")
    items = [text for each in lists for text in each.raw]
    if any(text.raw is None for text in items):
        raise FunctionError("an element is null; only texts can be joined", 1)
    within_limit(sum(len(text.raw) for text in items) + len(separator.raw) * len(items))
    return string(separator.raw.join(text.raw for text in items))


def _result_type(pattern: Pattern) -> Type:
    """The type of one match: a text, a tuple of its groups, or an object of its named groups. Raises
    ``FunctionError``.
    """
    named = [name for name in pattern.names if name]
    if named and len(named) < len(pattern.names):
        raise FunctionError("a pattern has named groups or unnamed groups, not both, and each name once", 0)
    if named:
        return ObjectType(dict.fromkeys(named, STRING))
    return TupleType((STRING,) * len(pattern.names)) if pattern.names else STRING


def _captured(match: Match, pattern: Pattern, wanted: Type) -> Value:
    groups = [null(STRING) if group is None else string(group) for group in match.groups]
    match wanted:
        case ObjectType():
            return Value(wanted, dict(zip(pattern.names, groups, strict=True)))
        case TupleType():
            return Value(wanted, tuple(groups))
        case _:
            return string(match.text)


def _regex(pattern: Value, text: Value) -> Value:
    wanted = compiled(pattern.raw, 0)
    kind = _result_type(wanted)
    match = wanted.first(text.raw)
    if match is None:
        raise FunctionError("the pattern does not match the text", 1)
    return _captured(match, wanted, kind)


def _regex_all(pattern: Value, text: Value) -> Value:
    wanted = compiled(pattern.raw, 0)
    kind = _result_type(wanted)
    values: list[Value] = []
    for match in wanted.all(text.raw):
        values.append(_captured(match, wanted, kind))
        within_limit(len(values), "elements")
    return list_value(values, kind)


def _replace(text: Value, old: Value, new: Value) -> Value:
    wanted: str = old.raw
    if len(wanted) > 1 and wanted.startswith("/") and wanted.endswith("/"):
        return string(compiled(wanted[1:-1], 1).replace(text.raw, new.raw))
    within_limit(len(text.raw) + text.raw.count(wanted) * (len(new.raw) - len(wanted)))
    return string(text.raw.replace(wanted, new.raw))


def _split(separator: Value, text: Value) -> Value:
    within_limit(text.raw.count(separator.raw) + 1, "elements")
    parts = text.raw.split(separator.raw) if separator.raw else list(text.raw)
    return list_value([string(part) for part in parts], STRING)


def _substring(text: Value, offset: Value, length: Value) -> Value:
    parts = clusters(text.raw)
    first, count = whole_64(offset, 1), whole_64(length, 2)
    start = first if first >= 0 else max(0, len(parts) + first)
    end = len(parts) if count < 0 else start + count
    return string("".join(parts[start:end]))


def _title(text: Value) -> Value:
    """Each letter after a separator in title case: in ASCII whatever is no letter, digit or ``_``, and white
    space beyond.
    """
    before = " " + text.raw
    return string(
        "".join(
            character.title() if _separates(last) and len(character.title()) == 1 else character
            for last, character in zip(before, text.raw, strict=False)
        )
    )


def _separates(character: str) -> bool:
    if character.isascii():
        return not (character.isalnum() or character == "_")
    return character.isspace()


def _format_list(spec: Value, *arguments: Value) -> Value:
    lengths = {len(argument.raw) for argument in arguments if isinstance(argument.raw, tuple)}
    if len(lengths) > 1:
        raise FunctionError(f"the lists have different lengths: {', '.join(map(str, sorted(lengths)))}")
    count = next(iter(lengths), 1)
    rows = [
        tuple(argument.raw[row] if isinstance(argument.raw, tuple) else argument for argument in arguments)
        for row in range(count)
    ]
    texts: list[Value] = []
    length = 0
    for row in rows:
        texts.append(string(format_text(spec.raw, row)))
        length += len(texts[-1].raw)
        within_limit(length)
    return list_value(texts, STRING)


def _trim(text: Value, characters: Value) -> Value:
    return string(text.raw.strip(characters.raw) if characters.raw else text.raw)


def _lower(text: Value) -> Value:
    """Character by character, as Go does: no final sigma, and of what becomes two characters the first."""
    return string(
        text.raw.lower() if text.raw.isascii() else "".join(character.lower()[0] for character in text.raw)
    )


def _upper(text: Value) -> Value:
    return string(
        "".join(character.upper() if len(character.upper()) == 1 else character for character in text.raw)
    )


FUNCTIONS = (
    function(
        "chomp",
        (_S,),
        STRING,
        lambda s: string(s.raw.rstrip("\r\n")),
        "The text without newlines at its end.",
    ),
    _searching(
        "endswith",
        (_S, takes("suffix", STRING)),
        BOOL,
        lambda s, x: boolean(s.raw.endswith(x.raw)),
        "Whether a text ends with another.",
    ),
    function(
        "format",
        (takes("format", STRING),),
        STRING,
        lambda spec, *rest: string(format_text(spec.raw, rest)),
        "The format with its verbs (%s, %d, %v, ...) replaced by the arguments.",
        variadic=takes("arguments", null=True),
    ),
    function(
        "formatlist",
        (takes("format", STRING),),
        ListType(STRING),
        _format_list,
        "format() for each element of the lists.",
        variadic=takes("arguments", null=True),
    ),
    function(
        "indent",
        (takes("spaces", NUMBER), _S),
        STRING,
        _indent,
        "The text with spaces before every line but the first.",
    ),
    function(
        "join",
        (takes("separator", STRING),),
        STRING,
        _join,
        "The elements of lists of texts with a separator between them.",
        variadic=takes("lists", ListType(STRING)),
    ),
    function("lower", (_S,), STRING, _lower, "The text in lower case."),
    _searching(
        "regex",
        (takes("pattern", STRING), _S),
        ANY,
        _regex,
        "The first match of an RE2 pattern: a text, or its groups as a tuple or an object.",
    ),
    _searching(
        "regexall", (takes("pattern", STRING), _S), ANY, _regex_all, "All matches, each as regex() gives it."
    ),
    _searching(
        "replace",
        (_S, takes("old", STRING), takes("new", STRING)),
        STRING,
        _replace,
        "The text with a part, or a /pattern/, replaced everywhere.",
    ),
    _searching(
        "split",
        (takes("separator", STRING), _S),
        ListType(STRING),
        _split,
        "The parts of a text between separators.",
    ),
    _searching(
        "startswith",
        (_S, takes("prefix", STRING)),
        BOOL,
        lambda s, x: boolean(s.raw.startswith(x.raw)),
        "Whether a text starts with another.",
    ),
    _searching(
        "strcontains",
        (_S, takes("part", STRING)),
        BOOL,
        lambda s, x: boolean(x.raw in s.raw),
        "Whether a text contains another.",
    ),
    function(
        "strrev", (_S,), STRING, lambda s: string("".join(reversed(clusters(s.raw)))), "The text backwards."
    ),
    function(
        "substr",
        (_S, takes("offset", NUMBER), takes("length", NUMBER)),
        STRING,
        _substring,
        "A part of a text, counted in characters; a length of -1 takes the rest.",
    ),
    function("title", (_S,), STRING, _title, "The text with the first letter of each word in upper case."),
    _searching(
        "trim",
        (_S, takes("characters", STRING)),
        STRING,
        _trim,
        "The text without the characters at both ends.",
    ),
    _searching(
        "trimprefix",
        (_S, takes("prefix", STRING)),
        STRING,
        lambda s, x: string(s.raw.removeprefix(x.raw)),
        "The text without a prefix.",
    ),
    function(
        "trimspace",
        (_S,),
        STRING,
        lambda s: string(s.raw.strip()),
        "The text without white space at both ends.",
    ),
    _searching(
        "trimsuffix",
        (_S, takes("suffix", STRING)),
        STRING,
        lambda s, x: string(s.raw.removesuffix(x.raw)),
        "The text without a suffix.",
    ),
    function("upper", (_S,), STRING, _upper, "The text in upper case."),
)
