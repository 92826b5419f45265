"""Existing objects that a provider describes as blocks of HCL, so that ``import`` can write them down."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Protocol, TypeAlias, runtime_checkable

from flareiac.kernel.data import Attributes, Data
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.references import References


@dataclass(frozen=True, slots=True)
class Call:
    """A call of one of the provider's functions, as the value of an attribute: ``bucket(16, "id")``."""

    function: str
    arguments: tuple["Written", ...]


Written: TypeAlias = "Data | Call"
"""Plain data (lists and dicts of it, references), with calls in place of what they evaluate to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenBlock:
    """One block as a person would write it: attributes and blocks in order, nothing that could be left out.
    ``notes`` stand above it.
    """

    type: str
    label: str | None = None
    attributes: Mapping[str, Written] = field(default_factory=dict)
    blocks: tuple["WrittenBlock", ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Importable:
    """A thing that can be adopted under ``id``. ``block`` carries the suggested label; ``named`` is the
    attribute that must tell the real name where another label is chosen, written after ``named_after`` or
    first; ``qualifier`` makes the label longer where two things would share it.
    """

    id: str
    block: WrittenBlock
    named: str
    real_name: str
    named_after: str = ""
    qualifier: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A thing that was found and cannot be adopted, or need not be."""

    id: str
    why: str
    declared: bool = False
    """It has a block already, so that nothing is missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportRequest:
    """``pattern`` names things by import id; with ``exact`` it is one id, else ``*`` and ``?`` stand for
    anything.
    """

    pattern: str
    references: References
    declared: Mapping[str, Attributes]
    """The canonical attributes of every resource and data block of the configuration, by address."""
    exact: bool = False


@runtime_checkable
class Importing(Protocol):
    """A session that can look for things that could be adopted."""

    def names(self, pattern: str) -> bool:
        """Returns True if a pattern has the form of this provider's import ids."""
        ...

    def importable(self, request: ImportRequest) -> Sequence[Importable | LeftOut]:
        """Returns the objects that the pattern names, by id. Only reads. Raises ``Failure`` where the
        location cannot be read or is not known.
        """
        ...
