"""Every change of a job is a list of stages, whatever is combined: their order holds, what destroys data has
a name of its own, and the driver does in each stage what the plan says of it, and nothing else.
"""

import contextlib
import itertools
import re
import shutil
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from flareiac.applying.requests import change_of
from flareiac.kernel.diagnostics import Failure
from flareiac.model.plan import Verb
from flareiac.sdk.actions import Quiesce
from flareiac.sdk.changes import QUIESCE, Action, Effect, Impact, Proposal, Reaction, Relation, Stage
from flareiac.sdk.lakehouse import APPEND, LiveSnapshot, TableHistory
from flareiac.sdk.references import References
from flareiac.sdk.requests import ApplyRequest, ChangeRequest, PlanRequest, ReadRequest
from flareiac.sdk.results import Applied, Missing, Recorded
from flareiac_spark.checkpoint_files.folder_state import FolderState, folder_state
from flareiac_spark.engine.application import read_desired
from flareiac_spark.generation import operation_client
from flareiac_spark.generation import perform as generation
from flareiac_spark.job import perform as job_stages
from flareiac_spark.job.driver import JobDriver
from flareiac_spark.job.plan import JobPlanner
from flareiac_spark.job.running import RunningJobs
from flareiac_spark_runtime.control import (
    ApplicationStatus,
    ControlDirectory,
    Finish,
    JobStatus,
    Marks,
    QueryStatus,
    Status,
    Truncate,
    moment,
    this_process,
)
from tests.spark.checkpoint_sample import SNAPSHOT, sample
from tests.spark.declared import LAKE, Loaded, loaded
from tests.spark.generation.test_switch_generation import Driver, Offline, _applied
from tests.spark.staged import noted, performed, quiesced, staged

