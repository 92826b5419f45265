"""The forms of what commands print with ``-json``, as types that ``record_schemas`` reads. Where a command
prints a record, the form is that record, with what stands beside its fields.
"""
# mypy: disable-error-code="valid-type"
# Forms are values here: record_schemas reads them, and nothing is annotated with them.

from collections.abc import Mapping
from typing import Any, Final, Literal, NotRequired, TypedDict

from flareiac.kernel.records import stored_fields
from flareiac.model.costs import Cost, Costs
from flareiac.model.policy import Finding, PolicyResults
from flareiac.model.service_levels import ReaderStatus
from flareiac.model.snapshot import ResourceRecord
from flareiac.sdk.run_status import RunStatus
from flareiac_iceberg.maintenance.statistics import TableStatistics
from flareiac_iceberg.table.rollback import HistoryRow
from flareiac_spark.checkpoint.description import DescribedCheckpoint, DescribedInput


def form(name: str, fields: Mapping[str, Any]) -> Any:
    """The type of an object with these fields, whatever they are called."""
    make: Any = TypedDict
    return make(name, dict(fields))


def beside(name: str, record: Any, **more: Any) -> Any:
    """The type of a record's fields and of others in one object."""
    fields = {
        key: field.kind if field.is_always_written else NotRequired[field.kind]
        for key, field in stored_fields(record).items()
        if not field.implied
    }
    return form(name, {**more, **fields})


# Complaints

Position = form("Position", {"line": int, "column": int, "byte": int})
Range = form("Range", {"filename": str, "start": Position, "end": Position})
SnippetValue = form("SnippetValue", {"traversal": str, "statement": str})
Snippet = form(
    "Snippet",
    {
        "context": str | None,
        "code": str,
        "start_line": int,
        "highlight_start_offset": int,
        "highlight_end_offset": int,
        "values": list[SnippetValue],
    },
)
Related = form("Related", {"message": str, "range": Range})
Diagnostic = form(
    "Diagnostic",
    {
        "severity": Literal["error", "warning"],
        "summary": str,
        "detail": str,
        "code": str,
        "address": NotRequired[str],
        "attribute": NotRequired[str],
        "range": NotRequired[Range],
        "snippet": NotRequired[Snippet],
        "related": NotRequired[list[Related]],
    },
)


class Failed(TypedDict):
    """The document of a command that cannot do its work, in place of its own."""

    format_version: Literal["1.0"]
    diagnostics: list[Diagnostic]


class Validated(TypedDict):
    format_version: Literal["1.0"]
    valid: bool
    error_count: int
    warning_count: int
    diagnostics: list[Diagnostic]


# What runs, and what is recorded

Job = beside("Job", RunStatus, address=str)
Table = beside("Table", TableStatistics, address=str)


class Status(TypedDict):
    """Providers of other packages add lists of what they hold, each with an address."""

    format_version: Literal["1.0"]
    jobs: list[Job]
    tables: list[Table]
    readers: list[ReaderStatus]


class Check(TypedDict):
    name: str
    verdict: Literal["ok", "warn", "fail"]
    text: str
    fix: str


class Doctor(TypedDict):
    format_version: Literal["1.0"]
    checks: list[Check]
    diagnostics: list[Diagnostic]


class Addresses(TypedDict):
    format_version: Literal["1.0"]
    addresses: list[str]


class Earlier(TypedDict):
    name: str
    written: str | None
    serial: int | None
    resources: int | None
    size: int
    encrypted: bool
    remark: NotRequired[str]


class History(TypedDict):
    format_version: Literal["1.0"]
    lineage: str | None
    serial: int | None
    resources: int | None
    damage: str | None
    remark: NotRequired[str]
    history: list[Earlier]


class Holder(TypedDict):
    id: str
    owner: str
    host: str
    pid: int
    operation: str
    created: str
    job: str


class Lock(TypedDict):
    format_version: Literal["1.0"]
    locked: bool
    lock: Holder | None


class Workspaces(TypedDict):
    format_version: Literal["1.0"]
    workspaces: list[str]
    selected: str
    selected_by: str | None


class Version(TypedDict):
    flareiac_version: str
    providers: list[str]


class Output(TypedDict):
    """``type`` as cty writes types: "string", ["list", "number"], ["object", {...}]."""

    sensitive: bool
    type: Any
    value: Any


