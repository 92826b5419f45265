"""What is wrong with stored bytes that could not be decoded, in words. Pure."""

import json

from flareiac.kernel.records import MissingField

UNREADABLE = (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError)
"""What decoding raises when bytes are not what was once encoded."""


def damage(problem: Exception, expected: str) -> str:
    """Why bytes are not ``expected`` (such as ``a FlareIaC state``), from what decoding raised."""
    match problem:
        case json.JSONDecodeError():
            return (
                f"it is not {expected}: it stops being JSON at line {problem.lineno}, column {problem.colno}"
            )
        case UnicodeDecodeError():
            return (
                f"it is not {expected}: the byte at offset {problem.start} does not belong to any character"
            )
        case MissingField(path=path):
            return f"it is not {expected}: {path.rpartition('.')[2]} is missing"
        case KeyError():
            return f"it is not {expected}: {problem.args[0]} is missing"
        case _:
            return f"it is not {expected}: a part of it has the wrong shape"
