"""``checkpoint show`` and ``checkpoint gc``, and what a plan says of generations on disk."""

import time
from pathlib import Path

import pytest

from flareiac.kernel.data import Attributes
from flareiac.kernel.records import encode
from flareiac.sdk.project import Project
from flareiac.sdk.results import Recorded
from flareiac_spark.checkpoint.describe import describe
from flareiac_spark.checkpoint.retention import delete_unused_generations
from flareiac_spark.definition.checkpoint_definition import CheckpointDefinition
from flareiac_spark.generation.prepare import StartPositions, prepare_folder
from flareiac_spark.observation.checkpoint import removable
from tests.spark.checkpoint_sample import SNAPSHOT, sample


def recorded(generation: int, keep: int = 2, **identity: object) -> Recorded:
    checkpoint = CheckpointDefinition(
        location="x",
        generation=generation,
        start_from=None,
        keep_generations=keep,
        min_batches_to_retain=100,
        state_store=None,
        on_destroy="retain",
    )
    return Recorded(
        attributes=encode(checkpoint),
        identity={"layout": "generations", "layout_generation": None, **identity},
    )


def job(generation: int, rebuilds: Attributes | None = None) -> Recorded:
    return Recorded(
        attributes={"generation": generation}, identity={"rebuilds": rebuilds} if rebuilds else {}
    )


def there(root: Path) -> list[str]:
    return sorted(str(path.relative_to(root / "x")) for path in (root / "x").glob("*/g*"))


@pytest.mark.parametrize(
    ("numbers", "in_use", "keep", "expected"),
    [
        ({1, 2, 3}, 3, 2, {1}),
        ({1, 2, 3}, 3, 1, {1, 2}),
        ({1, 3, 7}, 7, 2, {1}),
        ({1, 2, 3}, 2, 1, {1}),
        ({1, 2}, 7, 2, {1}),
        (set(), 1, 1, set()),
    ],
)
def test_the_newest_are_kept(numbers: set[int], in_use: int, keep: int, expected: set[int]) -> None:
    """By count and not by number, since numbers may be left out; what is newer than the one in use is never
    removed.
    """
    assert removable(numbers, in_use, keep) == expected


def test_gc_removes_what_is_past_and_says_so(tmp_path: Path) -> None:
    for output in ("a", "b"):
        for number in (1, 2, 3):
            sample(tmp_path / "x" / output / f"g{number:04d}")
    project = Project(root=tmp_path)
    said = list(delete_unused_generations(recorded(3), [job(3)], project, dry_run=True))
    assert [line.split(" (")[0] for line in said] == [
        "would remove generation 1 of output a",
        "would remove generation 1 of output b",
    ]
    assert len(there(tmp_path)) == 6
    list(delete_unused_generations(recorded(3), [job(3)], project, dry_run=False))
    assert there(tmp_path) == ["a/g0002", "a/g0003", "b/g0002", "b/g0003"]
    assert list(delete_unused_generations(recorded(3), [job(3)], project, dry_run=False)) == []
    assert [path.name for path in (tmp_path / "x" / "a").iterdir() if path.name.startswith(".")] == []


def test_gc_keeps_what_a_job_still_runs_on(tmp_path: Path) -> None:
    """The checkpoint is a generation ahead of a job whose apply failed."""
    for number in (1, 2, 3):
        sample(tmp_path / "x" / "a" / f"g{number:04d}")
    assert (
        list(delete_unused_generations(recorded(3, keep=1), [job(1)], Project(root=tmp_path), dry_run=False))
        == []
    )
    assert len(there(tmp_path)) == 3


def test_gc_keeps_the_generation_of_a_held_snapshot(tmp_path: Path) -> None:
    for number in (1, 2):
        sample(tmp_path / "x" / "a" / f"g{number:04d}")
    rebuilds = {
        "a": {
            "table": "table.a",
            "snapshot_id": 5,
            "generation": 2,
            "generation_before": 1,
            "at": int(time.time()),
        }
    }
    (said,) = delete_unused_generations(
        recorded(2, keep=1), [job(2, rebuilds)], Project(root=tmp_path), dry_run=False
    )
    assert said.startswith("kept generation 1 of output a: the snapshot that fits it is held until")
    rebuilds["a"]["at"] = 1_600_000_000
    list(
        delete_unused_generations(
            recorded(2, keep=1), [job(2, rebuilds)], Project(root=tmp_path), dry_run=False
        )
    )
    assert there(tmp_path) == ["a/g0002"]


def test_gc_leaves_an_imported_folder(tmp_path: Path) -> None:
    sample(tmp_path / "x")
    sample(tmp_path / "x" / "a" / "g0002")
    layout = {"layout": "single", "layout_generation": 1}
    (said,) = delete_unused_generations(
        recorded(2, keep=1, **layout), [], Project(root=tmp_path), dry_run=False
    )
    assert "it is the folder that was imported" in said
    assert (tmp_path / "x" / "metadata").exists()


def test_what_is_shown(tmp_path: Path) -> None:
    sample(tmp_path / "x" / "a" / "g0002", ("files", "table"), committed=2, operator="dedupe")
    sample(tmp_path / "x" / "a" / "g0001")
    prepare_folder(tmp_path / "x" / "a" / "g0003", StartPositions(by="me", noted={"start_from": "earliest"}))
    found = describe(recorded(2, keep=1), Project(root=tmp_path))
    (query,) = found.queries
    assert (query.committed, query.in_flight, query.watermark_ms) == (2, 3, 3000)
    assert [source.text for source in query.sources] == [
        "4 files read, the last one a b.json in /data/in/day=3",
        f"up to file 3 of snapshot {SNAPSHOT}",
    ]
    assert [batch.committed for batch in query.last_batches] == [True, True, True, False]
    generations = {item.number: (item.in_use, item.removable, item.standing) for item in found.generations}
    assert generations == {1: (False, True, "used"), 2: (True, False, "used"), 3: (False, False, "prepared")}
    assert all(item.bytes > 0 for item in found.generations if item.standing == "used")


def test_nothing_there_is_shown_as_nothing(tmp_path: Path) -> None:
    found = describe(recorded(1), Project(root=tmp_path))
    assert (found.queries, found.generations) == ((), ())


def test_gc_keeps_what_a_prepared_generation_goes_on_after(tmp_path: Path) -> None:
    """A stopped job has never begun in it; only the older folder tells where it stands."""
    first, second = sample(tmp_path / "x" / "a" / "g0001"), tmp_path / "x" / "a" / "g0002"
    prepare_folder(second, StartPositions(by="me", noted={"after": str(first), "batch": 3}))
    (said,) = delete_unused_generations(recorded(2, keep=1), [job(2)], Project(root=tmp_path), dry_run=False)
    assert said == f"kept generation 1 of output a: {second} goes on after it and has not begun"
    sample(second)
    list(delete_unused_generations(recorded(2, keep=1), [job(2)], Project(root=tmp_path), dry_run=False))
    assert there(tmp_path) == ["a/g0002"]
