"""Things: files that are made, swept, polished, dropped and brought back."""

import json
import os
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import assert_never

from flareiac.kernel.codes import Code
from flareiac.kernel.data import UNKNOWN, Attributes, Data, from_json, to_json
from flareiac.kernel.diagnostics import Diagnostics, Failure, error, warning
from flareiac.kernel.kill_points import reach
from flareiac.kernel.types import BOOL, NUMBER, STRING, ListType, RefType
from flareiac.sdk.actions import (
    Adopt,
    Create,
    CustomAction,
    Delete,
    PerformStage,
    Quiesce,
    Revive,
    Settleable,
    Update,
)
from flareiac.sdk.capabilities import Preflight
from flareiac.sdk.changes import Action, Effect, Origin, Proposal, Relation, Stage, Step, Usage, blocker
from flareiac.sdk.classify import classify
from flareiac.sdk.maintenance import (
    Hold,
    Judgement,
    MaintenanceTask,
    MeasureRequest,
    TasksRequest,
)
from flareiac.sdk.on_change import ChangeClass, OnChange
from flareiac.sdk.project import Project
from flareiac.sdk.references import References
from flareiac.sdk.requests import ApplyRequest, ChangeRequest, PlanRequest, ReadRequest
from flareiac.sdk.resource_type import Decoded
from flareiac.sdk.results import (
    Applied,
    Missing,
    NotApplied,
    Observation,
    Outcome,
    Present,
    Recorded,
    StageDone,
    Unreadable,
)
from flareiac.sdk.schema import Attribute, Block
from flareiac.sdk.statistics import Statistics, StatisticsRequest, StatisticsSheet
from flareiac.sdk.table_tasks import Work
from flareiac.sdk.text_table import Column
from flareiac.sdk.validators import one_of
from flareiac_toy.shine import Shine, ShineStep

EXISTS = Code("TOY001", "It exists")
UNREADABLE = Code("TOY002", "It cannot be read")
FAILS = Code("TOY003", "It is declared to fail")
DUST_UNREADABLE = Code("TOY004", "The dust cannot be read")
DUSTY = Code("TOY005", "Very grains")
NOT_SWEPT = Code("TOY006", "Nothing was swept")
BROOM_BROKEN = Code("TOY007", "The broom is broken")
BROOM_LOUD = Code("TOY011", "The broom is loud")
REFUTED = Code("TOY012", "It is not what the plan took it for")

SCHEMA = Block(
    description="A file.",
    attributes={
        "name": Attribute(type=STRING, description="The name of the file; default: the label."),
        "value": Attribute(
            type=STRING, description="What it holds.", on_change=OnChange(ChangeClass.METADATA_ONLY)
        ),
        "needs": Attribute(
            type=ListType(RefType(("thing",))), description="Things that must be there first."
        ),
        "wait_for": Attribute(type=STRING, description="A file of the project that making it waits for."),
        "stages": Attribute(
            type=ListType(STRING),
            description="Stages before it is made; early ones begin with early, lossy ones with wipe.",
        ),
        "fails_in": Attribute(type=STRING, description="The stage that fails."),
        "fail": Attribute(type=BOOL, description="Whether making it fails."),
        "sweep_over": Attribute(type=NUMBER, description="How much dust may lie on it before it is swept."),
        "keeps_dust_of": Attribute(
            type=RefType(("thing",)), description="A thing whose dust it still needs."
        ),
        "broom": Attribute(
            type=RefType(("broom",)), description="What sweeps it.", only_with=("sweep_over",)
        ),
        "on_destroy": Attribute(
            type=STRING,
            description="retain | drop | delete",
            default="delete",
            validators=(one_of("retain", "drop", "delete"),),
        ),
    },
)
SHEET = StatisticsSheet(
    name="things",
    subject="THING",
    columns=(Column("DUST", right=True), Column("SHINE", right=True), Column("SWEPT", right=True)),
)


def canonical(
    decoded: Decoded, _references: References, _project: Project, _diagnostics: Diagnostics
) -> Attributes:
    """The attributes with their defaults."""
    attributes = dict(decoded.attributes)
    attributes["name"] = attributes["name"] or decoded.name
    attributes["on_destroy"] = attributes["on_destroy"] or "delete"
    return attributes


