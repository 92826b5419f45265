"""The fate of the records that the inputs of jobs have yet to read, where brokers hold them. Touches
checkpoints, by reading only, and brokers.
"""

import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from flareiac.kernel.diagnostics import Failure
from flareiac.kernel.records import Mismatch
from flareiac.sdk.project import Project
from flareiac.sdk.references import References
from flareiac.sdk.requests import ReadRequest
from flareiac_spark.checkpoint_files.source_positions import SourcePositions, read_source_positions
from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.generation.query_streams import query_streams
from flareiac_spark.job.brokers import Answers, Asked, Brokers
from flareiac_spark.job.query_folders import query_folders
from flareiac_spark.job.samples import Samples, looked_at
from flareiac_spark.job.topic_limits import asked_of, limits_of
from flareiac_spark.sources.findings import InputReach, Partition, Unknown
from flareiac_spark.sources.reachable import BrokerPosition, NotedTopics
from flareiac_spark.sources.source import Source
from flareiac_spark_runtime.checkpoint_log import Damaged
from flareiac_spark_runtime.storage import Place

Reach: TypeAlias = Mapping[str, Mapping[str, InputReach]]
"""By query and input."""


class ReachReader:
    """Asks about many jobs at once, or about one."""

    def __init__(self, project: Project, brokers: Brokers | None = None) -> None:
        self._project, self._brokers = project, brokers or Brokers()
        self._guard = threading.Lock()
        self._answers, self._waiting = Answers(), set[str]()
        self._samples: dict[str, Samples] = {}
        self._limits: dict[str, dict[str, int]] = {}

    def prefetch(self, requests: Sequence[ReadRequest]) -> None:
        """Asks each broker once; the answers serve one ``read`` of each of these jobs."""
        asked: list[Asked] = []
        for request in requests:
            try:
                asked += [
                    question
                    for *_names, question in _asked_of(request, self._project)
                    if isinstance(question, Asked)
                ]
            except (Failure, Damaged, Mismatch):
                continue  # reading that job reports it
            asked += [question for _output, question in asked_of(request)]
        answers = self._brokers.ask(asked)
        samples = looked_at(requests, self._brokers, answers)
        limits = limits_of(requests, self._brokers, answers)
        with self._guard:
            self._answers, self._waiting = answers, {request.address for request in requests}
            self._samples, self._limits = samples, limits

    def read(self, request: ReadRequest) -> Reach:
        """The findings for each input whose records brokers hold. Raises ``Failure`` and ``Damaged``."""
        asked = list(_asked_of(request, self._project))
        return self._reach(asked, self._prefetched(request.address)) if asked else {}

    def samples(self, address: str) -> Samples:
        """The findings in the last records of topics about the columns of a job's streams, once after
        ``prefetch``. A stream that several jobs read is there for one of them.
        """
        with self._guard:
            return self._samples.pop(address, {})

    def topic_limits(self, address: str) -> dict[str, int]:
        """The sizes in bytes that the topics take at once to which a job writes, by output, once after
        ``prefetch``.
        """
        with self._guard:
            return self._limits.pop(address, {})

    def of_recorded(self, job: JobDefinition, references: References) -> Reach:
        """The same for a recorded job, asked now. Raises ``Failure`` and ``Damaged``."""
        asked = list(_asked(job, job, references, self._project))
        return self._reach(asked, None) if asked else {}

    def _reach(
        self, asked: Sequence[tuple[str, str, Asked | Unknown]], answers: Answers | None
    ) -> dict[str, dict[str, InputReach]]:
        if answers is None:
            answers = self._brokers.ask(
                [question for *_names, question in asked if isinstance(question, Asked)]
            )
        reaches: dict[str, dict[str, InputReach]] = {}
        for query, name, question in asked:
            reaches.setdefault(query, {})[name] = (
                InputReach(findings=(question,))
                if isinstance(question, Unknown)
                else self._brokers.reach(question, answers)
            )
        return reaches

    def _prefetched(self, address: str) -> Answers | None:
        with self._guard:
            if address not in self._waiting:
                return None
            self._waiting.discard(address)
            return self._answers


