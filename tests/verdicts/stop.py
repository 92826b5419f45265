"""What does the new query make of the state that the old one left? Runs both over two batches of files, with a stop between them."""

import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from tests.verdicts import inputs
from tests.verdicts.judge import numbered, rows_of
from tests.verdicts.pair import Judged, Stop, Version
from tests.verdicts.spark import Views, by_name, refusals

_SEED: Final = 7
_SECONDS: Final = 120
_MODES: Final = {"complete": "complete", "merge": "update", "append": "append"}
_AT_ONCE: Final = 6
"""Pairs that run side by side. Most of the time of a short query is waiting."""


@dataclass(slots=True, kw_only=True)
class _Course:
    """One query over the batches: ``first`` and ``second`` are what it wrote of each, ``failed`` what ended it."""

    versions: tuple[Version, Version]
    output: str
    watermarked: bool
    checkpoint: Path
    first: list[Counter[str]] = field(default_factory=list)
    second: list[Counter[str]] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    query: Any = None

    def start(self, views: Views, number: int) -> None:
        """Begins with what has landed; waits for nothing."""
        if self.failed:
            return
        into = (self.first, self.second)[number]

        def take(frame: Any, _batch: int) -> None:
            into.append(rows_of(frame))

        try:
            frame = by_name(views.frame(numbered(self.versions[number]), watermarks=self.watermarked))
            writer = frame.writeStream.outputMode(_MODES[self.output]).option("checkpointLocation", str(self.checkpoint))
            self.query = writer.foreachBatch(take).trigger(availableNow=True).start()
        except refusals() as failure:
            self.failed.append(f"{number}: {failure}")

    def wait(self, number: int) -> None:
        if self.query is None:
            return
        try:
            if not self.query.awaitTermination(_SECONDS):
                self.failed.append(f"{number}: it does not end")
        except refusals() as failure:
            self.failed.append(f"{number}: {failure}")
        finally:
            self.query.stop()
            self.query = None


class Stopped:
    """Runs pairs in one application."""

    def __init__(self, root: Any, scratch: Path) -> None:
        self._checkpoints = scratch / "stop-checkpoints"
        self._folder = scratch / "stop-input"
        inputs.land(self._folder, inputs.frame(_SEED))
        later = inputs.frame(_SEED, 1)
        self._second = {name: later[name] for name in inputs.STREAMS}
        self._views = Views(root, self._folder, streaming=True)

    def tried(self, judged: Sequence[Judged]) -> Iterator[Judged]:
        """The same with what happened, a few at once. Where the queries alone do not run nothing is known."""
        for at in range(0, len(judged), _AT_ONCE):
            yield from self._group(judged[at : at + _AT_ONCE])

    def _group(self, judged: Sequence[Judged]) -> list[Judged]:
        courses = [self._courses(item, number) for number, item in enumerate(judged)]
        try:
            for number in (0, 1):
                every = [course for pair in courses for course in pair]
                for course in every:
                    course.start(self._views, number)
                for course in every:
                    course.wait(number)
                inputs.land(self._folder, self._second, 1)
        finally:
            for name in inputs.STREAMS:
                (self._folder / name / "0001.json").unlink(missing_ok=True)
            shutil.rmtree(self._checkpoints, ignore_errors=True)
        return [replace(item, stop=_outcome(item.pair.output, *pair)) for item, pair in zip(judged, courses, strict=True)]

    def _courses(self, item: Judged, number: int) -> tuple[_Course, _Course]:
        def course(name: str, first: Version) -> _Course:
            place = self._checkpoints / f"{number}-{name}"
            pair = item.pair
            return _Course(versions=(first, pair.new), output=pair.output, watermarked=pair.watermarked, checkpoint=place)

        return course("mixed", item.pair.old), course("alone", item.pair.new)


def _outcome(output: str, mixed: _Course, alone: _Course) -> Stop:
    """``alone`` is the new query from the beginning."""
    if alone.failed or any(each.startswith("0") for each in mixed.failed):
        return Stop.UNTRIED
    if mixed.failed:
        return Stop.REFUSED
    if output == "complete":
        return Stop.SAME if mixed.second[-1:] == alone.second[-1:] else Stop.STATE_MIXED
    if _sum(mixed.second) != _sum(alone.second):
        return Stop.STATE_MIXED
    return Stop.SAME if _sum(mixed.first) == _sum(alone.first) else Stop.TABLE_MIXED


def _sum(batches: list[Counter[str]]) -> Counter[str]:
    found = Counter[str]()
    for batch in batches:
        found += batch
    return found
