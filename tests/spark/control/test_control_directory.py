"""The control directory: what is written comes back; what cannot be understood is refused by name."""

import json
import os
import re
import subprocess
import sys
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flareiac.kernel.host import Host, booted_at
from flareiac_aws.s3_bucket import Bucket
from flareiac_spark.application import control_failure
from flareiac_spark.s3_store import S3Store
from flareiac_spark_runtime.control import (
    ControlDirectory,
    ControlError,
    Desired,
    DesiredJob,
    ErrorKind,
    ErrorSummary,
    JobSpec,
    JobStatus,
    Moment,
    Operation,
    ProcessIdentity,
    QueryStatus,
    Result,
    Status,
    StreamInput,
    TableOutput,
    Watermark,
    is_running,
    job_spec_from_json,
    job_spec_to_json,
    this_process,
)
from flareiac_spark_runtime.control.lease import LeaseState
from flareiac_spark_runtime.control.processes import start_of
from flareiac_spark_runtime.control.status import ApplicationStatus
from flareiac_spark_runtime.sources.files.resolved import ResolvedFiles
from flareiac_spark_runtime.sources.resolved import SpecColumn
from flareiac_spark_runtime.storage import ObjectPath, remove_tree, replace_whole
from tests.support.object_storage import buckets


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with buckets("lake") as endpoint:
        yield endpoint


@pytest.fixture(params=["disk", "objects"])
def control(request: pytest.FixtureRequest, tmp_path: Path) -> ControlDirectory:
    if request.param == "disk":
        return ControlDirectory(tmp_path / "runtime")
    request.getfixturevalue("server")
    return ControlDirectory(f"s3a://lake/{uuid.uuid4().hex}/runtime/")


def write(control: ControlDirectory, name: str, text: str) -> None:
    """Writes a file as anyone could."""
    control.prepare()
    replace_whole(control.place / name, text.encode())


def copied(control: ControlDirectory, tmp_path: Path) -> ControlDirectory:
    """The same files under another name."""
    place = control.place
    if isinstance(place, ObjectPath):
        copy = ControlDirectory(f"{place.parent}/elsewhere")
    else:
        copy = ControlDirectory(tmp_path / "elsewhere" / "control")
        copy.prepare()
    replace_whole(copy.place / "desired.json", (place / "desired.json").read_bytes())
    return copy


def put(control: ControlDirectory, name: str, **more: int) -> Desired:
    def change(desired: Desired) -> Desired:
        return replace(desired, jobs={**desired.jobs, name: DesiredJob(digest="d", spec={"address": name})})

    return control.update_desired(change, lineage="L", workspace="default", **more)


def test_nothing_written_reads_as_nothing(control: ControlDirectory) -> None:
    assert control.read_desired() is None
    assert control.read_status() is None
    assert control.read_result("x") is None
    assert control.read_lease() is None


def test_each_update_raises_the_revision_and_an_unchanged_one_does_not(control: ControlDirectory) -> None:
    assert put(control, "job.a").revision == 1
    assert put(control, "job.b").revision == 2
    assert put(control, "job.b").revision == 2
    read = control.read_desired()
    assert read is not None
    assert set(read.jobs) == {"job.a", "job.b"}


def test_a_stale_revision_is_a_conflict(control: ControlDirectory) -> None:
    put(control, "job.a")
    put(control, "job.b", expect=1)
    with pytest.raises(ControlError) as caught:
        put(control, "job.c", expect=1)
    assert caught.value.kind is ErrorKind.CONFLICT


@pytest.mark.parametrize(("lineage", "workspace"), [("other", "default"), ("L", "prod")])
def test_another_project_or_workspace_is_refused(
    control: ControlDirectory, lineage: str, workspace: str
) -> None:
    put(control, "job.a")
    with pytest.raises(ControlError) as caught:
        control.update_desired(lambda desired: desired, lineage=lineage, workspace=workspace)
    assert caught.value.kind is ErrorKind.FOREIGN
    assert "belongs to" in caught.value.why


