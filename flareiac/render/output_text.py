"""Outputs for people and machines. The value of a sensitive one is never shown (the state does not hold it
either).
"""

from collections.abc import Mapping

from flareiac.kernel.data import Data, Json
from flareiac.model.desired import OutputValue
from flareiac.render.json_values import json_type, plain
from flareiac.render.redaction import REDACTED
from flareiac.render.value_text import assignment, inline, key_text


def outputs_text(outputs: Mapping[str, OutputValue], *, bare: bool = False, width: int = 100) -> str:
    """``name = value`` lines, by name; ``bare``: only the value (of one output)."""
    lines: list[str] = []
    for name, output in sorted(outputs.items()):
        value = REDACTED if output.sensitive else output.value
        if bare:
            lines.append(inline(value) if len(inline(value)) <= width else _bare_lines(value, width))
        else:
            lines.extend(assignment(key_text(name), value, width))
    return "\n".join(lines) + "\n" if lines else "There are no outputs.\n"


def outputs_json(outputs: Mapping[str, OutputValue]) -> dict[str, dict[str, Json]]:
    """Terraform's shape: name to ``sensitive``, ``type`` and ``value``."""
    return {
        name: {
            "sensitive": output.sensitive,
            "type": _type(output),
            "value": plain(output.value),
        }
        for name, output in sorted(outputs.items())
    }


def _type(output: OutputValue) -> Json:
    """As recorded; else what the value alone tells."""
    return json_type(output.value) if output.type is None else output.type


def _bare_lines(value: Data, width: int) -> str:
    return "\n".join(assignment("value", value, width)).removeprefix("value = ")
