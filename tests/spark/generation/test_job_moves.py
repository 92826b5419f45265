"""A job that changes its application, and questions that outlive one. Without Spark."""

import json
import logging
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from flareiac.sdk.actions import Change, Create, Update
from flareiac.sdk.requests import ApplyRequest, ChangeRequest
from flareiac.sdk.results import NotApplied, Recorded
from flareiac_spark.checkpoint_files.reader import note_of
from flareiac_spark.engine.application import read_desired
from flareiac_spark.generation import operation_client, rollback
from flareiac_spark.job import confirm, put_back
from flareiac_spark.job.driver import JobDriver
from flareiac_spark_runtime.control import (
    ApplicationSettings,
    ControlDirectory,
    Finish,
    JobSpec,
    Operation,
    StreamInput,
    TableOutput,
    job_spec_to_json,
)
from flareiac_spark_runtime.driver.checkpoints import Checkpoints
from flareiac_spark_runtime.driver.counters import Counters
from flareiac_spark_runtime.driver.operation_desk import OperationDesk
from flareiac_spark_runtime.driver.operations import OperationContext, serve
from flareiac_spark_runtime.driver.refusal import Refusal
from flareiac_spark_runtime.driver.source_start_times import start_times
from flareiac_spark_runtime.sources.table.resolved import ResolvedTable
from flareiac_spark_runtime.storage import replace_whole
from tests.spark.checkpoint_sample import sample
from tests.spark.declared import LAKE, Loaded, loaded
from tests.spark.generation.test_switch_generation import FILES, PAIR, Driver, Offline, _applied
from tests.spark.staged import carry_out, quiesced

ENGINES = 'engine "one" { runtime_location = "one" }\nengine "two" { runtime_location = "two" }\n'


def declared(root: Path, engine: str) -> Loaded:
    return loaded(
        ENGINES
        + LAKE
        + FILES.replace(
            "checkpoint = checkpoint.x", f"checkpoint = checkpoint.x\n  engine = engine.{engine}"
        ),
        root,
    )


def request(after: Loaded, before: Recorded | None) -> ChangeRequest:
    planned, payload = after.attributes(), {"nonce": 0}
    change: Change = (
        Create(planned=planned, payload=payload)
        if before is None
        else Update(planned=planned, recorded=before, payload=payload)
    )
    return ApplyRequest(
        key="k",
        address="job.x",
        action=change,
        references={address: _applied(item) for address, item in after.references().items()},
        cancel=threading.Event(),
        progress=lambda _text: None,
    )


@pytest.fixture
def never_stable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confirm, "wait_until_settled", lambda *_args: None)


@pytest.mark.usefixtures("never_stable")
def test_a_job_that_is_not_stable_in_its_new_application_is_known_to_be_there(tmp_path: Path) -> None:
    """Else it would be started in the old one, and two applications would write one checkpoint."""
    one, two = declared(tmp_path, "one"), declared(tmp_path, "two")
    applications = Offline(one.project)
    jobs = JobDriver(applications)
    carry_out(jobs, request(one, None), "start")
    recorded = Recorded(attributes=one.attributes(), identity={"digest": "d"})
    moved = carry_out(jobs, request(two, recorded), "quiesce", "start")
    assert isinstance(moved, NotApplied)
    assert moved.attributes is not None
    assert moved.attributes == {
        **one.attributes(),
        "application": two.attributes()["application"],
        "engine": two.attributes()["engine"],
    }
    there = Recorded(attributes=moved.attributes, identity=moved.identity or {})
    carry_out(jobs, request(one, there), "quiesce", "start")
    places = [read_desired(applications.control(item.job().runs_in)) for item in (one, two)]
    assert [list(place.jobs) for place in places if place is not None] == [["job.x"], []]


@pytest.mark.usefixtures("never_stable")
def test_stopping_a_job_leaves_the_settings_of_its_application(tmp_path: Path) -> None:
    """An engine that is recorded may be older than the one that another job of this apply has started
    already.
    """
    one = declared(tmp_path, "one")
    applications = Offline(one.project)
    jobs = JobDriver(applications)
    carry_out(jobs, request(one, None), "start")
    old = one.job().runs_in
    newer = replace(old, conf={**old.conf, "spark.sql.x": "1"})
    wanted = applications.want(newer, {}, lambda current: current).application
    jobs.quiesce(quiesced(request(one, Recorded(attributes=one.attributes()))))
    desired = read_desired(applications.control(old))
    assert desired is not None
    assert (desired.application, desired.jobs["job.x"].state) == (wanted, "stopped")
    assert desired.application != ApplicationSettings()