def test_a_copied_or_moved_directory_is_refused(control: ControlDirectory, tmp_path: Path) -> None:
    put(control, "job.a")
    copy = copied(control, tmp_path)
    found = copy.read_desired()
    assert found is not None
    with pytest.raises(ControlError) as caught:
        put(copy, "job.b")
    assert caught.value.kind is ErrorKind.COPIED
    assert str(control.place) in caught.value.why
    with pytest.raises(ControlError, match="is a copy of"):
        copy.refuse_copy(found)
    remove_tree(control.place)
    copy.refuse_copy(found)  # a driver may see its directory under another path than the command line
    with pytest.raises(ControlError, match="was written as"):
        put(copy, "job.b")


def test_a_directory_that_a_link_leads_to_is_the_same(tmp_path: Path) -> None:
    control = ControlDirectory(tmp_path / "runtime")
    put(control, "job.a")
    (tmp_path / "link").symlink_to(tmp_path / "runtime")
    linked = ControlDirectory(tmp_path / "link")
    assert set(put(linked, "job.b").jobs) == {"job.a", "job.b"}
    assert set(put(control, "job.c").jobs) == {"job.a", "job.b", "job.c"}


def test_a_directory_without_jobs_is_nobodys(control: ControlDirectory) -> None:
    control.update_desired(lambda desired: desired, lineage="first", workspace="default")
    assert put(control, "job.a").lineage == "L"


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        ("", ErrorKind.DAMAGED),
        ('{"version":1,"lin', ErrorKind.DAMAGED),
        ("[]", ErrorKind.DAMAGED),
        ('{"version":1}', ErrorKind.DAMAGED),
        ('{"version":1,"lineage":"L","workspace":"default","revision":"1"}', ErrorKind.DAMAGED),
        ('{"version":1,"lineage":"L","workspace":"default","surprise":1}', ErrorKind.DAMAGED),
        ('{"version":2,"lineage":"L"}', ErrorKind.FUTURE_VERSION),
    ],
)
def test_a_desired_file_that_is_not_understood_is_named(
    control: ControlDirectory, content: str, kind: ErrorKind
) -> None:
    write(control, "desired.json", content)
    with pytest.raises(ControlError) as caught:
        control.read_desired()
    assert caught.value.kind is kind
    assert caught.value.path.endswith("desired.json")
    assert caught.value.why


def test_concurrent_updates_lose_nothing(control: ControlDirectory) -> None:
    program = (
        "import sys\n"
        "from dataclasses import replace\n"
        "from flareiac_spark_runtime.control import ControlDirectory, DesiredJob\n"
        "from flareiac_spark import spark_provider\n"
        "control = ControlDirectory(sys.argv[1])\n"
        "for n in range(20):\n"
        "    job = {f'job.{sys.argv[2]}{n}': DesiredJob(digest='d', spec={})}\n"
        "    control.update_desired(lambda d: replace(d, jobs={**d.jobs, **job}), lineage='L', "
        "workspace='w')\n"
    )
    writers = [subprocess.Popen([sys.executable, "-c", program, str(control.place), name]) for name in "abc"]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    desired = control.read_desired()
    assert desired is not None
    assert (desired.revision, len(desired.jobs)) == (60, 60)


STATUS = Status(
    application=ApplicationStatus(id="a", name="n", host="h", pid=1, pid_started="s"),
    heartbeat=1.5,
    observed_revision=3,
)


def test_status_comes_back_as_written(control: ControlDirectory) -> None:
    control.prepare()
    status = Status(
        application=ApplicationStatus(id="a", name="n", host="h", pid=1, pid_started="s"),
        heartbeat=1.5,
        observed_revision=3,
        jobs={
            "job.a": JobStatus(
                phase="failed",
                digest="d",
                last_error=ErrorSummary(error_class="X", message="m", permanent=True),
            )
        },
    )
    control.write_status(status)
    assert control.read_status() == status
    written = json.loads((control.place / "status.json").read_text())
    assert written["jobs"]["job.a"]["last_error"]["class"] == "X"


