"""Answers of drivers: observations and outcomes of changes. Also the state's record of a resource."""

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Final, TypeAlias

from flareiac.kernel.codes import Code
from flareiac.kernel.data import ABSENT, Attributes, Data
from flareiac.kernel.diagnostics import Diagnostic
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.paths import Path
from flareiac.sdk.lakehouse import TableHistory


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """The state's record of one resource: canonical desired attributes of the last apply, and what the world
    answered then.

    ``identity`` is what the driver returned (table uuid, metadata location, query ids, ...); ``private`` is
    the provider's own. ``user``: address and attributes of what used it last, where that has left the state
    (see ``Recording.kept_by``).
    """

    attributes: Attributes
    identity: Attributes = field(default_factory=dict)
    schema_version: int = 1
    user: tuple[str, Attributes] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Members:
    """The members of an attribute that holds values by names which others chose, as expressions need them.

    ``types``: the type of each value in cty's JSON form, where plain data do not tell it (a set and a list
    are both lists). ``lacks(name)``: code and sentence for a name that is referred to and not among them.
    """

    types: Mapping[str, Data]
    lacks: Callable[[str], tuple[Code, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unmanaged:
    """A part of a resource that is not declared. ``path`` is where an attribute would declare it, ``value``
    the canonical value that would; ABSENT where it is not known.
    """

    text: str
    path: Path
    value: Data = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class Writer:
    """The program and the user that made a change, as the system names them; empty where it does not."""

    program: str = ""
    version: str = ""
    user: str = ""
    application: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """``since``: when an attribute became what it is, in UTC seconds since 1970. None: not known."""

    since: float | None = None
    by: Writer | None = None


NOT_TRACED: Final = Trace()


@dataclass(frozen=True, slots=True, kw_only=True)
class Present:
    """It is there. ``attributes`` are canonical, in the shape of the planner's; ``identity`` as in
    ``Recorded``.

    ``facts``: what its own provider's planner needs of this moment, a record of that provider; never
    recorded. None: nothing was looked at. ``unmanaged``: its parts that are not declared (for ``drift``),
    ``unhealthy`` what is wrong with it while it runs. ``history``: of a table, what of it can be
    read as a stream, where it was asked for; for the planners of others, and never recorded. ``members``: of
    a data block, by attribute.
    """

    attributes: Attributes
    identity: Attributes = field(default_factory=dict)
    facts: object = None
    unmanaged: tuple[Unmanaged, ...] = ()
    unhealthy: tuple[str, ...] = ()
    history: TableHistory | None = None
    members: Mapping[str, Members] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """The system answered, and it is not there. ``reason`` is shown; ``facts`` as in ``Present``, of what is
    left of it all the same.
    """

    reason: str = ""
    facts: object = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreadable:
    """The system did not answer, or what it holds cannot be read. Never the same as missing."""

    diagnostic: Diagnostic


Observation: TypeAlias = Present | Missing | Unreadable


def history_of(observed: Observation | None) -> TableHistory | None:
    """The past of a table as it was observed: empty for one that is not there yet, None where it is not
    known.
    """
    match observed:
        case Present(history=history):
            return history
        case Missing():
            return TableHistory()
        case _:
            return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """Done. ``attributes`` and ``identity`` are recorded; ``restore`` is a ready command that undoes a risky
    step.

    ``revivable``: it was deleted, and what is recorded of it here is enough to bring it back.
    """

    attributes: Attributes
    identity: Attributes
    messages: tuple[str, ...] = ()
    revivable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StageDone:
    """One stage of a change is done. ``note`` (JSON data) is journalled and handed to the stages after it and
    to the change itself, also when they are carried out by another process.
    """

    messages: tuple[str, ...] = ()
    note: Data = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NotApplied:
    """Not done, and nothing changed in the world (or nothing that the next plan would not see)."""

    diagnostics: tuple[Diagnostic, ...]
    attributes: Attributes | None = None
    identity: Attributes | None = None
    """With ``attributes``: what did change all the same and must be recorded (a partly applied resource)."""
    restored: bool = False
    """The change was made, failed, and what was there before was put back: the apply counts as partly
    applied.
    """


Outcome: TypeAlias = Applied | NotApplied