class ThingPlanner:
    """Plans one thing. Pure."""

    def fingerprint(self, request: PlanRequest) -> Data:
        there = request.observed
        return {"value": there.attributes["value"]} if isinstance(there, Present) else None

    def plan(self, request: PlanRequest) -> Proposal:
        proposal = self._plan(request)
        names = (request.desired or {}).get("stages") or ()
        if proposal.action not in (Action.CREATE, Action.UPDATE) or not names:
            return proposal
        stages = tuple(
            Stage(
                name=name,
                text=f"{name} {request.address}",
                effect=Effect.LOSES_DATA if name.startswith("wipe") else None,
                early=name.startswith("early"),
            )
            for name in names
        )
        return replace(proposal, stages=stages, closing=f"look at {request.address}")

    def _plan(self, request: PlanRequest) -> Proposal:
        observed = request.observed.attributes if isinstance(request.observed, Present) else None
        if request.desired is None:
            assert request.recorded is not None
            delete = request.destroy_object or request.recorded.attributes["on_destroy"] != "retain"
            action = Action.DELETE if delete and observed is not None else Action.FORGET
            gone = () if observed else ("it is gone",)
            return Proposal(action=action, planned=None, drift=gone)
        planned = {
            **request.desired,
            "id": UNKNOWN if request.recorded is None else request.recorded.identity.get("id", UNKNOWN),
        }
        recorded = request.recorded.attributes if request.recorded else None
        if observed is None:
            drift: tuple[str, ...] = ("it is gone",) if recorded is not None else ()
            step = Step(text="write the file", effect=Effect.METADATA)
            return Proposal(action=Action.CREATE, planned=planned, steps=(step,), drift=drift)
        if recorded is None and not request.importing:
            text = f'import {{\n  to = {request.address}\n  id = "{planned["name"]}"\n}}'
            obstacle = blocker(EXISTS, "It is not recorded.", (text,))
            return Proposal(action=Action.CREATE, planned=planned, blockers=(obstacle,))
        changes = classify(
            {"value": planned["value"]},
            recorded and {"value": recorded["value"]},
            {"value": observed["value"]},
        )
        drift = tuple(
            f"{change.path[0]} was changed"
            for change in changes
            if change.origin in (Origin.DRIFT, Origin.BOTH)
        )
        action = (
            Action.ADOPT
            if recorded is None
            else Action.UPDATE
            if planned["value"] not in (observed["value"], None)
            else Action.NO_OP
        )
        if action is Action.NO_OP and to_json(recorded) != to_json(request.desired):
            action = Action.RECORD
        return Proposal(action=action, planned=planned, changes=changes, drift=drift)


