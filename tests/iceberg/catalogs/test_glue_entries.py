"""Members that others wrote into the entry of a table or database of Glue stay, whatever FlareIaC changes.

The generator takes every member that Glue's own description of a request has, so that one that is added to
it is tried without a line here.
"""

import random
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import boto3
import botocore.session
import pytest

from flareiac.sdk.changes import Action
from flareiac_iceberg.catalogs.glue.table_input import accepted, moved, with_properties
from tests.iceberg.lake import columns
from tests.support.catalog_kinds import KindLake, Servers, kind_lake

GLUE: Any = botocore.session.get_session().get_service_model("glue")
TABLE, DATABASE = GLUE.shape_for("TableInput"), GLUE.shape_for("DatabaseInput")
SAMPLE, MANY = 60, 2000
ANSWERED_ONLY = {
    "CreateTime": 1,
    "CreatedBy": "x",
    "IsRegisteredWithLakeFormation": True,
    "VersionId": "7",
    "DatabaseName": "d",
    "CatalogId": "1",
}


def filled(shape: Any, dice: random.Random, depth: int = 6) -> Any:
    """A value of every member of a shape, as an answer may have it."""
    match shape.type_name:
        case "structure":
            return {
                name: filled(inner, dice, depth - 1)
                for name, inner in shape.members.items()
                if name in shape.required_members or (depth and dice.random() < 0.9)
            }
        case "list":
            return [filled(shape.member, dice, depth - 1) for _ in range(dice.randint(1, 2))] if depth else []
        case "map":
            return {f"key{each}": filled(shape.value, dice, depth - 1) for each in range(2)} if depth else {}
        case "boolean":
            return dice.random() < 0.5
        case "timestamp":
            return datetime(2026, 1, 2, tzinfo=UTC)
        case "string":
            return f"text {dice.randrange(99)}"
        case _:
            return dice.randrange(1, 99)


def metadata(*fields: tuple[int, str, str], **properties: str) -> dict[str, Any]:
    rows = [
        {"id": number, "name": name, "type": "int", "required": False, **({"doc": doc} if doc else {})}
        for number, name, doc in fields
    ]
    return {"current-schema-id": 0, "schemas": [{"schema-id": 0, "fields": rows}], "properties": properties}


def made(after: dict[str, Any]) -> dict[str, Any]:
    """The update that Iceberg's library would send, in short."""
    return {
        "Name": "t",
        "TableType": "EXTERNAL_TABLE",
        "Parameters": {"table_type": "ICEBERG", "metadata_location": "new", **after["properties"]},
        "StorageDescriptor": {
            "Location": "s3://b/t",
            "Columns": [
                {
                    "Name": item["name"],
                    "Type": "int",
                    "Parameters": {"iceberg.field.id": str(item["id"])},
                    **({"Comment": item["doc"]} if "doc" in item else {}),
                }
                for item in after["schemas"][0]["fields"]
            ],
        },
    }


def test_nothing_of_others_is_lost(request: pytest.FixtureRequest) -> None:
    dice = random.Random(4)
    for _ in range(MANY if request.config.getoption("--slow") else SAMPLE):
        there = {"Name": "t", **filled(TABLE, dice)}
        assert accepted({**there, **ANSWERED_ONLY}, TABLE) == there
        before, after = metadata((1, "a", "")), metadata((1, "a", ""), (2, "b", ""))
        found = moved(there, made(after), before, after)
        for name in there.keys() - {"Name", "Parameters", "StorageDescriptor"}:
            assert found[name] == there[name]
        assert (there.get("Parameters") or {}).items() <= found["Parameters"].items()
        storage = there.get("StorageDescriptor") or {}
        for name in storage.keys() - {"Columns", "Location"}:
            assert found["StorageDescriptor"][name] == storage[name]
        database = {"Name": "d", **filled(DATABASE, dice)}
        changed = with_properties(
            accepted({**database, **ANSWERED_ONLY}, DATABASE), {"p": "1"}, ["key0", "q"]
        )
        parameters = {**database.get("Parameters", {}), "p": "1"}
        parameters.pop("key0", None)
        assert changed == {**database, "Parameters": parameters}


@pytest.mark.parametrize(
    ("there", "before", "after", "expected"),
    [
        ("theirs", "", "", "theirs"),
        ("theirs", "doc", "doc", "theirs"),
        ("", "doc", "doc", "doc"),
        ("doc", "doc", "new", "new"),
        ("theirs", "doc", "new", "new"),
        ("doc", "doc", "", None),
        ("theirs", "doc", "", "theirs"),
        ("theirs", "", "new", "new"),
    ],
)
def test_a_comment_of_a_column_follows_it_under_another_name(
    there: str, before: str, after: str, expected: str | None
) -> None:
    column = {
        "Name": "old",
        "Type": "int",
        "Comment": there,
        "Parameters": {"iceberg.field.id": "1", "owner": "x"},
    }
    storage = {"Columns": [column]}
    new = metadata((1, "new", after))
    found = moved({"StorageDescriptor": storage}, made(new), metadata((1, "old", before)), new)
    (only,) = found["StorageDescriptor"]["Columns"]
    assert (only["Name"], only.get("Comment")) == ("new", expected)
    assert only["Parameters"] == {"iceberg.field.id": "1", "owner": "x"}


