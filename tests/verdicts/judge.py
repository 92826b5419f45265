"""Does Spark tell two versions of a query apart? By plans where these prove it, else by rows."""

import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from tests.verdicts import inputs
from tests.verdicts.pair import Judged, Judgement, Pair, Version
from tests.verdicts.spark import Views, by_name, refusals, shape, types

_FRAMES: Final = (1, 2, 3)
_DRAWN: Final = re.compile(r"\b(rand|randn|uniform)\(([^()]*)\)", re.IGNORECASE)
_MAY_HOLD_STATE: Final = re.compile(
    r"\b(group|distinct|limit|except|intersect|dropped)\b|\bev\b.*\bmore\b|\bmore\b.*\bev\b|\b(sum|max|min|count|avg)\(",
    re.IGNORECASE | re.DOTALL,
)
_ICEBERG: Final = {"bigint": "long", "timestamp": "timestamptz"}


class NotAQuery(Exception):
    """Spark does not take a version's SQL."""


@dataclass(slots=True, kw_only=True)
class _Old:
    """The known facts of a pair's old version: its frame, its operators with state, its rows by place of the
    input.
    """

    pair: Pair
    frame: Any
    state: tuple[tuple[str, ...], ...]
    rows: dict[int, Counter[str]] = field(default_factory=dict)

    def is_of(self, pair: Pair) -> bool:
        before = self.pair
        return (before.old, before.output, before.watermarked) == (pair.old, pair.output, pair.watermarked)


class Judge:
    """Judges pairs in one application."""

    def __init__(self, root: Any, scratch: Path) -> None:
        folders = {seed: scratch / f"frame-{seed}" for seed in _FRAMES}
        for seed, folder in folders.items():
            inputs.land(folder, inputs.frame(seed))
        self._plans = Views(root, folders[1])
        self._streams = Views(root, folders[1], streaming=True)
        self._rows = [Views(root, folder, local=True) for folder in folders.values()]
        self._old: _Old | None = None
        """Of the last pair: the next one may have the same."""

    def judged(self, pair: Pair) -> Judged:
        """Raises ``NotAQuery``."""
        if self._old is None or not self._old.is_of(pair):
            self._old = None
            self._old = _Old(pair=pair, frame=self._analyzed(pair.old), state=self._state(pair.old, pair))
        old, new = self._old.frame, self._analyzed(pair.new)
        columns = {
            name: _ICEBERG.get(kind, kind) for frame in (new, old) for name, kind in types(frame).items()
        }
        operators = tuple(operator[0] for operator in self._old.state)
        found = Judged(pair=pair, judgement=Judgement.UNPROVEN, columns=columns, operators=operators)
        if shape(old) != shape(new):
            return self._by_names(found, old, new)
        if not _same_plan(old, new):
            return self._by_rows(found, pair, "plans differ")
        before, after = self._old.state, self._state(pair.new, pair)
        if before != after:
            return self._by_rows(found, pair, f"state: {before} {after}"[:300])
        return replace(found, judgement=Judgement.SAME)

    def _by_names(self, found: Judged, old: Any, new: Any) -> Judged:
        bare = [
            re.sub(r"\b(tinyint|smallint|int|bigint|float|double|decimal\(\d+,\d+\))", "number", shape(each))
            for each in (old, new)
        ]
        why = f"{shape(old)} is not {shape(new)}"[:200]
        if bare[0] != bare[1]:
            return replace(found, judgement=Judgement.DIFFERENT, why=f"names or types: {why}")
        return self._by_rows(found, found.pair, f"types: {why}")

    def _analyzed(self, version: Version) -> Any:
        try:
            frame = by_name(self._plans.frame(numbered(version)))
            frame._jdf.queryExecution().optimizedPlan()
        except refusals() as failure:
            raise NotAQuery(str(failure).splitlines()[0]) from failure
        return frame

    def _state(self, version: Version, pair: Pair) -> tuple[tuple[str, ...], ...]:
        """Each operator with state, with its schemas, where the query streams."""
        if pair.output == "batch" or not _MAY_HOLD_STATE.search(_text(version)):
            return ()
        try:
            frame = by_name(self._streams.frame(numbered(version), watermarks=pair.watermarked))
            return tuple(operators_of(self._streams.session, frame, pair.output))
        except refusals() as failure:
            raise NotAQuery(str(failure).splitlines()[0]) from failure

    def _old_rows(self, place: int) -> Counter[str]:
        assert self._old is not None, "a pair is judged"
        known = self._old.rows
        if place not in known:
            known[place] = rows_of(self._rows[place].frame(numbered(self._old.pair.old)))
        return known[place]

    def _by_rows(self, found: Judged, pair: Pair, why: str) -> Judged:
        failures = 0
        for place, views in enumerate(self._rows):
            try:
                before, after = self._old_rows(place), rows_of(views.frame(numbered(pair.new)))
            except refusals():  # a row that the query cannot compute: another frame may tell
                failures += 1
                continue
            if before != after:
                return replace(
                    found,
                    judgement=Judgement.DIFFERENT,
                    why=f"rows: {_first(before - after)} or {_first(after - before)}"[:200],
                )
        return replace(found, why="rows cannot be computed" if failures == len(self._rows) else why)


