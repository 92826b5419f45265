"""A changed location moves a checkpoint: every file of it, in both directions, whatever an earlier apply
left.
"""

import hashlib
import json
import shutil
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from flareiac_spark.checkpoint_files.manager import mark_of
from flareiac_spark.sources.notes_beside import NOTES
from flareiac_spark_runtime.checkpoint_log import MANAGED_BY
from flareiac_spark_runtime.storage import Place, place_at, replace_whole
from tests.spark.checkpoint_sample import sample
from tests.support.command_line import Ended, flareiac
from tests.support.object_storage import buckets

KINDS = ("local", "s3")


@pytest.fixture(scope="module")
def bucket() -> Iterator[str]:
    name = f"moves-{uuid.uuid4().hex}"
    with buckets(name):
        yield name


class Team:
    """A project with one checkpoint, on a disk or in a bucket."""

    def __init__(self, root: Path, bucket: str) -> None:
        self.root, self._bucket, self._id = root, bucket, uuid.uuid4().hex
        root.mkdir(exist_ok=True)

    def place(self, kind: str, name: str) -> str:
        if kind == "s3":
            return f"s3://{self._bucket}/{self._id}/{name}"
        return str(self.root.parent / f"disk-{self._id}" / name)

    def declare(self, location: str, more: str = "", after: str = "") -> None:
        block = f'checkpoint "orders" {{\n  location = "{location}"\n{more}}}\n{after}'
        (self.root / "main.flare.hcl").write_text(block)

    def run(self, *words: str, code: int = 0, **extra: str) -> Ended:
        done = flareiac(self.root, *words, **extra)
        assert "Traceback" not in done.text, done.text
        assert done.code == code, f"{words}: {done.code}\n{done.text}"
        return done

    def apply(self, code: int = 0, **extra: str) -> Ended:
        return self.run("apply", "-auto-approve", code=code, **extra)

    def plan(self, code: int) -> str:
        return " ".join(self.run("plan", "-detailed-exitcode", code=code).text.replace("│", " ").split())

    def used(self, location: str, *generations: int) -> dict[str, bytes]:
        """Declares and applies the checkpoint, puts a query into it, and returns its files."""
        self.declare(location, f"  generation = {max(generations)}\n")
        self.apply()
        scratch = self.root / "scratch"
        for number in generations:
            sample(scratch / "all" / f"g{number:04d}")
        (scratch / "all" / "g0001" / "state" / "0" / "1").mkdir(parents=True, exist_ok=True)
        note = {"version": 1, "times": {}, "seeded": {"by": "x", "after": f"{location}/all/g0001"}}
        (scratch / "all" / ".g0002.starts.json").write_text(json.dumps(note))
        for path in scratch.rglob("*"):
            if path.is_file():
                replace_whole(
                    place_at(f"{location}/{path.relative_to(scratch).as_posix()}"), path.read_bytes(), 0o644
                )
        shutil.rmtree(scratch)
        return files(place_at(location))


def files(place: Place, below: str = "") -> dict[str, bytes]:
    """The contents of all files but the mark, by path."""
    found: dict[str, bytes] = {}
    for item in place.iterdir() if place.exists() else ():
        name = f"{below}{item.name}"
        if item.is_dir():
            found |= files(item, f"{name}/")
        elif name != MANAGED_BY:
            found[name] = item.read_bytes()
    return found


def moved(contents: dict[str, bytes], old: str, new: str) -> dict[str, bytes]:
    """The files that are to be at the new place: the same, but for the note that names a folder, and without
    Hadoop's checksums where one end is a bucket.
    """
    note = "all/.g0002.starts.json"
    kept = {
        name: text
        for name, text in contents.items()
        if not ("s3:" in old + new and name.rpartition("/")[2].startswith(".") and name.endswith(".crc"))
    }
    return {**kept, note: contents[note].replace(old.encode(), new.encode())}


def normal(contents: dict[str, bytes]) -> dict[str, object]:
    return {
        name: json.loads(text) if name.endswith(".starts.json") else hashlib.sha256(text).hexdigest()
        for name, text in contents.items()
    }


def is_usable(place: str) -> bool:
    """Returns True where a query would start there."""
    found = mark_of(place_at(place))
    return found is not None and not found.moved_to and not found.arriving_from