class ConsoleValue(TypedDict):
    """``type`` as in ``Output``; ``unknown`` and ``sensitive`` are true at such places."""

    value: Any
    type: Any
    unknown: NotRequired[Any]
    sensitive: NotRequired[Any]


class ConsoleError(TypedDict):
    error: Diagnostic


CONSOLE: Final = ConsoleValue | ConsoleError


class Explained(TypedDict):
    format_version: Literal["1.0"]
    name: str
    kind: str
    text: str


class Entry(TypedDict):
    name: str
    kind: str


class Entries(TypedDict):
    format_version: Literal["1.0"]
    entries: list[Entry]


class Snapshots(TypedDict):
    format_version: Literal["1.0"]
    address: str
    snapshots: list[HistoryRow]


Checkpoint = beside(
    "Checkpoint",
    DescribedCheckpoint,
    format_version=Literal["1.0"],
    address=str,
    jobs=Mapping[str, RunStatus],
    inputs=NotRequired[list[DescribedInput]],
)
PolicyCheck = beside(
    "PolicyCheck", PolicyResults, format_version=Literal[1], flareiac_version=str, passed=bool
)


# Plans and states in Terraform's shapes

OwnerParts = form("OwnerParts", {"name": str, "contact": str})


class Reader(TypedDict):
    address: str
    owner: OwnerParts | None
    columns: list[str]
    certain: bool
    declared: bool


class Step(TypedDict):
    text: str
    effect: str
    why: str
    rules: NotRequired[list[str]]
    readers: NotRequired[list[Reader]]


class Blocker(TypedDict):
    code: str
    summary: str
    why: str
    ways_out: list[str]
    rules: NotRequired[list[str]]


class AttributeChange(TypedDict):
    path: list[str | int]
    origin: str
    old: Any
    new: Any
    live: Any
    new_unknown: Any
    note: str
    sensitive: bool


CostOfAction = beside("CostOfAction", Cost, currency=str)
CostOfPlan = beside("CostOfPlan", Cost, currency=str, prices=str, left_out=Mapping[str, int])


class OwnChange(TypedDict):
    action: str
    restart: bool
    changes: list[AttributeChange]
    steps: list[Step]
    reasons: list[str]
    blockers: list[Blocker]
    drift: list[str]
    unproven: Any
    owner: NotRequired[OwnerParts]
    unknown: NotRequired[list[str]]
    cost: NotRequired[CostOfAction]


OwnDrift = form("OwnDrift", {"drift": list[str]})
Importing = form("Importing", {"id": str})
Verb = Literal["no-op", "create", "read", "update", "delete", "forget"]


class Change(TypedDict):
    actions: list[Verb]
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None
    after_unknown: Any
    before_sensitive: Any
    after_sensitive: Any
    replace_paths: NotRequired[list[list[str | int]]]
    importing: NotRequired[Importing]
    flareiac: OwnChange | OwnDrift


class ResourceChange(TypedDict):
    address: str
    module_address: NotRequired[str]
    previous_address: NotRequired[str]
    mode: Literal["managed"]
    type: str
    name: str
    index: NotRequired[str | int]
    provider_name: str
    change: Change
    action_reason: NotRequired[str]


class OutputChange(TypedDict):
    actions: list[Literal["no-op", "create", "update", "delete"]]
    before: Any
    after: Any
    after_unknown: Any
    before_sensitive: bool
    after_sensitive: bool


class PlannedResource(TypedDict):
    address: str
    mode: Literal["managed"]
    type: str
    name: str
    index: NotRequired[str | int]
    provider_name: str
    schema_version: int
    values: Mapping[str, Any]
    sensitive_values: Any
    depends_on: NotRequired[list[str]]


class Module(TypedDict):
    address: NotRequired[str]
    resources: list[PlannedResource]
    child_modules: NotRequired[list["Module"]]


class PlannedValues(TypedDict):
    outputs: NotRequired[Mapping[str, Output]]
    root_module: Module


class Variable(TypedDict):
    value: Any


class ProviderConfig(TypedDict):
    name: str
    full_name: str


class ConfiguredResource(TypedDict):
    address: str
    mode: Literal["managed"]
    type: str
    name: str
    provider_config_key: str
    expressions: Mapping[str, Any]
    schema_version: int


class ModuleCall(TypedDict):
    source: str
    expressions: Mapping[str, Any]
    module: "ConfiguredModule"


class ConfiguredModule(TypedDict):
    resources: list[ConfiguredResource]
    module_calls: NotRequired[Mapping[str, ModuleCall]]


