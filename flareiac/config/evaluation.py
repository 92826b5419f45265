"""One evaluation of a configuration: the parts that the calls of its modules share. A record."""

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import TypeAlias

from flareiac.config.kept_blocks import KeptBlocks
from flareiac.config.module_nodes import ModuleNodes
from flareiac.config.module_tree import ModuleText
from flareiac.config.registry import Registry
from flareiac.kernel.diagnostics import Diagnostic, Diagnostics
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.lang.functions.signature import Builtin
from flareiac.model.conditions import ConditionResult
from flareiac.model.desired import DesiredResource
from flareiac.model.relocation import BoundPlace
from flareiac.model.snapshot import ResourceRecord, Snapshot
from flareiac.sdk.project import Project
from flareiac.sdk.requests import Question
from flareiac.sdk.resource_type import ResourceType
from flareiac.sdk.results import Present

ReadData: TypeAlias = Callable[[Question], Present | Diagnostic | None]
"""The function that reads a ``data`` block: its object (None: no one is asked, as in ``validate``), or the
reason that it is not known.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class DataBlocks:
    """The way in which data blocks are read. ``partial``: what takes values of a data block about which no
    one is asked is left out, and is no error.
    """

    read: ReadData = lambda _question: None
    partial: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Evaluation:
    """The parts that all calls of modules share: what is installed, what was recorded, the place for
    complaints, and the resources so far.

    ``snapshot`` is the state, under the addresses of now. ``functions`` gives the functions of the module in
    a directory. ``kept`` has the blocks of earlier runs. ``resources`` and all below it grow while modules
    are evaluated.
    """

    registry: Registry
    project: Project
    diagnostics: Diagnostics
    snapshot: Snapshot
    data: DataBlocks
    functions: Callable[[str], Mapping[str, Builtin]]
    kept: KeptBlocks
    nodes: Mapping[ModuleText, ModuleNodes]
    resources: dict[str, DesiredResource] = field(default_factory=dict)
    """The instances by address, each after those that it refers to."""
    unread: dict[str, Diagnostic] = field(default_factory=dict)
    """The reasons why data blocks could not be read, by address."""
    unasked: set[str] = field(default_factory=set)
    """The addresses of data blocks about which no one was asked."""
    bound: list[BoundPlace] = field(default_factory=list)
    """The places that resources name and that are others once the root module is elsewhere."""
    conditions: list[ConditionResult] = field(default_factory=list)
    """The answers of the conditions so far."""
    disabled: set[str] = field(default_factory=set)
    """The blocks that have no instance by ``enabled = false``."""

    def recorded(self, address: str) -> ResourceRecord | None:
        """Returns what the last apply recorded of an address; None where it recorded nothing."""
        return self.snapshot.resources.get(address)

    @property
    def types(self) -> Mapping[str, ResourceType]:
        """The resource types by name."""
        return self.registry.types