def _text(version: Version) -> str:
    return " ".join(version.steps.values()) + (" dropped" if version.dedups else "")


def is_drawn(version: Version) -> bool:
    """True where it draws numbers. A stream draws others in each batch, whatever seed it is given."""
    return any(_DRAWN.search(sql) for sql in version.steps.values())


def numbered(version: Version) -> Version:
    """Each call that draws a number gets a seed by its place: what is drawn is then the same in both
    versions, and never twice.
    """
    count = iter(range(1, 1000))

    def seeded(found: re.Match[str]) -> str:
        given = found[2].strip()
        return f"{found[1]}({given + ', ' if given else ''}{next(count)})"

    steps = {name: _DRAWN.sub(seeded, sql) for name, sql in version.steps.items()}
    return replace(version, steps=steps)


def _same_plan(old: Any, new: Any) -> bool:
    return bool(
        old._jdf.queryExecution().optimizedPlan().sameResult(new._jdf.queryExecution().optimizedPlan())
    )


def operators_of(session: Any, frame: Any, output: str) -> Iterator[tuple[str, ...]]:
    """Operators with state of the physical plan, with the names and types that they keep."""
    plan = _incremental(session, frame, output).executedPlan()
    waiting = [plan]
    while waiting:
        node = waiting.pop()
        name = node.nodeName()
        match name:
            case "StateStoreSave":
                value = node.stateManager().getStateValueSchema()
                yield name, _types(node.keyExpressions().toString()), value.simpleString()
            case "SessionWindowStateStoreSave":
                yield name, _types(node.keyExpressions().toString()), node.child().schema().simpleString()
            case "StreamingDeduplicate" | "StreamingDeduplicateWithinWatermark":
                yield name, _types(node.keyExpressions().toString()), ""
            case "StreamingSymmetricHashJoin":
                yield name, node.left().schema().simpleString(), node.right().schema().simpleString()
            case "StreamingGlobalLimit" | "StreamingLocalLimit":
                yield name, "", ""
            case _:
                pass
        children = node.children()
        waiting += [children.apply(at) for at in range(children.length())]


def _types(text: str) -> str:
    return re.sub(r"#\d+L?|-T\d+ms|_\d+", "", text)


def _incremental(session: Any, frame: Any, output: str) -> Any:
    jvm = session._jvm
    runtime = jvm.org.apache.spark.sql.execution.streaming.runtime
    modes = jvm.org.apache.spark.sql.streaming.OutputMode
    mode = {"complete": modes.Complete, "merge": modes.Update, "append": modes.Append}[output]()
    none = getattr(jvm.scala, "None$").__getattr__("MODULE$")
    metadata = getattr(
        jvm.org.apache.spark.sql.execution.streaming.checkpointing, "OffsetSeqMetadata$"
    ).__getattr__("MODULE$")
    made = getattr(runtime, "IncrementalExecution$").__getattr__("MODULE$")
    conf = jvm.org.apache.spark.api.python.PythonUtils.toScalaMap(jvm.java.util.HashMap())
    propagator = getattr(runtime, "WatermarkPropagator$").__getattr__("MODULE$").noop()
    ids = [jvm.java.util.UUID.randomUUID() for _ in range(2)]
    usual = [getattr(made, f"$lessinit$greater$default${place}")() for place in (12, 13, 14)]
    logical = frame._jdf.queryExecution().logical()
    return runtime.IncrementalExecution(
        session._jsparkSession,
        logical,
        mode,
        "<unknown>",
        *ids,
        0,
        none,
        metadata.apply(0, 0, conf),
        propagator,
        False,
        *usual,
        False,
    )


def rows_of(frame: Any) -> Counter[str]:
    return plain(by_name(frame))


def plain(frame: Any) -> Counter[str]:
    """The rows of a frame that is by name already."""
    return Counter(repr([_plain(value) for value in row]) for row in frame.collect())


def _plain(value: object) -> object:
    from pyspark.sql import Row
    from pyspark.sql.types import VariantVal

    match value:
        case Row():
            return {name: _plain(each) for name, each in value.asDict().items()}
        case VariantVal():
            return value.toJson()
        case list():
            return [_plain(each) for each in value]
        case dict():
            return sorted((repr(_plain(key)), _plain(each)) for key, each in value.items())
        case float() if value == int(value) if value == value and abs(value) < 1e15 else False:
            return int(value)
        case _:
            return value


def _first(rows: Counter[str]) -> str:
    return next(iter(sorted(rows)), "none")


def judged(root: Any, pairs: Iterable[Pair], scratch: Path) -> Iterator[Judged]:
    """The judgements of the pairs that Spark takes."""
    judge = Judge(root, Path(tempfile.mkdtemp(dir=scratch)))
    for pair in pairs:
        try:
            yield judge.judged(pair)
        except NotAQuery:
            continue