@dataclass(frozen=True, slots=True)
class ThingDriver:
    """Reads and writes the files."""

    root: Path

    def _path(self, name: str) -> Path:
        return self.root / ".toy" / f"{name}.json"

    def read(self, request: ReadRequest) -> Observation:
        attributes = request.desired or (request.recorded.attributes if request.recorded else {})
        try:
            found = json.loads(self._path(attributes["name"]).read_text())
        except FileNotFoundError:
            return Missing()
        except (OSError, ValueError) as problem:
            return Unreadable(diagnostic=error(UNREADABLE, str(problem)))
        return Present(attributes=found["attributes"], identity={"id": found["key"]})

    def preflight(self, requests: Sequence[ChangeRequest]) -> Preflight:
        """Refutes a change of the thing that the file ``.toy/refute`` names, with the word ``blocks`` behind
        the name where the next plan would be blocked.
        """
        path = self.root / ".toy" / "refute"
        name, _, blocks = path.read_text().partition(" ") if path.exists() else ("", "", "")
        asked = [request for request in requests if request.address == name]
        recorded = {item.address: item.action.recorded for item in asked}
        return Preflight(
            diagnostics=tuple(error(REFUTED, "It means another.", address=item.address) for item in asked),
            refuted={
                address: {**before.identity, "refuted": True}
                for address, before in recorded.items()
                if before is not None
            },
            blocks=bool(blocks),
        )

    def apply(self, request: ChangeRequest) -> Outcome:
        planned = {name: value for name, value in request.action.planned.items() if name != "id"}
        if planned.get("fail"):
            return NotApplied(diagnostics=(error(FAILS, "fail = true"),))
        if planned.get("value") == "raise":
            raise ZeroDivisionError("a bug of the toy")
        self._wait(planned.get("wait_for"), request.cancel if planned.get("value") == "impatient" else None)
        path = self._path(planned["name"])
        path.parent.mkdir(exist_ok=True)
        temporary = path.with_suffix(f".{os.getpid()}")
        temporary.write_text(json.dumps({"key": request.key, "attributes": to_json(planned)}))
        reach("toy.before-write")
        temporary.rename(path)
        with (self.root / ".toy" / "writes.log").open("a") as log:
            log.write(f"{request.address} {time.time()}\n")
        reach("toy.after-write")
        return Applied(attributes=planned, identity={"id": request.key})

    def quiesce(self, request: ApplyRequest[Quiesce]) -> Outcome:
        """A thing that is made has nothing to stop."""
        self._log_stage(request.address, "quiesce", {})
        return Applied(attributes=request.action.recorded.attributes, identity={})

    def perform(self, request: ApplyRequest[PerformStage]) -> StageDone:
        """Leaves a line in the log, and hands on how many stages were before it, and where."""
        stage, change = request.action.name, request.action.change
        if change.planned.get("fails_in") == stage:
            raise Failure(error(FAILS, f"fails_in = {stage}"))
        self._wait(change.planned.get("wait_for"))
        notes = {name: note for name, note in change.notes.items() if note is not None}
        known = {name: note for name, note in notes.items() if note["root"] == str(self.root)}
        reach("toy.before-stage")
        self._log_stage(request.address, stage, known)
        reach("toy.after-stage")
        return StageDone(
            messages=(f"after {len(known)}",), note={"after": len(known), "root": str(self.root)}
        )

    def _log_stage(self, address: str, stage: str, notes: Mapping[str, Data]) -> None:
        path = self.root / ".toy" / "stages.log"
        path.parent.mkdir(exist_ok=True)
        with path.open("a") as log:
            log.write(f"{address} {stage} {len(notes)}\n")

    def measure(self, request: MeasureRequest) -> Attributes:
        """The amount of dust that lies on it."""
        return {"dust": dust_on(self.root, request.attributes["name"])}

    def _wait(self, name: str | None, cancel: threading.Event | None = None) -> None:
        """Raises ``Failure`` where it is cancelled meanwhile."""
        deadline = time.monotonic() + 120
        while name and not (self.root / name).exists() and time.monotonic() < deadline:
            if cancel is not None and cancel.wait(0.02):
                raise Failure(replace(error(FAILS, "It was cancelled."), cancelled=True))
            time.sleep(0.02)

    def foresee(self, request: ApplyRequest[Settleable]) -> Outcome | None:
        """See ``settle``, which reads only."""
        return self.settle(request)

    def settle(self, request: ApplyRequest[Settleable]) -> Outcome | None:
        match request.action:
            case CustomAction(recorded=recorded):
                done = self.shine(recorded).has(request.key)
                return Applied(attributes=recorded.attributes, identity=recorded.identity) if done else None
            case Revive(recorded=recorded) as action:
                dropped = self._dropped(recorded).exists()
                return None if dropped else self.revive(request.with_action(action))
            case Delete(recorded=recorded):
                gone = not self._path(recorded.attributes["name"]).exists()
                return Applied(attributes={}, identity={}) if gone else None
            case Create(planned=planned) | Adopt(planned=planned) | Update(planned=planned):
                path = self._path(planned["name"])
                found = from_json(json.loads(path.read_text())) if path.exists() else None
                if found is None or found["key"] != request.key:
                    return None
                return Applied(attributes=found["attributes"], identity={"id": request.key})
            case other:
                assert_never(other)

    def delete(self, request: ApplyRequest[Delete]) -> Outcome:
        recorded = request.action.recorded
        path = self._path(recorded.attributes["name"])
        if recorded.attributes["on_destroy"] == "drop":
            path.rename(self._dropped(recorded))
            return Applied(
                attributes=recorded.attributes,
                identity=recorded.identity,
                messages=(f"flareiac undrop {request.address} brings it back",),
                revivable=True,
            )
        path.unlink(missing_ok=True)
        return Applied(attributes={}, identity={})

    def revive(self, request: ApplyRequest[Revive]) -> Outcome:
        """Brings back what was dropped."""
        recorded = request.action.recorded
        dropped, path = self._dropped(recorded), self._path(recorded.attributes["name"])
        if dropped.exists():
            dropped.rename(path)
        if not path.exists():
            return NotApplied(diagnostics=(error(UNREADABLE, "Nothing is left of it."),))
        messages = (f"{request.address} is back",)
        return Applied(attributes=recorded.attributes, identity=recorded.identity, messages=messages)

    def statistics(self, request: StatisticsRequest) -> Statistics:
        """Its dust, and how it shines."""
        dust = dust_on(self.root, request.recorded.attributes["name"])
        level, run = self.shine(request.recorded).level, request.runs.get("sweeping")
        return Statistics(
            figures={"dust": dust, "shine": level},
            cells=(str(dust), str(level), "-" if run is None else str(run.result["swept"])),
            lines=(f"{dust} grains of dust, shines at {level}",),
            legend="SWEPT: the grains of the last sweeping." if run is not None else "",
        )

    def shine(self, recorded: Recorded) -> Shine:
        """The log of its shine."""
        return Shine(self.root / ".toy" / f"{recorded.attributes['name']}.shine")

    def set_shine(self, request: ApplyRequest[CustomAction]) -> Outcome:
        """Makes it shine as much as the payload says."""
        level, recorded = request.action.payload, request.action.recorded
        reach("toy.before-shine")
        self.shine(recorded).add(ShineStep(level, request.key, request.action.name))
        reach("toy.after-shine")
        messages = (f"{request.address} shines at {level}",)
        return Applied(attributes=recorded.attributes, identity=recorded.identity, messages=messages)

    def _dropped(self, recorded: Recorded) -> Path:
        return self.root / ".toy" / f"{recorded.attributes['name']}.dropped"


