"""Asks the brokers that hold records of inputs, about many inputs at once. Touches brokers through the
readers of their connections' types; safe to use from several threads.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import suppress
from dataclasses import field, replace
from functools import partial
from typing import Final, TypeAlias, TypeVar

from flareiac.kernel.data import digest, is_known
from flareiac.kernel.diagnostics import Failure
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.brokers import BrokerReader, BrokerView, TopicOffsets, TopicSelection, reader_of
from flareiac.sdk.name_patterns import matches
from flareiac.sdk.references import Resolved
from flareiac_spark.sources.findings import BeyondEnd, InputReach, Unknown
from flareiac_spark.sources.reachable import Ages, BrokerPosition, near, reach_of, unread
from flareiac_spark.sources.source import TopicRead

_LIMIT_SECONDS: Final = 20.0
_AT_ONCE: Final = 8
_SAMPLE_SECONDS: Final = 8.0
_SAMPLE: Final = 5
"""Records of a partition that are looked at."""
_SAMPLED_PARTITIONS: Final = 4
_MOST_PARTITIONS: Final = 64
"""The greatest number of partitions of one connection that are sampled."""
_Result = TypeVar("_Result")
LastValues: TypeAlias = Mapping[tuple[str, str], Sequence[bytes]]
"""By the address of a connection and a topic."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One input of one query: the topics that it reads, and where it stands in them."""

    read: TopicRead
    position: BrokerPosition


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answered:
    """The answers of the brokers of one connection, by selection of topics."""

    views: Mapping[TopicSelection, BrokerView | Unknown]
    ages: Ages


_Answer: TypeAlias = _Answered | Unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """The answers to what was asked once for several inputs, by connection."""

    by_connection: Mapping[str, _Answer] = field(default_factory=dict)


