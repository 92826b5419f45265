"""Writes plain data for people: as in HCL, on one line where it fits, with nothing in it that could steer a
terminal.
"""

import difflib
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import TypeGuard

from flareiac.kernel.data import Absent, Data, Reference, Unknown, write_json
from flareiac.kernel.numbers import number_text
from flareiac.render.control_characters import printable
from flareiac.render.redaction import Redacted
from flareiac.sdk.importing import Call, Written

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*\Z")
_AS_IT_IS = re.compile(r"[A-Za-z0-9 _.,:;/()<>=@#*+-]*")
"""Most texts of most plans: nothing in them has to be escaped or spelled out."""
_INDENT = "    "


def quoted(text: str) -> str:
    """A text as an HCL string on one line."""
    if _AS_IT_IS.fullmatch(text):
        return f'"{text}"'
    escaped = (
        text.replace("\\", "\\\\")
        .replace('"', '\\"')
        .replace("\n", "\\n")
        .replace("\t", "\\t")
        .replace("\r", "\\r")
    )
    return f'"{printable(escaped.replace("${", "$${").replace("%{", "%%{"))}"'


def key_text(key: str) -> str:
    """An object key: bare where HCL allows it."""
    return key if _IDENTIFIER.match(key) else quoted(key)


def inline(value: Written) -> str:
    """A value on one line."""
    match value:
        case dict():
            inner = ", ".join([f"{key_text(key)} = {inline(member)}" for key, member in value.items()])
            return f"{{ {inner} }}" if inner else "{}"
        case None | Absent():
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return quoted(value)
        case Reference(address):
            return address
        case Unknown() | Redacted():
            return repr(value)
        case list() | tuple():
            return f"[{', '.join(map(inline, value))}]"
        case Call(function, arguments):
            return f"{function}({', '.join(map(inline, arguments))})"
        case int() | float() | Decimal():
            return number_text(value)
        case _:
            return write_json(value)


def assignment(label: str, value: Written, width: int) -> list[str]:
    """``label = value`` as lines: one where it fits into ``width`` columns, else nested, without outer
    indent.
    """
    if is_text_block(value):
        return [
            f"{label} = <<-EOT",
            *(f"{_INDENT}{printable(line)}".rstrip() for line in _text_lines(value)),
            "EOT",
        ]
    flat = f"{label} = {inline(value)}"
    if len(flat) <= width and not _holds_text_block(value):
        return [flat]
    match value:
        case dict():
            return [f"{label} = {{", *_indented(body(value, width - len(_INDENT))), "}"]
        case list() | tuple() if value:
            lines: list[str] = []
            for element in value:
                lines.extend(_element(element, width - len(_INDENT)))
            return [f"{label} = [", *_indented(lines), "]"]
        case _:
            return [flat]


def body(attributes: Mapping[str, Data], width: int) -> list[str]:
    """The attributes of a body or an object, equals signs aligned among neighbours; null ones are left
    out.
    """
    assignments = [
        assignment(key_text(key), value, width) for key, value in attributes.items() if value is not None
    ]
    return [line for lines in aligned(assignments) for line in lines]


def without_nulls(value: Data) -> Data:
    """The value without null attributes, at any depth: what is not managed need not be shown."""
    match value:
        case dict():
            return {key: without_nulls(member) for key, member in value.items() if member is not None}
        case list() | tuple():
            return [without_nulls(element) for element in value]
        case _:
            return value


def aligned(assignments: list[list[str]]) -> list[list[str]]:
    """The same assignments with the first equals sign of neighbouring one-line assignments in one column."""
    result: list[list[str]] = []
    run: list[list[str]] = []
    for lines in [*assignments, []]:
        if len(lines) == 1:
            run.append(lines)
            continue
        column = max((_label_end(line) for [line] in run), default=0)
        result.extend([[_pad(line, column)] for [line] in run])
        run = []
        if lines:
            result.append(lines)
    return result


def is_text_block(value: Written) -> TypeGuard[str]:
    """Returns True if a value is a text of several lines."""
    return isinstance(value, str) and "\n" in value.rstrip("\n")


def text_difference(old: str, new: str) -> list[tuple[str, str]]:
    """Two texts line by line: each line with its sign (`` ``, ``-``, ``+``); long unchanged stretches are
    folded.
    """
    before, after = _text_lines(old), _text_lines(new)
    lines: list[tuple[str, str]] = []
    seen = 0
    for group in difflib.SequenceMatcher(None, before, after, autojunk=False).get_grouped_opcodes(2):
        lines.extend(_folded(group[0][1] - seen))
        for tag, start, end, new_start, new_end in group:
            if tag == "equal":
                lines.extend((" ", line) for line in before[start:end])
            else:
                lines.extend(("-", line) for line in before[start:end])
                lines.extend(("+", line) for line in after[new_start:new_end])
            seen = end
    return [(sign, printable(line)) for sign, line in [*lines, *_folded(len(before) - seen)]]


def _folded(count: int) -> list[tuple[str, str]]:
    """The line that stands for so many unchanged ones."""
    return [(" ", f"# ({count} unchanged {'line' if count == 1 else 'lines'})")] if count > 0 else []


def _text_lines(text: str) -> list[str]:
    return text.rstrip("\n").split("\n")


def _holds_text_block(value: Data) -> bool:
    match value:
        case dict():
            return any(_holds_text_block(member) for member in value.values())
        case list() | tuple():
            return any(_holds_text_block(element) for element in value)
        case _:
            return is_text_block(value)


def _element(value: Data, width: int) -> list[str]:
    flat = f"{inline(value)},"
    if len(flat) <= width or not isinstance(value, dict) or not value:
        return [flat]
    return ["{", *_indented(body(value, width - len(_INDENT))), "},"]


def _indented(lines: list[str]) -> list[str]:
    return [f"{_INDENT}{line}" if line else line for line in lines]


def _label_end(line: str) -> int:
    return line.index(" = ")


def _pad(line: str, column: int) -> str:
    at = _label_end(line)
    return f"{line[:at]}{' ' * (column - at)}{line[at:]}"
