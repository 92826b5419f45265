"""No change leaves a table that engines cannot load or write, and nothing in a table's past is forgotten."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

import pyarrow as pa
import pytest
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import DateType, DoubleType, LongType, NestedField, StringType, StructType

from flareiac.kernel.diagnostics import Failure
from flareiac.sdk.changes import Action
from flareiac.sdk.results import NotApplied, Present, Unreadable
from flareiac_iceberg.catalogs.connections import Connections
from flareiac_iceberg.catalogs.metadata_files import load
from flareiac_iceberg.catalogs.requests import TableCommit
from flareiac_iceberg.catalogs.resolve import target_of
from flareiac_iceberg.format.metadata import TableFile
from flareiac_iceberg.table.changes import Change
from flareiac_iceberg.table.column_changes import AddColumn, SetIdentifier
from flareiac_iceberg.table.schema_updates import updates
from tests.iceberg.lake import CALLS, Lake, columns

PLACE: dict[str, Any] = {"namespace": "n"}
BRANCH: dict[str, Any] = {"retain": None, "min_snapshots_to_keep": None, "max_snapshot_age": None}


@pytest.fixture
def adopted(lake: Lake) -> Lake:
    """A table of somebody else's, whose columns are not managed."""
    catalog = lake.other_made()
    catalog.create_namespace("n")
    inner = StructType(NestedField(5, "zip", StringType(), required=True))
    schema = Schema(
        NestedField(1, "id", LongType(), required=True),
        NestedField(2, "price", DoubleType(), required=True),
        NestedField(3, "d", DateType()),
        NestedField(4, "a", inner, required=False),
    )
    catalog.create_table("n.t", schema)
    catalog.close()
    lake.apply("table.t", PLACE, importing=True)
    return lake


def blocked(lake: Lake, body: dict[str, Any], **options: Any) -> list[str]:
    return [item.code for item in lake.plan("table.t", body, **options).blockers]


@pytest.mark.parametrize(
    ("layout", "code"),
    [
        ({"identifier": ["price"]}, "FII057"),
        ({"identifier": ["a"]}, "FII057"),
        ({"identifier": ["d"]}, "FII037"),
        ({"identifier": ["a.zip"]}, "FII037"),
        ({"identifier": ["no"]}, "FII035"),
        ({"partition_by": [CALLS["hour"]("d")]}, "FII064"),
        ({"partition_by": [CALLS["bucket"](4, "price")]}, "FII064"),
        ({"partition_by": ["a"]}, "FII064"),
        ({"partition_by": [CALLS["day"]("d", "price")]}, "FII061"),
        ({"sort_by": [CALLS["asc"](CALLS["hour"]("d"))]}, "FII064"),
        ({"sort_by": ["a"]}, "FII064"),
    ],
)
def test_a_layout_must_fit_columns_that_are_not_managed_too(
    adopted: Lake, layout: dict[str, Any], code: str
) -> None:
    assert blocked(adopted, PLACE | layout) == [code]


def test_a_layout_that_fits_columns_that_are_not_managed(adopted: Lake) -> None:
    body = PLACE | {"identifier": ["id"], "partition_by": [CALLS["day"]("d"), "a.zip"], "sort_by": ["price"]}
    adopted.apply("table.t", body)
    assert adopted.table("n.t").schema().identifier_field_names() == {"id"}
    assert adopted.plan("table.t", body).action is Action.NO_OP


