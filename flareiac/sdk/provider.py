"""The contract of a provider: its resource types, its functions, and the session that its drivers come
from.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from flareiac.kernel.codes import CodeTable
from flareiac.kernel.data import Data
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.types import Type
from flareiac.sdk.driver import Driver
from flareiac.sdk.project import Project
from flareiac.sdk.resource_type import ResourceType


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """A pure function of the language: plain data in, plain data out. ``ValueError`` from ``call`` becomes a
    diagnostic.
    """

    name: str
    parameters: tuple[tuple[str, Type], ...]
    returns: Type
    call: Callable[..., Data]
    description: str
    optional: tuple[tuple[str, Type], ...] = ()
    variadic: tuple[str, Type] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Offered:
    """A block type by its name alone. ``load`` is called when a project has such a block or refers to one, so
    that commands load what they use. ``embedded``: of connections; there is one without attributes where none
    is declared.
    """

    load: Callable[[], ResourceType]
    embedded: bool = False


class Session(Protocol):
    """An open provider. Drivers are safe to use from several threads."""

    def driver(self, type_name: str) -> Driver:
        """Returns the driver of a managed type, or of one whose data are read. A session with one type can
        be its own driver.
        """
        ...

    def close(self) -> None:
        """Ends what the session has begun; no driver of it is used afterwards."""
        ...


class Provider(Protocol):
    """A provider: an entry point of the group ``flareiac.providers`` returns it when called without
    arguments.
    """

    name: str

    def resource_types(self) -> Mapping[str, Offered]:
        """Its block types by name."""
        ...

    def functions(self) -> Sequence[Function]:
        """Its functions of the language, often none."""
        ...

    def codes(self) -> CodeTable:
        """The codes of its diagnostics, with their pages."""
        ...

    def open(self, project: Project) -> Session:
        """Opens a session, when a command first asks what is there."""
        ...
