"""Figures of the core: start-up, plans that change nothing, what an apply costs beside the changes
themselves.
"""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from flareiac.config.rule_library import library
from tests.bench.figure import Better, Figure, NotMeasured, remark
from tests.bench.programs import (
    Command,
    Run,
    flareiac,
    in_turns,
    median_processor,
    median_wall,
    peak_memory,
    spread,
    terraform,
)
from tests.bench.work import write_instances, write_nothings, write_tables, write_terraform

_TIMES_FASTER = {"warm": 5.0, "cold": 1.3}
_ROUNDS = 5
_NO_CACHE = Path("/dev/null/cache")
"""Nothing can be written there, also by root."""


def startup(directory: Path, _blocks: int) -> Iterator[Figure]:
    """``version`` and ``validate`` of ten blocks, and what it takes where nothing can be kept in a cache."""
    write_tables(directory, 10)
    version, validate = flareiac(directory, "version"), flareiac(directory, "validate")
    uncached = flareiac(directory, "validate", cache=_NO_CACHE)
    for command in (version, validate):
        command.run()
    runs = in_turns(9, [version, validate, uncached])
    for name, found, bar in (("version", runs[0], 0.1), ("validate of 10 blocks", runs[1], 0.2)):
        yield Figure(
            name=f"startup {name}",
            value=median_processor(found),
            unit="s of CPU",
            bar=bar,
            detail={"megabytes": round(peak_memory(found)), **spread(found)},
        )
    yield Figure(
        name="startup without a cache, beyond the same with one",
        value=median_processor(runs[2]) - median_processor(runs[1]),
        unit="s of CPU",
        bar=0.1,
        detail=spread(runs[2]),
    )


def noop_plan(directory: Path, blocks: int) -> Iterator[Figure | NotMeasured]:
    """A plan of real tables that changes nothing, beside terraform's of the same content, with warm caches
    and with none.
    """
    ours, theirs = directory / "flareiac", directory / "terraform"
    _applied_tables(ours, blocks)
    _applied_terraform(theirs, blocks)
    cache = directory / "cache"
    rounds = _ROUNDS if blocks <= 2_000 else 1
    warm = flareiac(ours, "plan", "-detailed-exitcode", cache=cache)
    warm.run()
    for name, before in (("warm", None), ("cold", lambda: shutil.rmtree(cache, ignore_errors=True))):
        yield from _beside_terraform(
            name, blocks, warm, terraform(theirs, "plan", "-detailed-exitcode"), rounds, before
        )


def growth(directory: Path, blocks: int) -> Iterator[Figure]:
    """The growth in time of a plan that changes nothing from ``blocks`` to ten times as many (resources that
    do nothing).
    """
    seconds = []
    memory = 0.0
    for count in (blocks, 10 * blocks):
        place = directory / str(count)
        _applied_nothings(place, count)
        command = flareiac(place, "plan", "-detailed-exitcode", cache=directory / "cache", idle=True)
        command.run()
        [runs] = in_turns(3, [command])
        seconds.append(median_processor(runs))
        memory = peak_memory(runs)
    detail = {"processor seconds": [round(value, 3) for value in seconds]}
    yield Figure(
        name=f"plan growth {blocks} to {10 * blocks}",
        value=seconds[1] / seconds[0],
        unit="times",
        bar=11.0,
        detail=detail,
    )
    yield Figure(name=f"no-op plan of {10 * blocks} idle", value=seconds[1], unit="s of CPU", bar=3.0)
    yield Figure(name=f"plan memory of {10 * blocks}", value=memory, unit="MB", bar=300.0)


def instances(directory: Path, count: int) -> Iterator[Figure]:
    """The growth of the time of ``validate`` from ``count`` instances that refer to instances of another
    block to ten times as many.
    """
    commands = []
    for number in (count, 10 * count):
        place = directory / str(number)
        place.mkdir(parents=True)
        write_instances(place, number)
        commands.append(flareiac(place, "validate", cache=directory / "cache"))
        commands[-1].run()
    seconds = [median_processor(runs) for runs in in_turns(3, commands)]
    yield Figure(
        name=f"growth of {count} to {10 * count} instances that refer to each other",
        value=seconds[1] / seconds[0],
        unit="times",
        bar=11.0,
        detail={"processor seconds": [round(value, 3) for value in seconds]},
    )


def report(directory: Path, blocks: int) -> Iterator[Figure]:
    """``report`` of a saved plan of so many changes, by the time of ``show -json`` of the same plan."""
    write_tables(directory, blocks)
    flareiac(directory, "plan", "-out=plan.json").run()
    words = (("show", "-json"), ("report",), ("report", "-format=json"), ("report", "-format=html"))
    runs = in_turns(3, [flareiac(directory, *each, "plan.json") for each in words])
    shown = median_processor(runs[0])
    for name, found in (("markdown", runs[1]), ("json", runs[2]), ("html", runs[3])):
        yield Figure(
            name=f"report of {blocks} changes as {name}, by show -json",
            value=median_processor(found) / shown,
            unit="times",
            bar=3.0,
            detail={"show -json seconds": round(shown, 2), **spread(found)},
        )
        yield Figure(
            name=f"report memory of {blocks} changes as {name}",
            value=peak_memory(found),
            unit="MB",
            bar=200.0,
        )


