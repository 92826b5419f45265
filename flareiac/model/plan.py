"""The plan: what apply would do, whole and self-contained, with the graph that apply executes as it
stands.
"""

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from typing import Annotated, Final, Literal, TypeAlias

from flareiac.kernel.data import Attributes, Data, Seconds
from flareiac.kernel.diagnostics import Diagnostic, Severity
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import OPTIONAL, SPARSE, UNSTORED, Form, decode, encode, named
from flareiac.model.applied_from import AppliedFrom
from flareiac.model.conditions import ConditionResult
from flareiac.model.costs import Costs
from flareiac.model.desired import OutputValue
from flareiac.model.policy import PolicyResults
from flareiac.model.relocation import BoundPlace
from flareiac.sdk.changes import Action, Effect, Impact, Proposal
from flareiac.sdk.maintenance import MaintenanceTask
from flareiac.sdk.owner import Owner
from flareiac.sdk.references import StoredReferences
from flareiac.sdk.schema import Pattern

CHANGING = frozenset(
    {Action.CREATE, Action.ADOPT, Action.UPDATE, Action.REPLACE, Action.DELETE, Action.FORGET}
)
"""The actions that count as changes."""
LOSING = frozenset({Effect.NEW_GENERATION, Effect.LOSES_DATA})
"""The effects after which data or state is gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedResource:
    """One resource in the plan: the proposal, and the other two values it was compared with. ``identity`` is
    the observed one.
    """

    address: str
    type: str
    provider: str
    proposal: Proposal
    desired: Attributes | None
    recorded: Attributes | None
    identity: Attributes = field(default_factory=dict)
    observed: Attributes | None = None
    dependencies: tuple[str, ...] = ()
    protected: bool = False
    owner: Owner | None = field(default=None, metadata=SPARSE)
    schema_version: int = 1
    import_id: str | None = None
    destroy_object: bool = False
    replace: bool = False
    triggered_by: str = field(default="", metadata=SPARSE)
    """The resource, with the attribute, whose change replaces this one."""
    disturbances: tuple[Impact, ...] = ()
    resolved: Mapping[str, Attributes] = field(default_factory=dict)
    """The connections and declarations that the recorded object was reached through (for those whose block is
    gone).
    """
    previous_address: str = field(default="", metadata=SPARSE)
    """The address that it is recorded under, where it has moved."""
    sensitive: tuple[Pattern, ...] = field(default=(), metadata=SPARSE)
    """The places that its type calls sensitive: who shows a saved plan may not have that type."""

    @property
    def action(self) -> Action:
        return self.proposal.action

    @property
    def restarts(self) -> bool:
        """Returns True if a running query stops and starts again."""
        return self.action is Action.UPDATE and any(
            step.effect is Effect.RESTART for step in self.proposal.steps
        )

    @property
    def loses_data(self) -> bool:
        """Returns True if rows, records or files are gone afterwards, whatever becomes of the resource."""
        return any(step.effect is Effect.LOSES_DATA for step in self.proposal.steps)

    @property
    def loses(self) -> bool:
        """Returns True if some of its data or state is gone afterwards although the resource itself stays."""
        return self.action in (Action.UPDATE, Action.ADOPT) and any(
            step.effect in LOSING for step in self.proposal.steps
        )


class Verb(StrEnum):
    """The request of one operation to a driver (or, for ``forget`` and ``record``, to the state alone)."""

    CREATE = "create"
    ADOPT = "adopt"
    UPDATE = "update"
    DELETE = "delete"
    FORGET = "forget"
    RECORD = "record"
    QUIESCE = "quiesce"
    STAGE = "stage"
    """One effect of a change, on the way to it."""
    MAINTAIN = "maintain"
    """Work on what a resource holds that is due with time: no change."""


CHANGE_VERBS: Final = (Verb.CREATE, Verb.ADOPT, Verb.UPDATE)
"""The verbs that bring a resource to what is planned."""


class EdgeKind(StrEnum):
    """The reason why one operation waits for another."""

    REFERENCE = "reference"
    DESTROY_ORDER = "destroy order"
    REPLACE_ORDER = "replace order"
    STAGES = "stages"
    QUIESCE = "quiesce"
    FEEDS = "feeds"
    MAINTENANCE = "maintenance"


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """The operation named here must have succeeded first, for this reason."""

    after: str
    kind: EdgeKind
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One node of the graph. ``id`` is stable: the verb and the address, for maintenance with the name of the
    ``task``, for a stage of a change with its name. ``text`` and ``effect`` say what a change with stages
    does here.
    """

    id: str
    address: str
    verb: Verb
    edges: tuple[Edge, ...] = ()
    task: str = field(default="", metadata=named("duty"))
    stage: str = field(default="", metadata=SPARSE)
    text: str = field(default="", metadata=SPARSE)
    effect: Effect | None = field(default=None, metadata=SPARSE)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedTask:
    """One kind of maintenance that is declared for a resource, due or not."""

    address: str
    task: MaintenanceTask


def _encode_planned_task(planned_task: PlannedTask) -> Data:
    return {"address": planned_task.address, **encode(planned_task.task)}


def _decode_planned_task(data: Data) -> PlannedTask:
    task = dict(data)
    address = task.pop("address")
    if not isinstance(address, str):
        raise TypeError(f"expected an address, found {address!r:.60}")
    return PlannedTask(address=address, task=decode(MaintenanceTask, task, "", complete=True))