@pytest.mark.parametrize("time", ["1e308", "-1e12", "1e999", "Infinity", "NaN"])
@pytest.mark.parametrize("place", ["heartbeat", "since", "last_commit"])
def test_a_time_that_no_calendar_shows_is_damage(tmp_path: Path, place: str, time: str) -> None:
    control = ControlDirectory(tmp_path)
    control.prepare()
    query = QueryStatus(output="o", id="q", run_id="r", last_commit=2.5)
    job = JobStatus(phase="running", digest="d", queries=(query,), since=3.5)
    control.write_status(replace(STATUS, jobs={"job.a": job}))
    file = tmp_path / "status.json"
    text, made = re.subn(rf'("{place}":)[0-9.]+', rf"\g<1>{time}", file.read_text())
    assert made == 1
    file.write_text(text)
    with pytest.raises(ControlError) as caught:
        control.read_status()
    assert caught.value.kind is ErrorKind.DAMAGED


def test_the_time_of_a_refused_start_is_one_that_a_calendar_shows(tmp_path: Path) -> None:
    control = ControlDirectory(tmp_path)
    control.prepare()
    (tmp_path / "refused-start.json").write_text('{"version":1,"host":"h","at":1e300,"reason":"r"}')
    with pytest.raises(ControlError, match="seconds since 1970"):
        control.read_refused_start()


def test_operations_are_open_until_they_have_a_result(control: ControlDirectory) -> None:
    control.submit_operation(Operation(id="op1", jobs=({"address": "job.a"},)))
    assert control.open_operations() == ("op1",)
    control.write_result(Result(id="op1", status="done"))
    assert control.open_operations() == ()
    assert control.read_result("op1") == Result(id="op1", status="done")
    control.forget_operation("op1")
    assert control.read_result("op1") is None


@pytest.mark.parametrize("name", ["../x", "", ".hidden", "a/b"])
def test_an_operation_id_is_never_a_path(control: ControlDirectory, name: str) -> None:
    with pytest.raises(ValueError, match="cannot name a file"):
        control.submit_operation(Operation(id=name))


def test_logs_of_instances_have_names_of_their_own(control: ControlDirectory) -> None:
    paths = {control.job_log(address) for address in ('job.a["x/y"]', 'job.a["x_y"]', "job.a[0]", "job.a")}
    assert len(paths) == 4
    assert all(path.parent == control.scratch / "logs" for path in paths)


def at(uptime: float, wall: float = 0.0) -> Moment:
    return Moment(wall=wall, uptime=uptime)


