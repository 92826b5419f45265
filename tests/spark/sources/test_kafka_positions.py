"""A stream of Kafka in a checkpoint: recognized, described, and where a new generation goes on."""

import json
from pathlib import Path

import pytest

from flareiac_spark.generation.carry_over import Positions, Query, Stream, decide
from flareiac_spark.sources.kafka.offsets import KafkaOffsets
from flareiac_spark.sources.offsets import SourceOnDisk
from flareiac_spark_runtime.sources.kafka.starting import NotAStart, starting_of
from flareiac_spark_runtime.sources.kafka_client import java_settings
from flareiac_spark_runtime.storage import Place, make_folder, replace_whole

OFFSETS = KafkaOffsets()
READ = '{"orders":{"0":12,"1":7},"returns":{"0":3}}'


def on_disk(offset: str | None) -> SourceOnDisk:
    return SourceOnDisk(index=0, kind="kafka", offset=offset)


@pytest.mark.parametrize(
    ("offset", "own"),
    [
        ({"orders": {"0": 12}}, True),
        ({"0": {"0": 12}}, True),
        ({"0": {"value": 5, "runTimeMs": 1}}, False),
        ({"snapshot_id": 7, "position": 0}, False),
        ({"logOffset": 3}, False),
        ({"orders": {"0": "12"}}, False),
        ({}, False),
        (12, False),
    ],
)
def test_only_offsets_by_topic_and_partition_are_its_own(offset: object, own: bool) -> None:
    assert OFFSETS.is_own(offset) is own


def test_each_partition_is_described(tmp_path: Path) -> None:
    text = OFFSETS.describe(on_disk(READ), tmp_path)
    assert text == "orders: partition 0 up to 12, partition 1 up to 7; returns: partition 0 up to 3"


def test_a_generation_says_where_it_goes_on() -> None:
    assert OFFSETS.goes_on(on_disk(READ)) == "orders, returns from the offsets of 3 partitions on"
    assert OFFSETS.goes_on(on_disk(None)) == "topics of which nothing was read"


def test_the_log_begins_in_the_bytes_that_spark_writes(tmp_path: Path) -> None:
    def write(path: Place, text: str) -> None:
        make_folder(path.parent)
        replace_whole(path, text.encode())

    OFFSETS.begin_at(tmp_path / "0", '{"b": {"10": 5, "9": 4}, "a": {"0": 1}}', write)
    assert (tmp_path / "0" / "0").read_bytes() == b'\0v1\n{"a":{"0":1},"b":{"9":4,"10":5}}'
    assert OFFSETS.is_own_log(tmp_path / "0")


@pytest.mark.parametrize(
    ("place", "kept"),
    [
        ("orders,returns", {"orders": {"0": 12, "1": 7}, "returns": {"0": 3}}),
        ("orders", {"orders": {"0": 12, "1": 7}}),
        ("orders,news", {"orders": {"0": 12, "1": 7}}),
        ("~re.*", {"returns": {"0": 3}}),
    ],
)
def test_positions_of_topics_that_are_no_longer_read_stay_behind(
    place: str, kept: dict[str, dict[str, int]]
) -> None:
    assert json.loads(OFFSETS.carried(READ, place) or "null") == kept


def test_nothing_is_carried_over_to_other_topics() -> None:
    assert OFFSETS.carried(READ, "news") is None


def query(*places: str) -> Query:
    streams = tuple(Stream(name=f"s{at}", kind="kafka", place=place) for at, place in enumerate(places))
    return Query(streams=streams, stateful=True)


@pytest.mark.parametrize(
    ("before", "after", "pairs"),
    [
        (("orders",), ("orders",), ((0, 0),)),
        (("orders",), ("orders,returns",), ((0, 0),)),
        (("orders,returns",), ("~.*",), ((0, 0),)),
        (("orders",), ("news",), ()),
        (("orders", "returns"), ("returns", "orders"), ((1, 0), (0, 1))),
        (("orders,returns", "orders"), ("orders",), ((1, 0),)),
    ],
)
def test_a_stream_goes_on_from_one_that_read_the_same_topics(
    before: tuple[str, ...], after: tuple[str, ...], pairs: tuple[tuple[int, int], ...]
) -> None:
    found = decide(query(*before), query(*after), ["kafka"] * len(before))
    assert isinstance(found, Positions)
    assert found.pairs == pairs


def test_a_login_is_composed_of_user_and_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KAFKA_PASSWORD", 'a"b\\c')
    client = {
        "bootstrap.servers": "h:9092",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.username": "me",
        "sasl.password": "flareiac-secret:env:KAFKA_PASSWORD",
    }
    assert java_settings(client) == {
        "bootstrap.servers": "h:9092",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.jaas.config": (
            "org.apache.kafka.common.security.scram.ScramLoginModule required "
            'username="me" password="a\\"b\\\\c";'
        ),
    }


def test_starting_offsets_of_one_topic_need_not_name_it() -> None:
    assert starting_of({"1": 7, "0": 12}, ("orders",)) == {"orders": {"0": 12, "1": 7}}


@pytest.mark.parametrize("written", [{"0": -1}, {"0": "x"}, {"x": 1}, [], 5, "2026-01-01T00:00:00"])
def test_what_is_no_start_is_refused(written: object) -> None:
    with pytest.raises(NotAStart):
        starting_of(written, ("orders",))
