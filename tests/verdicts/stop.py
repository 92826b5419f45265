"""The results of the new query on the state that the old one left. Runs both over two batches of files, with
a stop between them; also the old one on a third batch, where it comes back after the new one, and a batch run
of the new version over all files, to compare the table after the stop with.
"""

import itertools
import json
import shutil
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from tests.verdicts import inputs
from tests.verdicts.judge import numbered, plain
from tests.verdicts.pair import Judged, Judgement, Stop, Version
from tests.verdicts.spark import Views, by_name, refusals

_SEED: Final = 7
_SECONDS: Final = 120
_MODES: Final = {"complete": "complete", "merge": "update", "append": "append"}
_BATCHES: Final = 3
_AT_ONCE: Final = 24
"""Pairs that run side by side. Most of the time of a short query is waiting."""

Rows = Counter[str]


@dataclass(slots=True, kw_only=True)
class _Course:
    """One checkpoint over the batches, with what each version wrote of each, and what ended it."""

    checkpoint: Path
    output: str
    watermarked: bool
    written: list[list[Rows]] = field(default_factory=list)
    failed: str = ""
    query: Any = None

    def start(self, views: Views, version: Version) -> None:
        """Begins with what has landed; waits for nothing."""
        if self.failed:
            return
        into: list[Rows] = []
        self.written.append(into)

        def take(frame: Any, _batch: int) -> None:
            into.append(plain(frame))

        try:
            frame = by_name(views.frame(numbered(version), watermarks=self.watermarked))
            writer = frame.writeStream.outputMode(_MODES[self.output]).option(
                "checkpointLocation", str(self.checkpoint)
            )
            self.query = writer.foreachBatch(take).trigger(availableNow=True).start()
        except refusals() as failure:
            self.failed = str(failure)

    def wait(self) -> None:
        if self.query is None:
            return
        try:
            if not self.query.awaitTermination(_SECONDS):
                self.failed = "it does not end"
        except refusals() as failure:
            self.failed = str(failure)
        finally:
            self.query.stop()
            self.query = None

    def branch(self, checkpoint: Path) -> "_Course":
        """The same course up to here, to go on with another version: as a query of its own, since both run at
        once.
        """
        if (self.checkpoint / "metadata").exists():
            shutil.copytree(self.checkpoint, checkpoint)
            (checkpoint / ".metadata.crc").unlink(missing_ok=True)
            (checkpoint / "metadata").write_text(json.dumps({"id": str(uuid.uuid4())}), encoding="utf-8")
        return replace(self, checkpoint=checkpoint, written=list(self.written))

    def rows(self, run: int) -> Rows:
        """The rows that a run wrote: of a table that each batch replaces, the last batch."""
        batches = self.written[run]
        return sum(batches[-1:] if self.output == "complete" else batches, Rows())


@dataclass(slots=True, kw_only=True)
class _Pair:
    """``before`` and ``after`` are the versions over both batches; ``mixed`` begins with the one and goes on
    with the other. ``at_once``: the rows of a batch run of the new version over all files.

    Where Spark's plans and state are the same, one course stands for both.
    """

    item: Judged
    before: _Course
    after: _Course
    mixed: _Course | None = None
    at_once: Rows | None = None