class TestLease:
    def test_is_held_by_a_running_owner_that_renews_it(self, control: ControlDirectory) -> None:
        mine = control.take_lease("a", this_process(), now=at(100), seconds=10)
        assert mine is not None
        assert control.take_lease("b", this_process(), now=at(105), seconds=10) is None
        assert control.renew_lease(mine, now=at(108), seconds=10) is not None
        assert control.take_lease("b", this_process(), now=at(115), seconds=10) is None
        taken = control.take_lease("b", this_process(), now=at(119), seconds=10)
        assert taken is not None
        assert taken.epoch == mine.epoch + 1
        assert control.renew_lease(mine, now=at(120), seconds=10) is None

    @pytest.mark.parametrize("wall", [-3_600.0, 3_600.0])
    def test_a_clock_that_jumps_neither_frees_nor_keeps_it(
        self, control: ControlDirectory, wall: float
    ) -> None:
        assert control.take_lease("a", this_process(), now=at(100, wall=1_000_000), seconds=10) is not None
        assert control.take_lease("b", this_process(), now=at(101, wall=1_000_000 + wall), seconds=10) is None
        assert (
            control.take_lease("b", this_process(), now=at(111, wall=1_000_000 + wall), seconds=10)
            is not None
        )

    def test_is_taken_over_at_once_when_its_owner_is_gone(self, control: ControlDirectory) -> None:
        gone = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
        identity = ProcessIdentity(pid=gone.pid, started=start_of(gone.pid) or "?")
        assert control.take_lease("a", identity, now=at(100), seconds=1000) is not None
        assert control.take_lease("b", this_process(), now=at(101), seconds=10) is None
        gone.communicate(b"\n")
        assert control.take_lease("b", this_process(), now=at(101), seconds=10) is not None

    def test_of_this_machine_before_its_boot_is_free(
        self, control: ControlDirectory, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        here = Host(name="a", machine="m", boot="b-2", namespace="pid:[4026531836]")
        before = replace(here, boot="b-1")
        monkeypatch.setattr("flareiac.kernel.host.this_host", lambda: here)
        monkeypatch.setattr("flareiac_spark_runtime.control.lease_file.this_host", lambda: before)
        mine = control.take_lease("a", this_process(), now=at(100, wall=booted_at() - 10), seconds=1000)
        assert mine is not None
        container = replace(mine, place=replace(before, namespace="pid:[1]"))
        copied = replace(mine, renewed=booted_at() + 10)
        assert [item.standing(at(101)) for item in (mine, container, copied)] == [
            LeaseState.FREE,
            LeaseState.UNCLEAR,
            LeaseState.UNCLEAR,
        ]
        assert control.take_lease("b", this_process(), now=at(101), seconds=10) is not None

    def test_of_a_container_with_the_name_of_this_host_is_watched(self, control: ControlDirectory) -> None:
        """Its process has another number there than here, where there may be none of that number."""
        gone = ProcessIdentity(pid=2**22 + 1, started="x")
        mine = control.take_lease("a", gone, now=at(100), seconds=1000)
        assert mine is not None
        assert mine.place is not None
        assert mine.standing(at(101)) is LeaseState.FREE
        assert (
            replace(mine, place=replace(mine.place, namespace="pid:[1]")).standing(at(101))
            is LeaseState.UNCLEAR
        )

    def test_released_is_free(self, control: ControlDirectory) -> None:
        mine = control.take_lease("a", this_process(), now=at(100), seconds=1000)
        assert mine is not None
        control.release_lease(mine, now=at(101))
        assert control.take_lease("b", this_process(), now=at(101), seconds=10) is not None

    def test_of_another_host_is_watched_for_its_whole_term(
        self, control: ControlDirectory, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(
            "flareiac_spark_runtime.control.lease_file.this_host", lambda: Host(name="elsewhere")
        )
        mine = control.take_lease("a", this_process(), now=at(100), seconds=10)
        monkeypatch.undo()
        assert mine is not None
        assert control.take_lease("b", this_process(), now=at(9_999, wall=9_999), seconds=10) is None
        renewed = control.renew_lease(mine, now=at(105), seconds=10)
        assert control.take_lease("b", this_process(), now=at(9_999), seconds=10, watched=mine) is None
        assert control.take_lease("b", this_process(), now=at(9_999), seconds=10, watched=renewed) is not None

    def test_damaged_is_nobodys_to_take_and_its_owners_to_repair(self, control: ControlDirectory) -> None:
        mine = control.take_lease("a", this_process(), now=at(100), seconds=10)
        assert mine is not None
        write(control, "lease.json", '{"version":1,"own')
        with pytest.raises(ControlError, match="not JSON"):
            control.take_lease("b", this_process(), now=at(500), seconds=10)
        assert control.renew_lease(mine, now=at(101), seconds=10) is not None
        write(control, "lease.json", '{"version":2}')
        assert control.renew_lease(mine, now=at(102), seconds=10) is None


def test_a_pid_used_again_is_another_process() -> None:
    assert is_running(this_process())
    assert not is_running(ProcessIdentity(pid=os.getpid(), started="another time"))
    assert not is_running(ProcessIdentity(pid=2**22 + 1, started="x"))


def test_a_zombie_runs_no_more() -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    started = start_of(child.pid)
    assert started is not None
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdin.close()
    child.stdout.read()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert start_of(child.pid) is None
    child.wait()
    child.stdout.close()


names = st.text(min_size=1, max_size=8)


@given(
    name=names,
    sql=st.text(),
    delay=st.none() | names,
    options=st.dictionaries(names, st.text()),
    required=st.booleans(),
)
def test_a_spec_comes_back_as_written(
    name: str, sql: str, delay: str | None, options: dict[str, str], required: bool
) -> None:
    columns = (SpecColumn(name=name, type="long", required=required),)
    spec = JobSpec(
        address="job.a",
        mode="stream",
        inputs=(
            StreamInput(
                name=name,
                source=ResolvedFiles(path="/p", format="json", options=options, columns=columns),
                watermark=Watermark(column=name, delay=delay) if delay else None,
            ),
        ),
        steps=(),
        outputs=(
            TableOutput(name=name, source=sql, identifier=("c", "n", "t"), mode="append", columns=columns),
        ),
    )
    assert job_spec_from_json(json.loads(json.dumps(job_spec_to_json(spec)))) == spec


def test_a_spec_that_is_not_understood_names_the_field() -> None:
    with pytest.raises(ControlError, match=r"spec\.inputs\[0\]\.source\.kind is 'pulsar'"):
        job_spec_from_json(
            {
                "address": "job.a",
                "mode": "stream",
                "steps": [],
                "outputs": [],
                "inputs": [{"kind": "stream", "name": "x", "source": {"kind": "pulsar"}}],
            }
        )


def test_a_server_that_ignores_conditions_is_refused_before_the_first_file(
    control: ControlDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = control.place
    if not isinstance(place, ObjectPath):
        pytest.skip("a disk has a lock")

    def swap(store: S3Store, key: str, content: bytes, revision: str | None) -> str:
        store.put(key, content)
        found = store.get(key)
        assert found is not None
        return found.revision

    monkeypatch.setattr(S3Store, "swap", swap)
    with pytest.raises(ControlError, match="ignores the conditions") as caught:
        put(control, "job.a")
    assert caught.value.kind is ErrorKind.UNCONDITIONAL
    assert list(place.below()) == []


def test_of_two_that_take_a_lease_at_the_same_time_one_gets_it(control: ControlDirectory) -> None:
    others = [ControlDirectory(str(control.place)) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        taken = list(
            pool.map(
                lambda n: others[n].take_lease(str(n), this_process(), now=at(100), seconds=10), range(4)
            )
        )
    (lease,) = [item for item in taken if item is not None]
    assert control.read_lease() == lease


@pytest.mark.parametrize("change", ["lease", "desired"])
def test_a_write_whose_answer_is_lost_is_recognised(
    control: ControlDirectory, change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The client repeats the request, and is refused because of its own write."""
    if not isinstance(control.place, ObjectPath):
        pytest.skip("a disk answers")
    once, replace_object = [True], Bucket.replace

    def repeated(bucket: Bucket, key: str, content: bytes, revision: str | None) -> str | None:
        if once and not key.rpartition("/")[2].startswith("probe"):
            once.clear()
            replace_object(bucket, key, content, revision)
        return replace_object(bucket, key, content, revision)

    monkeypatch.setattr(Bucket, "replace", repeated)
    if change == "desired":
        assert put(control, "job.a").revision == 1
        assert put(control, "job.b").revision == 2
        return
    mine = control.take_lease("a", this_process(), now=at(100), seconds=10)
    assert mine is not None
    assert mine.epoch == 1
    once.append(True)
    assert control.renew_lease(mine, now=at(105), seconds=10) is not None
    assert control.renew_lease(mine, now=at(106), seconds=10) is not None


def test_a_lease_that_was_lost_while_its_owner_paused_is_not_renewed(control: ControlDirectory) -> None:
    paused = ControlDirectory(str(control.place))
    mine = paused.take_lease("a", this_process(), now=at(100), seconds=10)
    assert mine is not None
    assert control.take_lease("b", this_process(), now=at(200), seconds=10) is not None
    assert paused.renew_lease(mine, now=at(201), seconds=10) is None
    paused.release_lease(mine, now=at(202))
    found = control.read_lease()
    assert found is not None
    assert (found.owner, found.seconds) == ("b", 10)


def test_storage_that_does_not_answer_is_told_with_a_way_out(tmp_path: Path) -> None:
    with buckets("lake"), pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:9")
        gone = ControlDirectory("s3://lake/somewhere")
        for use in (gone.read_status, lambda: put(gone, "job.a"), gone.open_operations, gone.is_used):
            with pytest.raises(ControlError) as caught:
                use()
            said = control_failure(caught.value)
            assert said.code == "FIK804"
            assert "s3://lake/somewhere" in said.detail
            assert "AWS_ENDPOINT_URL_S3" in said.detail
        assert gone.glance() is None
        assert gone.stamp("desired.json") is None


def test_a_bucket_that_is_not_there_is_told() -> None:
    with buckets("lake"):
        with pytest.raises(ControlError, match="elsewhere") as caught:
            ControlDirectory("s3://elsewhere/somewhere").read_desired()
        assert caught.value.kind is ErrorKind.UNREACHABLE