class Brokers:
    """Each connection is asked once for all inputs, all connections at the same time, and none for longer
    than ``limit`` seconds.
    """

    def __init__(
        self,
        readers: Callable[[str], BrokerReader | None] = reader_of,
        *,
        limit: float = _LIMIT_SECONDS,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._readers, self._limit, self._clock = readers, limit, clock

    def ask(self, asked: Sequence[Asked]) -> Answers:
        """Asks about all of them. What is not answered is unknown; raises nothing."""
        groups: dict[str, list[Asked]] = {}
        for question in asked:
            groups.setdefault(_key(question.read.connection), []).append(question)
        answered = of_each({key: partial(self._answer, group) for key, group in groups.items()}, self._limit)
        silent = f"did not answer within {self._limit:.0f} s"
        return Answers(
            by_connection={
                key: answered.get(key, Unknown(why=f"{group[0].read.connection.address} {silent}"))
                for key, group in groups.items()
            }
        )

    def last_values(self, reads: Sequence[TopicRead], answers: Answers) -> LastValues:
        """A few of the last values of each topic, of connections that have answered; none where they are not
        read in a few seconds. Raises nothing.
        """
        groups: dict[str, list[TopicRead]] = {}
        for read in reads:
            groups.setdefault(_key(read.connection), []).append(read)
        by_connection = of_each(
            {
                key: partial(self._values, group, answer)
                for key, group in groups.items()
                if isinstance(answer := answers.by_connection.get(key), _Answered)
            },
            _SAMPLE_SECONDS,
        )
        return {
            (group[0].connection.address, topic): values
            for key, group in groups.items()
            for topic, values in by_connection.get(key, {}).items()
        }

    def _values(self, group: Sequence[TopicRead], answer: _Answered) -> Mapping[str, Sequence[bytes]]:
        connection = group[0].connection
        reader = self._readers(connection.type)
        if reader is None:
            return {}
        topics: dict[str, TopicOffsets] = {}
        for question in group:
            view = answer.views.get(question.selection)
            topics |= view.topics if isinstance(view, BrokerView) else {}
        values: dict[str, list[bytes]] = {}
        try:
            records = reader.records(connection.attributes, _last_positions(topics), count=_SAMPLE)
        except Failure:
            return {}
        for record in records:
            if record.value is not None:
                values.setdefault(record.topic, []).append(record.value)
        return values

    def topics(self, asked: Asked, answers: Answers) -> Mapping[str, TopicOffsets]:
        """The topics that were asked for, by name; none where the brokers did not answer."""
        answer = answers.by_connection.get(_key(asked.read.connection))
        view = answer.views.get(asked.read.selection) if isinstance(answer, _Answered) else None
        return view.topics if isinstance(view, BrokerView) else {}

    def reach(self, asked: Asked, answers: Answers) -> InputReach:
        """The findings for one input. The answers are older than its position, which a running query has
        moved since: one that seems to be beyond the end is looked at again.
        """
        reach = self._reach(asked, answers)
        if any(isinstance(finding, BeyondEnd) for finding in reach.findings):
            return self._reach(asked, self.ask([asked]))
        return reach

    def _reach(self, asked: Asked, answers: Answers) -> InputReach:
        answer = answers.by_connection.get(_key(asked.read.connection))
        view = answer.views.get(asked.read.selection) if isinstance(answer, _Answered) else answer
        if not isinstance(answer, _Answered) or not isinstance(view, BrokerView):
            missing = Unknown(why=f"{asked.read.connection.address} was not asked")
            return InputReach(findings=(view if isinstance(view, Unknown) else missing,))
        pattern, read = asked.read.selection.pattern, asked.read.selection.names
        if pattern is not None:
            once = (topic for topic in asked.position.topics if matches(pattern, topic) is not False)
            read = (*view.topics, *once)
        return reach_of(
            asked.position,
            view,
            answer.ages,
            read=read,
            expected=asked.read.expected,
            words=asked.read.words,
        )

    def _answer(self, group: Sequence[Asked]) -> _Answer:
        connection = group[0].read.connection
        if not is_known(connection.attributes):
            return Unknown(why=f"the settings of {connection.address} are known after an apply")
        reader = self._readers(connection.type)
        if reader is None:
            return Unknown(why=f"no installed package asks the brokers of {connection.address}")
        try:
            views = _views(reader, connection, {question.read.selection for question in group})
            answered = _Answered(views=views, ages=Ages(now_ms=int(self._clock() * 1000)))
            old = dict(_old(reader, connection, group, answered))
            return replace(answered, ages=replace(answered.ages, written_ms=old))
        except Failure as failure:
            return _unknown(connection, failure)


def of_each(calls: Mapping[str, Callable[[], _Result]], limit: float) -> dict[str, _Result]:
    """The results of calls that are made at the same time; those that take longer than ``limit`` seconds are
    left out. Raises what a call raises.
    """
    if not calls:
        return {}
    pool = ThreadPoolExecutor(max_workers=min(len(calls), _AT_ONCE), thread_name_prefix="asking")
    try:
        waiting = {key: pool.submit(call) for key, call in calls.items()}
        results: dict[str, _Result] = {}
        for key, future in waiting.items():
            with suppress(FutureTimeout):
                results[key] = future.result(timeout=limit)
        return results
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _last_positions(topics: Mapping[str, TopicOffsets]) -> dict[tuple[str, int], int]:
    """The offsets at which the last records begin, of a few partitions of each topic."""
    positions: dict[tuple[str, int], int] = {}
    for name, topic in sorted(topics.items()):
        filled = [
            number
            for number, partition in sorted(topic.partitions.items())
            if partition.end > partition.first
        ]
        for number in filled[:_SAMPLED_PARTITIONS]:
            there = topic.partitions[number]
            positions[name, number] = max(there.first, there.end - _SAMPLE)
    return dict(list(positions.items())[:_MOST_PARTITIONS])


def _unknown(connection: Resolved, failure: Failure) -> Unknown:
    return Unknown(why=f"{connection.address}: {failure.diagnostics[0].line.rstrip('. ')}")


def _views(
    reader: BrokerReader, connection: Resolved, selections: AbstractSet[TopicSelection]
) -> dict[TopicSelection, BrokerView | Unknown]:
    """All topics that are named are asked for at once; where that is refused, each input for itself, so that
    one topic does not hide the others. Raises ``Failure``.
    """
    named = {selection for selection in selections if selection.pattern is None}
    names = sorted({name for selection in named for name in selection.names})
    views: dict[TopicSelection, BrokerView | Unknown] = {}
    try:
        together = reader.view(connection.attributes, TopicSelection(names=tuple(names))) if names else None
    except Failure:
        if len(selections) == 1:
            raise
        reader.view(connection.attributes, TopicSelection())  # fails where no broker can be asked at all
        together = None
    for selection in selections:
        if together is not None and selection in named:
            views[selection] = _part(together, selection)
            continue
        try:
            views[selection] = reader.view(connection.attributes, selection)
        except Failure as failure:
            views[selection] = _unknown(connection, failure)
    return views


def _part(together: BrokerView, selection: TopicSelection) -> BrokerView:
    topics = {name: together.topics[name] for name in selection.names if name in together.topics}
    return replace(
        together, topics=topics, missing=tuple(name for name in selection.names if name not in topics)
    )


def _old(
    reader: BrokerReader, connection: Resolved, group: Sequence[Asked], answered: _Answered
) -> Iterator[tuple[tuple[str, int, int], int]]:
    """The times at which the next records of inputs were written, where that is long ago for their topic: by
    topic, partition and offset. Most are not, which the brokers tell without reading a record. Raises
    ``Failure``.
    """
    for time_ms, offsets in _by_limit(group, answered).items():
        bounds = reader.positions_at(connection.attributes, sorted({place[:2] for place in offsets}), time_ms)
        old = [place for place in sorted(offsets) if place[2] < bounds.get(place[:2], place[2])]
        while old:
            # One request holds one position of each partition
            round_ = {place[:2]: place[2] for place in reversed(old)}
            old = [place for place in old if round_[place[:2]] != place[2]]
            for record in reader.records(connection.attributes, round_, count=1):
                if record.timestamp_ms is not None:
                    place = record.topic, record.partition, round_[record.topic, record.partition]
                    yield place, record.timestamp_ms


def _by_limit(group: Sequence[Asked], answered: _Answered) -> dict[int, set[tuple[str, int, int]]]:
    """The next offsets of all inputs, by the time before which their records are near to deletion."""
    places: dict[int, set[tuple[str, int, int]]] = {}
    for question in group:
        view = answered.views[question.read.selection]
        if isinstance(view, Unknown):
            continue
        for (topic, number), offset in unread(question.position, view).items():
            there = view.topics[topic]
            if (within := near(there)) is not None:
                limit_ms = answered.ages.now_ms - (there.retention_ms or 0) + within
                places.setdefault(limit_ms, set()).add((topic, number, offset))
    return places


def _key(connection: Resolved) -> str:
    return digest([connection.address, connection.type, connection.attributes])