PLACES = """
engine "one" { runtime_location = "one" }
engine "two" { runtime_location = "two" }
table "archive" {
  namespace = "demo"
  column "id" { type = "long not null" }
  column "region" { type = "string" }
}
stream "hours" { table { table = table.hourly } }
"""
HISTORY = TableHistory(
    snapshots=(LiveSnapshot(id=SNAPSHOT, at_ms=1_790_000_000_000, operation=APPEND, added=9, total=9),)
)
DEFAULT = ".flareiac/checkpoints/default/x"
MOVES = Impact(relation=Relation.KEEPS_STATE_IN, reaction=Reaction.STOPS_FIRST, reason="its checkpoint moves")
ORDER = (QUIESCE, "finish", "empty", "prepare", "rollback-point")
LAST = {
    "start": Effect.STARTS,
    "restart": Effect.RESTART,
    "settings": Effect.LIVE,
    "stop": Effect.STOPS,
    "declare": Effect.METADATA,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One combination of what can change about a job. ``starts``: ``start_from`` of a raised generation."""

    starts: str = ""
    truncates: bool = False
    guarded: bool = False
    moves: bool = False
    redirects: bool = False
    stopped: bool = False
    finite: bool = False
    runs: bool = True
    relocates: bool = False
    """Its checkpoint moves, which happens after the early stages."""

    def __str__(self) -> str:
        names = [name for name in self.__slots__ if getattr(self, name) is True]
        return "-".join([self.starts or "same", *names])


FLAGS = ("guarded", "moves", "redirects", "stopped", "finite", "runs")
PAIRED = ("000000", "000111", "011001", "101010", "110100", "011110", "101101", "110011")
"""Every two flags meet in all four ways."""
BEGINS = [
    ("", False),
    *itertools.product(("carry_over", "earliest", "latest", "2026-06-01T00:00:00Z"), (False, True)),
]


def cases() -> Iterator[Case]:
    """Each beginning with every pair of flags, turned so that other triples meet each time."""
    for turn, (starts, truncates) in enumerate(BEGINS):
        for row in PAIRED:
            given = dict(zip(FLAGS, (bit == "1" for bit in row[turn % 6 :] + row[: turn % 6]), strict=True))
            yield Case(starts=starts, truncates=truncates, **given)
            if not starts:
                yield replace(Case(starts="", **given), relocates=True)


def declared(case: Case, root: Path, *, before: bool, token: str = "") -> Loaded:
    """The project before or after the change."""
    checkpoint = ""
    if case.starts and not before:
        checkpoint = f'\n  generation = 2\n  start_from = "{case.starts}"\n'
    if case.relocates and not before:
        checkpoint = '\n  location = "moved"\n'
    lines = [
        "checkpoint = checkpoint.x",
        f"engine = engine.{'two' if case.moves and not before else 'one'}",
        "trigger = { available_now = true }" if case.finite else 'trigger = { processing_time = "30s" }',
        'stability = { on_failure = "rollback" }' if case.guarded else "",
        "stopped = true" if case.stopped and not before else "",
        f'accept_result_change = "{token}"' if token else "",
        'input "hours" { stream = stream.hours }',
        f'step "clean" {{ sql = "SELECT n AS id FROM hours{"" if before else " WHERE n > 0"}" }}',
        'output "orders" {',
        f"  table = table.{'archive' if case.redirects and not before else 'orders'}",
        '  rebuild = "truncate"' if case.truncates else "",
        "}",
    ]
    job = 'job "x" {\n  ' + "\n  ".join(lines) + "\n}\n"
    text = (LAKE + PLACES).replace('checkpoint "x" {}', f'checkpoint "x" {{{checkpoint}}}')
    return loaded(text + job, root)


@dataclass(slots=True, kw_only=True)
class World:
    """A recorded job with a batch in flight, which one of its outputs has, and what the application says."""

    root: Path
    case: Case
    application: Driver
    before: Loaded
    after: Loaded
    recorded: Recorded
    jobs: JobDriver
    disturbances: tuple[Impact, ...] = ()
    moved: bool = False
    asked: dict[str, list[object]] = field(default_factory=dict)

    @property
    def control(self) -> ControlDirectory:
        return self.control_of(self.before)

    def control_of(self, project: Loaded) -> ControlDirectory:
        return Offline(project.project).control(project.job().runs_in)

    def folder(self, number: int) -> Path:
        return self.root / ".flareiac" / "checkpoints" / "default" / "x" / "orders" / f"g{number:04d}"

    def references(self) -> References:
        found = {address: _applied(item) for address, item in self.after.references().items()}
        identity: dict[str, Any] = {"layout": "generations", "layout_generation": None}
        if self.moved:
            identity |= {"location": "moved", "left": [DEFAULT]}
        checkpoint = found["checkpoint.x"]
        return {
            **found,
            "table.hourly": replace(found["table.hourly"], history=HISTORY),
            "checkpoint.x": replace(checkpoint, identity=identity if self.case.relocates else {}),
        }

    def move(self) -> None:
        """Does the work of the checkpoint's operation between the stages."""
        shutil.copytree(self.root / DEFAULT, self.root / "moved")
        self.moved = True

    def plan(self) -> Proposal:
        planned = self._planned()
        for blocker in planned.blockers:
            if found := re.search(r'accept_result_change = "(\w+)"', "".join(blocker.ways_out)):
                self.after = declared(self.case, self.root, before=False, token=found[1])
                return self._planned()
        return planned

    def _planned(self) -> Proposal:
        desired = self.after.attributes()
        observed = self.jobs.read(
            ReadRequest(
                address="job.x", desired=desired, recorded=self.recorded, references=self.references()
            )
        )
        return JobPlanner().plan(
            PlanRequest(
                address="job.x",
                desired=desired,
                recorded=self.recorded,
                observed=observed,
                references=self.references(),
                project=self.after.project,
                disturbances=self.disturbances,
            )
        )

    def request(self, proposal: Proposal, verb: Verb = Verb.UPDATE) -> ChangeRequest:
        return ApplyRequest(
            key="k",
            address="job.x",
            action=change_of(proposal, verb, self.recorded if verb is Verb.UPDATE else None, {}),
            references=self.references(),
            cancel=threading.Event(),
            progress=lambda _text: None,
        )

    def says(self, project: Loaded, phase: Any) -> None:
        """The application of a project says that what should run is in this phase."""
        control = self.control_of(project)
        desired = read_desired(control)
        entry = desired.jobs.get("job.x") if desired is not None else None
        me, now = this_process(), moment()
        query = QueryStatus(output="orders", id="q", run_id="r", batch=3)
        job = (
            None
            if entry is None
            else JobStatus(phase=phase, digest=entry.digest, nonce=entry.nonce, queries=(query,))
        )
        control.write_status(
            Status(
                application=ApplicationStatus(
                    id="a", name="a", host=socket.gethostname(), pid=me.pid, pid_started=me.started
                ),
                heartbeat=now.wall,
                uptime=now.uptime,
                observed_revision=1,
                jobs={} if job is None else {"job.x": job},
            )
        )


def world(case: Case, root: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    application = Driver(marked=("orders",))
    monkeypatch.setattr(operation_client, "run_operation", application.run)
    before = declared(case, root, before=True)
    applications = Offline(before.project)
    jobs = JobDriver(applications)
    made = World(
        root=root,
        case=case,
        application=application,
        before=before,
        after=before,
        recorded=Recorded(attributes=before.attributes()),
        jobs=jobs,
    )
    phase = "completed" if case.finite else "running"
    monkeypatch.setattr(RunningJobs, "await_stop", lambda *_args: made.says(before, "stopped"))
    proposal = Proposal(action=Action.CREATE, planned=before.attributes(), payload={"nonce": 0})
    first = made.request(proposal, Verb.CREATE)
    performed(jobs, first, ["start"])
    made.says(before, phase)
    outcome = jobs.apply(first)
    assert isinstance(outcome, Applied)
    identity = {**outcome.identity, "queries": {}}
    made.recorded = Recorded(attributes=outcome.attributes, identity=identity)
    if not case.runs:
        jobs.quiesce(first.with_action(Quiesce(recorded=made.recorded)))
    sample(made.folder(1), ("table",), committed=2)
    made.after = declared(case, root, before=False)
    made.disturbances = (MOVES,) if case.relocates else ()
    return made


def carried_out(made: World, proposal: Proposal) -> None:
    """Performs the stages of a plan, and keeps what the application was asked for in each."""
    request = made.request(proposal)
    notes: dict[str, Any] = {}
    for stage in proposal.stages:
        if made.case.relocates and not made.moved and not (stage.early or stage.name == QUIESCE):
            made.move()
            request = made.request(proposal)
        made.application.asked.clear()
        notes |= performed_once(made, request, stage, notes)
        made.asked[stage.name] = list(made.application.asked)
    made.says(made.after, "completed" if made.case.finite else "running")
    if made.case.stopped:
        made.says(made.after, "stopped")
    outcome = made.jobs.apply(noted(request, notes))
    assert isinstance(outcome, Applied)


def performed_once(
    made: World, request: ChangeRequest, stage: Stage, notes: dict[str, Any]
) -> dict[str, Any]:
    if stage.name == QUIESCE:
        made.jobs.quiesce(quiesced(request))
        return {}
    return {stage.name: made.jobs.perform(staged(request, stage.name, notes)).note}


def rank(stage: Stage) -> int:
    kind = stage.name.partition(".")[0]
    return ORDER.index(kind) if kind in ORDER else len(ORDER)


@pytest.mark.parametrize("case", list(cases()), ids=str)
def test_stages_are_what_apply_does(case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = world(case, tmp_path, monkeypatch)
    proposal = made.plan()
    assert not proposal.blockers, proposal.blockers
    names = [stage.name for stage in proposal.stages]
    ranks = [rank(stage) for stage in proposal.stages]
    early = [stage.early for stage in proposal.stages]
    assert ranks == sorted(ranks)
    assert early == sorted(early, reverse=True)
    assert [name for name in names if name in LAST] == names[-1:]
    assert proposal.stages[-1].effect is LAST[names[-1]]
    destroys = [
        stage for stage in proposal.stages if stage.effect in (Effect.LOSES_DATA, Effect.IRREVERSIBLE)
    ]
    assert [stage.name for stage in destroys] == [name for name in names if name.startswith("empty.")]
    emptied = [step for step in proposal.steps if step.text.startswith("empties ")]
    assert [step.effect for step in emptied] == [stage.effect for stage in destroys]
    assert all("job.x" in stage.text or "generation 2" in stage.text for stage in proposal.stages)

    carried_out(made, proposal)
    for name, work in made.asked.items():
        kind = name.partition(".")[0]
        assert any(isinstance(item, Truncate) for item in work) is (kind == "empty")
        assert not any(isinstance(item, Finish) for item in work) or kind == "finish"
        assert not any(isinstance(item, Marks) for item in work) or kind in ("finish", "rollback-point")
    finished = [item for work in made.asked.values() for item in work if isinstance(item, Finish)]
    assert len(finished) == (case.redirects and not case.starts)
    desired = read_desired(made.control_of(made.after))
    assert desired is not None
    assert desired.jobs["job.x"].state == ("stopped" if case.stopped or case.finite else "running")
    folder = desired.jobs["job.x"].spec["outputs"][0]["checkpoint"]
    if case.relocates:
        assert Path(folder) == tmp_path / "moved" / "orders" / "g0001"
        assert all(Path(item.checkpoint) == made.folder(1) for item in finished)
        assert QUIESCE in names or not case.runs or case.finite
        return
    assert Path(folder) == made.folder(2 if case.starts else 1)
    old = read_desired(made.control)
    assert old is not None
    assert ("job.x" in old.jobs) is not case.moves


def test_each_stage_done_twice_is_done_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The result of the first was lost: the second finds the same."""
    made = world(Case(starts="2026-06-01T00:00:00Z", truncates=True), tmp_path, monkeypatch)
    proposal = made.plan()
    request, notes = made.request(proposal), dict[str, Any]()
    for stage in proposal.stages:
        if stage.name == QUIESCE:
            made.jobs.quiesce(quiesced(request))
            continue
        ask = staged(request, stage.name, notes)
        first, second = made.jobs.perform(ask).note, made.jobs.perform(ask).note
        lasting = [{**note, "at": 0} if isinstance(note, dict) else note for note in (first, second)]
        assert lasting[0] == lasting[1]
        notes[stage.name] = second
    marks = {item.mark for item in made.application.asked if isinstance(item, Truncate)}
    assert len(marks) == 1
    assert folder_state(made.folder(2), "test/checkpoint.x") is FolderState.PREPARED


BROKEN_OFF = [
    (Case(redirects=True), "finish.within"),
    (Case(redirects=True), "finish.after"),
    (Case(starts="earliest", truncates=True), "empty.within"),
    (Case(starts="carry_over"), "prepare.within"),
    (Case(starts="earliest", truncates=True), "start.after"),
]


@pytest.mark.parametrize(("case", "point"), BROKEN_OFF, ids=str)
def test_a_stage_that_was_broken_off_is_completed(
    case: Case, point: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever it had done by then."""
    made = world(case, tmp_path, monkeypatch)
    proposal, reached = made.plan(), list[str]()

    def dies(name: str) -> None:
        reached.append(name)
        if name == point:
            raise Failure

    request, notes = made.request(proposal), dict[str, Any]()
    for stage in proposal.stages:
        with monkeypatch.context() as patched, contextlib.suppress(Failure):
            patched.setattr(generation, "reach", dies)
            patched.setattr(job_stages, "reach", dies)
            performed_once(made, request, stage, notes)
        notes |= performed_once(made, request, stage, notes)
    made.says(made.after, "running")
    outcome = made.jobs.apply(noted(request, notes))
    assert point in reached
    assert isinstance(outcome, Applied)
    assert sorted(outcome.identity.get("rebuilds", {})) == (["orders"] if case.truncates else [])


def test_a_change_whose_tables_were_not_made_left_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It stopped before them; how it ended is found out without their identity."""
    made = world(Case(), tmp_path, monkeypatch)
    request = made.request(made.plan())
    unmade = {
        address: replace(item, identity={}) if item.type == "table" else item
        for address, item in request.references.items()
    }
    made.jobs.quiesce(quiesced(request))
    assert made.jobs.settle(replace(request, references=unmade)) is None


def test_what_is_not_planned_is_not_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch that is in the old table alone, a job that was started by hand, a folder without its rows gone:
    each asks for a new plan, and changes nothing.
    """
    redirected = world(Case(redirects=True), tmp_path / "a", monkeypatch)
    asked = redirected.request(redirected.plan())
    was = read_desired(redirected.control)
    refused(redirected, asked, "start")
    assert read_desired(redirected.control) == was

    raised = world(Case(starts="earliest", truncates=True, runs=True), tmp_path / "b", monkeypatch)
    asked = raised.request(raised.plan())
    for stage in ("finish", "empty.orders", "prepare"):
        refused(raised, asked, stage)
    raised.jobs.quiesce(quiesced(asked))
    refused(raised, asked, "prepare")
    refused(raised, asked, "start")
    refused(raised, asked)
    assert raised.application.asked == []
    assert not raised.folder(2).exists()


def refused(made: World, request: ChangeRequest, stage: str = "") -> None:
    made.application.asked.clear()
    with pytest.raises(Failure) as failed:
        made.jobs.perform(staged(request, stage, {})) if stage else made.jobs.apply(request)
    assert [item.code for item in failed.value.diagnostics] == ["FIK189"]
    made.application.asked = [item for item in made.application.asked if not isinstance(item, Marks)]


@pytest.mark.parametrize(
    ("reaction", "names"),
    [(Reaction.RESTARTS, ["restart"]), (Reaction.STOPS_FIRST, [QUIESCE, "start"])],
)
def test_what_others_change_stops_it_or_restarts_it(
    reaction: Reaction, names: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = world(Case(), tmp_path, monkeypatch)
    made.after = made.before
    made.disturbances = (Impact(relation=Relation.WRITES, reaction=reaction, reason="columns change"),)
    proposal = made.plan()
    assert ([stage.name for stage in proposal.stages], proposal.closing) == (
        names,
        "confirm that job.x is stable",
    )


def test_a_new_job_is_started_and_a_stopped_one_is_declared(tmp_path: Path) -> None:
    for stopped, last in ((False, "start"), (True, "declare")):
        after = declared(Case(stopped=stopped), tmp_path, before=False)
        references = {address: _applied(item) for address, item in after.references().items()}
        proposal = JobPlanner().plan(
            PlanRequest(
                address="job.x",
                desired=after.attributes(),
                recorded=None,
                observed=Missing(),
                references={
                    **references,
                    "table.hourly": replace(references["table.hourly"], history=HISTORY),
                },
                project=after.project,
            )
        )
        assert [stage.name for stage in proposal.stages] == [last]
