"""The roles that a type of resource may have beyond its core (see ``ResourceType``): small records of pure
functions. A type gives the roles that it has something to say in, and of each the members that concern it. A
member that is not given answers for a type that it does not concern.
"""

from collections.abc import Callable, Mapping
from typing import Protocol

from flareiac.kernel.data import Attributes, Data
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.paths import Path
from flareiac.sdk.changes import Proposal, Usage
from flareiac.sdk.data_flow import DataFlow
from flareiac.sdk.importing import WrittenBlock
from flareiac.sdk.lakehouse import EarlierState
from flareiac.sdk.lineage import Dataset, LineageJob
from flareiac.sdk.maintenance import Hold, Maintainer
from flareiac.sdk.project import Project
from flareiac.sdk.references import References
from flareiac.sdk.requests import PlanRequest, Unchanged
from flareiac.sdk.results import Recorded
from flareiac.sdk.statistics import StatisticsSheet
from flareiac.sdk.upgrades import Upgrade


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
class Declaring:
    """Says how blocks of the type stand in a configuration."""

    follows_from_text: bool = False
    """True if ``canonical`` depends on the written attributes and on what they refer to alone, so that it
    need not be asked again about the same ones: it reads no file, environment or clock.
    """
    is_implied: bool = False
    """True if an omitted reference resolves to the only declared instance; so it does for a type that is
    embedded (see ``sdk.provider.Offered``).
    """
    is_outside: bool = False
    """True of what belongs to others, so that the owner of the project is not its owner."""
    values_only: bool = False
    """True of a data block of which others take values, and never itself: nothing of it is kept with them,
    and it is read without any connection of the project.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Planning:
    """Decides about changes of managed resources. A managed type needs a planner."""

    planner: Callable[[], Planner] | None = None
    """Loads the planner. Called when there is something to decide, so that other commands do not load it."""
    is_replaceable: bool = False
    """True where the planner can replace a resource on request (``PlanRequest.replace``): what it holds,
    or the state that it has built up, is lost, and the new one is empty.
    """
    is_settled: Callable[[Unchanged], bool] = lambda _unchanged: False
    """Returns True if it is certain that the planner proposes nothing at all (no step, blocker, drift or
    diagnostic), so that a plan does not ask it. Nothing is done to such a resource, so that no plan relies on
    a fingerprint of it; one with declared maintenance, or that reacts to what is done to others, is never
    settled.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """Knows what the state records of managed resources."""

    upgrades: tuple[Upgrade, ...] = ()
    """The first one makes what version 1 of the type recorded what version 2 records, and so on (see
    ``sdk.upgrades``).
    """
    examine: Callable[[Recorded], object] = lambda _recorded: None
    """Reads what is recorded of a resource, and raises where a part of it has another shape. Asked once
    something has failed.
    """
    renamed: Callable[[Attributes, str, Mapping[str, str]], Attributes] = lambda identity, _address, _moves: (
        identity
    )
    """(identity, address, moves): a recorded identity after addresses have changed (new ones by old ones),
    where it names others by texts or has to remember its own one. ``address``: the one it had.
    """
    kept_by: Callable[[Attributes], str | None] = lambda _attributes: None
    """(attributes): the recorded resource that goes on holding the same once this one has left the state (a
    job's checkpoint).
    """

    @property
    def schema_version(self) -> int:
        """The version in which resources of this type are recorded: each upgrade leads to the next one."""
        return len(self.upgrades) + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Relations:
    """Relates resources to others, beyond the references that are written."""

    usages: Callable[[str, Attributes, References], tuple[Usage, ...]] = (
        lambda _address, _attributes, _references: ()
    )
    """(address, attributes, references): what a resource reads, writes and owns."""
    data_flow: Callable[[str, Attributes, References], DataFlow] | None = None
    """(address, attributes, references): the data flow through a resource, where more can be said of it than
    its usages tell.
    """
    dataset: Callable[[Attributes, References, Project], Dataset | None] = lambda *_nothing: None
    """(attributes, references, project): the dataset that a resource is to other programs."""
    lineage_job: Callable[[Attributes, References, Project], LineageJob | None] = lambda *_nothing: None
    """(attributes, references, project): the job that a resource is to other programs."""
    seen_usages: Callable[[str, Attributes], tuple[Usage, ...]] = lambda _address, _identity: ()
    """(address, identity): the usages that only an observed identity shows."""
    holds: Callable[[str, Attributes, References, object], tuple[Hold, ...]] = lambda *_nothing: ()
    """(address, attributes, references, facts): what a recorded resource still needs of others, by the facts
    of its observation.
    """
    earlier_states: Callable[[str, Attributes], tuple[EarlierState, ...]] = lambda *_nothing: ()
    """(address, identity): what a recorded resource noted of others before it emptied them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Locating:
    """Tells where the files of resources are, and the files that they read."""

    own: Callable[[Attributes, Attributes, Project], tuple[str, ...]] = lambda *_nothing: ()
    """(attributes, identity, project): where a resource has files of its own (see ``sdk.locations``). The
    identity is empty of what was never observed.
    """
    read: Callable[[Attributes, Project], tuple[str, ...]] = lambda *_nothing: ()
    """(attributes, project): folders with files that a resource needs and others write."""
    home: Callable[[Attributes], str | None] = lambda _attributes: None
    """(attributes): the file or server that keeps everything behind a connection, which is there or not as a
    whole. Connections with the same home share it.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Maintaining:
    """Decides about maintenance that resources declare, and reports figures."""

    maintainer: Callable[[], Maintainer] | None = None
    """Loads what decides about due work, when there is some to decide about."""
    sheet: StatisticsSheet | None = None
    """The sheet of statistics, where the driver of the type reports some."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remains:
    """The remains of a dropped resource, in words.

    ``trace`` is where to find it, as in "its last metadata file is X"; ``fate`` what becomes of it when the
    state gives it up, as a sentence.
    """

    trace: str = ""
    fate: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Showing:
    """Writes and names resources for people."""

    written: Callable[[str, Attributes], WrittenBlock] | None = None
    """(label, attributes): the block that declares these canonical attributes, in the units of a file and
    without defaults, for plans. Without it, what equals the default of the schema is left out.
    """
    written_path: Callable[[Path], Path | None] = lambda path: path
    """(path): the place of a changed attribute in that block, for plans; None for one that no author
    writes.
    """
    taking_over: Callable[[Attributes, Path, Data], Attributes] | None = None
    """(attributes, path, value): the canonical attributes that also declare what drift finds at a path, None
    where it is gone. Without it, ``sdk.taking_over.with_value``.
    """
    import_ids: str | None = None
    """The form of the ids by which ``import`` finds a resource, with an example. Empty for what exists only
    because it was declared, which an import block cannot name; None where nothing is known.
    """
    remains: Callable[[Attributes], Remains] = lambda _identity: Remains()
    """(identity): the remains of a dropped resource."""
