"""A raised generation without Spark: where the old one stands is asked for by marks, and every step can be
done again.
"""

import json
import shutil
import threading
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from flareiac.kernel.diagnostics import Failure
from flareiac.sdk.actions import Create, Update
from flareiac.sdk.references import Resolved
from flareiac.sdk.requests import ApplyRequest, ChangeRequest
from flareiac.sdk.results import Recorded
from flareiac_spark.checkpoint_files.reader import note_of, read_checkpoint
from flareiac_spark.definition.build import spec_of
from flareiac_spark.definition.job_identity import EmptiedTable
from flareiac_spark.engine.application import Applications
from flareiac_spark.engine.engine_definition import EngineDefinition
from flareiac_spark.generation import operation_client
from flareiac_spark.generation import perform as generation
from flareiac_spark.generation.checkpoint_state import emptied_for
from flareiac_spark.generation.switch import begins_generation
from flareiac_spark.job.driver import JobDriver
from flareiac_spark.job.preflight import refusals
from flareiac_spark_runtime.control import (
    DesiredJob,
    Finish,
    JobSpec,
    Marks,
    Operation,
    Result,
    Truncate,
    Truncated,
    job_spec_to_json,
)
from tests.spark.checkpoint_sample import QUERY, sample, table
from tests.spark.declared import LAKE, Loaded, loaded
from tests.spark.staged import performed

FILES = """
job "x" {
  checkpoint = checkpoint.x
  input "orders" { stream = stream.orders }
  step "clean" { sql = "SELECT id, region FROM orders" }
  output "orders" { table = table.orders }
}
"""
PAIR = """
job "x" {
  checkpoint    = checkpoint.x
  foreach_batch = true
  input "orders" { stream = stream.orders }
  step "clean" { sql = "SELECT id, region FROM orders" }
  output "a" { table = table.orders }
  output "b" {
    table = table.regions
    from  = "named"
  }
  step "named" { sql = "SELECT region, region AS name FROM clean" }
}
"""
TABLES = """
stream "hours" {
  table {
    table      = table.hourly
    start_from = "2026-01-01T00:00:00Z"
  }
}
job "x" {
  checkpoint = checkpoint.x
  input "hours" { stream = stream.hours }
  step "clean" { sql = "SELECT n AS id FROM hours" }
  output "orders" { table = table.orders }
}
"""


@dataclass(slots=True)
class Driver:
    """Stands for the application: which outputs have the batch in flight, and what it was asked to do."""

    marked: tuple[str, ...] = ()
    asked: list[object] = field(default_factory=list)
    dies_at: type | None = None

    def run(self, _control: object, operation: Operation, **_more: object) -> Result:
        work = operation.work
        self.asked.append(work)
        if self.dies_at is not None and isinstance(work, self.dies_at):
            raise Failure
        match work:
            case Marks():
                return Result(id=operation.id, status="done", marked=self.marked)
            case Finish(checkpoint=checkpoint, batch=batch):
                (Path(checkpoint) / "commits" / str(batch)).write_text('v1\n{"nextBatchWatermarkMs":0}')
                return Result(id=operation.id, status="done")
            case Truncate():
                return Result(id=operation.id, status="done", truncated=Truncated(snapshot_id=77))
            case _:
                raise AssertionError(work)