class Configuration(TypedDict):
    provider_config: Mapping[str, ProviderConfig]
    root_module: ConfiguredModule


Summary = form(
    "Summary",
    dict.fromkeys(
        (
            *("add", "change", "destroy", "import", "forget"),
            *("restart", "lose", "record", "blocked", "due"),
        ),
        int,
    ),
)
TASK: Final[dict[str, Any]] = {
    "name": str,
    "summary": str,
    "readers": NotRequired[list[Reader]],
    "forecast": Mapping[str, Any],
    "held": list[str],
    "performer": str | None,
    "work": Mapping[str, Any] | None,
}
Task = form("Task", {"address": str, "due": bool, **TASK, "cost": NotRequired[CostOfAction]})


class Edge(TypedDict):
    after: str
    kind: str
    reason: str


class Operation(TypedDict):
    id: str
    address: str
    verb: str
    edges: list[Edge]
    duty: NotRequired[str]
    stage: NotRequired[str]
    text: NotRequired[str]
    effect: NotRequired[str]


Policy = beside("Policy", PolicyResults, passed=bool)


class OwnPlan(TypedDict):
    format_version: Literal["1.0"]
    version: str
    lineage: str
    serial: int
    workspace: str
    configuration: str
    destroy: bool
    targeted: bool
    summary: Summary
    blocked: list[str]
    due: list[Task]
    operations: list[Operation]
    diagnostics: list[Diagnostic]
    cost: NotRequired[CostOfPlan]
    moves: NotRequired[dict[str, str]]
    protection: NotRequired[str]
    policy: NotRequired[Policy]


class CheckAddress(TypedDict):
    to_display: str
    kind: NotRequired[str]
    mode: NotRequired[str]
    type: NotRequired[str]
    name: NotRequired[str]
    module: NotRequired[str]
    instance_key: NotRequired[str | int]


class CheckProblem(TypedDict):
    message: str


class CheckInstance(TypedDict):
    address: CheckAddress
    status: str
    problems: NotRequired[list[CheckProblem]]


class CheckedBlock(TypedDict):
    address: CheckAddress
    status: str
    instances: list[CheckInstance]


class ShownPlan(TypedDict):
    format_version: Literal["1.2"]
    terraform_version: str
    variables: Mapping[str, Variable]
    planned_values: PlannedValues
    resource_drift: NotRequired[list[ResourceChange]]
    resource_changes: list[ResourceChange]
    output_changes: Mapping[str, OutputChange]
    configuration: Configuration
    checks: NotRequired[list[CheckedBlock]]
    timestamp: str
    applyable: bool
    complete: bool
    errored: bool
    flareiac: OwnPlan


class OwnRecord(TypedDict):
    """``survey``: what ``status`` says of a table."""

    identity: Mapping[str, Any]
    protected: bool
    owner: NotRequired[OwnerParts]
    survey: NotRequired[TableStatistics | Mapping[str, Any]]


class RecordedResource(TypedDict):
    address: str
    mode: Literal["managed"]
    type: str
    name: str
    index: NotRequired[str | int]
    provider_name: str
    schema_version: int
    values: Mapping[str, Any]
    sensitive_values: Any
    depends_on: list[str]
    flareiac: OwnRecord


class RecordedModule(TypedDict):
    address: NotRequired[str]
    resources: list[RecordedResource]
    child_modules: NotRequired[list["RecordedModule"]]


class Values(TypedDict):
    outputs: Mapping[str, Output]
    root_module: RecordedModule


class OwnState(TypedDict):
    format_version: Literal["1.0"]
    lineage: str
    serial: int


class ShownState(TypedDict):
    format_version: Literal["1.0"]
    terraform_version: str
    values: Values
    flareiac: OwnState


# Lines of plan, apply and drift

LINE: Final[dict[str, Any]] = {
    "@level": Literal["info", "warn", "error"],
    "@message": str,
    "@module": Literal["flareiac.ui"],
    "@timestamp": str,
}
LineResource = form(
    "LineResource",
    {
        "addr": str,
        "module": str,
        "resource": str,
        "implied_provider": str,
        "resource_type": str,
        "resource_name": str,
        "resource_key": str | int | None,
    },
)
_ACTION: Final = Literal["noop", "create", "import", "update", "replace", "delete", "remove"]


def _line(name: str, kind: Any, **more: Any) -> Any:
    return form(name, {**LINE, "type": kind, **more})


