"""The streams that a query of a job reads, in the order of Spark's offsets. Pure."""

from collections import Counter
from collections.abc import Mapping, Sequence

from flareiac.kernel.data import Attributes
from flareiac_spark.checkpoint_files.layout import ALL
from flareiac_spark.generation.carry_over import FILES, TABLE, Query, Stream
from flareiac_spark.sql.relations import relation_uses, streams_in_order
from flareiac_spark.sql.state import stateful_steps


def query_streams(
    attributes: Attributes, folder: str, uuids: Mapping[str, str | None] | None = None
) -> Query:
    """The query that keeps its offsets in the folder of this name (an output's, or the one for all).

    ``uuids``: which table an input is, by its name, where that is known; else tables are distinguished by
    their addresses.
    """
    steps = attributes["steps"]
    sources = [item["from"] for name, item in sorted(attributes["outputs"].items()) if folder in (ALL, name)]
    streams = {
        name.lower(): (name, item["source"])
        for name, item in attributes["inputs"].items()
        if item["kind"] == "stream"
    }
    feeding = [name for name in attributes["step_order"] if _feeds(name, steps, sources)]
    texts = {name: steps[name]["sql"] or "" for name in feeding}
    opaque = any(steps[name].get("python") for name in feeding)
    order = None if opaque else _order(texts, sources, streams)
    if len(streams) == 1:
        order = tuple(streams)
    places = uuids or {}
    return Query(
        streams=None if order is None else tuple(_stream(*streams[name], places) for name in order),
        stateful=bool(stateful_steps(texts, list(streams)))
        or any(_keeps_state(steps[name]) for name in feeding),
    )


def _stream(name: str, source: Attributes, uuids: Mapping[str, str | None]) -> Stream:
    match source["kind"]:
        case "files":
            return Stream(name=name, kind=FILES, place=source["path"])
        case "table":
            return Stream(name=name, kind=TABLE, place=uuids.get(name) or str(source["table"]))
        case kind:
            return Stream(name=name, kind=kind, place="")


def _order(
    texts: Mapping[str, str], sources: Sequence[str], streams: Mapping[str, object]
) -> tuple[str, ...] | None:
    """Streams by first use; None where that is not the order of Spark's offsets."""
    found = {streams_in_order(texts, source, list(streams)) for source in sources}
    if len(found) != 1 or _repeats(texts, streams):
        return None
    return found.pop()


def _repeats(texts: Mapping[str, str], streams: Mapping[str, object]) -> bool:
    """Whether a stream may be read at several places of a query, each of which has a position of its own."""
    used: Counter[str] = Counter()
    streaming = {*streams, *(name.lower() for name in texts)}
    for sql in texts.values():
        uses = relation_uses(sql)
        if uses is None:
            return any(sql.lower().count(name) > 1 for name in streams)
        streaming |= uses.ctes
        used.update(uses.names)
    return any(count > 1 for name, count in used.items() if name in streaming)


def _feeds(step: str, steps: Attributes, sources: Sequence[str]) -> bool:
    """Whether a step is among those that the outputs' sources are made of; also where that cannot be
    determined.
    """
    waiting, seen = [source.lower() for source in sources], set[str]()
    by_name = {name.lower(): item for name, item in steps.items()}
    while waiting:
        name = waiting.pop()
        if name in seen or name not in by_name:
            continue
        seen.add(name)
        uses = None if by_name[name].get("python") else relation_uses(by_name[name]["sql"])
        if uses is None:
            return True
        waiting.extend(uses.names)
    return step.lower() in seen


def _keeps_state(step: Attributes) -> bool:
    return bool(step.get("dedup") or step.get("stateful"))
