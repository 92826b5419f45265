"""The one exception of the front end: raised where text stops making sense, turned into a diagnostic where a
piece ends.
"""

from dataclasses import dataclass

from flareiac.kernel.codes import Code


@dataclass
class InvalidSyntax(Exception):
    """The error between two offsets of the piece of text being read."""

    code: Code
    detail: str
    start: int
    end: int
