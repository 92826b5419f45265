"""Judges pairs by rows alone, and by no plan: batch runs of both versions over random data with nulls. A judge
other than the product's own, which Spark's plans are.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tests.verdicts import inputs
from tests.verdicts.judge import NotAQuery, numbered, operators_of, plain
from tests.verdicts.pair import Judged, Judgement, Pair, Version
from tests.verdicts.spark import Views, by_name, refusals, types

_FRAMES: Final = (1, 2)
_ICEBERG: Final = {"bigint": "long", "timestamp": "timestamptz", "tinyint": "int", "smallint": "int"}
_RAISES: Final = Counter({"raises": 1})


@dataclass(slots=True, kw_only=True)
class _Known:
    """The judge's knowledge of an old version, which several pairs share."""

    key: object
    columns: dict[str, str]
    operators: tuple[str, ...]
    rows: dict[int, Counter[str]] = field(default_factory=dict)


class RowsJudge:
    """Judges pairs in one application. Rows are small, and one old version is run once."""

    def __init__(self, root: Any, scratch: Path) -> None:
        folders = {seed: scratch / f"rows-{seed}" for seed in _FRAMES}
        for seed, folder in folders.items():
            inputs.land(folder, inputs.frame(seed))
        self._rows = [Views(root, folder, local=True) for folder in folders.values()]
        self._streams = Views(root, folders[_FRAMES[0]], streaming=True)
        self._old: _Known | None = None

    def judged(self, pair: Pair) -> Judged:
        """Raises ``NotAQuery``."""
        old = self._known(pair)
        frame = self._frame(pair.new, 0)
        columns = {**_columns(frame), **old.columns}
        found = Judged(pair=pair, judgement=Judgement.AGREE, columns=columns, operators=old.operators)
        if set(_columns(frame)) != set(old.columns):
            return _told_apart(found, f"names: {', '.join(old.columns)} or {', '.join(_columns(frame))}")
        if old.operators != self._operators(pair.new, pair):
            found = _noted(found, "other operators with state")
        failures = 0
        for place in range(len(self._rows)):
            if place not in old.rows:
                old.rows[place] = _ran(self._frame(pair.old, place))
            before, after = old.rows[place], _ran(frame if place == 0 else self._frame(pair.new, place))
            if before != after:
                return _told_apart(found, f"rows: {_first(before - after)} or {_first(after - before)}"[:200])
            failures += before == _RAISES
        if failures == len(self._rows):
            return Judged(
                pair=pair, judgement=Judgement.UNPROVEN, columns=columns, operators=old.operators,
                why="rows cannot be computed",
            )  # fmt: skip
        return found

    def _known(self, pair: Pair) -> _Known:
        key = (pair.old, pair.output, pair.watermarked)
        if self._old is None or self._old.key != key:
            self._old = None
            operators = self._operators(pair.old, pair)
            frame = self._frame(pair.old, 0)
            rows = {0: _ran(frame)}
            self._old = _Known(key=key, columns=_columns(frame), operators=operators, rows=rows)
        return self._old

    def _operators(self, version: Version, pair: Pair) -> tuple[str, ...]:
        """The operators with state. Raises ``NotAQuery``, also where Spark does not take it as a streaming query."""
        if pair.output == "batch":
            return ()
        try:
            frame = by_name(self._streams.frame(numbered(version), watermarks=pair.watermarked))
            return tuple(each[0] for each in operators_of(self._streams.session, frame, pair.output))
        except refusals() as failure:
            raise NotAQuery(str(failure).splitlines()[0]) from failure

    def _frame(self, version: Version, place: int) -> Any:
        try:
            return by_name(self._rows[place].frame(numbered(version)))
        except refusals() as failure:
            raise NotAQuery(str(failure).splitlines()[0]) from failure


def _columns(frame: Any) -> dict[str, str]:
    return {name: _ICEBERG.get(kind, kind) for name, kind in types(frame).items()}


def _ran(frame: Any) -> Counter[str]:
    """The rows, or that there are none to be had: a row that a query cannot compute ends it."""
    try:
        return plain(frame)
    except refusals():
        return _RAISES


def _told_apart(item: Judged, why: str) -> Judged:
    return Judged(
        pair=item.pair, judgement=Judgement.DIFFERENT, columns=item.columns, operators=item.operators, why=why
    )


def _noted(item: Judged, why: str) -> Judged:
    return Judged(
        pair=item.pair, judgement=item.judgement, columns=item.columns, operators=item.operators, why=why
    )


def _first(rows: Counter[str]) -> str:
    return next(iter(sorted(rows)), "none")


def judged_by_rows(judge: RowsJudge, pairs: Iterable[Pair]) -> Iterator[Judged]:
    """Yields the pairs that Spark takes."""
    for pair in pairs:
        try:
            yield judge.judged(pair)
        except NotAQuery:
            continue
