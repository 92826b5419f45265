"""Before each start a stream of Kafka proves that its cluster still has what the checkpoint goes on from."""

import json
from pathlib import Path

import pytest

from flareiac.kernel.records import decode, encode
from flareiac_spark_runtime.sources.kafka.cluster import ClusterTopic, ClusterTopics, TopicIds
from flareiac_spark_runtime.sources.kafka.positions import log_text
from flareiac_spark_runtime.sources.kafka.resolved import ResolvedKafka
from flareiac_spark_runtime.sources.kafka.start_check import (
    Asked,
    ids_of,
    noted,
    other_topic,
    problems,
    reaches,
)
from flareiac_spark_runtime.sources.kafka.starting import Starting
from flareiac_spark_runtime.sources.kafka.topic_notes import TopicNotes, read_notes, write_notes

HERE = ClusterTopics(
    cluster="c-1",
    topics={"orders": ClusterTopic(name="orders", id="t-1", partitions={0: (5, 20), 1: (0, 9)})},
)
NOTES = TopicNotes().joined(noted(ids_of(HERE)))


def offsets(folder: Path, batch: int, **partitions: int) -> None:
    line = json.dumps({"orders": {number.removeprefix("p"): at for number, at in partitions.items()}})
    (folder / "offsets").mkdir(parents=True, exist_ok=True)
    (folder / "offsets" / str(batch)).write_text(f'v1\n{{"conf":{{}}}}\n{line}')


def committed(folder: Path, batch: int) -> None:
    (folder / "commits").mkdir(parents=True, exist_ok=True)
    (folder / "commits" / str(batch)).write_text('v1\n{"nextBatchWatermarkMs":0}')


def initial(folder: Path, **partitions: int) -> None:
    log = folder / "sources" / "0" / "0"
    log.parent.mkdir(parents=True)
    numbers = {number.removeprefix("p"): at for number, at in partitions.items()}
    log.write_bytes(log_text(json.dumps({"orders": numbers})).encode())


def found(
    folder: Path, there: ClusterTopics = HERE, notes: TopicNotes = NOTES, *, shared: bool = False
) -> list[tuple[str, str]]:
    asked = Asked(servers="host:9092", reads=lambda _topic: True, shared=lambda _topic: shared)
    return [(problem.error_class, problem.why) for problem in problems(reaches(folder), notes, there, asked)]


def test_nothing_is_compared_before_the_first_start(tmp_path: Path) -> None:
    assert found(tmp_path) == []


def test_a_committed_batch_whose_end_is_there_goes_on(tmp_path: Path) -> None:
    offsets(tmp_path, 0, p0=1, p1=0)
    committed(tmp_path, 0)
    offsets(tmp_path, 1, p0=5, p1=9)
    committed(tmp_path, 1)
    assert found(tmp_path) == []


@pytest.mark.parametrize(
    ("position", "says"),
    [
        ({"p0": 4, "p1": 0}, "1 records of partition 0 of topic orders were deleted"),
        ({"p0": 21, "p1": 0}, "Partition 0 of topic orders ends at offset 20, before offset 21"),
        ({"p0": 5, "p1": 0, "p2": 0}, "Partition 2 of topic orders no longer exists"),
    ],
)
def test_offsets_that_the_cluster_no_longer_has_are_refused(
    tmp_path: Path, position: dict[str, int], says: str
) -> None:
    offsets(tmp_path, 0, **position)
    committed(tmp_path, 0)
    ((error_class, why),) = found(tmp_path)
    assert error_class == "OFFSETS_GONE"
    assert says in why
    assert 'start_from = "earliest"' in why


def test_a_batch_in_flight_is_compared_where_it_begins(tmp_path: Path) -> None:
    offsets(tmp_path, 0, p0=3, p1=0)
    committed(tmp_path, 0)
    offsets(tmp_path, 1, p0=9, p1=2)
    ((error_class, why),) = found(tmp_path)
    assert error_class == "OFFSETS_GONE"
    assert "offsets 3 to 4" in why


def test_the_first_batch_in_flight_begins_at_the_initial_offset(tmp_path: Path) -> None:
    initial(tmp_path, p0=2, p1=0)
    offsets(tmp_path, 0, p0=9, p1=2)
    assert "offsets 2 to 4" in found(tmp_path)[0][1]


def test_a_seeded_generation_is_compared_before_its_first_batch(tmp_path: Path) -> None:
    initial(tmp_path, p0=30, p1=0)
    assert [error_class for error_class, _why in found(tmp_path)] == ["OFFSETS_GONE"]


