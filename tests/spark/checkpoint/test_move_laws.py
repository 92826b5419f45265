"""Wherever a move is interrupted, one folder at most can be started in, and what follows leaves one whole
checkpoint: the same move, another one, or its withdrawal.
"""

import itertools
import threading
import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from flareiac.kernel.diagnostics import Failure
from flareiac.kernel.records import encode
from flareiac.sdk.actions import Change, Delete, Update
from flareiac.sdk.changes import Action, Proposal
from flareiac.sdk.project import Project
from flareiac.sdk.references import References, Resolved
from flareiac.sdk.requests import ApplyRequest, PlanRequest, ReadRequest
from flareiac.sdk.results import Applied, Present, Recorded
from flareiac_spark.checkpoint import move, tree_copy
from flareiac_spark.checkpoint.driver import CheckpointDriver
from flareiac_spark.checkpoint.plan import CheckpointPlanner
from flareiac_spark.checkpoint_files.manager import mark, mark_of
from flareiac_spark.definition.checkpoint_definition import CheckpointDefinition
from flareiac_spark.sources.notes_beside import NOTES
from flareiac_spark_runtime.checkpoint_log import MANAGED_BY
from flareiac_spark_runtime.control import ControlDirectory, DesiredJob
from flareiac_spark_runtime.storage import Place, place_at, remove_tree, replace_whole
from tests.spark.declared import ENGINE
from tests.support.object_storage import buckets

LINEAGE = "lineage-1"
POINTS = (
    "checkpoint-move.begun",
    "checkpoint-move.file",
    "checkpoint-move.copied",
    "checkpoint-move.left",
    "checkpoint-move.arrived",
)
KINDS = tuple(itertools.product(("local", "s3"), repeat=2))
FILES = {
    "all/g0001/metadata": b'{"id":"q-1"}',
    "all/g0001/offsets/0": b"v1\n{}\n7",
    "all/g0001/commits/0": b"v1\n{}",
    "all/g0001/state/0/0/1.delta": bytes(range(256)) * 20,
    "all/g0001/state/0/0/1.delta.crc": b"Spark's own",
    "all/.g0001.topics.json": b'{"version":1}',
}


class Killed(BaseException):
    """Stands for the end of the process."""


@pytest.fixture(scope="module")
def bucket() -> Iterator[str]:
    name = f"laws-{uuid.uuid4().hex}"
    with buckets(name):
        yield name


class World:
    """One checkpoint, what is recorded of it, and the commands that follow each other."""

    def __init__(self, root: Path, bucket: str) -> None:
        self.driver = CheckpointDriver(Project(root=root, lineage=LINEAGE))
        self._project = Project(root=root, lineage=LINEAGE)
        self._places = {"local": f"{root}/disk", "s3": f"s3://{bucket}/{uuid.uuid4().hex}"}
        self.recorded: Recorded | None = None
        self.declared: References = {}

    def place(self, kind: str, name: str) -> str:
        return f"{self._places[kind]}/{name}"

    def begin(self, location: str) -> None:
        for name, content in FILES.items():
            replace_whole(place_at(f"{location}/{name}"), content, 0o644)
        mark(place_at(location), LINEAGE)
        self.recorded = Recorded(
            attributes=_attributes(location), identity={"layout": "generations", "layout_generation": None}
        )

    def plan(self, location: str, **more: Any) -> Proposal:
        assert self.recorded is not None
        desired = _attributes(location)
        read = ReadRequest(
            address="checkpoint.x",
            desired=desired,
            recorded=self.recorded,
            references={},
            declared=self.declared,
        )
        observed = self.driver.read(read)
        assert isinstance(observed, Present), observed
        return CheckpointPlanner().plan(
            PlanRequest(
                address="checkpoint.x",
                desired=desired,
                recorded=self.recorded,
                observed=observed,
                references={},
                project=self._project,
                **more,
            )
        )

    def apply(self, location: str) -> Proposal:
        """A plan and its apply, which first settles an open one of the same move."""
        assert self.recorded is not None
        open_one = Update(planned=_attributes(location), recorded=self.recorded)
        settled = self.driver.settle(_request(open_one)) if self._asked == location else None
        if isinstance(settled, Applied):
            self._record(settled)
        proposal = self.plan(location)
        if proposal.action is Action.UPDATE and not proposal.blockers:
            self._asked = location
            update = Update(planned=proposal.planned or {}, recorded=self.recorded, payload=proposal.payload)
            outcome = self.driver.apply(_request(update))
            assert isinstance(outcome, Applied), outcome
            self._record(outcome)
        return proposal

    _asked = ""

    def _record(self, outcome: Applied) -> None:
        assert self.recorded is not None
        self.recorded = replace(self.recorded, attributes=outcome.attributes, identity=outcome.identity)

    @property
    def location(self) -> str:
        assert self.recorded is not None
        return str(self.recorded.attributes["location"])


