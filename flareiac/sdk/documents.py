"""Additions of a provider to the documentation beside its blocks and functions: topics that ``flareiac
explain`` prints. Plain records.
"""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from flareiac.kernel.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """One entry, such as a rule or a setting. ``name`` is what a reader types, ``subject`` the group in which
    it is listed.

    ``title`` and ``text`` are Markdown; ``consequence`` says in a few words what FlareIaC does. ``page``
    lists all topics of this kind. ``measured_on``: the versions of the systems on which a rule was measured.
    """

    name: str
    kind: str
    page: str
    subject: str
    title: str
    text: str
    consequence: str = ""
    measured_on: str = ""


@runtime_checkable
class Documented(Protocol):
    """A provider with topics of its own."""

    def topics(self) -> Sequence[Topic]: ...