@pytest.mark.usefixtures("never_stable")
def test_what_is_taken_live_leaves_the_query_as_it_was_started(tmp_path: Path) -> None:
    """Whatever is declared around it in another way by now: another digest would restart it, and no plan had
    said so.
    """
    before = declared(tmp_path, "one")
    applications = Offline(before.project)
    jobs = JobDriver(applications)
    first = carry_out(jobs, request(before, None), "start")
    engine = before.job().runs_in
    there = read_desired(applications.control(engine))
    assert there is not None
    text = (ENGINES + LAKE + FILES).replace(
        "checkpoint = checkpoint.x", "checkpoint = checkpoint.x\n  engine = engine.one"
    )
    after = loaded(
        text.replace("engine = engine.one", "engine = engine.one\n  restart = { max_failures = 9 }").replace(
            'column "region" { type = "string" }', 'column "region" { type = "int" }'
        ),
        tmp_path,
    )
    recorded = Recorded(attributes=before.attributes(), identity=first.identity or {})
    live = Update(planned=after.attributes(), recorded=recorded, payload={"nonce": 0, "live": True})
    carry_out(jobs, request(after, recorded).with_action(live), "settings")
    now = read_desired(applications.control(engine))
    assert now is not None
    assert now.jobs["job.x"].digest == there.jobs["job.x"].digest
    assert now.jobs["job.x"].spec["restart"]["max_failures"] == 9
    assert {**now.jobs["job.x"].spec, "restart": None} == {**there.jobs["job.x"].spec, "restart": None}


def test_what_an_earlier_process_did_not_answer_is_not_begun_again(tmp_path: Path) -> None:
    control = ControlDirectory(tmp_path)
    control.submit_operation(Operation(id="analyse-1", jobs=({"address": "job.a"},)))
    (control.scratch / "operations" / "not an id.json").write_text("{}")
    desk = OperationDesk(control, "new", logging.getLogger("test"), Counters(), threading.Event())
    desk.leave_unanswered()
    (name,) = control.open_operations()
    nothing: Any = None
    desk.answer(name, nothing)
    result = control.read_result(name)
    assert result is not None
    assert (result.status, control.open_operations()) == ("failed", ())


@pytest.mark.usefixtures("never_stable")
@pytest.mark.parametrize(("marked", "code"), [((), "FIK077"), (("b",), "FIK078")])
def test_what_a_failed_definition_wrote_of_a_batch_is_not_mixed_with_the_one_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, marked: tuple[str, ...], code: str
) -> None:
    """One output of two has the batch in flight: the definition before would write the other one only."""
    guarded = PAIR.replace(
        "foreach_batch = true", 'foreach_batch = true\n  stability = { on_failure = "rollback" }'
    )
    before = loaded(LAKE + guarded, tmp_path)
    after = loaded(
        LAKE + guarded.replace("SELECT id, region FROM", "SELECT id, upper(region) AS region FROM"), tmp_path
    )
    answers = Driver()
    monkeypatch.setattr(operation_client, "run_operation", answers.run)
    jobs = JobDriver(Offline(before.project))
    stable = carry_out(jobs, request(before, None), "start")
    assert stable.identity is not None
    folder = sample(tmp_path / ".flareiac" / "checkpoints" / "default" / "x" / "all" / "g0001", committed=2)
    assert folder.is_dir()
    monkeypatch.setattr(confirm, "await_settled", lambda *_args: _failed(answers, marked))
    monkeypatch.setattr(put_back, "_runs_again", lambda *_args: (rollback.restored("job.x"),))
    recorded = Recorded(attributes=before.attributes(), identity=stable.identity)
    outcome = carry_out(jobs, request(after, recorded), "quiesce", "rollback-point", "start")
    assert isinstance(outcome, NotApplied)
    assert [item.code for item in outcome.diagnostics] == [code]


def _failed(answers: Driver, marked: tuple[str, ...]) -> NotApplied:
    answers.marked = marked
    return NotApplied(diagnostics=())


def spec(*checkpoints: Path) -> JobSpec:
    source = ResolvedTable(identifier=("lake", "demo", "t"), start_from="2026-01-01T00:00:00Z")
    outputs = tuple(
        TableOutput(
            name=place.parent.name,
            source="t",
            identifier=("lake", "demo", "o"),
            mode="append",
            columns=(),
            checkpoint=str(place),
        )
        for place in checkpoints
    )
    return JobSpec(
        address="job.x",
        mode="stream",
        inputs=(StreamInput(name="t", source=source),),
        steps=(),
        outputs=outputs,
    )


def test_a_batch_is_not_finished_in_a_folder_that_was_moved_away(tmp_path: Path) -> None:
    """A query that starts there would read everything again."""
    folder = tmp_path / "a" / "g0001"
    work = Finish(spec=job_spec_to_json(spec(folder)), checkpoint=str(folder), batch=3)
    shop = OperationContext(
        new_session=lambda: pytest.fail("a query was started"),
        checkpoints=Checkpoints(),
        log=logging.getLogger("x"),
    )
    with pytest.raises(Refusal, match="has no batch 3"):
        serve(Operation(id="finish-1", work=work), shop)


def test_an_added_output_begins_when_the_others_did_and_is_prepared_for_nothing(tmp_path: Path) -> None:
    first, added = tmp_path / "a" / "g0002", tmp_path / "b" / "g0002"
    first.mkdir(parents=True)
    note = {"version": 1, "times": {"t": 5}, "seeded": {"by": "me", "after": "elsewhere"}}
    replace_whole(note_of(first), json.dumps(note).encode())
    assert start_times(spec(first, added)) == {"t": 5}
    assert json.loads(note_of(added).read_text()) == {"version": 1, "times": {"t": 5}}