def _attributes(location: str) -> dict[str, Any]:
    found: dict[str, Any] = encode(
        CheckpointDefinition(
            location=location,
            generation=1,
            start_from=None,
            keep_generations=2,
            min_batches_to_retain=100,
            state_store=None,
            on_destroy="retain",
        )
    )
    return found


def _request(change: Change | Delete) -> ApplyRequest[Any]:
    return ApplyRequest(
        key="k",
        address="checkpoint.x",
        action=change,
        references={},
        cancel=threading.Event(),
        progress=lambda _text: None,
    )


def usable(place: str) -> bool:
    """Returns True where a job would start there, and find its query."""
    found = mark_of(place_at(place))
    return found is not None and not found.arriving_from and not found.moved_to


def every_file(place: Place, below: str = "") -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for item in place.iterdir() if place.exists() else ():
        name = f"{below}{item.name}"
        if item.is_dir():
            found |= every_file(item, f"{name}/")
        elif name != MANAGED_BY:
            found[name] = item.read_bytes()
    return found


@pytest.fixture
def world(tmp_path: Path, bucket: str) -> World:
    return World(tmp_path, bucket)


@pytest.fixture
def kill(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Ends the process, so to say, at a point; no longer where it is empty."""

    def kill_at(point: str) -> None:
        def reached(name: str) -> None:
            if name == point:
                raise Killed(name)

        monkeypatch.setattr(move, "reach", reached)
        monkeypatch.setattr(tree_copy, "reach", reached)

    return kill_at


def one_whole_checkpoint(world: World, at: str, *others: str) -> None:
    assert world.location == at
    assert every_file(place_at(at)) == FILES
    assert usable(at)
    assert not any(usable(other) for other in others)
    assert world.plan(at).action is Action.NO_OP


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize(("old", "new"), KINDS)
def test_the_same_move_goes_on(
    world: World, kill: Callable[[str], None], old: str, new: str, point: str
) -> None:
    first, second = world.place(old, "first"), world.place(new, "second")
    world.begin(first)
    kill(point)
    for _time in range(2):
        with pytest.raises(Killed):
            world.apply(second)
        assert every_file(place_at(first)) == FILES
        assert usable(first) + usable(second) <= 1
        if point == "checkpoint-move.arrived":
            break
    kill("")
    world.apply(second)
    one_whole_checkpoint(world, second, first)


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize(("old", "new"), KINDS)
def test_it_is_withdrawn(world: World, kill: Callable[[str], None], old: str, new: str, point: str) -> None:
    first, second = world.place(old, "first"), world.place(new, "second")
    world.begin(first)
    kill(point)
    with pytest.raises(Killed):
        world.apply(second)
    kill("")
    if point == "checkpoint-move.arrived":
        # What is there may have been gone on with: only its own location is a way out
        assert [item.code for item in world.plan(first).blockers] == ["FIK401"]
        world.apply(second)
        one_whole_checkpoint(world, second, first)
    world.apply(first)
    one_whole_checkpoint(world, first, second)


@pytest.mark.parametrize("point", POINTS[:4])
def test_another_place_is_chosen(world: World, kill: Callable[[str], None], point: str) -> None:
    first, second, third = (world.place(*at) for at in (("local", "a"), ("s3", "b"), ("local", "c")))
    world.begin(first)
    kill(point)
    with pytest.raises(Killed):
        world.apply(second)
    kill("")
    world.apply(third)
    one_whole_checkpoint(world, third, first, second)


def test_an_old_state_never_copies_an_old_folder_over_the_new_one(world: World) -> None:
    """The state of before the move is put back; jobs have gone on at the new place since."""
    first, second = world.place("local", "first"), world.place("s3", "second")
    world.begin(first)
    before = world.recorded
    world.apply(second)
    later = b'{"id":"q-1","later":1}'
    replace_whole(place_at(f"{second}/all/g0001/metadata"), later, 0o644)
    world.recorded = before
    assert [item.code for item in world.plan(first).blockers] == ["FIK401"]
    assert [item.code for item in world.plan(world.place("s3", "third")).blockers] == ["FIK401"]
    world.apply(second)
    assert world.location == second
    assert (place_at(second) / "all" / "g0001" / "metadata").read_bytes() == later


def test_what_is_at_the_target_is_never_touched(world: World) -> None:
    first = world.place("local", "first")
    world.begin(first)
    for number, kind in enumerate(("local", "s3")):
        for content in ("some file", MANAGED_BY):
            taken = world.place(kind, f"taken-{number}-{content[:4]}")
            text = b'{"lineage":"another","version":1}' if content == MANAGED_BY else b"mine"
            replace_whole(place_at(f"{taken}/{content}"), text, 0o644)
            assert [item.code for item in world.plan(taken).blockers] == ["FIK024"]
            assert (place_at(taken) / content).read_bytes() == text
    own = world.place("s3", "own")
    mark(place_at(own), LINEAGE)
    replace_whole(place_at(f"{own}/all/g0001/metadata"), b"{}", 0o644)
    assert [item.code for item in world.plan(own).blockers] == ["FIK024"]


def test_places_in_each_other_and_other_names(world: World, tmp_path: Path) -> None:
    first = world.place("local", "first")
    world.begin(first)
    (tmp_path / "around").mkdir()
    (tmp_path / "around" / "link").symlink_to(first, target_is_directory=True)
    for nested in (f"{first}/inside", str(Path(first).parent), f"{tmp_path}/around/link/inside"):
        assert [item.code for item in world.plan(nested).blockers] == ["FIK024"], nested
    link = f"{tmp_path}/around/link"
    proposal = world.apply(link)
    assert not proposal.disturbs
    assert [step.text for step in proposal.steps] == [f"is called {link} from now on"]
    one_whole_checkpoint(world, link)
    bucket = world.place("s3", "x")
    world.apply(bucket)
    assert [item.code for item in world.plan(f"{bucket}/y").blockers] == ["FIK024"]
    assert not world.plan(f"{bucket}y").blockers, "a name that begins alike is another folder"


@pytest.mark.parametrize("release", ["this", "another"])
@pytest.mark.parametrize("spelled", ["as it is", "link", "link inside"])
@pytest.mark.parametrize("state", ["running", "stopped"])
def test_a_job_that_is_to_run_there_keeps_it_there(
    world: World, tmp_path: Path, state: Any, spelled: str, release: str
) -> None:
    """Not a job of this state, or one that was started since the plan was made, also where its application
    knows the folder by another name.
    """
    first, second = world.place("local", "first"), world.place("s3", "second")
    world.begin(first)
    (tmp_path / "link").symlink_to(first, target_is_directory=True)
    (tmp_path / "inside").symlink_to(f"{first}/all", target_is_directory=True)
    folder = {
        "as it is": f"{first}/all/g0001",
        "link": f"{tmp_path}/link/all/g0001",
        "link inside": f"{tmp_path}/inside/g0001",
    }[spelled]
    control = ControlDirectory(tmp_path / "runtime")
    spec: dict[str, Any] = {"address": "job.x", "outputs": [{"name": "x", "checkpoint": folder}]}
    if release == "another":
        spec = {"address": "job.x", "sinks": {"x": {"state": folder}}}
    entry = DesiredJob(digest="d", spec=spec, state=state, nonce=0)
    control.update_desired(lambda now: now.with_job("job.x", entry), lineage="other", workspace="default")
    world.declared = {"engine.e": _engine("runtime")}
    if state == "running":
        with pytest.raises(Failure) as failure:
            world.apply(second)
        assert [item.code for item in failure.value.diagnostics] == ["FIK402"]
        assert usable(first)
        assert not place_at(second).exists()
    else:
        world.apply(second)
        one_whole_checkpoint(world, second, first)


def _engine(runtime: str) -> Resolved:
    definition = replace(ENGINE, runtime_location=runtime)
    return Resolved(address="engine.e", type="engine", attributes=encode(definition))


def test_another_checkpoint_inside_is_not_copied(world: World) -> None:
    first = world.place("local", "first")
    world.begin(first)
    mark(place_at(f"{first}/other"), LINEAGE)
    assert [item.code for item in world.plan(world.place("s3", "second")).blockers] == ["FIK024"]


@pytest.mark.parametrize(("old", "new"), KINDS)
def test_a_folder_that_was_imported_takes_its_notes_along(world: World, old: str, new: str) -> None:
    """It is itself the checkpoint of a query, so that the notes about it are beside it."""
    first, second = world.place(old, "first"), world.place(new, "second")
    world.begin(first)
    remove_tree(place_at(f"{first}/all"))
    replace_whole(place_at(f"{first}/metadata"), b'{"id":"q-1"}', 0o644)
    for note in NOTES:
        replace_whole(place_at(f"{Path(first).parent}/.first.{note}.json".replace("s3:/", "s3://")), b"{}")
    assert world.recorded is not None
    world.recorded = replace(world.recorded, identity={"layout": "single", "layout_generation": 1})
    world.apply(second)
    above = str(second).rpartition("/")[0]
    assert {note for note in NOTES if place_at(f"{above}/.second.{note}.json").is_file()} == set(NOTES)
    assert every_file(place_at(second)) == {"metadata": b'{"id":"q-1"}'}
    assert usable(second)


def test_its_copies_are_deleted_with_it(world: World) -> None:
    first, second, third = (world.place(*at) for at in (("local", "a"), ("s3", "b"), ("local", "c")))
    world.begin(first)
    world.apply(second)
    world.apply(third)
    assert world.recorded is not None
    replace_whole(place_at(f"{second}/{MANAGED_BY}"), b'{"lineage":"another","version":1}', 0o644)
    deleted = world.driver.delete(_request(Delete(recorded=world.recorded)))
    assert isinstance(deleted, Applied)
    assert not place_at(first).exists()
    assert not place_at(third).exists()
    assert every_file(place_at(second)) == FILES, "another state has taken it over"


def test_a_writer_that_is_not_known_stops_the_move(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = world.place("local", "first"), world.place("s3", "second")
    world.begin(first)

    def reached(name: str) -> None:
        if name == "checkpoint-move.file":
            replace_whole(place_at(f"{first}/all/g0001/commits/1"), b"v1\n{}", 0o644)

    monkeypatch.setattr(tree_copy, "reach", reached)
    with pytest.raises(Failure) as failure:
        world.apply(second)
    assert "changed while they were copied" in failure.value.diagnostics[0].detail
    assert usable(first)
    assert not usable(second)


def test_a_full_disk_leaves_the_checkpoint_where_it_is(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = world.place("local", "first"), world.place("local", "second")
    world.begin(first)

    def full(*_words: object) -> int:
        raise OSError(28, "No space left on device", f"{second}/x")

    with monkeypatch.context() as patch:
        patch.setattr(tree_copy, "_put_local", full)
        with pytest.raises(Failure) as failure:
            world.apply(second)
    assert failure.value.diagnostics[0].code == "FIK403"
    assert "No space left on device" in failure.value.diagnostics[0].detail
    assert usable(first)
    world.apply(second)
    one_whole_checkpoint(world, second, first)


def test_a_corrupted_copy_is_noticed(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = world.place("local", "first"), world.place("s3", "second")
    world.begin(first)

    def broken(place: Place, content: bytes, mode: int = 0) -> None:
        replace_whole(place, content[:-1] + b"?", mode or 0o644)

    with monkeypatch.context() as patch:
        patch.setattr(tree_copy, "replace_whole", broken)
        with pytest.raises(Failure):
            world.apply(second)
    assert usable(first)
    assert not usable(second)
    remove_tree(place_at(second))
    world.apply(second)
    one_whole_checkpoint(world, second, first)
