"""Format versions and what comes with them: tables of version 1, upgrades, and column defaults of version
3.
"""

import json
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

import pytest

from flareiac.kernel.data import Attributes
from flareiac.sdk.changes import Action, Effect
from flareiac_iceberg.format.default_value import DoesNotFit, default_value, same_form
from tests.iceberg.lake import CALLS, Lake, Rejected, columns

BODY: dict[str, Any] = {
    "namespace": "n",
    "column": columns(id="long", name="string"),
    "partition_by": [CALLS["bucket"](4, "id")],
}


def block(kind: str, default: Any = None) -> dict[str, Any]:
    return {"type": kind, "comment": None, "tags": None, "default": default}


def metadata(lake: Lake) -> Attributes:
    found: Attributes = json.loads(Path(urlparse(lake.table("n.t").metadata_location).path).read_text())
    return found


def field(lake: Lake, name: str) -> Attributes:
    found = metadata(lake)
    schema = next(item for item in found["schemas"] if item["schema-id"] == found["current-schema-id"])
    (only,) = (item for item in schema["fields"] if item["name"] == name)
    return dict(only)


def test_a_new_table_of_version_3(lake: Lake) -> None:
    body = BODY | {
        "format_version": 3,
        "column": columns(id="long not null") | {"kind": block("string", "web")},
    }
    proposal = lake.apply("table.t", body)
    assert proposal.action is Action.CREATE
    found = metadata(lake)
    assert (found["format-version"], found["next-row-id"]) == (3, 0)
    assert field(lake, "kind")["write-default"] == "web"
    assert lake.table("n.t").metadata.format_version == 3
    assert lake.plan("table.t", body).action is Action.NO_OP


def test_an_upgrade_with_a_default_for_new_rows(lake: Lake) -> None:
    lake.apply("table.t", BODY)
    lake.append("n.t", [{"id": 1, "name": "a"}])
    body = BODY | {"format_version": 3, "column": {**BODY["column"], "n": block("int", 7)}}
    proposal = lake.apply("table.t", body)
    assert [(step.text, step.effect) for step in proposal.steps] == [
        ("upgrade from format version 2 to 3", Effect.IRREVERSIBLE),
        ("add column n int, 7 by default", Effect.METADATA),
    ]
    assert field(lake, "n")["write-default"] == 7
    assert lake.rows("n.t") == [{"id": 1, "name": "a", "n": None}]
    assert lake.plan("table.t", body).action is Action.NO_OP
    required = BODY | {"format_version": 3, "column": {**body["column"], "r": block("string not null", "x")}}
    assert [item.code for item in lake.plan("table.t", required).blockers] == ["FII032"]


def test_a_default_that_changes_holds_for_new_rows(lake: Lake) -> None:
    lake.apply("table.t", BODY | {"format_version": 3})
    body = BODY | {"format_version": 3, "column": {**BODY["column"], "n": block("int", 7)}}
    lake.apply("table.t", body)
    body = BODY | {"format_version": 3, "column": {**BODY["column"], "n": block("int", 8)}}
    proposal = lake.apply("table.t", body)
    assert [step.text for step in proposal.steps] == ["set the default of column n to 8"]
    assert [(change.path, change.old, change.new) for change in proposal.changes] == [
        (("column", "n", "default"), 7, 8)
    ]
    assert field(lake, "n")["write-default"] == 8
    left_out = BODY | {"format_version": 3, "column": {**BODY["column"], **columns(n="int")}}
    assert not lake.plan("table.t", left_out).steps


def test_what_a_library_does_not_know_stays_in_the_metadata(lake: Lake) -> None:
    lake.apply("table.t", BODY | {"format_version": 3})
    found, location = metadata(lake), Path(urlparse(lake.table("n.t").metadata_location).path)
    location.write_text(json.dumps(found | {"encryption-keys": [{"key-id": "k"}], "next-row-id": 40}))
    lake.apply("table.t", BODY | {"format_version": 3, "comment": "x"})
    after = metadata(lake)
    assert (after["encryption-keys"], after["next-row-id"]) == ([{"key-id": "k"}], 40)
    assert [item["metadata-file"] for item in after["metadata-log"]][-1].endswith(location.name)


def test_a_branch_of_an_empty_table_of_version_3(lake: Lake) -> None:
    body = BODY | {
        "format_version": 3,
        "branch": {"audit": {"retain": None, "min_snapshots_to_keep": None, "max_snapshot_age": None}},
    }
    lake.apply("table.t", body)
    found = metadata(lake)
    (snapshot,) = found["snapshots"]
    assert (snapshot["first-row-id"], snapshot["added-rows"], found["last-sequence-number"]) == (
        0,
        0,
        snapshot["sequence-number"],
    )
    assert lake.table("n.t").scan(snapshot_id=snapshot["snapshot-id"]).to_arrow().num_rows == 0