class Offline(Applications):
    """Applications of which none is ever started."""

    def bring_up(self, engine: EngineDefinition, cancel: threading.Event, progress: Any) -> Any:
        del engine, cancel, progress
        return "up"


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A recorded job and a declared one, and their request."""

    root: Path
    before: Loaded
    after: Loaded
    applications: Applications
    driver: Driver

    @property
    def request(self) -> ChangeRequest:
        references = {address: _applied(item) for address, item in self.after.references().items()}
        return ApplyRequest(
            key="k",
            address="job.x",
            action=Update(
                planned=self.after.attributes(), recorded=Recorded(attributes=self.before.attributes())
            ),
            references=references,
            cancel=threading.Event(),
            progress=lambda _text: None,
        )

    def new(self) -> JobSpec:
        request = self.request
        return spec_of("job.x", request.action.planned, request.references, self.applications.project)

    def renew(self) -> "Renewed":
        """Every stage that a plan may have between the old query's end and the new one's start."""
        return self.performed_for(self.request)

    def performed_for(self, request: ChangeRequest) -> "Renewed":
        emptied = [f"empty.{name}" for name in request.action.planned["outputs"]]
        finishes = ["finish"] if request.action.recorded is not None else []
        stages = (*finishes, *emptied, "prepare")
        notes, messages = performed(JobDriver(self.applications), request, stages)
        texts = [text for stage in stages if stage != "finish" and notes[stage] for text in messages[stage]]
        return Renewed(messages=tuple(texts), rebuilds=emptied_for(self.new()))

    def folder(self, generation: int, output: str = "orders") -> Path:
        return self.root / ".flareiac" / "checkpoints" / "default" / "x" / output / f"g{generation:04d}"

    def told(self, spec: JobSpec) -> None:
        """Writes what should run."""
        control = self.applications.control(self.after.job().runs_in)
        job = DesiredJob(digest="d", spec=job_spec_to_json(spec), state="stopped", nonce=0)
        control.update_desired(
            lambda current: replace(current, jobs={"job.x": job}), lineage="test", workspace="default"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Renewed:
    """The messages of the stages, and the tables that are noted as emptied."""

    messages: tuple[str, ...]
    rebuilds: dict[str, EmptiedTable]


def _applied(item: Resolved) -> Resolved:
    return replace(item, identity={"uuid": item.address}) if item.type == "table" else item


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Driver:
    made = Driver()
    monkeypatch.setattr(operation_client, "run_operation", made.run)
    return made


def setting(
    root: Path,
    driver: Driver,
    job: str,
    *edits: tuple[str, str],
    start: str | None = None,
    generation: int = 2,
) -> Setting:
    text = LAKE + job
    checkpoint = f"generation = {generation}" + (f'\n  start_from = "{start}"' if start else "")
    after = text.replace('checkpoint "x" {}', f'checkpoint "x" {{\n  {checkpoint}\n}}')
    for old, new in edits:
        assert old in after
        after = after.replace(old, new)
    before = loaded(text, root)
    declared = loaded(after, root)
    return Setting(
        root=root, before=before, after=declared, applications=Offline(declared.project), driver=driver
    )


def read(folder: Path, log: str) -> list[int]:
    return sorted(int(item.name) for item in (folder / log).iterdir() if item.name.isdigit())


def test_without_a_batch_in_flight_nobody_is_asked(tmp_path: Path, driver: Driver) -> None:
    case = setting(tmp_path, driver, FILES)
    sample(case.folder(1))
    assert begins_generation(case.request)
    assert refusals(case.request, case.applications) == ()
    assert case.renew().messages == ("generation 2 goes on after batch 3",)
    assert (read(case.folder(2), "offsets"), driver.asked) == ([0, 1, 2, 3], [])


@pytest.mark.parametrize(("marked", "reached"), [((), 2), (("orders",), 3)])
def test_marks_tell_whether_a_batch_in_flight_counts(
    tmp_path: Path, driver: Driver, marked: tuple[str, ...], reached: int
) -> None:
    case = setting(tmp_path, driver, FILES)
    sample(case.folder(1), committed=2)
    driver.marked = marked
    case.renew()
    assert (read(case.folder(2), "offsets")[-1], read(case.folder(2), "commits")[-1]) == (reached, reached)
    (work,) = driver.asked
    assert isinstance(work, Marks)
    assert (work.query_id, work.batch, [target.epochs for target in work.targets]) == (QUERY, 3, [True])


def test_a_first_batch_that_nobody_has_means_from_the_start(tmp_path: Path, driver: Driver) -> None:
    case = setting(tmp_path, driver, FILES)
    sample(case.folder(1), started=0, committed=-1)
    case.renew()
    assert list(case.folder(2).iterdir()) == []


def test_a_batch_in_one_output_of_two_is_finished_by_the_old_definition(
    tmp_path: Path, driver: Driver
) -> None:
    case = setting(
        tmp_path,
        driver,
        PAIR,
        ("SELECT id, region FROM orders", "SELECT id, upper(region) AS region FROM orders"),
    )
    sample(case.folder(1, "all"), committed=2)
    driver.marked = ("a",)
    case.renew()
    marks, finish = driver.asked
    assert isinstance(marks, Marks)
    assert [target.epochs for target in marks.targets] == [False, False]
    assert isinstance(finish, Finish)
    assert finish.spec["steps"][0]["sql"] == "SELECT id, region FROM orders"
    assert read(case.folder(2, "all"), "commits")[-1] == 3


def test_a_table_goes_on_at_its_snapshot(tmp_path: Path, driver: Driver) -> None:
    case = setting(tmp_path, driver, TABLES)
    sample(case.folder(1), ("table",))
    case.renew()
    assert (case.folder(2) / "sources" / "0" / "offsets" / "0").read_text() == table(3)
    assert json.loads(note_of(case.folder(2)).read_text())["times"] == {"hours": None}


@pytest.mark.parametrize(
    ("start", "moment"),
    [("earliest", None), ("2026-06-01T00:00:00Z", 1_780_272_000_000), (None, 1_767_225_600_000)],
)
def test_the_moment_at_which_a_table_begins(
    tmp_path: Path, driver: Driver, start: str | None, moment: int | None
) -> None:
    """A stream's own start counts where nothing was read yet; else the checkpoint's."""
    case = setting(tmp_path, driver, TABLES, start=start)
    case.renew()
    assert json.loads(note_of(case.folder(2)).read_text())["times"] == {"hours": moment}


def test_earliest_settles_nothing(tmp_path: Path, driver: Driver) -> None:
    case = setting(tmp_path, driver, FILES, start="earliest")
    sample(case.folder(1), committed=2)
    case.renew()
    assert (list(case.folder(2).iterdir()), driver.asked) == ([], [])


def test_a_table_is_emptied_under_a_mark_and_the_snapshot_is_kept(tmp_path: Path, driver: Driver) -> None:
    case = setting(
        tmp_path,
        driver,
        FILES,
        ("{ table = table.orders }", '{\n table = table.orders\n rebuild = "truncate"\n}'),
        start="earliest",
    )
    sample(case.folder(1))
    done = case.renew()
    (work,) = driver.asked
    assert isinstance(work, Truncate)
    assert work.mark == f"{QUERY}/g0002"
    rebuilt = done.rebuilds["orders"]
    assert (
        rebuilt.table,
        rebuilt.snapshot_id,
        rebuilt.generation,
        rebuilt.generation_before,
    ) == ("table.orders", 77, 2, 1)
    assert "flareiac table rollback table.orders" in done.messages[0]


def test_carry_over_empties_nothing(tmp_path: Path, driver: Driver) -> None:
    """Its rows would not be read again."""
    case = setting(
        tmp_path,
        driver,
        FILES,
        ("{ table = table.orders }", '{\n table = table.orders\n rebuild = "truncate"\n}'),
    )
    sample(case.folder(1))
    assert case.renew().rebuilds == {}
    assert driver.asked == []


def test_an_interrupted_renewal_is_done_again(tmp_path: Path, driver: Driver) -> None:
    case = setting(
        tmp_path,
        driver,
        FILES,
        ("{ table = table.orders }", '{\n table = table.orders\n rebuild = "truncate"\n}'),
        start="earliest",
    )
    sample(case.folder(1))
    driver.dies_at = Truncate
    with pytest.raises(Failure):
        case.renew()
    assert not case.folder(2).exists()
    driver.dies_at = None
    first, second = case.renew().rebuilds["orders"], case.renew().rebuilds["orders"]
    assert replace(first, at=second.at) == second


def test_a_table_that_was_emptied_for_nothing_is_not_forgotten(
    tmp_path: Path, driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The apply ended between emptying and preparing; the next one would go on after the rows that are
    gone.
    """
    rebuild = ("{ table = table.orders }", '{\n table = table.orders\n rebuild = "truncate"\n}')
    again = setting(tmp_path, driver, FILES, rebuild, start="earliest")
    sample(again.folder(1))
    with monkeypatch.context() as patched:
        patched.setattr(generation, "prepare_folder", lambda *_given: (_ for _ in ()).throw(Failure()))
        with pytest.raises(Failure):
            again.renew()
    carried = setting(tmp_path, driver, FILES, rebuild)
    (complaint,) = refusals(carried.request, carried.applications)
    assert complaint.code == "FIK092"
    assert "-to=77" in (complaint.detail or "")
    assert refusals(again.request, again.applications) == ()
    assert again.renew().rebuilds["orders"].snapshot_id == 77


