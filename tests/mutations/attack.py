"""Damages files, many of them, in processes that are contained and may die, and says of each command how it
ended.
"""

import json
import os
import random
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TextIO

from tests.mutations.children import HANGING, Child
from tests.mutations.contain import contain
from tests.mutations.kinds import KINDS, READING, Kind
from tests.mutations.verdict import perform, wrong
from tests.mutations.worlds import Tree, World, make_worlds

BATCH = 400
_KEPT = 4_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Damaged:
    """One damaged file, repeated by its kind, seed and number, and how a command ended on it. ``wrong`` is
    empty where it ended well.
    """

    kind: str
    number: int
    world: str
    file: str
    damages: tuple[str, ...]
    command: tuple[str, ...]
    code: int
    codes: tuple[str, ...] = ()
    seconds: float = 0.0
    wrong: tuple[str, ...] = ()
    told: str = ""


@dataclass(slots=True, kw_only=True)
class Score:
    """The results of one kind."""

    files: int = 0
    seconds: float = 0.0
    slowest: float = 0.0
    found: int = 0
    endings: Counter[int] = field(default_factory=Counter)
    codes: Counter[str] = field(default_factory=Counter)
    damages: Counter[str] = field(default_factory=Counter)

    def add(self, item: Damaged) -> None:
        self.files += 1
        self.slowest = max(self.slowest, item.seconds)
        self.found += bool(item.wrong)
        self.endings[item.code] += 1
        self.codes.update(item.codes)
        self.damages.update(item.damages)

    def with_those_of(self, other: "Score") -> "Score":
        """The results of both."""
        return Score(
            files=self.files + other.files,
            seconds=self.seconds + other.seconds,
            slowest=max(self.slowest, other.slowest),
            found=self.found + other.found,
            endings=self.endings + other.endings,
            codes=self.codes + other.codes,
            damages=self.damages + other.damages,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """The file that is about to be damaged, and the damages."""

    world: World
    file: str
    damages: tuple[str, ...]
    content: bytes
    command: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """The projects in ``folder``, as all commands find them."""

    folder: Path
    worlds: tuple[World, ...]

    @property
    def root(self) -> Path:
        return self.folder / "project"

    @classmethod
    def made(cls, folder: Path) -> "Range":
        (folder / "project").mkdir()
        os.environ["XDG_CACHE_HOME"] = str(folder / "cache")
        os.environ["TMPDIR"] = str(folder)
        tempfile.tempdir = None
        return cls(folder=folder, worlds=make_worlds(folder / "project"))

    def case(self, name: str, seed: int, number: int, *, contained: bool) -> Case:
        """The same for the same numbers, as long as the projects are the same."""
        kind, choose = KINDS[name], random.Random(f"{seed}/{name}/{number}")
        worlds = [world for world in self.worlds if kind.holds(world)]
        real = [world for world in worlds if world.is_real]
        world = choose.choice(real if real and choose.random() < 0.4 else worlds)
        file = choose.choice([name for name in kind.files if name in world.files])
        damages, content = kind.damage(world.files[file], choose, _others(kind, worlds, choose))
        return Case(
            world=world,
            file=file,
            damages=damages,
            content=content,
            command=kind.command(world, choose, contained=contained),
        )


def _others(kind: Kind, worlds: Sequence[World], choose: random.Random) -> list[bytes]:
    """Files to cross with, of the kind itself."""
    return [
        world.files[name]
        for world in choose.sample(worlds, min(3, len(worlds)))
        for name in kind.files
        if name in world.files
    ]


def attack(ground: Range, name: str, count: int, seed: int) -> Iterator[Damaged]:
    """Damages one kind of file that often, and yields how each command ended."""
    begun = 0
    while begun < count:
        for item in _batch(ground, name, range(begun, min(begun + BATCH, count)), seed):
            begun = item.number + 1
            yield item


def _batch(ground: Range, name: str, numbers: range, seed: int) -> Iterator[Damaged]:
    """A process for some of them; one that dies or hangs is the last of its batch."""
    child = Child(lambda lines: _work(ground, name, numbers, seed, lines))
    done = numbers.start
    for line in child.lines():
        item = _from_json(line)
        done = item.number + 1
        yield item
    if done < numbers.stop:
        case = ground.case(name, seed, done, contained=os.geteuid() == 0)
        why = f"no end after {HANGING:.0f} s, or the process ended by itself: {child.end}"
        yield _item(name, done, case, code=-2, wrong=(why,))


def _work(ground: Range, name: str, numbers: range, seed: int, lines: TextIO) -> None:
    contained = contain(ground.folder)
    tree = Tree.empty(ground.root)
    for number in numbers:
        item = _one(ground, tree, name, number, seed, contained=contained)
        lines.write(json.dumps(asdict(item)) + "\n")
        lines.flush()


def _one(ground: Range, tree: Tree, name: str, number: int, seed: int, *, contained: bool) -> Damaged:
    case = ground.case(name, seed, number, contained=contained)
    files = {**case.world.files, case.file: case.content}
    tree.become(files)
    ending = perform(ground.root, case.command)
    reads = case.command[0] in READING
    changed = tree.changed(files, _is_ours) if reads else []
    found = wrong(ending, case.command, changed)
    return _item(
        name,
        number,
        case,
        code=ending.code,
        codes=tuple(sorted(ending.diagnostics)),
        seconds=ending.seconds,
        wrong=found,
        told=(ending.out + ending.err)[-_KEPT:] if found else "",
    )


def _item(name: str, number: int, case: Case, **rest: Any) -> Damaged:
    return Damaged(
        kind=name,
        number=number,
        world=case.world.name,
        file=case.file,
        damages=case.damages,
        command=case.command,
        **rest,
    )


def _is_ours(name: str) -> bool:
    """Returns True for a file that a command which reads may leave: a plan that was asked for, and the guard
    that keeps writers out while it reads.
    """
    return name == "new.plan" or name.endswith("lock.guard")


def _from_json(line: bytes) -> Damaged:
    data = json.loads(line)
    for key in ("damages", "command", "codes", "wrong"):
        data[key] = tuple(data[key])
    return Damaged(**data)


def keep(ground: Range, item: Damaged, seed: int, folder: Path) -> Path:
    """The project on which a command did not end as it should, with what was said, to be looked at."""
    case = ground.case(item.kind, seed, item.number, contained=os.geteuid() == 0)
    place = folder / f"{item.kind}-{seed}-{item.number}"
    shutil.rmtree(place, ignore_errors=True)
    for name, content in {**case.world.files, case.file: case.content}.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(content)
    (place / "found.txt").write_text(
        f"flareiac {' '.join(item.command)}\n{item.file}: {item.damages}\n{item.wrong}\n{item.told}\n",
        "utf-8",
    )
    return place