def test_a_table_of_version_1_from_its_first_row_to_version_2(lake: Lake) -> None:
    body = BODY | {"format_version": 1, "partition_by": [CALLS["bucket"](4, "id"), "name"]}
    lake.apply("table.t", body)
    lake.append("n.t", [{"id": 1, "name": "a"}])
    wider = body | {"column": columns(id="long", name="string", more="int"), "partition_by": ["name"]}
    lake.apply("table.t", wider)
    found = metadata(lake)
    assert [item["transform"] for item in found["partition-spec"]] == ["void", "identity"]
    assert [item["name"] for item in found["schema"]["fields"]] == ["id", "name", "more"]
    assert lake.plan("table.t", wider).action is Action.NO_OP
    lake.append("n.t", [{"id": 2, "name": "b", "more": 1}])
    assert sorted(row["id"] for row in lake.rows("n.t")) == [1, 2]
    back = body | {"column": wider["column"]}
    lake.apply("table.t", back)
    assert lake.plan("table.t", back).action is Action.NO_OP
    lake.append("n.t", [{"id": 3, "name": "c", "more": 1}])
    second = wider | {"format_version": 2}
    proposal = lake.apply("table.t", second)
    assert proposal.steps[0].effect is Effect.IRREVERSIBLE
    found = metadata(lake)
    assert not {"schema", "partition-spec"} & set(found)
    lake.append("n.t", [{"id": 4, "name": "d", "more": 1}])
    assert sorted(row["id"] for row in lake.rows("n.t")) == [1, 2, 3, 4]
    assert [item.code for item in lake.plan("table.t", wider).blockers] == ["FII033"]


def test_metadata_of_an_early_writer_is_completed(lake: Lake) -> None:
    lake.apply("table.t", BODY | {"format_version": 1})
    lake.append("n.t", [{"id": 1, "name": "a"}])
    location = Path(urlparse(lake.table("n.t").metadata_location).path)
    found = metadata(lake)
    dropped = {
        "schemas",
        "partition-specs",
        "sort-orders",
        "refs",
        "last-partition-id",
        "current-schema-id",
        "default-spec-id",
    }
    location.write_text(
        json.dumps(
            {name: value for name, value in found.items() if name not in dropped | {"default-sort-order-id"}}
        )
    )
    body = BODY | {
        "format_version": 1,
        "column": columns(id="long", name="string", more="int"),
        "tag": {"x": dict.fromkeys(["snapshot_id", "retain"])},
    }
    lake.apply("table.t", body)
    assert lake.rows("n.t") == [{"id": 1, "name": "a", "more": None}]
    assert set(metadata(lake)["refs"]) == {"main", "x"}
    assert lake.plan("table.t", body).action is Action.NO_OP


FORMS: list[tuple[str, Any, Any]] = [
    ("boolean", True, True),
    ("int", -5, -5),
    ("long", 2**62, 2**62),
    ("double", 1, 1.0),
    ("decimal(5,2)", "14.2", "14.20"),
    ("decimal(5,2)", -0.5, "-0.50"),
    ("decimal(5,0)", 1200, "1200"),
    (
        "decimal(38,10)",
        "-1234567890123456789012345678.0123456789",
        "-1234567890123456789012345678.0123456789",
    ),
    ("date", "2026-01-31", "2026-01-31"),
    ("time", "13:45", "13:45:00"),
    ("timestamptz", "2026-01-31T13:45:00+02:00", "2026-01-31T11:45:00+00:00"),
    ("timestamptz", "2026-01-31T13:45:00Z", "2026-01-31T13:45:00+00:00"),
    ("timestamp_ntz", "2026-01-31 13:45:00.5", "2026-01-31T13:45:00.500000"),
    ("uuid", "F79C3E09-677C-4BBD-A479-3F349CB785E7", "f79c3e09-677c-4bbd-a479-3f349cb785e7"),
    ("fixed(2)", "00ff", "00FF"),
    ("binary", "", ""),
]


@pytest.mark.parametrize(("kind", "value", "form"), FORMS)
def test_forms_of_defaults(kind: str, value: Any, form: Any) -> None:
    assert default_value(kind, value) == form
    assert default_value(kind, form) == form
    assert same_form(kind, form) == form


MISFITS: list[tuple[str, Any]] = [
    ("boolean", 1),
    ("int", 2**31),
    ("int", 1.5),
    ("int", True),
    ("long", "7"),
    ("float", float("inf")),
    ("decimal(5,2)", 1.234),
    ("decimal(5,2)", 12345),
    ("decimal(5,2)", "NaN"),
    ("date", "31.1.2026"),
    ("time", "13:45:00+01:00"),
    ("timestamptz", "2026-01-31T13:45:00"),
    ("timestamptz", "0001-01-01T00:00:00+10:00"),
    ("timestamp_ntz", "2026-01-31T13:45:00Z"),
    ("uuid", "x"),
    ("fixed(2)", "00"),
    ("binary", "zz"),
    ("struct", {"a": 1}),
    ("list", [1]),
]


@pytest.mark.parametrize(("kind", "value"), MISFITS)
def test_values_that_do_not_fit(kind: str, value: Any) -> None:
    with pytest.raises(DoesNotFit, match=r"\.$"):
        default_value(kind, value)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"column": {"a": block("int", 1)}}, "FII074"),
        ({"column": {"a": block("int", 1)}, "format_version": 2}, "FII074"),
        ({"column": {"a": block("int", "x")}, "format_version": 3}, "FII075"),
        ({"column": {"a": block("list<int>", [1])}, "format_version": 3}, "FII075"),
        ({"column": {"a": block("decimal(5,2)", 1.5)}, "format_version": 3}, "FII076"),
        ({"column": {"a": block("int")}, "format_version": 4}, "FII067"),
    ],
)
def test_refused_before_any_system_is_asked(lake: Lake, body: dict[str, Any], code: str) -> None:
    with pytest.raises(Rejected) as found:
        lake.canonical("table", "t", {"namespace": "n"} | body)
    assert found.value.codes == [code]