def test_an_identifier_that_is_not_managed_keeps_its_columns_required(lake: Lake) -> None:
    wide = PLACE | {"column": columns(a="struct<zip: string not null> not null")}
    lake.apply("table.t", wide | {"identifier": ["a.zip"]})
    lake.apply("table.t", wide)
    optional = lake.plan("table.t", PLACE | {"column": columns(a="struct<zip: string not null>")})
    assert [item.code for item in optional.blockers] == ["FII037"]
    assert optional.blockers[0].why.startswith("a.zip cannot identify rows: a may be null")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            SetIdentifier(old=(), new=("price",)),
            "price is double: identifier columns are not float or double",
        ),
        (
            AddColumn(path="was", type="long", required=False, comment=None, after=None),
            "column was has the name of a partition field",
        ),
    ],
)
def test_what_nobody_could_load_is_not_committed(adopted: Lake, change: Change, told: str) -> None:
    adopted.apply("table.t", PLACE | {"partition_by": [CALLS["bucket"](4, "id", "was")]})
    adopted.apply("table.t", PLACE | {"partition_by": []})
    location = adopted.table("n.t").metadata_location
    metadata = load(location)
    target = target_of(adopted.state["table.t"].attributes, adopted.references)
    connections = Connections()
    commit = TableCommit(base=TableFile(location, metadata), updates=updates(metadata, [change]), needs=())
    with pytest.raises(Failure) as failure:
        connections.get(target.catalog).commit(target, commit)
    connections.close()
    assert told in failure.value.diagnostics[0].detail
    assert adopted.table("n.t").metadata_location == location


REQUIRED: list[dict[str, Any]] = [
    {"column": columns(id="long", more="string not null")},
    {"column": columns(id="long not null")},
    {"column": columns(id="long not null"), "identifier": ["id"]},
]


@pytest.mark.parametrize("wanted", REQUIRED)
def test_rows_of_a_branch_count_as_rows(lake: Lake, wanted: dict[str, Any]) -> None:
    body = PLACE | {"column": columns(id="long"), "branch": {"audit": BRANCH}}
    lake.apply("table.t", body)
    planned = lake.plan("table.t", body | wanted)
    assert not planned.blockers, "the snapshot at which the branch starts has no rows"
    lake.table("n.t").append(pa.table({"id": pa.array([None], pa.int64())}), branch="audit")
    assert set(blocked(lake, body | wanted)) <= {"FII031", "FII032"}
    assert blocked(lake, body | wanted)
    late = lake.carry_out("table.t", planned)
    assert isinstance(late, NotApplied)
    assert [item.code for item in late.diagnostics] == ["FII040"]


def test_a_column_may_become_required_beside_an_empty_branch(lake: Lake) -> None:
    body = PLACE | {"column": columns(id="long"), "branch": {"audit": BRANCH}}
    lake.apply("table.t", body)
    lake.apply("table.t", body | REQUIRED[2])
    assert lake.table("n.t").schema().identifier_field_names() == {"id"}


def test_a_dropped_partition_column_leaves_its_name(lake: Lake) -> None:
    lake.apply("table.t", PLACE | {"column": columns(id="long", d="string"), "partition_by": ["d"]})
    dated = PLACE | {"column": columns(id="long", d="date"), "partition_by": []}
    refused = lake.plan("table.t", dated)
    assert [item.code for item in refused.blockers] == ["FII036"]
    assert any("drop d" in way for way in refused.blockers[0].ways_out)
    lake.apply("table.t", PLACE | {"column": columns(id="long"), "partition_by": []})
    lake.apply("table.t", dated)
    lake.apply("table.t", dated | {"partition_by": ["d"]})
    assert lake.plan("table.t", dated | {"partition_by": ["d"]}).action is Action.NO_OP


def test_nobody_is_advised_to_drop_a_column_that_can_not_be_dropped(lake: Lake) -> None:
    lake.apply("table.t", PLACE | {"column": columns(id="long", d="string"), "sort_by": ["d"]})
    (refused,) = lake.plan(
        "table.t", PLACE | {"column": columns(id="long", d="date"), "sort_by": []}
    ).blockers
    assert refused.code == "FII036"
    assert not any("drop d" in way for way in refused.ways_out)


