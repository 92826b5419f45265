"""The queries that can go on after another one, and the way they do."""

from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from flareiac_spark.definition.job_definition import JobDefinition
from flareiac_spark.generation.carry_over import Copied, Positions, Query, Refusal, Stream, decide
from flareiac_spark.generation.query_streams import query_streams
from flareiac_spark.observation.job import OutputFacts
from tests.spark.declared import LAKE, QUERY, STATEFUL, STATELESS, loaded, proposal, running

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
        (query(FILES), query(FILES), Copied(alone=True)),
        (query(FILES), query(replace(FILES, name="renamed")), Copied(alone=True)),
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
        (replace(query(FILES), reads=1), replace(query(FILES), reads=2), "another number of times"),
        (replace(query(FILES), reads=1), query(FILES), "another number of times"),
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
    twice = replace(query(TABLE), reads=2)
    assert decide(twice, query(TABLE), ["table", "table"]) == Positions(pairs=((0, 0),), alone=True)
    assert isinstance(decide(twice, query(TABLE), ["table"] * 3), Refusal)


def test_nothing_read_yet_means_from_the_start() -> None:
    assert decide(query(FILES, stateful=True), query(FILES), []) == Positions(
        pairs=(), new_streams=("orders",)
    )


def test_what_a_declared_job_reads(tmp_path: Path) -> None:
    """Streams in the order of the offsets, and whether state is kept."""
    plain = loaded(LAKE + STATELESS, tmp_path)
    found = query_streams(JobDefinition.of(plain.attributes()), "orders")
    assert found == replace(query(Stream(name="orders", kind="files", place="landing")), reads=1)
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


FILES_BLOCK = LAKE[LAKE.index("  files {") : LAKE.index('checkpoint "x"')]
OF_TABLE = LAKE.replace(FILES_BLOCK, "  table {\n    table = table.regions\n  }\n}\n")
SELECT = "SELECT 1L AS id, region FROM orders"


@pytest.mark.parametrize("lake", [LAKE, OF_TABLE], ids=["files", "table"])
@pytest.mark.parametrize("again", [False, True])
def test_what_is_offered_is_possible(lake: str, again: bool, tmp_path: Path) -> None:
    """A stream is read a number of times, and another number of times from now on. ``again``: beside another
    stream.
    """
    other = STATELESS.replace('output "orders"', 'input "more" { stream = stream.orders }\n  output "orders"')
    job, kind = other if again else STATELESS, "files" if lake is LAKE else "table"
    raised = lake.replace('checkpoint "x" {}', 'checkpoint "x" {\n  generation = 2\n}')
    offered = set()
    for before, after in product((1, 2, 3), repeat=2):
        old, new = (
            job.replace("SELECT id, region FROM orders WHERE id > 0", " UNION ALL ".join([SELECT] * times))
            for times in (before, after)
        )
        # Spark has a log for each position of a table, and one for all of a stream of files
        logs = before if kind == "table" else 1
        on_disk = OutputFacts(
            query_id=QUERY,
            started=3,
            committed=3,
            sources=((kind, ()),) * logs,
            positions=(kind,) * before,
        )
        was, facts = loaded(lake + old, tmp_path), running(checkpoints={"orders": on_disk})
        found = proposal(loaded(lake + new, tmp_path), was, facts)
        if not any("carry_over" in way for item in found.blockers for way in item.ways_out):
            continue
        offered.add((before, after))
        begun = proposal(loaded(raised + new, tmp_path), was, facts)
        assert not [item.line for item in begun.blockers if item.code == "FIK081"]
    if not again:
        assert bool(offered) == (lake is OF_TABLE), "a position of a table is one for any number"
