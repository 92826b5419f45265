"""Laws: what is applied is what was desired, whatever was there before; and nothing is left to do
afterwards.
"""

import itertools
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from pyiceberg.table import Table
from pyiceberg.table.metadata import new_table_metadata

from flareiac.sdk.changes import Action
from tests.iceberg.lake import CALLS, Lake

FAMILIES = {
    "a": ["int", "long", "int not null", "long not null"],
    "b": ["float", "double"],
    "c": ["decimal(5,2)", "decimal(9,2)"],
    "d": ["string", "string not null"],
    "e": ["timestamptz"],
    "f": [
        "struct<x: int, y: string>",
        "struct<y: string, x: long, z: list<int>>",
        "struct<z: list<long not null>, w: struct<q: date, p: int>>",
        "struct<w: struct<p: long, r: string, q: date>, x: int>",
    ],
    "g": ["map<string, struct<p: int>>", "map<string, struct<q: string, p: long>>"],
}
LAYOUT = {
    "a": [CALLS["bucket"](4, "a"), "a"],
    "d": [CALLS["truncate"](2, "d"), "d"],
    "e": [CALLS["day"]("e"), CALLS["hour"]("e", "the_hour"), CALLS["month"]("e")],
}
DEFAULTS: dict[str, list[Any]] = {"a": [1, 2], "b": [1.5], "d": ["x"], "e": ["2026-01-01T00:00:00Z"]}
WORDS = st.sampled_from(["", "x", "it's", 'say "hi"', "ä b"])
BRANCHES = st.none() | st.dictionaries(
    st.sampled_from(["audit", "next"]),
    st.fixed_dictionaries(
        {
            "retain": st.sampled_from([None, "7d", "36h"]),
            "min_snapshots_to_keep": st.sampled_from([None, 3]),
            "max_snapshot_age": st.sampled_from([None, "1d"]),
        }
    ),
)


@st.composite
def tables(draw: st.DrawFn, versions: tuple[int | None, ...] = (None, 2)) -> dict[str, Any]:
    """A valid table block."""
    version = draw(st.sampled_from(versions))
    names = draw(st.lists(st.sampled_from(sorted(FAMILIES)), min_size=1, unique=True))
    blocks: dict[str, dict[str, Any]] = {
        name: {
            "type": draw(st.sampled_from(FAMILIES[name])),
            "comment": draw(st.none() | WORDS),
            "tags": draw(st.none() | st.lists(st.sampled_from(["p", "q"]), unique=True)),
            "default": draw(st.sampled_from([None, *DEFAULTS.get(name, [])])) if version == 3 else None,
        }
        for name in names
    }
    # One field for a column: the writer that fills these tables takes no more.
    terms = [draw(st.sampled_from(LAYOUT[name])) for name in names if name in LAYOUT]
    sortable = [CALLS[draw(st.sampled_from(["asc", "desc"]))](name) for name in names if name in "abcde"]
    required = [name for name in names if name in "ad" and "not null" in blocks[name]["type"]]
    return {
        "namespace": "n",
        "column": blocks,
        "partition_by": draw(st.none() | _some(terms)),
        "sort_by": draw(st.none() | _some(sortable)),
        "identifier": draw(st.none() | _some(required)),
        "properties": draw(
            st.none()
            | st.dictionaries(
                st.sampled_from(["k1", "k2", "commit.retry.num-retries"]), st.sampled_from(["7", "20"])
            )
        ),
        "tags": draw(st.none() | st.dictionaries(st.sampled_from(["t1", "t2"]), WORDS)),
        "comment": draw(st.none() | WORDS),
        "distribution": draw(st.sampled_from([None, "none", "hash", "range"])),
        "format_version": version,
        "branch": draw(BRANCHES),
    }


def _some(items: list[Any]) -> st.SearchStrategy[list[Any]]:
    return st.lists(st.sampled_from(items), unique_by=repr, max_size=3) if items else st.just([])


@pytest.fixture(scope="module")
def shared() -> Iterator[Lake]:
    with tempfile.TemporaryDirectory() as folder:
        lake = Lake(Path(folder))
        yield lake
        lake.close()


COUNTER = itertools.count()


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(before=tables(), after=tables(), rows=st.booleans())
def test_applying_the_difference_gives_what_is_desired(
    shared: Lake, before: dict[str, Any], after: dict[str, Any], rows: bool
) -> None:
    address, name = f"table.t{next(COUNTER)}", f"n.t{next(COUNTER)}"
    block = {"name": name.removeprefix("n.")}
    shared.apply(address, before | block)
    assert shared.plan(address, before | block).action is Action.NO_OP
    if rows:
        shared.append(name, [_row(before)])
    planned = shared.plan(address, after | block)
    assume(not planned.blockers)
    versions = len(shared.table(name).metadata.metadata_log)
    shared.carry_out(address, planned)
    table = shared.table(name)
    assert len(table.metadata.metadata_log) - versions <= 1
    again = shared.plan(address, after | block)
    assert again.action is Action.NO_OP, (planned.steps, again.steps, again.changes)
    assert [field.name for field in table.schema().fields if field.name in after["column"]] == list(
        after["column"]
    )
    assert len(shared.rows(name)) == int(rows)
    shared.append(name, [_row(after)])
    assert len(shared.rows(name)) == int(rows) + 1


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(before=tables((None, 1, 2, 3)), after=tables((None, 1, 2, 3)))
def test_there_and_back_leaves_nothing_to_do(
    shared: Lake, before: dict[str, Any], after: dict[str, Any]
) -> None:
    address, block = f"table.b{next(COUNTER)}", {"name": f"b{next(COUNTER)}"}
    for body in (before, after, before):
        planned = shared.plan(address, body | block)
        assume(not planned.blockers)
        shared.carry_out(address, planned)
        assert shared.plan(address, body | block).action is Action.NO_OP


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(body=tables((None, 1, 2, 3)))
def test_a_new_table_has_one_metadata_file_and_nothing_is_left_to_do(
    shared: Lake, body: dict[str, Any]
) -> None:
    address, name = f"table.c{next(COUNTER)}", f"c{next(COUNTER)}"
    planned = shared.plan(address, body | {"name": name})
    assume(not planned.blockers)
    shared.carry_out(address, planned)
    table = shared.table(f"n.{name}")
    assert (table.format_version, table.metadata.metadata_log) == (body["format_version"] or 2, [])
    assert set(table.metadata.refs) == set(body["branch"] or ())
    assert shared.plan(address, body | {"name": name}).action is Action.NO_OP
    if not body["branch"] and table.format_version < 3:  # the library writes no metadata of version 3
        made, theirs = json.loads(_file(table).read_text()), json.loads(_by_the_library(table))
        missing = object()
        assert {key: value for key, value in theirs.items() if made.get(key, missing) != value} == {}
        assert made.keys() - theirs.keys() <= {
            "next-row-id"
        }  # the library requires it only of tables with rows


def _file(table: Table) -> Path:
    return Path(table.metadata_location.removeprefix("file://"))


def _by_the_library(table: Table) -> str:
    """The first metadata file that Iceberg's own library would have written for the same table."""
    found = new_table_metadata(
        table.schema(),
        table.spec(),
        table.sort_order(),
        table.location(),
        table.properties | {"format-version": str(table.format_version)},
        table.metadata.table_uuid,
    )
    return found.model_copy(update={"last_updated_ms": table.metadata.last_updated_ms}).model_dump_json()


def _row(table: dict[str, Any]) -> dict[str, Any]:
    values: dict[str, Any] = {"a": 5, "d": "text"}
    return {name: values.get(name) for name in table["column"]}
