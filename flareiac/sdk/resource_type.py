"""One type of resource: its schema, and the pure functions that know it. No session, no clock."""

from collections.abc import Callable, Mapping
from dataclasses import field
from enum import StrEnum

from flareiac.kernel.data import Attributes
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.types import Type
from flareiac.sdk.project import Project
from flareiac.sdk.references import References
from flareiac.sdk.schema import Block
from flareiac.sdk.type_roles import (
    Declaring,
    Locating,
    Maintaining,
    Planning,
    Recording,
    Relations,
    Showing,
)


class Kind(StrEnum):
    CONNECTION = "connection"
    """Known at plan, never counted as a change: catalog, engine."""
    DECLARATION = "declaration"
    """Part of the resources that refer to it: stream."""
    DATA = "data"
    """Read when a plan is made and never changed: what others own. The type's name is ``data.`` and the first
    label of its blocks.
    """
    MANAGED = "managed"
    """Planned, recorded, drifting: table, checkpoint, job."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """A body as decoded from HCL, on its way to canonical attributes. ``name``: its label, or the first one
    that it had where it has moved: a name that it does not write follows from that, and so stays the same.
    """

    address: str
    name: str
    attributes: Attributes
    named_after: str = ""
    """The address that ``name`` is the label of, where that is not its address of now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceType:
    """One block type. Each type needs the first five members, and a managed one ``planning``. The members
    from ``declaring`` on are roles (see ``sdk.type_roles``): a type leaves out those that do not concern it.
    All functions are pure, but for what ``planner`` and ``maintainer`` load.
    """

    name: str
    """The first label of its blocks, as in ``table``; of data, ``data.table``."""
    kind: Kind
    """Decides what FlareIaC does with its resources."""
    schema: Block
    """The attributes and blocks that may be written in a block."""
    description: str
    """Says as a sentence what a resource is, for ``explain`` and the reference."""
    canonical: Callable[[Decoded, References, Project, Diagnostics], Attributes]
    """Turns decoded HCL into the canonical attributes that are compared, recorded and handed to planner and
    driver: defaults filled in where they are part of the meaning, types normalised, None for what is not
    managed. Reports what is wrong before any system is asked; its diagnostics carry ``attribute`` paths as
    written in HCL, and the core adds the span.
    """
    computed: Mapping[str, Type] = field(default_factory=dict)
    """Attributes that only the world knows, by type; the recorded identity has their values."""

    declaring: Declaring = Declaring()
    planning: Planning = Planning()
    recording: Recording = Recording()
    relations: Relations = Relations()
    locating: Locating = Locating()
    maintaining: Maintaining = Maintaining()
    showing: Showing = Showing()
