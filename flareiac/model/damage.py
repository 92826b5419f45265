"""Explains in words why stored bytes could not be decoded. Pure."""

import json

from flareiac.kernel.records import Mismatch

UNREADABLE = (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError)
"""The errors that decoding raises when bytes are not what was once encoded."""


def misshapen(problem: Exception) -> str:
    """Returns the error that reading a part of a wrong shape raised, in one line."""
    match problem:
        case Mismatch():
            return " ".join(str(problem).split())
        case KeyError():
            return f"{problem.args[0]} is missing"
        case _:
            return " ".join(f"{type(problem).__name__}: {problem}".split())


def damage(problem: Exception, expected: str) -> str:
    """Returns why bytes are not ``expected`` (such as ``a FlareIaC state``), from what decoding raised."""
    match problem:
        case json.JSONDecodeError():
            return (
                f"it is not {expected}: it stops being JSON at line {problem.lineno}, column {problem.colno}"
            )
        case UnicodeDecodeError():
            return (
                f"it is not {expected}: the byte at offset {problem.start} does not belong to any character"
            )
        case Mismatch(path=path, why=why):
            return f"it is not {expected}: {path.partition('.')[2] or 'the document'} {why}"
        case KeyError():
            return f"it is not {expected}: {problem.args[0]} is missing"
        case _:
            return f"it is not {expected}: a part of it has the wrong shape"
