"""Blocks as HCL text, the way a person writes them: one attribute a line, equal signs aligned, every text
escaped. Pure.
"""

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence

from flareiac.kernel.data import Data, Reference
from flareiac.lang.escapes import quote
from flareiac.lang.layout import formatted
from flareiac.sdk.importing import Call, Written, WrittenBlock

_WIDTH = 110
"""A list or map that does not fit is written with one element a line."""
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff]")
_KEYWORDS = frozenset({"true", "false", "null", "for", "if", "in"})


def file_text(blocks: Sequence[WrittenBlock], *, notes: Sequence[str] = ()) -> str:
    """A whole file, laid out as ``fmt`` does it: the blocks with an empty line between them, then notes as
    comments.
    """
    parts = ["\n".join(block_lines(block, "")) for block in blocks]
    if notes:
        parts.append("\n".join(line for note in notes for line in _comment(note, "")))
    return formatted("\n\n".join(parts) + "\n")


def block_lines(block: WrittenBlock, indent: str) -> Iterator[str]:
    """The lines of a block whose first line stands at ``indent``."""
    for note in block.notes:
        yield from _comment(note, indent)
    head = block.type if block.label is None else f"{block.type} {text(block.label)}"
    inner = indent + "  "
    attributes, blocks = (
        list(_attributes(block.attributes, inner)),
        [list(block_lines(inner_block, inner)) for inner_block in block.blocks],
    )
    if not attributes and not blocks:
        yield f"{indent}{head} {{}}"
        return
    if (
        not blocks
        and len(attributes) == 1
        and len(block.attributes) == 1
        and block.label is not None
        and indent
    ):
        yield f"{indent}{head} {{ {attributes[0].strip()} }}"
        return
    yield f"{indent}{head} {{"
    yield from attributes
    for lines in blocks:
        yield from lines
    yield f"{indent}}}"


def _comment(note: str, indent: str) -> Iterator[str]:
    """A note must stay one comment whatever it quotes."""
    for line in textwrap.wrap(
        _CONTROL.sub(" ", note), _WIDTH, break_long_words=False, break_on_hyphens=False
    ) or [""]:
        yield f"{indent}# {line}".rstrip()


def _attributes(attributes: Mapping[str, Written], indent: str) -> Iterator[str]:
    shown = {name: value_text(value, indent) for name, value in attributes.items()}
    width = max((len(name) for name, value in shown.items() if "\n" not in value), default=0)
    for name, value in shown.items():
        yield f"{indent}{name if chr(10) in value else name.ljust(width)} = {value}"


def value_text(value: Written, indent: str) -> str:
    """A value in a line that begins with ``indent``, over several lines where one would be too long."""
    one_line = _flat(value)
    if len(indent) + len(one_line) <= _WIDTH or not isinstance(value, list | tuple | dict):
        return one_line
    inner = indent + "  "
    if isinstance(value, dict):
        lines = [f"{inner}{key_text(name)} = {value_text(member, inner)}" for name, member in value.items()]
        return "\n".join(["{", *lines, f"{indent}}}"])
    return "\n".join(["[", *(f"{inner}{value_text(element, inner)}," for element in value), f"{indent}]"])


def _flat(value: Written) -> str:
    match value:
        case Call(function, arguments):
            return f"{function}({', '.join(map(_flat, arguments))})"
        case dict():
            inner = ", ".join(f"{key_text(name)} = {_flat(member)}" for name, member in value.items())
            return f"{{ {inner} }}" if inner else "{}"
        case list() | tuple():
            return f"[{', '.join(map(_flat, value))}]"
        case _:
            return _scalar(value)


def _scalar(value: Data) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case Reference(address):
            return address
        case str():
            return text(value)
        case _:
            return str(value)


def key_text(name: str) -> str:
    """The key of a map."""
    return name if _NAME.fullmatch(name) and name not in _KEYWORDS else text(name)


def text(value: str) -> str:
    """A quoted string that means ``value``, printable whatever is in it."""
    return _CONTROL.sub(lambda match: f"\\u{ord(match.group()):04x}", quote(value))
