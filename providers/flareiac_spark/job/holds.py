"""What does a job still need of tables? Pure: the observation carries everything that was read.

A stream of a table goes on at the snapshot that its last committed batch ended with, and that one has to be there. A batch that was begun
and is not committed may be in its tables already: its mark, and the way from the newest snapshot back to it, tell that it is not to be
written again; until it commits, its files belong to no snapshot. With all batches committed a writer holds nothing.
"""

from collections.abc import Iterator

from flareiac.kernel.data import Attributes, Reference
from flareiac.sdk.maintenance import Hold
from flareiac.sdk.references import References
from flareiac_spark.checkpoint.spec import ALL, EARLIEST, LATEST
from flareiac_spark.checkpoint.stand import BEGINNING, Stand
from flareiac_spark.control.moments import moment_of
from flareiac_spark.job.carry_over import query_of
from flareiac_spark.job.facts import KEY, Facts, decode
from flareiac_spark.job.spec import query_names

_ALL_AVAILABLE = ("available_now", "once")
_BEGUN = ("starting", "running")


def holds(address: str, attributes: Attributes, references: References, identity: Attributes) -> tuple[Hold, ...]:
    """Of a recorded job as observed. Where nothing could be observed, it holds what nobody knows of each table that it streams."""
    del references
    if KEY not in identity:
        return tuple(_unknown(address, attributes))
    facts = decode(identity)
    if attributes["mode"] == "batch":
        return tuple(_of_run(address, attributes, facts))
    found: list[Hold] = []
    for name in query_names(attributes):
        found.extend(_read(address, attributes, name, facts))
        found.extend(_written(address, attributes, name, facts.stands.get(name)))
    return tuple(found)


def _unknown(address: str, attributes: Attributes) -> Iterator[Hold]:
    streamed = [] if attributes["mode"] == "batch" else [table for _input, table, _start in _streamed(attributes)]
    for table in dict.fromkeys([*streamed, *_tables(attributes, ALL)]):
        reason = "where it stands was not looked at, or can not be read"
        yield Hold(subject=table, holder=address, reason=reason, unknown=True)


def _streamed(attributes: Attributes) -> list[tuple[str, str, str]]:
    """The tables that are read as streams: input, address, and where it starts."""
    found = []
    for name, item in attributes["inputs"].items():
        match item:
            case {"kind": "stream", "source": {"kind": "table", "table": Reference(table), "start_from": start}}:
                found.append((name, table, start))
            case _:
                pass
    return found


def _tables(attributes: Attributes, query: str) -> list[str]:
    """The tables that a query writes."""
    outputs = [output for name, output in attributes["outputs"].items() if query in (ALL, name)]
    return [output["table"].address for output in outputs if isinstance(output["table"], Reference)]


# Readers


def _read(address: str, attributes: Attributes, query: str, facts: Facts) -> Iterator[Hold]:
    stand = facts.stands.get(query) or Stand()
    streamed = _streamed(attributes)
    places = _places(attributes, query, stand)
    whose = "" if query == ALL or len(attributes["outputs"]) == 1 else f"output {query}: "
    moved = facts.heard_ms if facts.alive and facts.phase == "idle" else stand.moved_ms
    for name, table, start in streamed:
        if places is None:
            reason = f"{whose}it reads several tables, and its query does not tell which position belongs to which"
            yield Hold(subject=table, holder=address, reason=reason, moved_ms=moved, unknown=True)
        elif name in places:
            yield from _at(Hold(subject=table, holder=address, reason=whose, moved_ms=moved), stand, places[name], name, start, attributes)


def _at(hold: Hold, stand: Stand, indexes: list[int], name: str, start: str, attributes: Attributes) -> Iterator[Hold]:
    reached = _of(stand.reached, indexes) or _of(stand.first, indexes)
    if not reached or BEGINNING in reached:
        yield from _not_begun(hold, stand, name, start)
        return
    snapshots = [*reached, *_of(stand.ahead, indexes)]
    after = "where it begins" if stand.committed is None else f"where batch {stand.committed} ended"
    reason = f"{hold.reason}its stream goes on {after}"
    if attributes["trigger"]["kind"] in _ALL_AVAILABLE:
        first = _of(stand.first, indexes)
        reason += "; a run that reads all there is looks for the snapshot at which the first one began" if first else ""
        snapshots += first
    held = tuple(snapshot for snapshot in dict.fromkeys(snapshots) if snapshot != BEGINNING)
    yield Hold(subject=hold.subject, holder=hold.holder, reason=reason, snapshots=held, moved_ms=hold.moved_ms)


def _not_begun(hold: Hold, stand: Stand, name: str, start: str) -> Iterator[Hold]:
    """A stream reads what snapshots added, one by one: what expires before it begins it never reads."""
    begins = stand.times[name] if name in stand.times else _moment(start)
    if name not in stand.times and start == LATEST:
        return
    if begins is not None:
        reason = f"{hold.reason}it has not read anything yet, and begins at a moment"
        yield Hold(subject=hold.subject, holder=hold.holder, reason=reason, since_ms=begins, moved_ms=hold.moved_ms)
        return
    reason = f"{hold.reason}it has not read anything yet, and begins with the oldest snapshot: what expires it would never read"
    yield Hold(subject=hold.subject, holder=hold.holder, reason=reason, moved_ms=hold.moved_ms, unknown=True)


def _moment(start: str) -> int | None:
    return None if start in (EARLIEST, LATEST) else moment_of(start, now=0.0)


def _of(positions: tuple[int | None, ...], indexes: list[int]) -> list[int]:
    found = (positions[at] for at in indexes if at < len(positions))
    return [snapshot for snapshot in found if snapshot is not None]


def _places(attributes: Attributes, query: str, stand: Stand) -> dict[str, list[int]] | None:
    """The positions of each streamed table, by input; None where that can not be told."""
    count = max(len(stand.reached), len(stand.first), len(stand.ahead))
    streams = query_of(attributes, query).streams
    if streams is not None and len(streams) == 1:
        return {streams[0].name: list(range(count))}
    if streams is not None and count in (0, len(streams)):
        return {stream.name: [at] for at, stream in enumerate(streams)}
    streamed = _streamed(attributes)
    if len({table for _name, table, _start in streamed}) == 1:
        return {streamed[0][0]: list(range(count))}
    return None


# Writers


def _written(address: str, attributes: Attributes, query: str, stand: Stand | None) -> Iterator[Hold]:
    if stand is None or stand.in_flight is None:
        return
    for table in dict.fromkeys(_tables(attributes, query)):
        reason = f"batch {stand.in_flight} was begun and is not committed"
        yield Hold(
            subject=table,
            holder=address,
            reason=reason,
            since_ms=stand.begun_ms,
            moved_ms=stand.moved_ms,
            unknown=stand.begun_ms is None,
        )


def _of_run(address: str, attributes: Attributes, facts: Facts) -> Iterator[Hold]:
    """A run that has not ended: done again after a crash, it looks for the mark of the first attempt."""
    if facts.state != "running" or facts.phase in ("completed", "failed"):
        return
    since = facts.since_ms if facts.phase in _BEGUN and facts.failures == 0 else None
    for table in dict.fromkeys(_tables(attributes, ALL)):
        yield Hold(subject=table, holder=address, reason="its run has not ended", since_ms=since, unknown=since is None)