class Stopped:
    """Runs pairs in one application."""

    def __init__(self, root: Any, scratch: Path) -> None:
        self._checkpoints = scratch / "stop-checkpoints"
        self._folder = scratch / "stop-input"
        inputs.land(self._folder, inputs.frame(_SEED))
        self._later = [
            {name: rows for name, rows in inputs.frame(_SEED, part).items() if name in inputs.STREAMS}
            for part in (1, 2)
        ]
        self._views = Views(root, self._folder, streaming=True)
        self._root = root

    def tried(self, judged: Iterable[Judged]) -> Iterator[Judged]:
        """The same with what happened, a few at once. Where the queries alone do not run nothing is known."""
        waiting = iter(judged)
        while some := list(itertools.islice(waiting, _AT_ONCE)):
            yield from self._group(some)

    def _group(self, judged: Sequence[Judged]) -> list[Judged]:
        shutil.rmtree(self._checkpoints, ignore_errors=True)
        try:
            pairs = self._begun(judged)
            inputs.land(self._folder, self._later[0], 1)
            self._ended(pairs)
            found = [_found(pair) for pair in pairs]
            inputs.land(self._folder, self._later[1], 2)
            self._returned(pairs, found)
        finally:
            for path in self._folder.glob("*/000[12].json"):
                path.unlink()
            shutil.rmtree(self._checkpoints, ignore_errors=True)
        return [_come_back(pair, item) for pair, item in zip(pairs, found, strict=True)]

    def _begun(self, judged: Sequence[Judged]) -> list[_Pair]:
        """After the first batch. Pairs with the same old version share its course."""
        found: list[_Pair] = []
        for number, item in enumerate(judged):
            alike = [
                pair.before
                for pair in found
                if (pair.item.pair.old, _way(pair.item)) == (item.pair.old, _way(item))
            ]
            before = alike[0] if alike else self._course(f"{number}-old", item, item.pair.old)
            after = (
                before
                if item.judgement is Judgement.SAME
                else self._course(f"{number}-new", item, item.pair.new)
            )
            found.append(_Pair(item=item, before=before, after=after))
        for pair in found:
            pair.before.wait()
            pair.after.wait()
        for number, pair in enumerate(found):
            pair.mixed = pair.before.branch(self._checkpoints / f"{number}-mixed")
        return found

    def _ended(self, pairs: Sequence[_Pair]) -> None:
        """After the second batch."""
        going: list[_Course] = []
        for pair in pairs:
            assert pair.mixed is not None, "the first batch is over"
            for course, version in (
                (pair.before, pair.item.pair.old),
                (pair.after, pair.item.pair.new),
                (pair.mixed, pair.item.pair.new),
            ):
                if not any(course is each for each in going):
                    course.start(self._views, version)
                    going.append(course)
        for course in going:
            course.wait()
        views = Views(self._root, self._folder)  # a reader lists the files of a folder once
        for pair in pairs:
            if _is_comparable(pair):
                pair.at_once = self._at_once(views, pair.item.pair.new)

    def _at_once(self, views: Views, version: Version) -> Rows | None:
        """None: a row cannot be computed."""
        try:
            return plain(by_name(views.frame(numbered(version))))
        except refusals():
            return None

    def _returned(self, pairs: Sequence[_Pair], found: Sequence[Judged]) -> None:
        """After the third batch: the old version again, where the new one could go on from its state."""
        going: list[_Course] = []
        for pair, item in zip(pairs, found, strict=True):
            assert pair.mixed is not None, "the first batch is over"
            if item.stop not in (Stop.SAME, Stop.TABLE_MIXED) or pair.mixed.failed or pair.before.failed:
                continue
            pair.mixed.start(self._views, item.pair.old)
            going.append(pair.mixed)
            if not any(pair.before is each for each in going):
                pair.before.start(self._views, item.pair.old)
                going.append(pair.before)
        for course in going:
            course.wait()

    def _course(self, name: str, item: Judged, version: Version) -> _Course:
        found = _Course(
            checkpoint=self._checkpoints / name, output=item.pair.output, watermarked=item.pair.watermarked
        )
        found.start(self._views, version)
        return found


def _way(item: Judged) -> tuple[str, bool]:
    return item.pair.output, item.pair.watermarked


def _found(pair: _Pair) -> Judged:
    """The judgement by the courses. Versions that write different rows over two batches are different,
    whatever their plans say.
    """
    item, before, after, mixed = pair.item, pair.before, pair.after, pair.mixed
    assert mixed is not None, "both batches are over"
    if before.failed or after.failed:
        return item
    if any(before.rows(run) != after.rows(run) for run in (0, 1)):
        item = replace(
            item,
            judgement=Judgement.DIFFERENT,
            why=item.why if item.judgement is Judgement.DIFFERENT else "rows across a stop",
        )
    batch = None if pair.at_once is None or mixed.failed else _table(mixed) == pair.at_once
    return replace(item, stop=_stop(mixed, after), rows=after.rows(1).total(), batch=batch)


def _is_comparable(pair: _Pair) -> bool:
    """False of a table whose keys are not known here, and of one from which a watermark holds rows back."""
    version, output = pair.item.pair.new, pair.item.pair.output
    if pair.after.failed or output == "merge" or pair.item.pair.watermarked:
        return False
    return not version.marks and not version.within


def _table(course: _Course) -> Rows:
    """The rows of the table after two runs."""
    return course.rows(1) if course.output == "complete" else course.rows(0) + course.rows(1)


def _come_back(pair: _Pair, item: Judged) -> Judged:
    """The same with what the old version makes of the third batch, on the state that the new one left."""
    before, mixed = pair.before, pair.mixed
    assert mixed is not None, "the first batch is over"
    if len(mixed.written) < _BATCHES or before.failed:
        return item
    if mixed.failed:
        return replace(item, back=Stop.REFUSED)
    same = len(before.written) == _BATCHES and mixed.rows(2) == before.rows(2)
    return replace(item, back=Stop.SAME if same else Stop.STATE_MIXED)


def _stop(mixed: _Course, after: _Course) -> Stop:
    """``after`` is the new version from the beginning."""
    if mixed.failed:
        return Stop.REFUSED
    if mixed.rows(1) != after.rows(1):
        return Stop.STATE_MIXED
    if mixed.output == "complete":  # the second run replaces what the first one wrote
        return Stop.SAME
    return Stop.SAME if mixed.rows(0) == after.rows(0) else Stop.TABLE_MIXED