def _asked_of(request: ReadRequest, project: Project) -> Iterator[tuple[str, str, Asked | Unknown]]:
    """The questions for a job as it is declared, about the offsets that it has reached as it is recorded.
    None for a job that is no longer declared.
    """
    if request.desired is None:
        return
    declared = JobDefinition.of(request.desired)
    recorded = JobDefinition.of(request.recorded.attributes) if request.recorded is not None else declared
    yield from _asked(declared, recorded, request.references, project)


def _asked(
    declared: JobDefinition, recorded: JobDefinition, references: References, project: Project
) -> Iterator[tuple[str, str, Asked | Unknown]]:
    held = {name: stream.source for name, stream in declared.streams.items() if stream.source.held_by_brokers}
    if not held:
        return
    names = list(dict.fromkeys([*recorded.query_names, *declared.query_names]))
    folders = query_folders(recorded, references, project, names)
    for query in names:
        folder = folders.get(query)
        positions = read_source_positions(folder) if folder is not None else None
        # A query that is new, or was never begun, has read nothing yet
        job = recorded if query in recorded.query_names else declared
        placed = _placed(job, query, positions, held, references) if positions is not None else {}
        for name, source in held.items():
            yield query, name, _question(source, references, folder, positions, placed.get(name, ()))


def _question(
    source: Source,
    references: References,
    folder: Place | None,
    positions: SourcePositions | None,
    indexes: Sequence[int] | None,
) -> Asked | Unknown:
    read = source.topic_read(references)
    if read is None:
        return Unknown(why="what it reads is known after an apply")
    if folder is None or positions is None:
        return Asked(read=read, position=BrokerPosition())
    if indexes is None:
        return Unknown(why="the SQL does not tell which offsets of the checkpoint are this input's")
    position = _position(source, positions, indexes, source.offsets.noted_topics(folder))
    return Asked(read=read, position=position)


def _placed(
    job: JobDefinition,
    query: str,
    positions: SourcePositions,
    held: Mapping[str, Source],
    references: References,
) -> dict[str, Sequence[int] | None]:
    """The positions of each input; None where they are not known."""
    streams, every = query_streams(job, query).streams, range(positions.count)
    if streams is not None and len(streams) == 1:
        return {streams[0].name: every}
    if streams is not None and positions.count == len(streams):
        return {stream.name: [at] for at, stream in enumerate(streams)}
    placed: dict[str, Sequence[int] | None] = {}
    for name, source in held.items():
        topics = [{topic for topic, _partition in _offsets(source, positions, at)} for at in every]
        own = [at for at, read in enumerate(topics) if read and read <= _names(source, references)]
        others = [each for each in held if each != name and _names(held[each], references)]
        shared = any(_names(held[each], references) & _names(source, references) for each in others)
        placed[name] = own if (own and not shared) or len(held) == 1 else None
    return placed


def _names(source: Source, references: References) -> set[str]:
    read = source.topic_read(references)
    return set(read.selection.names) if read is not None else set()


def _offsets(source: Source, positions: SourcePositions, at: int) -> dict[Partition, int]:
    for offsets in (positions.reached, positions.ahead):
        if at < len(offsets) and (own := _own(source, offsets[at])):
            return own
    return _began(source, positions, at)


def _own(source: Source, offset: Any) -> dict[Partition, int]:
    return dict(source.offsets.partitions(offset)) if source.offsets.is_own(offset) else {}


def _began(source: Source, positions: SourcePositions, at: int) -> dict[Partition, int]:
    log = positions.log(at)
    return _own(source, source.offsets.began(log)) if log is not None else {}


def _position(
    source: Source, positions: SourcePositions, indexes: Sequence[int], noted: NotedTopics
) -> BrokerPosition:
    """The position of an input: if it is read several times, the place that is the furthest behind, and the
    end of the batch in flight.
    """
    next_: dict[Partition, int] = {}
    ahead: dict[Partition, int] = {}
    for at in indexes:
        reached = _own(source, positions.reached[at]) if at < len(positions.reached) else {}
        for place, offset in (reached or _began(source, positions, at)).items():
            next_[place] = min(offset, next_.get(place, offset))
        for place, offset in (_own(source, positions.ahead[at]) if at < len(positions.ahead) else {}).items():
            ahead[place] = max(offset, ahead.get(place, offset))
    return BrokerPosition(next=next_, ahead=ahead, noted=noted)