StoredPlannedTask: TypeAlias = Annotated[PlannedTask, Form(_encode_planned_task, _decode_planned_task)]
"""In JSON one object: the maintenance task with its address."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputChange:
    """One output before and after; ``after`` may be UNKNOWN."""

    before: OutputValue | None
    after: OutputValue | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanOrigin:
    """The inputs that a plan was made with: the place of the state (empty: in the checkout itself), digests
    of the files beside the configuration and of the environment's values for variables, and versions, each by
    name.
    """

    place: str = field(default="", metadata=SPARSE)
    files: dict[str, str] = field(default_factory=dict, metadata=SPARSE)
    environment: dict[str, str] = field(default_factory=dict, metadata=SPARSE)
    versions: dict[str, str] = field(default_factory=dict, metadata=SPARSE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A whole plan. ``references`` holds every resource as planned, for those that refer to it. ``time`` is
    UTC seconds.
    """

    lineage: str
    serial: int
    workspace: str
    time: Seconds
    configuration: str
    destroy: bool
    targeted: bool
    maintenance_only: bool = field(metadata=named("upkeep_only"))
    """True if changes were left out: the plan contains due maintenance only."""
    resources: tuple[PlannedResource, ...]
    references: StoredReferences
    operations: tuple[Operation, ...]
    tasks: tuple[StoredPlannedTask, ...] = field(default=(), metadata=named("duties"))
    outputs: Mapping[str, OutputChange] = field(default_factory=dict)
    diagnostics: tuple[Diagnostic, ...] = ()
    remediates: bool = field(default=False, metadata=SPARSE)
    """True if it was made from what the state records: it brings back what drifted, and no change of the
    files is in it.
    """
    variables: Attributes = field(default_factory=dict)
    origin: PlanOrigin | None = field(default=None, metadata=OPTIONAL)
    applied: AppliedFrom | None = field(default=None, metadata=SPARSE)
    """The origin that its apply records; None where it leaves the recorded one as it is."""
    owners: Mapping[str, Owner] = field(default_factory=dict, metadata=SPARSE)
    """The owners of readers outside of the project that are declared, by address."""
    moves: Mapping[str, str] = field(default_factory=dict, metadata=SPARSE)
    """The new addresses of all that the state knows under another one, by the old ones."""
    protection: Literal["", "on", "off"] = field(default="", metadata=SPARSE)
    """The protection of the workspace begins or ends with its apply."""
    policy: PolicyResults | None = field(default=None, metadata=OPTIONAL)
    """The answers of the rules of the team; None where there are none."""
    refresh: Literal["", "full", "changed", "none"] = field(default="", metadata=SPARSE)
    """The ``-refresh`` with which the systems were asked; empty in plans of releases that did not save it."""
    types: Mapping[str, int] = field(default_factory=dict, metadata=SPARSE)
    """The versions of the types of its resources and references, by type."""
    conditions: tuple[ConditionResult, ...] = field(default=(), metadata=SPARSE)
    """The answers of the conditions of the configuration."""
    costs: Costs | None = field(default=None, metadata=UNSTORED)
    """The costs of its actions; None where no prices were given."""
    bound: tuple[BoundPlace, ...] = field(default=(), metadata=UNSTORED)
    """The places in its configuration that are other ones once the root module is elsewhere."""
    made_in: str = field(default="", metadata=UNSTORED)
    """The folder of the root module; present only in a plan with bound places."""

    @property
    def errored(self) -> bool:
        """Returns True if planning met an error: such a plan can be read but not applied."""
        return any(diagnostic.severity is Severity.ERROR for diagnostic in self.diagnostics)

    @property
    def blocked(self) -> tuple[PlannedResource, ...]:
        """The resources that cannot be applied as written."""
        return tuple(resource for resource in self.resources if resource.proposal.blockers)

    @property
    def is_refused(self) -> bool:
        """Returns True if a mandatory rule of the team is not met."""
        return self.policy is not None and self.policy.refuses

    @property
    def changes(self) -> tuple[PlannedResource, ...]:
        """The resources that count as changes."""
        return tuple(resource for resource in self.resources if resource.action in CHANGING)

    @property
    def unknown(self) -> dict[str, tuple[str, ...]]:
        """Returns what could not be observed of existing resources, by address."""
        return {
            resource.address: resource.proposal.unknown
            for resource in self.resources
            if resource.proposal.unknown
        }

    @property
    def output_changes(self) -> dict[str, OutputChange]:
        """The outputs that differ."""
        return {name: output for name, output in self.outputs.items() if output.before != output.after}

    @property
    def due(self) -> tuple[PlannedTask, ...]:
        """The maintenance that apply will do."""
        return tuple(task for task in self.tasks if task.task.due)

    @property
    def empty(self) -> bool:
        """Nothing to do, not even to the state."""
        return not (self.operations or self.output_changes or self.protection or self.moves)

    @property
    def state_only(self) -> bool:
        """Returns True if apply only brings the state up to date: there is nothing to approve."""
        return not (self.output_changes or self.protection or self.moves) and all(
            operation.verb is Verb.RECORD for operation in self.operations
        )

    @property
    def applyable(self) -> bool:
        return not self.errored and not self.blocked and not self.empty and not self.is_refused

    @property
    def restarts(self) -> int:
        return sum(resource.restarts for resource in self.resources)
