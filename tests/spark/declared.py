"""Projects written as HCL, for tests of what is planned about them without any system."""

from dataclasses import dataclass, replace
from pathlib import Path

from flareiac.app.discovery import installed
from flareiac.config.files import ModuleFiles
from flareiac.config.load import load
from flareiac.config.variables import Inputs
from flareiac.kernel.data import Attributes
from flareiac.kernel.diagnostics import Diagnostic, Diagnostics
from flareiac.kernel.records import encode
from flareiac.model.desired import DesiredResource
from flareiac.model.snapshot import new_snapshot
from flareiac.sdk.changes import Impact, Proposal
from flareiac.sdk.project import Project
from flareiac.sdk.references import Resolved
from flareiac.sdk.requests import PlanRequest
from flareiac.sdk.results import Missing, Observation, Present, Recorded
from flareiac_spark.definition.job_definition import (
    ApplicationDefinition,
    JobDefinition,
    Restart,
    Stability,
    Trigger,
)
from flareiac_spark.engine.engine_definition import DriverSize, EngineDefinition
from flareiac_spark.observation.job import JobFacts, OutputFacts

QUERY = "6116a383-3254-46b6-be89-609df4e7c277"
LAKE = """
table "orders" {
  namespace = "demo"
  column "id" { type = "long not null" }
  column "region" { type = "string" }
}
table "hourly" {
  namespace = "demo"
  column "hour" { type = "timestamptz" }
  column "n" { type = "long" }
}
table "regions" {
  namespace = "demo"
  column "region" { type = "string" }
  column "name" { type = "string" }
}
stream "orders" {
  files {
    path   = "landing"
    format = "json"
  }
  column "id" { type = "long" }
  column "ts" { type = "timestamptz" }
  column "region" { type = "string" }
  column "unread" { type = "string" }
  watermark = { column = "ts", delay = "10m" }
}
checkpoint "x" {}
"""
NOT_LOOKED_AT = JobFacts(state="not looked at")
"""Stands for an observation that repeats the record, as without refreshing."""
STATELESS = """
job "x" {
  checkpoint = checkpoint.x
  trigger    = { processing_time = "30s" }
  input "orders" { stream = stream.orders }
  step "clean" { sql = "SELECT id, region FROM orders WHERE id > 0" }
  output "orders" { table = table.orders }
}
"""
STATEFUL = """
job "x" {
  checkpoint = checkpoint.x
  input "orders" { stream = stream.orders }
  step "hourly" { sql = "SELECT window(ts, '1 hour').start AS hour, count(*) AS n FROM orders GROUP BY window(ts, '1 hour')" }
  output "hourly" { table = table.hourly }
}
"""
BATCH = """
job "x" {
  mode = "batch"
  input "source" {
    files {
      path    = "in"
      format  = "json"
      columns = { region = "string", name = "string" }
    }
  }
  step "all" { sql = "SELECT region, name FROM source" }
  output "regions" {
    table = table.regions
    mode  = "overwrite"
  }
}
"""


ENGINE = EngineDefinition(
    type="local",
    master="local[1]",
    conf={},
    packages=(),
    driver=DriverSize(memory="1g", cores=1),
    log_level="WARN",
    runtime_location="runtime",
    idle_shutdown_ms=120_000,
    graceful_stop_ms=1_000,
)
APPLICATION = ApplicationDefinition.of({**encode(ENGINE), "catalogs": {}})
EMPTY = JobDefinition(
    engine=None,
    application=APPLICATION,
    checkpoint=None,
    checkpoint_location=None,
    generation=1,
    mode="stream",
    trigger=Trigger(kind="default", interval_ms=None),
    inputs={},
    steps={},
    step_order=(),
    code=None,
    outputs={},
    conf={},
    restart=Restart(max_failures=3, within_ms=3_600_000, backoff_ms=10_000),
    stability=Stability(within_ms=120_000, on_failure="leave"),
    health=None,
    foreach_batch=False,
    accept_result_change=None,
    run="on_change",
    stopped=False,
    restart_nonce=0,
    comment=None,
    tags=None,
)
"""A stream that reads and writes nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """An evaluated project and what was wrong with it."""

    resources: dict[str, DesiredResource]
    diagnostics: tuple[Diagnostic, ...]
    project: Project

    @property
    def codes(self) -> list[str]:
        return [item.code for item in self.diagnostics]

    def references(self) -> dict[str, Resolved]:
        return {address: item.resolved() for address, item in self.resources.items()}

    def attributes(self, address: str = "job.x") -> Attributes:
        return self.resources[address].attributes

    def job(self) -> JobDefinition:
        return JobDefinition.of(self.attributes())


def loaded(hcl: str, root: Path) -> Loaded:
    """A project of one file."""
    root.mkdir(exist_ok=True)
    (root / "main.flare.hcl").write_text(hcl, encoding="utf-8")
    project, diagnostics = Project(root=root, lineage="test"), Diagnostics()

    def inputs(_files: ModuleFiles) -> Inputs:
        return Inputs(environment={})

    desired = load(project, installed().registry, inputs, new_snapshot(), diagnostics).desired
    return Loaded(resources=dict(desired.resources), diagnostics=tuple(diagnostics), project=project)


def running(*, committed: int | None = 3, operators: tuple[str, ...] = (), **other: object) -> JobFacts:
    """A job that runs as it was recorded."""
    output = OutputFacts(
        query_id=QUERY,
        started=committed,
        committed=committed,
        sources=(("files", ()),),
        operators=operators,
        conf={"spark.sql.shuffle.partitions": "2"},
    )
    facts: dict[str, object] = {
        "digest": "d",
        "state": "running",
        "alive": True,
        "phase": "running",
        "checkpoints": {"orders": output, "hourly": output},
    }
    return JobFacts(**{**facts, **other})  # type: ignore[arg-type]  # a test names fields that exist


def proposal(
    desired: Loaded | None,
    recorded: Loaded | None,
    facts: JobFacts | None,
    *,
    address: str = "job.x",
    identity: Attributes | None = None,
    disturbances: tuple[Impact, ...] = (),
) -> Proposal:
    """The proposal of the planner of an address; ``facts`` None: it does not exist."""
    known = desired or recorded
    assert known is not None, "a question is about something"
    planner = installed().registry.types[address.split(".", maxsplit=1)[0]].planning.planner
    assert planner is not None, "only managed resources are planned"
    was = None
    if recorded is not None:
        was = Recorded(attributes=recorded.attributes(address), identity={"digest": "d", **(identity or {})})
    request = PlanRequest(
        address=address,
        desired=desired.attributes(address) if desired else None,
        recorded=was,
        observed=_observed(was, facts),
        references=_references(known, recorded),
        project=known.project,
        disturbances=disturbances,
    )
    return replace(planner().plan(request), fingerprint=planner().fingerprint(request))


def _references(known: Loaded, recorded: Loaded | None) -> dict[str, Resolved]:
    """Tables that were declared before are there."""
    there = recorded.resources if recorded is not None else {}
    return {
        address: replace(item, identity={"uuid": "u"}) if item.type == "table" and address in there else item
        for address, item in known.references().items()
    }


def _observed(recorded: Recorded | None, facts: JobFacts | None) -> Observation:
    if facts is None:
        return Missing()
    if facts is NOT_LOOKED_AT and recorded is not None:
        return Present(attributes=recorded.attributes, identity=recorded.identity)
    by_hand = {"stopped": True} if facts.state == "stopped" else {}
    attributes = {**recorded.attributes, **by_hand} if recorded else {}
    return Present(attributes=attributes, identity=dict(recorded.identity) if recorded else {}, facts=facts)