def test_a_removed_property_leaves_the_parameters_and_theirs_stay() -> None:
    there = {"Parameters": {"ours": "1", "set": "theirs", "more": "x"}}
    after = metadata((1, "a", ""))
    found = moved(there, made(after), metadata((1, "a", ""), ours="1", set="ours"), after)
    assert {"set": "theirs", "more": "x"}.items() <= found["Parameters"].items()
    assert "ours" not in found["Parameters"]


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    found = Servers(tmp_path_factory.mktemp("servers"))
    yield found
    found.close()


@pytest.fixture
def lake(tmp_path: Path, servers: Servers, request: pytest.FixtureRequest) -> Iterator[KindLake]:
    with kind_lake("glue", tmp_path, servers, request) as found:
        yield found


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_changes_of_a_table_keep_what_glue_was_given(lake: KindLake, servers: Servers) -> None:
    block = {"namespace": lake.namespace, "column": columns(id="long", region="string"), "on_destroy": "drop"}
    assert lake.apply("table.t", block).action is Action.CREATE
    glue: Any = boto3.client("glue", endpoint_url=servers.aws(), region_name="us-east-1")

    def entry() -> dict[str, Any]:
        found: dict[str, Any] = glue.get_table(DatabaseName=lake.namespace, Name="t")["Table"]
        return found

    theirs = {
        "Description": "Orders of the shop",
        "Owner": "team-a",
        "Retention": 30,
        "ViewOriginalText": "/* x */",
        "PartitionKeys": [{"Name": "p", "Type": "string"}],
        "TargetTable": {"DatabaseName": "other", "Name": "u"},
    }
    given = accepted(entry(), TABLE) | theirs
    given["Parameters"]["classification"] = "gold"
    given["StorageDescriptor"] |= {"Parameters": {"x": "1"}, "AdditionalLocations": ["s3://b/more"]}
    given["StorageDescriptor"]["Columns"][0] |= {"Comment": "Key of the shop"}
    glue.update_table(DatabaseName=lake.namespace, TableInput=given)
    # Others changed the entry only: that is none of what is planned.
    assert lake.plan("table.t", block).action is Action.NO_OP
    steps = (
        {"comment": "wider", "column": columns(id="long", region="string", n="int")},
        {"column": columns(key="long", region="string", n="int"), "renamed": {"id": "key"}},
        {"properties": {"write.format.default": "orc"}, "column": columns(key="long", n="int")},
        {"properties": {}, "column": columns(key="long", n="int")},
    )
    for step in steps:
        assert lake.apply("table.t", block | step).action is Action.UPDATE
        found = entry()
        assert {name: found[name] for name in theirs} == theirs
        assert found["Parameters"]["classification"] == "gold"
        storage = found["StorageDescriptor"]
        assert (storage["Parameters"], storage["AdditionalLocations"]) == ({"x": "1"}, ["s3://b/more"])
        assert storage["Columns"][0]["Comment"] == "Key of the shop"
        assert lake.plan("table.t", block | step).action is Action.NO_OP
    assert storage["Columns"][0]["Name"] == "key"
    assert "write.format.default" not in found["Parameters"]
    assert found["Parameters"]["previous_metadata_location"] != found["Parameters"]["metadata_location"]
    lake.state.pop("table.t")
    assert lake.apply("table.t", block | step, importing=True).action is Action.ADOPT
    assert {name: entry()[name] for name in theirs} == theirs


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_properties_of_a_namespace_keep_what_glue_was_given(lake: KindLake, servers: Servers) -> None:
    block = {"name": lake.namespace, "properties": {"a": "1"}, "on_destroy": "drop"}
    assert lake.apply("namespace.n", block).action is Action.CREATE
    glue: Any = boto3.client("glue", endpoint_url=servers.aws(), region_name="us-east-1")
    rights = [{"Principal": {"DataLakePrincipalIdentifier": "me"}, "Permissions": ["SELECT"]}]
    there = accepted(glue.get_database(Name=lake.namespace)["Database"], DATABASE)
    given = {**there, "CreateTableDefaultPermissions": rights, "Description": "theirs"}
    given["Parameters"] = {**given["Parameters"], "b": "theirs"}
    glue.update_database(Name=lake.namespace, DatabaseInput=given)
    assert lake.apply("namespace.n", block | {"properties": {"a": "2"}}).action is Action.UPDATE
    found = glue.get_database(Name=lake.namespace)["Database"]
    assert found["CreateTableDefaultPermissions"] == rights
    assert found["Description"] == "theirs"
    assert found["Parameters"].items() >= {"a": "2", "b": "theirs"}.items()
