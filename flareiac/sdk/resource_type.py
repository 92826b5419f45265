"""One type of resource: its schema, and the pure functions that know it. No session, no clock."""

from collections.abc import Callable, Mapping
from dataclasses import field
from enum import StrEnum
from typing import Protocol

from flareiac.kernel.data import Attributes, Data
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.paths import Path
from flareiac.kernel.types import Type
from flareiac.sdk.changes import Proposal, Usage
from flareiac.sdk.importing import WrittenBlock
from flareiac.sdk.lakehouse import EarlierState
from flareiac.sdk.maintenance import Hold, Maintainer
from flareiac.sdk.project import Project
from flareiac.sdk.references import References
from flareiac.sdk.requests import PlanRequest, Unchanged
from flareiac.sdk.results import Recorded
from flareiac.sdk.schema import Block
from flareiac.sdk.statistics import StatisticsSheet
from flareiac.sdk.upgrades import Upgrade


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


class Planner(Protocol):
    """Pure knowledge of one managed resource type."""

    def plan(self, request: PlanRequest) -> Proposal:
        """Returns what apply would do. Errors of the user are blockers or diagnostics in the proposal."""
        ...

    def fingerprint(self, request: PlanRequest) -> Data:
        """Returns what the answer to a request assumes of the world, and nothing else; never asks about
        usages or other resources that are removed. Apply compares it with that of a fresh observation: a plan
        whose fingerprint has changed is stale.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """A body as decoded from HCL, on its way to canonical attributes."""

    address: str
    name: str
    attributes: Attributes


@dataclass(frozen=True, slots=True, kw_only=True)
class Remains:
    """The remains of a dropped resource, in words.

    ``trace`` is where to find it, as in "its last metadata file is X"; ``fate`` what becomes of it when the
    state gives it up, as a sentence.
    """

    trace: str = ""
    fate: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceType:
    """One block type: how it is declared, planned, maintained, related to others and shown.

    Only the first five members are needed; each of the others answers a question of the core, and has an
    answer for types that it does not concern. All are pure, but for what ``planner`` and ``maintainer`` load.
    """

    # Declaration

    name: str
    kind: Kind
    schema: Block
    description: str
    canonical: Callable[[Decoded, References, Project, Diagnostics], Attributes]
    """Turns decoded HCL into the canonical attributes that are compared, recorded and handed to planner and
    driver: defaults filled in where they are part of the meaning, types normalised, None for what is not
    managed. Reports what is wrong before any system is asked; its diagnostics carry ``attribute`` paths as
    written in HCL, and the core adds the span.
    """
    follows_from_text: bool = False
    """True if ``canonical`` depends on the written attributes and on what they refer to alone, so that it
    need not be asked again about the same ones: it reads no file, environment or clock.
    """
    computed: Mapping[str, Type] = field(default_factory=dict)
    """Attributes that only the world knows, by type; the recorded identity has their values."""
    is_implied: bool = False
    """True if an omitted reference resolves to the only declared instance; so it does for a type that is
    embedded (see ``sdk.provider.Offered``).
    """
    values_only: bool = False
    """True of a data block of which others take values, and never itself: nothing of it is kept with them,
    and it is read without any connection of the project.
    """
    upgrades: tuple[Upgrade, ...] = ()
    """Upgrades of a managed type: the first one makes what version 1 of the type recorded what version 2
    records, and so on (see ``sdk.upgrades``).
    """

    # Planning

    planner: Callable[[], Planner] | None = None
    """Loads what decides about changes. Called when there is something to decide, so that other commands do
    not load it.
    """
    is_settled: Callable[[Unchanged], bool] = lambda _unchanged: False
    """Returns True if it is certain that the planner proposes nothing at all (no step, blocker, drift or
    diagnostic), so that a plan does not ask it. Nothing is done to such a resource, so that no plan relies on
    a fingerprint of it; one with declared maintenance, or that reacts to what is done to others, is never
    settled.
    """
    renamed: Callable[[Attributes, str, str], Attributes] = lambda identity, _old, _new: identity
    """(identity, old, new): a recorded identity after another resource's address has changed from ``old`` to
    ``new``, where it names others by texts.
    """
    examine: Callable[[Recorded], object] = lambda _recorded: None
    """Reads what is recorded of a resource, and raises where a part of it has another shape. Asked once
    something has failed.
    """

    # Relations to other resources

    usages: Callable[[str, Attributes, References], tuple[Usage, ...]] = (
        lambda _address, _attributes, _references: ()
    )
    """(address, attributes, references): what a resource reads, writes and owns."""
    seen_usages: Callable[[str, Attributes], tuple[Usage, ...]] = lambda _address, _identity: ()
    """(address, identity): the usages that only an observed identity shows."""
    holds: Callable[[str, Attributes, References, object], tuple[Hold, ...]] = lambda *_nothing: ()
    """(address, attributes, references, facts): what a recorded resource still needs of others, by the facts
    of its observation.
    """
    kept_by: Callable[[Attributes], str | None] = lambda _attributes: None
    """The recorded resource that goes on holding the same once this one has left the state (a job's
    checkpoint).
    """
    earlier_states: Callable[[str, Attributes], tuple[EarlierState, ...]] = lambda *_nothing: ()
    """(address, identity): what a recorded resource noted of others before it emptied them."""

    # Places

    places: Callable[[Attributes, Attributes, Project], tuple[str, ...]] = lambda *_nothing: ()
    """(attributes, identity, project): where a resource has files of its own (see ``sdk.locations``). The
    identity is empty of what was never observed.
    """
    sources: Callable[[Attributes, Project], tuple[str, ...]] = lambda *_nothing: ()
    """(attributes, project): folders with files that a resource needs and others write."""
    home: Callable[[Attributes], str | None] = lambda _attributes: None
    """The file or server that keeps everything behind a connection, which is there or not as a whole.
    Connections with the same home share it.
    """

    # Maintenance and statistics

    maintainer: Callable[[], Maintainer] | None = None
    """Loads what decides about due work, when there is some to decide about."""
    sheet: StatisticsSheet | None = None
    """The sheet of statistics, where the driver of the type reports some."""

    # Texts

    written: Callable[[str, Attributes], WrittenBlock] | None = None
    """(label, attributes): the block that declares these canonical attributes, in the units of a file and
    without defaults, for plans. Without it, what equals the default of the schema is left out.
    """
    written_path: Callable[[Path], Path | None] = lambda path: path
    """The place of a changed attribute in that block, for plans; None for one that no author writes."""
    import_ids: str | None = None
    """The form of the ids by which ``import`` finds a resource, with an example. Empty for what exists only
    because it was declared, which an import block cannot name; None where nothing is known.
    """
    remains: Callable[[Attributes], Remains] = lambda _identity: Remains()
    """The remains of a dropped resource, by its identity."""

    @property
    def schema_version(self) -> int:
        """The version in which resources of this type are recorded: each upgrade leads to the next one."""
        return len(self.upgrades) + 1