def dust_on(root: Path, name: str) -> int:
    try:
        return int((root / ".toy" / f"{name}.dust").read_text())
    except FileNotFoundError:
        return 0
    except ValueError as problem:
        raise Failure(error(DUST_UNREADABLE, str(problem))) from problem


@dataclass(frozen=True, slots=True)
class ThingMaintainer:
    """Sweeps what is too grains, unless somebody needs the dust. Pure."""

    def wants(self, attributes: Attributes) -> bool:
        return attributes.get("sweep_over") is not None

    def tasks(self, request: TasksRequest) -> tuple[MaintenanceTask, ...]:
        dust, limit = request.figures["dust"], request.attributes["sweep_over"]
        grains = f"{dust} of {limit} grains of dust"
        held = tuple(f"{item.holder}: {item.reason}" for item in request.holds)
        due = dust > limit and not held
        return (
            MaintenanceTask(
                name="sweeping",
                id=f"sweep-{request.identity['id']}-{dust}",
                due=due,
                summary=f"sweep {grains}" if due else grains,
                forecast={"swept": dust},
                held=held,
                diagnostics=(warning(DUSTY, "More than 100 grains."),) if dust > 100 else (),
                performer=request.attributes["broom"],
                work=Work(data={"grains": dust, "kind": "sweep"}),
            ),
        )

    def judge(self, task: MaintenanceTask, result: Mapping[str, Data]) -> Judgement:
        if result["swept"] == 0:
            return Judgement(diagnostics=(error(NOT_SWEPT, "The broom is worn."),))
        return Judgement(messages=(f"swept {result['swept']} grains, expected {task.forecast['swept']}",))


def holds(address: str, attributes: Attributes, _references: References, _facts: object) -> tuple[Hold, ...]:
    """The hold of a thing that keeps the dust of another."""
    other = attributes.get("keeps_dust_of")
    return (Hold(subject=other.address, holder=address, reason="it needs the dust"),) if other else ()


def usages(address: str, attributes: Attributes, _references: References) -> tuple[Usage, ...]:
    """Two things of one name are one thing."""
    return (
        Usage(
            subject=attributes["name"],
            holder=address,
            relation=Relation.REAL_NAME,
            reason="Both name this file.",
        ),
    )
