"""The declaration of a kind of maintenance by users. Apart from the modules that measure and plan it, so that
a command that only reads a project does not load those. Pure.
"""

from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from flareiac.kernel.data import Attributes
from flareiac.kernel.diagnostics import Diagnostic, Diagnostics
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import decode
from flareiac.sdk.schema import Block
from flareiac_iceberg.maintenance.columns import Surroundings


class Settings(Protocol):
    """The record of a block: its fields are named as the attributes."""

    @property
    def enabled(self) -> bool: ...
    @property
    def every(self) -> int | None: ...


S = TypeVar("S", bound=Settings)


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration(Generic[S]):
    """``name`` is the block's. ``canonical`` makes the settings of a declared block, durations in ms and
    sizes in bytes, and reports what is wrong. ``unused_property`` is about a table property that does nothing
    where the kind is not declared. ``first_run_waits``: no figure speaks for a first run, which waits until
    the table is as old as the time between two runs.
    """

    name: str
    block: Block
    settings: type[S]
    canonical: Callable[[Attributes, Surroundings, Diagnostics], S]
    unused_property: Callable[[str], Diagnostic | None] | None = None
    first_run_waits: Callable[[S], bool] = lambda _settings: False

    def of(self, attributes: Attributes) -> S | None:
        """The settings of canonical attributes; None where the block is not declared, or not enabled."""
        data = attributes.get(self.name)
        settings = None if data is None else decode(self.settings, data, self.name)
        return settings if settings is not None and settings.enabled else None
