"""Which query can go on after which, and how."""

from dataclasses import replace
from pathlib import Path

import pytest

from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.generation.carry_over import Copied, Positions, Query, Refusal, Stream, decide
from flareiac_spark.generation.query_streams import query_streams
from tests.spark.declared import LAKE, STATEFUL, STATELESS, loaded

FILES = Stream(name="orders", kind="files", place="/in/orders")
MORE = Stream(name="more", kind="files", place="/in/more")
TABLE = Stream(name="rides", kind="table", place="u-1")
OTHER = Stream(name="taxis", kind="table", place="u-2")
RATE = Stream(name="ticks", kind="rate", place="")


def query(*streams: Stream, stateful: bool = False) -> Query:
    return Query(streams=streams, stateful=stateful)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (query(FILES), query(FILES), Copied()),
        (query(FILES), query(replace(FILES, name="renamed")), Copied()),
        (query(FILES, TABLE), query(FILES, TABLE), Copied()),
        (query(TABLE), query(TABLE), Positions(pairs=((0, 0),), alone=True)),
        (query(TABLE, stateful=True), query(TABLE, stateful=True), Positions(pairs=((0, 0),), alone=True)),
        (query(TABLE, OTHER), query(OTHER, TABLE), Positions(pairs=((1, 0), (0, 1)))),
        (query(TABLE), query(TABLE, OTHER), Positions(pairs=((0, 0),), new_streams=("taxis",))),
        (query(TABLE, OTHER), query(OTHER), Positions(pairs=((1, 0),), alone=True)),
        (query(TABLE), query(OTHER), Positions(pairs=(), new_streams=("taxis",), alone=True)),
        (query(FILES), query(TABLE), Positions(pairs=(), new_streams=("rides",), alone=True)),
        (query(FILES, stateful=True), query(MORE), Positions(pairs=(), new_streams=("more",), alone=True)),
        (query(TABLE), query(TABLE, FILES), Positions(pairs=((0, 0),), new_streams=("orders",))),
    ],
)
def test_it_goes_on(old: Query, new: Query, expected: object) -> None:
    assert decide(old, new, [stream.kind for stream in old.streams or ()]) == expected


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        (query(FILES, stateful=True), query(FILES), "old query's state"),
        (query(FILES), query(FILES, stateful=True), "keeps state"),
        (query(FILES, MORE), query(MORE, FILES), "another order"),
        (query(FILES), query(FILES, TABLE), "other streams"),
        (query(RATE), query(RATE), "rate stream"),
        (query(TABLE), Query(streams=None, stateful=False), "in which order"),
    ],
)
def test_it_can_not_go_on(old: Query, new: Query, why: str) -> None:
    found = decide(old, new, [stream.kind for stream in old.streams or ()])
    assert isinstance(found, Refusal)
    assert why in found.why


def test_positions_that_do_not_fit_the_streams_are_refused() -> None:
    """A stream that is read at two places has two positions."""
    found = decide(query(TABLE), query(TABLE), ["table", "table"])
    assert isinstance(found, Refusal)
    assert isinstance(decide(Query(streams=None, stateful=False), query(TABLE), ["table"]), Refusal)


def test_nothing_read_yet_means_from_the_start() -> None:
    assert decide(query(FILES, stateful=True), query(FILES), []) == Positions(
        pairs=(), new_streams=("orders",)
    )


def test_what_a_declared_job_reads(tmp_path: Path) -> None:
    """Streams in the order of the offsets, and whether state is kept."""
    plain = loaded(LAKE + STATELESS, tmp_path)
    found = query_streams(JobDefinition.of(plain.attributes()), "orders")
    assert found == query(Stream(name="orders", kind="files", place="landing"))
    grouped = loaded(LAKE + STATEFUL, tmp_path)
    assert query_streams(JobDefinition.of(grouped.attributes()), "hourly").stateful


TWO = """
stream "rides" {
  table { table = table.regions }
}
job "x" {
  checkpoint = checkpoint.x
  input "a" { stream = stream.rides }
  input "b" { stream = stream.orders }
  step "both" { sql = "SELECT @" }
  output "orders" { table = table.orders }
}
"""


@pytest.mark.parametrize(
    ("sql", "names"),
    [
        ("1L AS id, b.region FROM b JOIN a ON a.region = b.region", ["b", "a"]),
        ("1L AS id, a.region FROM a JOIN b ON a.region = b.region", ["a", "b"]),
        ("id, region FROM b", ["b"]),
        ("1L AS id, x.region FROM a x JOIN a y ON x.region = y.region JOIN b ON true", None),
        (") FROM b", None),
    ],
)
def test_the_order_of_several_streams(tmp_path: Path, sql: str, names: list[str] | None) -> None:
    """None: a stream at two places has two positions, and what is not readable tells no order."""
    found = loaded(LAKE + TWO.replace("@", sql), tmp_path)
    streams = query_streams(JobDefinition.of(found.attributes()), "orders").streams
    assert (None if streams is None else [stream.name for stream in streams]) == names
