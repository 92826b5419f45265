"""The check that a query can go on: compares what its checkpoint holds with what the cluster has. Pure but
for the checkpoint, which it reads.

Spark writes the offsets of a batch before it looks whether their records are there, so that a start that it
refuses leaves a checkpoint which it refuses for good.
"""

from collections.abc import Callable, Iterator, Sequence

from flareiac.kernel.data import parse_json
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_spark_runtime.checkpoint_log import first_entries, newest, read_offsets
from flareiac_spark_runtime.sources.kafka.cluster import ClusterTopic, ClusterTopics, TopicIds
from flareiac_spark_runtime.sources.kafka.positions import Positions, positions_of
from flareiac_spark_runtime.sources.kafka.starting import ByPartition
from flareiac_spark_runtime.sources.kafka.topic_notes import NotedTopic, TopicNotes
from flareiac_spark_runtime.sources.resolved import StartProblem
from flareiac_spark_runtime.storage import Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """The offsets that the next batch of a query reads of one stream. ``begins`` at these offsets; ``ends``
    where it is one that was begun and is done again.
    """

    begins: Positions
    ends: Positions | None = None


def reaches(checkpoint: Place) -> tuple[Reach, ...]:
    """The reaches of the streams of Kafka; empty before a first start. Raises ``Damaged``, ``OSError``."""
    started, committed = newest(checkpoint / "offsets"), newest(checkpoint / "commits")
    if started is None:
        return tuple(Reach(begins=positions) for _number, positions in sorted(_initial(checkpoint).items()))
    last = _positions(read_offsets(checkpoint, started).positions)
    if started == committed:
        return tuple(Reach(begins=positions) for positions in last.values())
    before = _positions(read_offsets(checkpoint, started - 1).positions) if started > 0 else {}
    first = _initial(checkpoint)
    return tuple(
        Reach(begins=before.get(at, first.get(at, {})), ends=positions) for at, positions in last.items()
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The stream that is asked about. ``reads``: which topics of a checkpoint it reads; ``shared``: which of
    their names another stream of the job reads on another cluster.
    """

    servers: str
    reads: Callable[[str], bool]
    shared: Callable[[str], bool]


def problems(
    begun: Sequence[Reach], notes: TopicNotes, topics: ClusterTopics, asked: Asked
) -> Iterator[StartProblem]:
    """The reasons that the next batch of a checkpoint cannot be read, or would read other records."""
    ids = ids_of(topics)
    names = {topic for reach in begun for topic in topics_of(reach)}
    for topic in sorted(filter(asked.reads, names)):
        problem = other_topic(topic, notes, ids, asked.servers)
        if problem is not None:
            yield problem
            continue
        there = topics.topics[topic]
        gone = [_of_partitions(topic, reach, there) for reach in begun if topic in topics_of(reach)]
        # Of two clusters a checkpoint does not say which position is of which
        if not (asked.shared(topic) and None in gone):
            yield from filter(None, gone)


def deleted_since(offsets: ByPartition, topics: ClusterTopics) -> StartProblem | None:
    """The reason that a query cannot begin where the others of its job have begun, None where it can."""
    reach = Reach(
        begins={topic: {int(at): offset for at, offset in each.items()} for topic, each in offsets.items()}
    )
    for topic in filter(topics.topics.__contains__, topics_of(reach)):
        problem = _of_partitions(topic, reach, topics.topics[topic])
        if problem is not None:
            return problem
    return None


def topics_of(reach: Reach) -> list[str]:
    """The topics that the next batch reads, sorted."""
    return sorted({*reach.begins, *(reach.ends or {})})


def topics_not_read(names: Sequence[str]) -> StartProblem:
    """Topics that a checkpoint has read, and that its only stream does not name."""
    which = f"topic {names[0]}" if len(names) == 1 else f"topics {', '.join(names)}"
    return StartProblem(
        error_class="OTHER_TOPICS",
        why=f"The checkpoint holds offsets of {which}, and the stream does not read {which}. Spark would "
        "refuse the batch and spoil the checkpoint. Read the old topics again, or raise the generation of "
        "the checkpoint: the offsets of topics that both read are taken over.",
    )


def missing_topics(names: Sequence[str], servers: str) -> StartProblem:
    """Topics that a stream names, and that are not there."""
    which = f"Topic {names[0]} is" if len(names) == 1 else f"Topics {', '.join(names)} are"
    return StartProblem(
        error_class="TOPIC_GONE",
        why=f"{which} not on the cluster at {servers}, or the user may not see it. A topic that was never "
        "there is created by a topic block or by the owner of the cluster. Of one that was deleted, the "
        f"records that were not read are lost; to read what is there under the name later, {_AGAIN}.",
    )


def noted(ids: TopicIds) -> tuple[NotedTopic, ...]:
    """The notes about the topics that exist."""
    return tuple(
        NotedTopic(topic=name, id=topic_id, cluster=ids.cluster) for name, topic_id in ids.topics.items()
    )


def ids_of(topics: ClusterTopics) -> TopicIds:
    """The ids of the topics that exist."""
    return TopicIds(cluster=topics.cluster, topics={name: topic.id for name, topic in topics.topics.items()})


def other_topic(topic: str, notes: TopicNotes, existing: TopicIds, servers: str) -> StartProblem | None:
    """The problem of a topic that is gone or is not the one that was read under its name, None where it is
    that one.
    """
    known = notes.of(topic)
    clusters = {noted_topic.cluster for noted_topic in known}
    if known and existing.cluster not in clusters and None not in (existing.cluster, *clusters):
        return StartProblem(
            error_class="OTHER_CLUSTER",
            why=f"The checkpoint holds offsets of topic {topic} of cluster {_either(clusters)}, and "
            f"{servers} is cluster {existing.cluster}. The same offsets are other records there. Write the "
            f"old servers again, or begin a new generation: {_AGAIN}.",
        )
    if topic not in existing.topics:
        return StartProblem(
            error_class="TOPIC_GONE",
            why=f"Topic {topic} is no longer on the cluster at {servers}, or the user may not see it. "
            "Records that were not read are lost with it. Put it back from a copy of its records, "
            f"or read other topics in a new generation: {_AGAIN}.",
        )
    there = existing.topics[topic]
    ids = {noted_topic.id for noted_topic in known if noted_topic.cluster == existing.cluster}
    if ids and there is not None and None not in ids and there not in ids:
        return StartProblem(
            error_class="TOPIC_RECREATED",
            why=f"Topic {topic} was deleted and created again: it had the id {_either(ids)}, and has "
            f"{there} now. The offsets of the checkpoint are those of the old topic: going on there would "
            f"pass over new records without a message. Begin a new generation: {_AGAIN}.",
        )
    return None


def _of_partitions(topic: str, reach: Reach, on_cluster: ClusterTopic) -> StartProblem | None:
    there = on_cluster.partitions
    ends = (reach.ends or {}).get(topic, {})
    for number, begins in sorted(reach.begins.get(topic, {}).items()):
        if number not in there:
            return _gone(f"Partition {number} of topic {topic} no longer exists.")
        first, end = there[number]
        if begins < first:
            return _gone(
                f"{first - begins:,} records of partition {number} of topic {topic} were deleted before they "
                f"were read: offsets {begins:,} to {first - 1:,}."
            )
        if max(begins, ends.get(number, begins)) > end:
            return _gone(
                f"Partition {number} of topic {topic} ends at offset {end:,}, before offset "
                f"{max(begins, ends.get(number, begins)):,} that was read: the cluster has lost records."
            )
        if begins > (stable := on_cluster.stable.get(number, begins)):
            return StartProblem(
                error_class="TRANSACTION_OPEN",
                why=f"Partition {number} of topic {topic} has an open transaction from offset {stable:,} on, "
                f"of which records up to offset {begins - 1:,} were read uncommitted. With isolation_level "
                '= "read_committed" Spark would refuse the batch and spoil the checkpoint. The job starts '
                "when the transaction has ended.",
                permanent=False,
            )
    return None


_AGAIN = 'in its checkpoint raise generation, with start_from = "earliest"'


def _gone(what: str) -> StartProblem:
    return StartProblem(
        error_class="OFFSETS_GONE",
        why=f"{what} Spark would refuse the batch and spoil the checkpoint. To go on with the oldest records "
        f"that are left, {_AGAIN}.",
    )


def _either(ids: set[str | None]) -> str:
    return " or ".join(sorted(str(each) for each in ids))


def _positions(lines: tuple[str | None, ...]) -> dict[int, Positions]:
    parsed = ((at, positions_of(parse_json(line))) for at, line in enumerate(lines) if line is not None)
    return {at: positions for at, positions in parsed if positions is not None}


def _initial(checkpoint: Place) -> dict[int, Positions]:
    """The positions at which each stream begins, by its number."""
    positionses: dict[int, Positions] = {}
    for log in first_entries(checkpoint):
        text = log.read_bytes().decode(errors="replace")
        head, _, offset = text.partition("\n")
        if head != "\0v1":
            continue
        try:
            positions = positions_of(parse_json(offset))
        except ValueError:
            continue  # Spark says so
        if positions is not None:
            positionses[int(log.parent.name)] = positions
    return positionses