def test_a_column_keeps_the_name_of_its_own_partition_field(lake: Lake) -> None:
    body = PLACE | {"column": columns(id="long", d="string"), "partition_by": ["d"]}
    lake.apply("table.t", body)
    lake.apply(
        "table.t",
        PLACE | {"column": columns(id="long", e="string"), "renamed": {"d": "e"}, "partition_by": ["e"]},
    )
    another = PLACE | {"column": columns(id="long", e="string", d="string"), "partition_by": ["e"]}
    assert blocked(lake, another) == ["FII039"]
    lake.apply(
        "table.t",
        PLACE | {"column": columns(id="long", d="string"), "renamed": {"e": "d"}, "partition_by": ["d"]},
    )
    lake.append("n.t", [{"id": 1, "d": "x"}])


def test_the_place_of_a_partition_field_of_version_1_keeps_its_column(lake: Lake) -> None:
    body = PLACE | {"column": columns(id="long", d="string"), "format_version": 1}
    lake.apply("table.t", body | {"partition_by": ["d"]})
    narrow = body | {"column": columns(id="long"), "partition_by": []}
    assert blocked(lake, narrow) == ["FII095"]
    assert blocked(lake, narrow | {"format_version": 2}) == []
    lake.apply("table.t", body | {"partition_by": []})
    assert blocked(lake, narrow) == ["FII095"]
    assert blocked(lake, narrow | {"format_version": 2}) == ["FII095"]
    unused = narrow | {"column": columns(id="long", d_unused="string"), "renamed": {"d": "d_unused"}}
    lake.apply("table.t", unused)
    lake.append("n.t", [{"id": 1, "d_unused": "x"}])


def test_names_of_former_partition_fields(lake: Lake) -> None:
    body = PLACE | {"column": columns(id="long", ts="timestamptz", o="long")}
    lake.apply("table.t", body | {"partition_by": [CALLS["day"]("ts"), CALLS["bucket"](4, "id", "p")]})
    lake.apply("table.t", body | {"partition_by": []})
    for column in ("ts_day", "p"):
        wider = body | {"column": {**body["column"], **columns(**{column: "date"})}, "partition_by": []}
        assert blocked(lake, wider) == ["FII039"]
        assert blocked(
            lake,
            body
            | {"column": columns(id="long", ts="timestamptz", **{column: "long"}), "renamed": {"o": column}},
        ) == ["FII039"]
    other = lake.plan("table.t", body | {"partition_by": [CALLS["bucket"](4, "o", "p")]})
    assert [item.code for item in other.blockers] == ["FII061"]
    assert other.blockers[0].ways_out == ('give it a name as last argument: bucket(4, "o", "p_2")',)
    lake.apply("table.t", body | {"partition_by": [CALLS["bucket"](4, "o", "q")]})
    assert blocked(lake, body | {"partition_by": [CALLS["bucket"](4, "o", "p")]}) == ["FII061"]
    lake.apply("table.t", body | {"partition_by": [CALLS["bucket"](4, "id", "p")]})


def test_columns_that_differ_in_case_only(lake: Lake) -> None:
    catalog = lake.other_made()
    catalog.create_namespace("n")
    inner = StructType(NestedField(3, "Zip", StringType(), required=False))
    catalog.create_table(
        "n.t",
        Schema(NestedField(1, "ID", LongType()), NestedField(2, "a", inner), NestedField(4, "n", LongType())),
    )
    catalog.close()
    lower = lake.plan("table.t", PLACE | {"column": columns(id="long")}, importing=True)
    assert [item.code for item in lower.blockers] == ["FII055"]
    assert blocked(lake, PLACE | {"column": columns(ID="long", a="struct<zip: string>")}, importing=True) == [
        "FII055"
    ]
    assert blocked(lake, PLACE | {"column": columns(id="long"), "renamed": {"n": "id"}}, importing=True) == [
        "FII055"
    ]
    renamed = PLACE | {"column": columns(id="long"), "renamed": {"ID": "id"}}
    lake.apply("table.t", renamed, importing=True)
    assert [item.name for item in lake.table("n.t").schema().fields] == ["id", "a", "n"]
    lake.apply("table.t", PLACE | {"column": columns(Id="long")})
    assert [item.name for item in lake.table("n.t").schema().fields] == ["Id", "a", "n"]


