"""Attribute paths: where inside a resource's attributes a value stands, such as ``("column", "ts",
"type")``.
"""

import re
from typing import TypeAlias

Step: TypeAlias = str | int
Path: TypeAlias = tuple[Step, ...]

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*\Z")


def render_path(path: Path) -> str:
    """``column.ts.type``, ``partition_by[0]``, ``properties["write.x"]``: as a person would write it in
    HCL.
    """
    parts: list[str] = []
    for step in path:
        if isinstance(step, int):
            parts.append(f"[{step}]")
        elif _PLAIN.match(step):
            parts.append(f".{step}" if parts else step)
        else:
            parts.append(f'["{step}"]')
    return "".join(parts)
