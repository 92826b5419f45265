"""The streams that a query of a job reads, in the order of Spark's offsets. Pure."""

from collections import Counter
from collections.abc import Mapping, Sequence

from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.definition.step_definition import Step
from flareiac_spark.definition.stream_positions import read_in_order
from flareiac_spark.generation.carry_over import Query, Stream
from flareiac_spark.sources.source import Source
from flareiac_spark.sql.relations import relation_uses, streams_in_order
from flareiac_spark.sql.state import stateful_steps


def query_streams(job: JobDefinition, folder: str, uuids: Mapping[str, str | None] | None = None) -> Query:
    """The query that keeps its offsets in the folder of this name (an output's, or the one for all).

    ``uuids``: which table an input is, by its name, where that is known; else tables are distinguished by
    their addresses.
    """
    sources = [output.source for name, output in sorted(job.outputs.items()) if job.query_of(name) == folder]
    streams = {name.lower(): (name, stream.source) for name, stream in job.streams.items()}
    feeding = {name: step for name, step in job.ordered_steps.items() if _feeds(name, job.steps, sources)}
    texts = {name: step.sql for name, step in feeding.items()}
    opaque = any(step.python for step in feeding.values())
    order = None if opaque else _order(texts, sources, streams)
    if len(streams) == 1:
        order = tuple(streams)
    places = uuids or {}
    return Query(
        streams=None if order is None else tuple(_stream(*streams[name], places) for name in order),
        stateful=bool(stateful_steps(texts, list(streams)))
        or any(step.dedup or step.stateful for step in feeding.values()),
        reads=_reads(job, folder),
    )


def _reads(job: JobDefinition, folder: str) -> int | None:
    """Counts the positions that the query has; None where that cannot be determined."""
    output = next((name for name in job.outputs if job.query_of(name) == folder), None)
    order = read_in_order(job, output) if output is not None else None
    return None if order is None else len(order)


def _stream(name: str, source: Source, uuids: Mapping[str, str | None]) -> Stream:
    return Stream(name=name, kind=source.kind, place=uuids.get(name) or source.place)


def _order(
    texts: Mapping[str, str], sources: Sequence[str], streams: Mapping[str, object]
) -> tuple[str, ...] | None:
    """Streams by first use; None where that is not the order of Spark's offsets."""
    orders = {streams_in_order(texts, source, list(streams)) for source in sources}
    if len(orders) != 1 or _repeats(texts, streams):
        return None
    return orders.pop()


def _repeats(texts: Mapping[str, str], streams: Mapping[str, object]) -> bool:
    """Returns True if a stream may be read at several places of a query, each of which has a position of its
    own.
    """
    used: Counter[str] = Counter()
    streaming = {*streams, *(name.lower() for name in texts)}
    for sql in texts.values():
        uses = relation_uses(sql)
        if uses is None:
            return any(sql.lower().count(name) > 1 for name in streams)
        streaming |= uses.ctes
        used.update(uses.names)
    return any(count > 1 for name, count in used.items() if name in streaming)


def _feeds(step: str, steps: Mapping[str, Step], sources: Sequence[str]) -> bool:
    """Returns True if a step is among those that the outputs' sources are made of; also where that cannot be
    determined.
    """
    waiting, seen = [source.lower() for source in sources], set[str]()
    by_name = {name.lower(): declared_step for name, declared_step in steps.items()}
    while waiting:
        name = waiting.pop()
        if name in seen or name not in by_name:
            continue
        seen.add(name)
        uses = None if by_name[name].python else relation_uses(by_name[name].sql)
        if uses is None:
            return True
        waiting.extend(uses.names)
    return step.lower() in seen
