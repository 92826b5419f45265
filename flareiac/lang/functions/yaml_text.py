"""The value that a text in YAML spells, as Terraform reads it. The only user of PyYAML, of which it takes the
parser alone: what scalars, tags, aliases and merges mean is cty's.
"""

import base64
import binascii
import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta, timezone
from functools import cache
from typing import Any, Final, NamedTuple, TypeAlias

from flareiac.kernel.types import STRING
from flareiac.lang.conversion import ConversionError, convert, named
from flareiac.lang.functions.signature import FunctionError, within_limit
from flareiac.lang.values import (
    Value,
    boolean,
    null,
    number,
    object_value,
    string,
    tuple_value,
    united,
    written_number,
)

_TAG: Final = "tag:yaml.org,2002:"
_OF_SCALARS: Final = frozenset({"str", "bool", "int", "float", "null", "timestamp", "binary"})
_WORDS: Final[Mapping[str, Value]] = {
    **{
        form: boolean(meant)
        for meant, words in ((True, "y yes true on"), (False, "n no false off"))
        for word in words.split()
        for form in (word, word.capitalize(), word.upper())
    },
    **{word: null() for word in ("", "~", "null", "Null", "NULL")},
}
_NUMBER: Final = re.compile(r"[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?", re.ASCII)
_IN_BASE: Final = re.compile(r"0x[0-9A-Fa-f]+|0o[0-7]+")
_BIGGEST_IN_BASE: Final = 2**64 - 1
_NOT_FINITE: Final = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_HALF: Final = re.compile(r"[\ud800-\udfff]")
_TIME: Final = re.compile(
    r"(\d{4})-(\d\d?)-(\d\d?)"
    r"(?:[Tt](\d\d?):(\d\d?):(\d\d?)(?:[.,]\d+)?(?:Z|([+-])(\d\d):(\d\d))"
    r"| +(\d\d?):(\d\d?):(\d\d?)(?:[.,]\d+)?)?",
    re.ASCII,
)
_DEEPEST: Final = 100
"""Levels of a text, aliases followed: the stack has to hold them beside the expression around the call."""

Event: TypeAlias = Any
"""An event of PyYAML's parser, whose classes have no types."""


class _Node(NamedTuple):
    """A value, and the number of levels below it."""

    value: Value
    depth: int


def from_yaml(text: str) -> Value:
    """The value of the one document in a text: objects and tuples. Raises ``FunctionError``."""
    import yaml  # loaded with the first text: few commands need it

    try:
        return _Reader(yaml.parse(text, Loader=_loader())).document()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f" on line {mark.line + 1}, column {mark.column + 1}" if mark is not None else ""
        raise FunctionError(f"the text is not YAML: {error.problem or error.context}{where}", 0) from None
    except yaml.YAMLError as error:
        raise FunctionError(f"the text is not YAML: {str(error).splitlines()[0]}", 0) from None
    except RecursionError:
        raise FunctionError("the text is nested too deeply", 0) from None


@cache
def _loader() -> Any:
    """PyYAML's parser, with tabs between tokens as YAML 1.2 and the library behind Terraform's function have
    them.
    """
    import yaml  # see above

    class Loader(yaml.SafeLoader):  # type: ignore[misc] # has no types
        def scan_to_next_token(self) -> None:
            super().scan_to_next_token()
            while (self.flow_level or not self.allow_simple_key) and self.peek() == "\t":
                self.forward()
                super().scan_to_next_token()

    return Loader


class _Reader:
    """One pass over the events of a text. ``anchors``: what each names; None inside of it."""

    def __init__(self, events: Iterator[Event]) -> None:
        self.events = events
        self.anchors: dict[str, _Node | None] = {}

    def document(self) -> Value:
        next(self.events)  # the begin of the text
        if _kind(begin := next(self.events)) != "DocumentStartEvent":
            raise _failure(begin, "the text holds no document")
        node = self.node(next(self.events), 0)
        next(self.events)  # the end of the document
        if _kind(further := next(self.events)) == "DocumentStartEvent":
            raise _failure(further, "the text holds a second document, and one is read")
        return node.value

    def node(self, event: Event, level: int) -> _Node:
        if level > _DEEPEST:
            raise _failure(event, f"the text has more than {_DEEPEST} levels")
        kind = _kind(event)
        anchor = None if kind == "AliasEvent" else event.anchor
        if anchor is not None:
            self.anchors[anchor] = None
        match kind:
            case "ScalarEvent":
                node = _Node(_scalar(event), 0)
            case "AliasEvent":
                node = self.alias(event)
            case "SequenceStartEvent":
                node = self.sequence(event, level)
            case _:
                node = self.mapping(event, level)
        if level + node.depth > _DEEPEST:
            raise _failure(event, f"the text has more than {_DEEPEST} levels")
        if anchor is not None:
            self.anchors[anchor] = node
        return node

    def alias(self, event: Event) -> _Node:
        if event.anchor not in self.anchors:
            raise _failure(event, f"nothing before it has the anchor &{event.anchor}")
        node = self.anchors[event.anchor]
        if node is None:
            raise _failure(event, f"*{event.anchor} stands inside of what it names")
        return node

    def sequence(self, start: Event, level: int) -> _Node:
        _check_tag(start, "seq")
        elements: list[_Node] = []
        while _kind(event := next(self.events)) != "SequenceEndEvent":
            elements.append(self.node(event, level + 1))
        return _collection(tuple_value(node.value for node in elements), elements)

    def mapping(self, start: Event, level: int) -> _Node:
        _check_tag(start, "map")
        members: list[tuple[str, Value]] = []
        inside: list[_Node] = []
        while _kind(event := next(self.events)) != "MappingEndEvent":
            name = _key(event)
            node = self.node(next(self.events), level + 1)
            inside.append(node)
            if name == "<<" and event.tag is None:
                members = [*united([*members, *_merged(event, node.value)]).items()]
            else:
                members.append((name, node.value))
        return _collection(object_value(united(members)), inside)


