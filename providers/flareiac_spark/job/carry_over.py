"""What does a job's query read, seen by a checkpoint that is to go on in a new generation? Pure."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from flareiac.kernel.data import Attributes
from flareiac.sdk.changes import Blocker, blocker
from flareiac.sdk.provider import PlanRequest
from flareiac_spark import codes
from flareiac_spark.checkpoint.carry_over import FILES, TABLE, Query, Refusal, Stream, decide
from flareiac_spark.checkpoint.spec import ALL, CARRY_OVER, EARLIEST, OLDEST_SNAPSHOT
from flareiac_spark.instance_lines import line
from flareiac_spark.job.facts import Facts
from flareiac_spark.sql.parse import parsed
from flareiac_spark.sql.relations import name_of, streams_in_order
from flareiac_spark.sql.state import stateful_steps


def query_of(attributes: Attributes, folder: str, uuids: Mapping[str, str | None] | None = None) -> Query:
    """The query that keeps its offsets in the folder of this name (an output's, or the one for all).

    ``uuids``: which table an input is, by its name, where that is known; else tables are told apart by their addresses.
    """
    steps = attributes["steps"]
    sources = [item["from"] for name, item in sorted(attributes["outputs"].items()) if folder in (ALL, name)]
    streams = {name.lower(): (name, item["source"]) for name, item in attributes["inputs"].items() if item["kind"] == "stream"}
    feeding = [name for name in attributes["step_order"] if _feeds(name, steps, sources)]
    texts = {name: steps[name]["sql"] or "" for name in feeding}
    opaque = any(steps[name].get("python") for name in feeding)
    order = None if opaque else _order(texts, sources, streams)
    if len(streams) == 1:
        order = tuple(streams)
    places = uuids or {}
    return Query(
        streams=None if order is None else tuple(_stream(*streams[name], places) for name in order),
        stateful=bool(stateful_steps(texts, list(streams))) or any(_keeps_state(steps[name]) for name in feeding),
    )


def blockers(request: PlanRequest, desired: Attributes, facts: Facts, start: str, again: str) -> Iterator[Blocker]:
    """Why queries of this job cannot begin a raised generation with ``start_from = start``.

    ``again``: how all that is left can be read.
    """
    recorded = request.recorded.attributes if request.recorded else None
    if recorded is None or start == EARLIEST:
        return
    others = sorted({kind for item in desired["inputs"].values() if item["kind"] == "stream" and (kind := item["source"]["kind"]) != TABLE})
    if start != CARRY_OVER:
        tables = any(item["source"]["kind"] == TABLE for item in desired["inputs"].values() if item["kind"] == "stream")
        if others and not (start == OLDEST_SNAPSHOT and tables):
            yield only_tables(desired, start, others, again)
        return
    for name in [ALL] if desired["foreach_batch"] else sorted(desired["outputs"]):
        new = query_of(desired, name)
        on_disk = facts.checkpoints.get(name)
        if on_disk is None or not (name == ALL or name in recorded["outputs"]):
            found = decide(new, new, [])
        else:
            old = replace(query_of(recorded, name), stateful=bool(on_disk.operators))
            found = decide(old, new, [kind for kind, _folders in on_disk.sources])
        if isinstance(found, Refusal):
            yield can_not_go_on(desired, name, found, again)


def can_not_go_on(desired: Attributes, name: str, refusal: Refusal, again: str = EARLIEST) -> Blocker:
    """``carry_over`` is not possible."""
    return blocker(
        codes.CANNOT_CARRY_OVER,
        why=f"{'The query' if name == ALL else f'Output {name}'}: {refusal.why}.",
        ways_out=(_anew(desired, again), "undo the change, or give the new query a job and a checkpoint of its own"),
    )


def only_tables(desired: Attributes, start: str, kinds: Sequence[str], again: str = EARLIEST) -> Blocker:
    """A moment is no beginning for these kinds of sources."""
    place = desired["checkpoint"]
    carry = f"go on where the last generation stands, in {place}:\n  {line(place, 'start_from', CARRY_OVER)}"
    read = " and ".join("files" if kind == FILES else f"a {kind} stream" for kind in kinds)
    return blocker(
        codes.START_DOES_NOT_FIT,
        why=f"{desired['checkpoint']} cannot start from {start}, since the job reads {read}. Only tables know which rows came when.",
        ways_out=(carry, _anew(desired, again)),
    )


def _anew(desired: Attributes, again: str) -> str:
    place = desired["checkpoint"]
    return f"read again all that can be read, in {place}:\n  {line(place, 'start_from', again)}"


def _stream(name: str, source: Attributes, uuids: Mapping[str, str | None]) -> Stream:
    match source["kind"]:
        case "files":
            return Stream(name=name, kind=FILES, place=source["path"])
        case "table":
            return Stream(name=name, kind=TABLE, place=uuids.get(name) or str(source["table"]))
        case kind:
            return Stream(name=name, kind=kind, place="")


def _order(texts: Mapping[str, str], sources: Sequence[str], streams: Mapping[str, object]) -> tuple[str, ...] | None:
    """Streams by first use; None where that is not the order of Spark's offsets."""
    found = {streams_in_order(texts, source, list(streams)) for source in sources}
    if len(found) != 1 or _repeats(texts, streams):
        return None
    return found.pop()


def _repeats(texts: Mapping[str, str], streams: Mapping[str, object]) -> bool:
    """Whether a stream may be read at several places of a query, each of which has a position of its own."""
    from sqlglot import exp

    used: Counter[str] = Counter()
    streaming = {*streams, *(name.lower() for name in texts)}
    for sql in texts.values():
        tree = parsed(sql)
        if tree is None:
            return any(sql.lower().count(name) > 1 for name in streams)
        streaming |= {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
        used.update(name_of(table).lower() for table in tree.find_all(exp.Table))
    return any(count > 1 for name, count in used.items() if name in streaming)


def _feeds(step: str, steps: Attributes, sources: Sequence[str]) -> bool:
    """Whether a step is among those that the outputs' sources are made of; also where that cannot be told."""
    waiting, seen = [source.lower() for source in sources], set[str]()
    by_name = {name.lower(): item for name, item in steps.items()}
    while waiting:
        name = waiting.pop()
        if name in seen or name not in by_name:
            continue
        seen.add(name)
        tree = None if by_name[name].get("python") else parsed(by_name[name]["sql"])
        if tree is None:
            return True
        from sqlglot import exp

        waiting.extend(name_of(table).lower() for table in tree.find_all(exp.Table))
    return step.lower() in seen


def _keeps_state(step: Attributes) -> bool:
    return bool(step.get("dedup") or step.get("stateful"))