@pytest.mark.parametrize(
    ("there", "error_class"),
    [
        (ClusterTopics(cluster="c-2", topics=HERE.topics), "OTHER_CLUSTER"),
        (ClusterTopics(cluster="c-1", topics={}), "TOPIC_GONE"),
        (
            ClusterTopics(
                cluster="c-1",
                topics={"orders": ClusterTopic(name="orders", id="t-2", partitions={0: (0, 99), 1: (0, 99)})},
            ),
            "TOPIC_RECREATED",
        ),
        (
            ClusterTopics(
                cluster="c-1",
                topics={"orders": ClusterTopic(name="orders", id=None, partitions={0: (0, 99), 1: (0, 99)})},
            ),
            None,
        ),
    ],
)
def test_another_topic_under_the_name_is_refused(
    tmp_path: Path, there: ClusterTopics, error_class: str | None
) -> None:
    offsets(tmp_path, 0, p0=5, p1=0)
    committed(tmp_path, 0)
    assert [item for item, _why in found(tmp_path, there)] == ([error_class] if error_class else [])


def test_a_start_waits_for_a_transaction_whose_records_were_read_before_its_end(tmp_path: Path) -> None:
    offsets(tmp_path, 0, p0=15, p1=0)
    committed(tmp_path, 0)
    orders = ClusterTopic(name="orders", id="t-1", partitions={0: (5, 20), 1: (0, 9)}, stable={0: 12, 1: 9})
    there = ClusterTopics(cluster="c-1", topics={"orders": orders})
    asked = Asked(servers="host:9092", reads=lambda _topic: True, shared=lambda _topic: False)
    (problem,) = problems(reaches(tmp_path), NOTES, there, asked)
    assert (problem.error_class, problem.permanent) == ("TRANSACTION_OPEN", False)
    assert "from offset 12 on" in problem.why
    assert "up to offset 14" in problem.why


@pytest.mark.parametrize(
    ("there", "error_class"),
    [
        (HERE, None),
        (ClusterTopics(cluster="c-2", topics=HERE.topics), "OTHER_CLUSTER"),
        (ClusterTopics(cluster="c-1", topics={}), "TOPIC_GONE"),
        (
            ClusterTopics(
                cluster="c-1", topics={"orders": ClusterTopic(name="orders", id="t-2", partitions={})}
            ),
            "TOPIC_RECREATED",
        ),
    ],
)
def test_a_query_that_runs_is_judged_by_the_topics_alone(
    there: ClusterTopics, error_class: str | None
) -> None:
    found = other_topic("orders", NOTES, ids_of(there), "host:9092")
    assert (found.error_class if found is not None else None) == error_class


def two_streams(folder: Path, *first: int) -> None:
    """A query that reads topics of one name on two clusters, each up to an offset of its partition."""
    lines = "\n".join(json.dumps({"orders": {"0": at}}) for at in first)
    for log, text in (("offsets", f'v1\n{{"conf":{{}}}}\n{lines}'), ("commits", "v1\n{}")):
        (folder / log).mkdir()
        (folder / log / "0").write_text(text)


def test_topics_of_one_name_on_two_clusters_are_told_apart_by_their_clusters(tmp_path: Path) -> None:
    two_streams(tmp_path, 8, 900)
    there = TopicIds(cluster="c-2", topics={"orders": "t-9"})
    notes = NOTES.joined(noted(there))
    assert found(tmp_path, HERE, notes, shared=True) == []
    again = ClusterTopics(
        cluster="c-1", topics={"orders": ClusterTopic(name="orders", id="t-9", partitions={0: (0, 2000)})}
    )
    assert [item for item, _why in found(tmp_path, again, notes, shared=True)] == ["TOPIC_RECREATED"]


def test_one_of_the_positions_of_a_name_must_be_there(tmp_path: Path) -> None:
    two_streams(tmp_path, 2, 900)
    assert {item for item, _why in found(tmp_path, shared=True)} == {"OFFSETS_GONE"}


def test_topics_that_were_never_noted_are_taken_as_they_are(tmp_path: Path) -> None:
    offsets(tmp_path, 0, p0=5, p1=0)
    committed(tmp_path, 0)
    assert found(tmp_path, notes=TopicNotes()) == []


def test_notes_are_kept_beside_the_folder(tmp_path: Path) -> None:
    write_notes(tmp_path / "g0001", NOTES)
    assert read_notes(tmp_path / "g0001") == NOTES
    assert read_notes(tmp_path / "g0002") == TopicNotes()
    assert [path.name for path in tmp_path.iterdir()] == [".g0001.topics.json"]


@pytest.mark.parametrize("start", ["latest", "2026-01-01T00:00:00Z", {"orders": {"0": 12, "1": 0}}])
def test_every_start_reaches_the_driver(start: Starting) -> None:
    source = ResolvedKafka(client={}, format="json", topics=("orders",), starting_offsets=start)
    assert decode(ResolvedKafka, json.loads(json.dumps(encode(source))), "source") == source
