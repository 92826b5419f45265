"""Metadata that somebody damaged is told with its file and place, wherever it is damaged; it never ends in a
traceback.
"""

import copy
import json
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from flareiac.kernel.diagnostics import Failure, error
from flareiac.sdk.statistics import StatisticsRequest
from flareiac_iceberg import codes
from flareiac_iceberg.catalogs.base import CatalogSpec
from flareiac_iceberg.catalogs.entries import Pointer
from flareiac_iceberg.catalogs.kinds import spec_of
from flareiac_iceberg.catalogs.metadata_files import load_entry
from flareiac_iceberg.format.metadata import parse_metadata
from flareiac_iceberg.format.metadata_update import updated
from flareiac_iceberg.format.snapshots import commits, heads
from flareiac_iceberg.format.spec import PartitionField, SortField
from flareiac_iceberg.maintenance.statistics import survey
from flareiac_iceberg.table.changes import AddPartitionField, SetSortOrder
from flareiac_iceberg.table.column_changes import AddColumn
from flareiac_iceberg.table.schema_updates import updates
from tests.iceberg.lake import CALLS, CATALOG, Lake, columns

BODY: dict[str, Any] = {
    "namespace": "n",
    "column": columns(id="long not null", a="struct<x: list<int>, m: map<string, long>>"),
    "identifier": ["id"],
    "partition_by": [CALLS["bucket"](4, "id")],
    "sort_by": ["id"],
    "comment": "x",
}
DAMAGED: tuple[Any, ...] = (None, 7, 10**400, -1.5, True, "x", [], {}, [1], [None], {"a": 1}, ...)
"""Instead of each value; ``...``: it is missing."""


@pytest.fixture
def catalog(lake: Lake) -> CatalogSpec:
    return spec_of(CATALOG, lake.references[CATALOG].attributes)


@pytest.fixture
def metadata(lake: Lake) -> dict[str, Any]:
    lake.apply("table.t", BODY)
    lake.apply(
        "table.t",
        BODY | {"column": {**BODY["column"], **columns(b="int")}, "partition_by": ["b"], "sort_by": ["b"]},
    )
    lake.append("n.t", [{"id": 1, "a": None, "b": 1}])
    with lake.table("n.t").manage_snapshots() as change:
        change.create_tag(lake.table("n.t").metadata.snapshots[0].snapshot_id, "first")
    found: dict[str, Any] = json.loads(
        Path(lake.table("n.t").metadata_location.removeprefix("file://")).read_text()
    )
    return found


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    parts: Any = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, inner in parts:
        yield (*path, key)
        yield from places(inner, (*path, key))


def damaged(document: dict[str, Any]) -> Iterator[tuple[tuple[Any, ...], Any, dict[str, Any]]]:
    for path in places(document):
        for value in DAMAGED:
            made = copy.deepcopy(document)
            holder: Any = made
            for key in path[:-1]:
                holder = holder[key]
            if value is ...:
                del holder[path[-1]]
            else:
                holder[path[-1]] = value
            yield path, value, made


def unread(place: str) -> bytes:
    raise Failure(error(codes.MANIFEST_UNREADABLE, str(place)))


def use(location: str, found: dict[str, Any], request: StatisticsRequest) -> None:
    """Reads metadata that was loaded, as the program does."""
    spec, _ = parse_metadata(found, location)
    assert len(list(commits(found))) <= 1
    heads(found)
    with suppress(Failure):  # another uuid
        survey((location, found), "n.t", request, unread)
    if "id" not in (spec.columns or {}):
        return
    steps = (
        AddColumn(path="new", type="int", required=False, comment=None, after="id"),
        AddPartitionField(field=PartitionField(transform="identity", column="id")),
        SetSortOrder(fields=(SortField(transform="identity", column="id", direction="desc"),)),
    )
    updated(found, updates(found, steps), location, 1)


def test_damage_of_every_kind_in_every_place(
    lake: Lake, metadata: dict[str, Any], catalog: CatalogSpec
) -> None:
    request = StatisticsRequest(
        now=0.0,
        address="table.t",
        recorded=lake.state["table.t"],
        references=lake.references,
        known={},
        runs={},
    )
    told = 0
    for path, value, made in damaged(metadata):
        entry = Pointer(location="file:///m.json", is_view=False, fetch=partial(_fetched, made))
        try:
            location, found = load_entry(entry, catalog)
        except Failure as failure:
            (only,) = failure.diagnostics
            assert only.code in ("FII012", "FII016", "FII017")
            assert "file:///m.json: " in only.detail
            told += 1
            continue
        try:
            use(location, found, request)
        except Exception as problem:
            raise AssertionError(f"{path} as {value!r} was taken for metadata") from problem
    assert told


@pytest.mark.parametrize(
    ("name", "value", "where"),
    [
        ("refs", [], "refs is not an object"),
        ("schemas", [None], "schemas[0] is not an object"),
        (
            "snapshots",
            [{"snapshot-id": 1, "timestamp-ms": 1, "summary": "x"}],
            "snapshots[0].summary is not an object",
        ),
        ("properties", {"a": 1}, 'properties["a"] is not a text'),
    ],
)
def test_the_place_of_the_damage_is_told(
    metadata: dict[str, Any], catalog: CatalogSpec, name: str, value: Any, where: str
) -> None:
    entry = Pointer(
        location="file:///m.json", is_view=False, fetch=lambda: ("file:///m.json", metadata | {name: value})
    )
    with pytest.raises(Failure) as failure:
        load_entry(entry, catalog)
    assert f"file:///m.json: {where}. " in failure.value.diagnostics[0].detail


def _fetched(metadata: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    return "file:///m.json", metadata