class LineRisk(TypedDict):
    restart: bool
    blocked: bool
    reasons: list[str]


class LineChange(TypedDict):
    resource: LineResource
    action: _ACTION | Literal["move"]
    previous_resource: NotRequired[LineResource]
    reason: NotRequired[str]
    importing: NotRequired[Importing]
    flareiac: LineRisk


class LineDrift(TypedDict):
    resource: LineResource
    action: Literal["delete", "update"]
    flareiac: OwnDrift


Writer = form("Writer", dict.fromkeys(("engine", "version", "user", "application"), str | None))
FINDING: Final[dict[str, Any]] = {
    "class": Literal["changed", "missing", "unmanaged", "unhealthy"],
    "attribute": str | None,
    "path": list[str | int],
    "old": Any,
    "live": Any,
    "sensitive": bool,
    "text": str,
    "since": str | None,
    "by": Writer | None,
    "fingerprint": str,
}
DriftFinding = form("DriftFinding", FINDING)
Ignoring = form("Ignoring", {"reason": str, "expires": str | None})
IgnoredFinding = form("IgnoredFinding", {**FINDING, "ignored": Ignoring})


class FoundDrift(TypedDict):
    resource: LineResource
    action: Literal["delete", "update", "noop"]
    flareiac: DriftFinding


class IgnoredDrift(TypedDict):
    resource: LineResource
    action: Literal["noop"]
    flareiac: IgnoredFinding


class ApplyShare(TypedDict):
    """The changes of the plan that have ended, well or not; ``percent`` is rounded down."""

    ended: int
    total: int
    percent: int


class OwnHook(TypedDict):
    """``seconds``: since the operation began."""

    operation: str
    verb: str
    duty: NotRequired[str]
    stage: NotRequired[str]
    text: NotRequired[str]
    seconds: NotRequired[float]
    apply: NotRequired[ApplyShare]


class Hook(TypedDict):
    resource: LineResource
    action: _ACTION
    elapsed_seconds: NotRequired[int]
    reason: NotRequired[str]
    flareiac: OwnHook


Totals = form(
    "Totals",
    {
        **dict.fromkeys(("add", "change", "import", "remove", "forget", "restart", "lose", "due"), int),
        "operation": Literal["plan", "apply", "destroy"],
    },
)
PlannedOutput = form("PlannedOutput", {"sensitive": bool, "action": Literal["create", "update", "delete"]})
DriftTotals = form(
    "DriftTotals",
    {
        "drifted": bool,
        **dict.fromkeys(("checked", "unchecked", "findings", "ignored"), int),
        **dict.fromkeys(("changed", "missing", "unmanaged", "unhealthy"), int),
    },
)
DueTask = form("DueTask", {"resource": LineResource, **TASK})
VERSION_LINE: Final = _line("VersionLine", Literal["version"], terraform=str, flareiac=str, ui=Literal["1.2"])
DIAGNOSTIC_LINE: Final = _line("DiagnosticLine", Literal["diagnostic"], diagnostic=Diagnostic)
_LITERAL: Final[Any] = Literal
_HOOKS: Final = _LITERAL[
    tuple(
        f"{what}_{how}"
        for what in ("apply", "stage")
        for how in ("start", "progress", "complete", "errored", "skipped")
    )
]
LINES: Final = (
    VERSION_LINE
    | DIAGNOSTIC_LINE
    | _line("PlannedChangeLine", Literal["planned_change"], change=LineChange)
    | _line("ResourceDriftLine", Literal["resource_drift"], change=LineDrift)
    | _line("DueLine", Literal["due"], due=DueTask)
    | _line("ChangeSummaryLine", Literal["change_summary"], changes=Totals, cost=NotRequired[Costs])
    | _line("OutputsLine", Literal["outputs"], outputs=Mapping[str, PlannedOutput | Output])
    | _line("PolicyLine", Literal["policy"], policy=Finding)
    | _line("LogLine", Literal["log"])
    | _line("HookLine", _HOOKS, hook=Hook)
)
DRIFT_LINES: Final = (
    VERSION_LINE
    | DIAGNOSTIC_LINE
    | _line("FoundDriftLine", Literal["resource_drift"], change=FoundDrift)
    | _line("IgnoredDriftLine", Literal["drift_ignored"], change=IgnoredDrift)
    | _line("DriftSummaryLine", Literal["drift_summary"], drift=DriftTotals)
)
OUTPUTS: Final = Mapping[str, Output]
RECORD: Final = ResourceRecord