def test_folders_that_the_application_was_told_of_are_left_alone(tmp_path: Path, driver: Driver) -> None:
    """An apply that failed after the new definition was written: its folder may hold a query's offsets by
    now.
    """
    case = setting(
        tmp_path,
        driver,
        FILES,
        ("{ table = table.orders }", '{\n table = table.orders\n rebuild = "truncate"\n}'),
        start="earliest",
    )
    sample(case.folder(1))
    rebuilds = case.renew().rebuilds
    case.told(case.new())
    sample(case.folder(2))
    driver.asked.clear()
    assert refusals(case.request, case.applications) == ()
    assert case.renew().rebuilds == rebuilds
    assert driver.asked == []
    assert read_checkpoint(case.folder(2)) is not None


def test_a_third_generation_goes_on_after_the_second_that_was_begun(tmp_path: Path, driver: Driver) -> None:
    """The apply of the second one failed and was not recorded; its query had written a batch all the same."""
    second = setting(tmp_path, driver, FILES)
    sample(second.folder(1), started=1, committed=1)
    second.renew()
    second.told(second.new())
    sample(second.folder(2), started=5, committed=5)
    third = setting(tmp_path, driver, FILES, generation=3)
    assert third.renew().messages == ("generation 3 goes on after batch 5",)


def test_a_third_generation_goes_on_after_the_first_if_the_second_was_never_begun(
    tmp_path: Path, driver: Driver
) -> None:
    second = setting(tmp_path, driver, FILES)
    sample(second.folder(1), started=1, committed=1)
    second.renew()
    second.told(second.new())
    third = setting(tmp_path, driver, FILES, generation=3)
    assert third.renew().messages == ("generation 3 goes on after batch 1",)
    assert read(third.folder(3), "offsets") == [0, 1]


