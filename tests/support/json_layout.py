"""JSON for people who read a diff: a value that fits on its line stands there whole, any other one is taken
apart. Pure.
"""

import json
from typing import Any


def laid_out(data: Any, width: int = 110) -> str:
    """The JSON text of data, without an end of line. Only a text without a place to break is longer than the
    width.
    """
    return _laid_out(data, "", 0, width)


def _laid_out(data: Any, indent: str, used: int, width: int) -> str:
    """``used`` is what stands on the line already."""
    flat = json.dumps(data, ensure_ascii=False)
    if not isinstance(data, dict | list) or not data or used + len(flat) < width:
        return flat
    inner = indent + "  "
    if isinstance(data, list):
        items = [inner + _laid_out(item, inner, len(inner), width) for item in data]
        return "[\n" + ",\n".join(items) + f"\n{indent}]"
    fields = []
    for name, value in data.items():
        start = f"{inner}{json.dumps(name, ensure_ascii=False)}: "
        fields.append(start + _laid_out(value, inner, len(start), width))
    return "{\n" + ",\n".join(fields) + f"\n{indent}}}"