@pytest.fixture
def team(tmp_path: Path, bucket: str) -> Team:
    return Team(tmp_path / "team", bucket)


@pytest.mark.parametrize("old", KINDS)
@pytest.mark.parametrize("new", KINDS)
def test_it_moves_there_and_back(team: Team, old: str, new: str) -> None:
    first, second = team.place(old, "first"), team.place(new, "second")
    before = team.used(first, 1, 2)
    team.declare(second, "  generation = 2\n")
    text = team.plan(2)
    assert f"from {first} to {second}, and compares each with its copy [moves files]" in text
    assert f"copies {len(moved(before, first, second))} files" in text
    team.apply()
    assert normal(files(place_at(second))) == normal(moved(before, first, second))
    assert files(place_at(first)) == before
    assert is_usable(second)
    assert not is_usable(first)
    assert team.plan(0)
    shown = team.run("checkpoint", "show", "checkpoint.orders").out
    assert second in shown
    assert first in shown
    # Spark goes on there: the copy that was left is older, and holds a file that is gone by now
    (place_at(second) / "all" / "g0002" / "metadata").unlink()
    replace_whole(place_at(f"{second}/all/g0002/metadata"), b'{"id":"q-9"}', 0o644)
    (place_at(second) / "all" / "g0001" / "offsets" / "0").unlink()
    later = files(place_at(second))
    team.declare(first, "  generation = 2\n")
    assert "the older copy there, which an earlier move left, is replaced" in team.plan(2)
    team.apply()
    assert normal(files(place_at(first))) == normal(moved(later, second, first))
    assert is_usable(first)
    assert not is_usable(second)
    said = team.run("checkpoint", "gc", "checkpoint.orders").out
    assert second in said
    assert not place_at(second).exists()
    assert files(place_at(first))
    team.plan(0)


@pytest.mark.parametrize("point", ["checkpoint-move.file:3", "checkpoint-move.left"])
def test_after_a_kill_the_next_apply_completes_the_move(team: Team, point: str) -> None:
    first, second = team.place("local", "first"), team.place("s3", "second")
    before = team.used(first, 1, 2)
    team.declare(second, "  generation = 2\n")
    assert team.run("apply", "-auto-approve", code=-9, FLAREIAC_KILL_AT=point).killed
    assert files(place_at(first)) == before
    assert not is_usable(second)
    team.apply()
    assert normal(files(place_at(second))) == normal(moved(before, first, second))
    assert is_usable(second)
    assert not is_usable(first)
    team.plan(0)


def test_a_saved_plan_is_stale_when_the_new_place_is_taken(team: Team) -> None:
    first, second = team.place("local", "first"), team.place("s3", "second")
    before = team.used(first, 1, 2)
    team.declare(second, "  generation = 2\n")
    team.run("plan", "-out=plan.json")
    replace_whole(place_at(f"{second}/mine"), b"mine", 0o644)
    team.run("apply", "plan.json", code=6)
    assert files(place_at(second)) == {"mine": b"mine"}
    assert files(place_at(first)) == before
    assert is_usable(first)
    # Destroying everything is about the place that is recorded
    team.run("destroy", "-auto-approve")
    assert files(place_at(first)) == before


def test_every_note_beside_a_folder_is_known(repository_texts: Callable[[str], Iterator[str]]) -> None:
    import re

    found = {
        match
        for package in ("providers/flareiac_spark", "providers/flareiac_spark_runtime")
        for text in repository_texts(package)
        for match in re.findall(r"\.name\}\.(\w+)\.json", text)
    }
    assert found == set(NOTES)


@pytest.fixture
def repository_texts() -> Callable[[str], Iterator[str]]:
    root = Path(__file__).parents[3]
    return lambda folder: (path.read_text() for path in sorted((root / folder).rglob("*.py")))


def test_owner_and_mode_stay(team: Team) -> None:
    first, second = team.place("local", "first"), team.place("local", "second")
    team.used(first, 1, 2)
    Path(f"{first}/all/g0001/metadata").chmod(0o640)
    team.declare(second, "  generation = 2\n")
    team.apply()
    assert Path(f"{second}/all/g0001/metadata").stat().st_mode & 0o777 == 0o640
