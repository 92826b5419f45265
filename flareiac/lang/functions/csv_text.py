"""The rows that a text in CSV holds (RFC 4180)."""

import csv
import io
import re
from typing import Final

from flareiac.kernel.types import STRING, ObjectType
from flareiac.lang.functions.signature import FunctionError
from flareiac.lang.values import Value, list_value, normal, object_value, string

_WELL_FORMED: Final = re.compile(r'(?:(?:"(?:[^"]|"")*+"|[^",\r\n]*+)(?:,|\r?\n|\Z))*+')
"""Python's reader takes a quote in the middle of a field as it stands; RFC 4180 has none there."""


def from_csv(text: str) -> Value:
    """A list of objects, one for each line after the first, which has their attributes. Raises
    ``FunctionError``.
    """
    if (match := _WELL_FORMED.match(text)) is None or match.end() < len(text):
        line = text.count("\n", 0, match.end() if match else 0) + 1
        why = "a quote inside a field without quotes, or a carriage return that ends no line"
        raise FunctionError(f"line {line} is not CSV: it has {why}", 0)
    rows = [row for row in csv.reader(io.StringIO(text, newline="")) if row]
    if not rows:
        raise FunctionError("the text is empty: its first line has the names of the columns", 0)
    names = [normal(name) for name in rows[0]]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise FunctionError(f'the first line names "{twice}" twice', 0)
    for count, row in enumerate(rows[1:], start=1):
        if len(row) != len(names):
            why = f"row {count} has {len(row)} fields, and the first line names {len(names)} columns"
            raise FunctionError(why, 0)
    objects = [object_value(dict(zip(names, map(string, row), strict=True))) for row in rows[1:]]
    return list_value(objects, ObjectType(dict.fromkeys(names, STRING)))