def _kind(event: Event) -> str:
    return type(event).__name__


def _failure(event: Event, why: str) -> FunctionError:
    return FunctionError(f"line {event.start_mark.line + 1} of the text cannot be used: {why}", 0)


def _collection(value: Value, inside: list[_Node]) -> _Node:
    # Aliases make a short text large: each level counts what the levels below it hold
    within_limit(value.weight, "parts")
    return _Node(value, 1 + max((node.depth for node in inside), default=0))


def _merged(event: Event, value: Value) -> list[tuple[str, Value]]:
    if not isinstance(value.raw, Mapping):
        raise _failure(event, f'a mapping follows the key "<<", not {named(value.type)}')
    return list(value.raw.items())


def _key(event: Event) -> str:
    if _kind(event) != "ScalarEvent":
        raise _failure(event, "a key is a text")
    try:
        key = convert(_scalar(event), STRING)
    except ConversionError as error:
        raise _failure(event, error.message) from None
    if key.raw is None:
        raise _failure(event, "a key must not be null")
    return str(key.raw)


def _check_tag(event: Event, name: str) -> None:
    if event.tag not in (None, _TAG + name):
        expected = "of a sequence" if name == "seq" else "of a mapping"
        raise _failure(event, f"the tag {event.tag} is not {expected}")


def _scalar(event: Event) -> Value:
    """The meaning of a scalar. What is quoted is a text, whatever its tag."""
    text, tag = event.value, (event.tag or "").removeprefix(_TAG)
    if event.tag is not None and (tag == event.tag or tag not in _OF_SCALARS):
        raise _failure(event, f"a scalar cannot have the tag {event.tag}")
    if not text.isascii() and _HALF.search(text):
        raise _failure(event, "half of a pair that UTF-16 writes a character in is none")
    if tag == "binary":
        return _base64(event, text)
    if event.style is not None or tag == "str":
        return string(text)
    meant = _plain(event, text, tag)
    if meant is not None:
        return meant
    if tag == "null":
        return null()
    if tag:
        raise _failure(event, f'"{text}" is no {tag}')
    return string(text)


def _plain(event: Event, text: str, tag: str) -> Value | None:
    """The value of a scalar without quotes that is more than a text; None for one that is not."""
    if text in _WORDS:
        return _WORDS[text]
    if _NOT_FINITE.fullmatch(text):
        raise _failure(event, f"{text} is not a number that can be computed with")
    if tag in ("", "timestamp") and (time := _time(text)) is not None:
        return string(time)
    if tag in ("int", "float"):
        text = text.replace("_", "")
    try:
        if _NUMBER.fullmatch(text):
            return number(written_number(text))
    except ValueError as error:
        raise _failure(event, str(error)) from None
    if _IN_BASE.fullmatch(text):
        whole = int(text, 0)
        if whole > _BIGGEST_IN_BASE:
            raise _failure(event, f"{text} has more than 64 bits")
        return number(whole)
    return None


def _base64(event: Event, text: str) -> Value:
    try:
        base64.b64decode(re.sub(r"[\r\n]", "", text), validate=True)
    except (binascii.Error, ValueError):
        raise _failure(event, "it is tagged as !!binary, and is not base64") from None
    return string(text)


def _time(text: str) -> str | None:
    """A date or time in the form of RFC 3339, to the second; None for any other text."""
    match = _TIME.fullmatch(text)
    if match is None:
        return None
    year, month, day, hour, minute, second, sign, hours, minutes, *spaced = match.groups()
    offset = timedelta(hours=int(hours or 0), minutes=int(minutes or 0))
    clock = [int(part or 0) for part in (spaced if spaced[0] else (hour, minute, second))]
    try:
        zone = timezone(-offset if sign == "-" else offset)
        moment = datetime(int(year), int(month), int(day), *clock, tzinfo=zone)  # type: ignore[misc, arg-type] # three of them
    except ValueError:
        return None
    return f"{moment.isoformat().removesuffix('+00:00')}{'' if offset else 'Z'}"