def test_what_is_in_the_way_is_refused_before_anything_stops(tmp_path: Path, driver: Driver) -> None:
    case = setting(tmp_path, driver, FILES)
    sample(case.folder(1))
    sample(case.folder(2))
    assert [item.code for item in refusals(case.request, case.applications)] == ["FIK080"]
    with pytest.raises(Failure):
        case.renew()
    assert read_checkpoint(case.folder(2)) is not None


@pytest.mark.parametrize(
    ("job", "edits", "start", "code"),
    [
        (
            FILES,
            (("SELECT id, region FROM orders", "SELECT DISTINCT id, region FROM orders"),),
            None,
            "FIK081",
        ),
        (FILES, (), "latest", "FIK082"),
        (FILES, (), "2026-01-01T00:00:00Z", "FIK082"),
    ],
)
def test_what_can_not_be_taken_over_is_refused(
    tmp_path: Path, driver: Driver, job: str, edits: tuple[tuple[str, str], ...], start: str | None, code: str
) -> None:
    case = setting(tmp_path, driver, job, *edits, start=start)
    sample(case.folder(1))
    assert [item.code for item in refusals(case.request, case.applications)] == [code]


def test_a_damaged_old_generation_is_told(tmp_path: Path, driver: Driver) -> None:
    case = setting(tmp_path, driver, FILES)
    (sample(case.folder(1)) / "offsets" / "3").write_text("")
    assert [item.code for item in refusals(case.request, case.applications)] == ["FIK027"]


def test_a_new_job_does_not_go_on_after_a_query_that_nobody_knows(tmp_path: Path, driver: Driver) -> None:
    """Its generation is not the first: another query ran in an older one, and reading all again must be asked
    for.
    """
    case = setting(tmp_path, driver, FILES)
    request = case.request.with_action(Create(planned=case.after.attributes()))
    assert begins_generation(request)
    assert refusals(request, case.applications) == ()
    sample(case.folder(1))
    assert [item.code for item in refusals(request, case.applications)] == ["FIK081"]
    sample(case.folder(2))
    assert refusals(request, case.applications) == ()  # it takes over what stands in its own generation


def test_a_new_job_from_a_moment_leaves_a_stranger_s_batch_alone(tmp_path: Path, driver: Driver) -> None:
    """The batch in flight of an unknown query may be written or not: nothing goes on after it."""
    case = setting(tmp_path, driver, TABLES, start="2026-06-01T00:00:00Z")
    sample(case.folder(1), ("table",), committed=2)
    request = case.request.with_action(Create(planned=case.after.attributes()))
    assert case.performed_for(request).messages == ("generation 2 starts from 2026-06-01T00:00:00Z",)
    assert driver.asked == []


def test_a_generation_that_is_gone_is_not_taken_for_an_empty_one(tmp_path: Path, driver: Driver) -> None:
    """The second was prepared to go on after the first and never begun; without the first nobody knows where
    the third goes on.
    """
    second = setting(tmp_path, driver, FILES)
    sample(second.folder(1))
    second.renew()
    second.told(second.new())
    shutil.rmtree(second.folder(1))
    third = replace(setting(tmp_path, driver, FILES, generation=3), before=second.after)
    assert [item.code for item in refusals(third.request, third.applications)] == ["FIK027"]
    with pytest.raises(Failure):
        third.renew()


SUMS = FILES.replace(
    "SELECT id, region FROM orders", "SELECT max(id) AS id, region FROM orders GROUP BY region"
).replace("{ table = table.orders }", '{\n table = table.orders\n mode = "complete"\n}')


def test_state_of_a_definition_that_was_not_recorded_is_not_gone_on_with(
    tmp_path: Path, driver: Driver
) -> None:
    """It was not stable in time and ran on; another one in the same generation would fold its own numbers
    into that state.
    """
    second = setting(tmp_path, driver, SUMS, start="earliest")
    sample(second.folder(1))
    second.renew()
    second.told(second.new())
    sample(second.folder(2), operator="stateStoreSave")
    assert refusals(second.request, second.applications) == ()
    other = setting(tmp_path, driver, SUMS, ("max(id)", "min(id)"), start="earliest")
    assert [item.code for item in refusals(other.request, other.applications)] == ["FIK087"]
    with pytest.raises(Failure):
        other.renew()
    third = setting(tmp_path, driver, SUMS, ("max(id)", "min(id)"), start="earliest", generation=3)
    assert refusals(third.request, third.applications) == ()
