"""A pair of versions of one job's query, what Spark says of it, and its line of JSON."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

Columns = Mapping[str, str]


class Judgement(StrEnum):
    SAME = "same"
    """Spark's optimized plans give the same result, with the same names, and the same state."""
    DIFFERENT = "different"
    """Names differ, or rows over the same input do."""
    AGREE = "agree"
    """Equal rows over all frames, to a judge that looks at no plan."""
    UNPROVEN = "unproven"
    """Equal rows over all frames that were tried, and plans that are not the same. Counts for nothing."""


class Stop(StrEnum):
    """The result of the new query for the second batch, on the state that the old one left after the
    first.
    """

    UNTRIED = ""
    SAME = "same"
    """The result that it has with its own state, and the table holds what it would hold had the new query
    written it all.
    """
    TABLE_MIXED = "table mixed"
    """The result that it has with its own state, but rows that the old query wrote are there that the new one
    would not write.
    """
    STATE_MIXED = "state mixed"
    """Other rows than with its own state."""
    REFUSED = "refused"
    """Spark does not start it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """``steps``: name -> SQL in order; the last one is written, if ``taken`` names none. ``dedups``: step ->
    keys. ``gained``: input -> columns beyond the usual.

    ``within``: steps whose keys are remembered up to the watermark; others remember theirs for ever.
    ``marks``: step -> delay of its watermark, on the column ``ts``. ``conf``: settings of the job. ``bound``:
    name of an input -> the input that is read under this name. ``engine``: settings of the engine in which the
    job runs, which is another one where they differ.
    """

    steps: Mapping[str, str]
    dedups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    gained: Mapping[str, Columns] = field(default_factory=dict)
    within: tuple[str, ...] = ()
    marks: Mapping[str, str] = field(default_factory=dict)
    conf: Mapping[str, str] = field(default_factory=dict)
    bound: Mapping[str, str] = field(default_factory=dict)
    taken: str = ""
    engine: Mapping[str, str] = field(default_factory=dict)

    @property
    def settings(self) -> Mapping[str, str]:
        """The settings under which its SQL is read and runs: those that a job does not set its engine may."""
        return {**self.engine, **self.conf}

    @property
    def source(self) -> str:
        return self.taken or list(self.steps)[-1]

    def input(self, name: str) -> str:
        """The input that is read under a name."""
        return self.bound.get(name, name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """``output``: how the table is written, ``append``, ``merge`` or ``complete``. ``edit``: what was done to
    the old version.

    ``marked``: whether the streams have a watermark; None: where the output needs one.
    """

    id: str
    family: str
    edit: str
    output: str
    old: Version
    new: Version
    marked: bool | None = None

    @property
    def watermarked(self) -> bool:
        """True if its streams have a watermark: what is appended by time needs one, and what is told apart
        for ever must not have one.
        """
        return self.output == "append" and not self.old.dedups if self.marked is None else self.marked


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """``columns``: what either version writes. ``operators``: those with state in the old version, as Spark
    calls them.

    ``why``: what differs, or what is not proven. ``rows``: how many the new version writes of the second
    batch, where it was tried. ``back``: what the old version makes of a third batch, after the new one wrote
    the second. ``batch``: whether the table that both versions wrote over the stop is what a batch run of the
    new version makes of all files; None where a table is not comparable with one.
    """

    pair: Pair
    judgement: Judgement
    columns: Columns
    operators: tuple[str, ...] = ()
    stop: Stop = Stop.UNTRIED
    rows: int = 0
    why: str = ""
    back: Stop = Stop.UNTRIED
    batch: bool | None = None


def written(items: Iterable[Judged]) -> str:
    """One line for each."""
    return "".join(
        json.dumps(_encoded(item), ensure_ascii=False, separators=(",", ":")) + "\n" for item in items
    )


def read(path: Path) -> Iterator[Judged]:
    for line in path.read_text(encoding="utf-8").splitlines():
        yield _decoded(json.loads(line))


def keep(folder: Path, items: Iterable[Judged]) -> int:
    """Adds pairs to the files of their families; how many. One that is there, by its id or by what it
    compares, stays as it is.
    """
    folder.mkdir(parents=True, exist_ok=True)
    there = [item.pair for path in sorted(folder.glob("*.jsonl")) for item in read(path)]
    ids, texts = {pair.id for pair in there}, {_text(pair) for pair in there}
    count = 0
    for item in items:
        if item.pair.id in ids or _text(item.pair) in texts:
            continue
        ids.add(item.pair.id)
        texts.add(_text(item.pair))
        count += 1
        with (folder / f"{item.pair.family.replace(' ', '_')}.jsonl").open("a", encoding="utf-8") as file:
            file.write(written([item]))
    return count


def _text(pair: Pair) -> str:
    return json.dumps([pair.output, pair.marked, _version(pair.old, {}), _version(pair.new, {})])


def _encoded(item: Judged) -> dict[str, object]:
    pair = item.pair
    found: dict[str, object] = {
        "id": pair.id,
        "family": pair.family,
        "edit": pair.edit,
        "output": pair.output,
    }
    if pair.marked is not None:
        found["marked"] = pair.marked
    found["old"], found["new"] = _version(pair.old, {}), _version(pair.new, pair.old.steps)
    found |= {"spark": item.judgement.value, "columns": dict(item.columns)}
    rest = {"operators": list(item.operators), "stop": item.stop.value, "rows": item.rows, "why": item.why}
    rest |= {"back": item.back.value, "batch": {None: "", True: "same", False: "other"}[item.batch]}
    return found | {name: value for name, value in rest.items() if value}


def _version(version: Version, before: Mapping[str, str]) -> dict[str, object]:
    """A step that is as it was before has no text of its own."""
    found: dict[str, object] = {
        "steps": {name: None if before.get(name) == sql else sql for name, sql in version.steps.items()}
    }
    if version.dedups:
        found["dedups"] = {step: list(keys) for step, keys in version.dedups.items()}
    if version.within:
        found["within"] = list(version.within)
    if version.gained:
        found["gained"] = {name: dict(columns) for name, columns in version.gained.items()}
    rest = {
        "marks": dict(version.marks),
        "conf": dict(version.conf),
        "bound": dict(version.bound),
        "taken": version.taken,
        "engine": dict(version.engine),
    }
    return found | {name: value for name, value in rest.items() if value}


def _decoded(data: dict[str, object]) -> Judged:
    def version(name: str, before: Mapping[str, str]) -> Version:
        found = data[name]
        assert isinstance(found, dict)
        dedups = {step: tuple(keys) for step, keys in found.get("dedups", {}).items()}
        steps = {name: before[name] if sql is None else sql for name, sql in found["steps"].items()}
        return Version(
            steps=steps,
            dedups=dedups,
            gained=found.get("gained", {}),
            within=tuple(found.get("within", ())),
            **{name: found[name] for name in ("marks", "conf", "bound", "taken", "engine") if name in found},
        )

    old = version("old", {})
    columns, operators = data["columns"], data.get("operators", [])
    assert isinstance(columns, dict)
    assert isinstance(operators, list)
    return Judged(
        pair=Pair(
            id=str(data["id"]),
            family=str(data["family"]),
            edit=str(data["edit"]),
            output=str(data["output"]),
            old=old,
            new=version("new", old.steps),
            marked=None if data.get("marked") is None else bool(data["marked"]),
        ),
        judgement=Judgement(str(data["spark"])),
        columns=columns,
        operators=tuple(operators),
        stop=Stop(str(data.get("stop", ""))),
        rows=int(str(data.get("rows", 0))),
        why=str(data.get("why", "")),
        back=Stop(str(data.get("back", ""))),
        batch={"": None, "same": True, "other": False}[str(data.get("batch", ""))],
    )