def policy(directory: Path, blocks: int) -> Iterator[Figure]:
    """``policy check`` of a saved plan of so many changes by all built-in rules, by the time of
    ``show -json`` of the same plan.
    """
    write_tables(directory, blocks)
    flareiac(directory, "plan", "-out=plan.json").run()
    given = {"naming_pattern": '{ pattern = "^[a-z0-9_]+$" }', "engine_allowed": '{ engines = ["engine.a"] }'}
    rules = "".join(
        f'  rule "{name}" {{\n    use = "{name}"\n    parameters = {given.get(name, "{}")}\n  }}\n'
        for name in library()
    )
    (directory / "policy.flare.hcl").write_text(f'policy "all" {{\n  enforcement = "advisory"\n{rules}}}\n')
    words = (("show", "-json"), ("policy", "check"))
    shown, checked = in_turns(3, [flareiac(directory, *each, "plan.json") for each in words])
    yield Figure(
        name=f"policy check of {blocks} resources by {len(library())} rules, by show -json",
        value=median_processor(checked) / median_processor(shown),
        unit="times",
        bar=3.0,
        detail={"show -json seconds": round(median_processor(shown), 2), **spread(checked)},
    )
    yield Figure(
        name=f"policy check memory of {blocks} resources", value=peak_memory(checked), unit="MB", bar=200.0
    )


def bookkeeping(directory: Path, blocks: int) -> Iterator[Figure | NotMeasured]:
    """Apply of resources that do nothing, beside terraform's."""
    ours, theirs = directory / "flareiac", directory / "terraform"
    run = _applied_nothings(ours, blocks)
    written = sum(path.stat().st_size for path in (ours / ".flareiac").rglob("*") if path.is_file())
    detail = {"seconds": round(run.wall, 3), "megabytes": round(run.memory), "bytes kept": written}
    yield Figure(
        name=f"apply bookkeeping of {blocks}",
        value=1000 * run.processor / blocks,
        unit="ms of CPU per resource",
        bar=1.5,
        detail=detail,
    )
    other = _applied_terraform(theirs, blocks)
    name = f"apply bookkeeping of {blocks}, terraform's time by ours"
    if other is None:
        yield NotMeasured(name=name, reason="terraform is not on PATH")
        return
    detail = {"seconds": round(run.wall, 3), "terraform seconds": round(other.wall, 3)}
    yield Figure(
        name=name, value=other.wall / run.wall, unit="times", bar=20.0, better=Better.HIGHER, detail=detail
    )


def _beside_terraform(
    temperature: str,
    blocks: int,
    ours: Command,
    theirs: Command | None,
    rounds: int,
    before: Callable[[], None] | None,
) -> Iterator[Figure | NotMeasured]:
    name = f"no-op plan of {blocks} tables, {temperature}"
    commands = [ours] if theirs is None else [ours, theirs]
    runs = in_turns(rounds, commands, before)
    mine = median_wall(runs[0])
    yield Figure(name=name, value=mine, unit="s", detail={"megabytes": round(peak_memory(runs[0]))})
    if theirs is None:
        yield NotMeasured(name=f"{name}, terraform's time by ours", reason="terraform is not on PATH")
        return
    other = median_wall(runs[1])
    detail = {
        "seconds": round(mine, 3),
        "terraform seconds": round(other, 3),
        "terraform megabytes": round(peak_memory(runs[1])),
        "ratios": [round(one.wall / own.wall, 2) for own, one in zip(runs[0], runs[1], strict=True)],
        **spread(runs[0]),
    }
    yield Figure(
        name=f"{name}, terraform's time by ours",
        value=other / mine,
        unit="times",
        bar=_TIMES_FASTER[temperature],
        better=Better.HIGHER,
        detail=detail,
    )


def _applied_tables(directory: Path, blocks: int) -> Run:
    directory.mkdir(parents=True, exist_ok=True)
    write_tables(directory, blocks)
    remark(f"creating {blocks} Iceberg tables")
    return flareiac(directory, "apply", "-auto-approve").run()


def _applied_nothings(directory: Path, blocks: int) -> Run:
    directory.mkdir(parents=True, exist_ok=True)
    write_nothings(directory, blocks)
    remark(f"applying {blocks} resources that do nothing")
    return flareiac(directory, "apply", "-auto-approve", idle=True).run()


def _applied_terraform(directory: Path, blocks: int) -> Run | None:
    directory.mkdir(parents=True, exist_ok=True)
    write_terraform(directory, blocks)
    command = terraform(directory, "init", "-input=false")
    apply = terraform(directory, "apply", "-auto-approve", "-input=false")
    if command is None or apply is None:
        return None
    remark(f"terraform: applying {blocks} resources")
    command.run()
    return apply.run()