def test_partition_fields_without_ids_of_an_early_writer(lake: Lake) -> None:
    body = PLACE | {"column": columns(id="long", name="string"), "format_version": 1}
    lake.apply("table.t", body | {"partition_by": [CALLS["bucket"](4, "id"), "name"]})
    file = Path(urlparse(lake.table("n.t").metadata_location).path)
    found = json.loads(file.read_text())
    early = {
        name: value
        for name, value in found.items()
        if name not in ("partition-specs", "default-spec-id", "last-partition-id")
    }
    early["partition-spec"] = [
        {name: item[name] for name in item if name != "field-id"} for item in found["partition-spec"]
    ]
    file.write_text(json.dumps(early))
    changed = body | {"partition_by": ["name", CALLS["truncate"](2, "name")]}
    lake.apply("table.t", changed)
    after = json.loads(Path(urlparse(lake.table("n.t").metadata_location).path).read_text())
    ids = [(item["field-id"], item["transform"]) for item in after["partition-spec"]]
    assert ids == [(1000, "void"), (1001, "identity"), (1002, "truncate[2]")]
    assert lake.plan("table.t", changed).action is Action.NO_OP


@pytest.mark.parametrize("again", [False, True], ids=["once", "twice"])
def test_a_partition_field_that_another_tool_removed_comes_back_to_its_place(lake: Lake, again: bool) -> None:
    """Other tools leave the name with the place. Some take a new place for the field when they add it
    again.
    """
    body = PLACE | {"column": columns(id="long", region="string"), "format_version": 1}
    lake.apply("table.t", body | {"partition_by": ["region"]})
    file = Path(urlparse(lake.table("n.t").metadata_location).path)
    found = json.loads(file.read_text())
    gone = {"source-id": 2, "field-id": 1000, "transform": "void", "name": "region"}
    specs = [[gone]]
    if again:
        first, second = gone | {"name": "region_1000"}, gone | {"field-id": 1001}
        specs = [[first], [first, second | {"transform": "identity"}], [first, second]]
    found["partition-specs"] += [
        {"spec-id": number, "fields": fields} for number, fields in enumerate(specs, 1)
    ]
    found["default-spec-id"], found["partition-spec"] = len(specs), specs[-1]
    found["last-partition-id"] = 1001 if again else 1000
    file.write_text(json.dumps(found))
    lake.apply("table.u", body | {"name": "t"}, importing=True)
    lake.apply("table.u", body | {"name": "t", "partition_by": ["region"]})
    assert [
        (item.name, str(item.transform))
        for item in lake.table("n.t").spec().fields
        if str(item.transform) != "void"
    ] == [("region", "identity")]
    assert len({item.name for item in lake.table("n.t").spec().fields}) == len(specs[-1])


def test_a_partition_field_of_a_column_that_no_path_says_goes(lake: Lake) -> None:
    catalog = lake.other_made()
    catalog.create_namespace("n")
    schema = Schema(
        NestedField(1, "id", LongType()),
        NestedField(2, "a.b", StringType(), required=True),
        identifier_field_ids=[2],
    )
    catalog.create_table(
        "n.t", schema, partition_spec=PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "ab"))
    )
    catalog.close()
    lake.apply("table.t", PLACE | {"partition_by": [], "identifier": []}, importing=True)
    assert lake.table("n.t").spec().is_unpartitioned()


def test_a_table_with_an_at_sign_in_its_name_is_imported(adopted: Lake) -> None:
    catalog = adopted.other()
    catalog.rename_table("n.t", "n.t@home")
    catalog.close()
    body = PLACE | {"name": "t@home"}
    wanted = adopted.canonical("table", "u", body)
    driver = adopted.session.driver("table")
    for name in ("lake.n.t@home", f"lake.n.t@home@{adopted.table('n.t@home').metadata.table_uuid}"):
        assert isinstance(driver.read(adopted.read_request("table.u", wanted, import_id=name)), Present)
    assert isinstance(driver.read(adopted.read_request("table.u", wanted, import_id="lake.n.t")), Unreadable)
