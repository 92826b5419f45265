"""Metadata that other programs wrote: versions that are not known, ids that are taken, keys that are theirs.

The laws run over random schemas; ``--slow`` takes many more of them.
"""

import copy
import random
import re
from collections.abc import Iterator
from typing import Any

import pytest

from flareiac.kernel.diagnostics import Failure
from flareiac_iceberg.catalogs.base import CatalogSpec
from flareiac_iceberg.catalogs.entries import Pointer
from flareiac_iceberg.catalogs.kinds import spec_of
from flareiac_iceberg.catalogs.metadata_files import load_entry
from flareiac_iceberg.format.column_ids import levels
from flareiac_iceberg.format.metadata_update import updated
from flareiac_iceberg.format.new_metadata import new_metadata
from flareiac_iceberg.format.spec import PartitionField, SortField
from flareiac_iceberg.table.changes import AddPartitionField, SetSortOrder
from flareiac_iceberg.table.column_changes import AddColumn, DropColumn, RenameColumn
from flareiac_iceberg.table.schema_updates import new_order, new_spec, updates
from tests.iceberg.lake import CATALOG, Lake

SAMPLE, MANY = 150, 2000
ADDED = "struct<x: int, y: list<struct<z: string>>, m: map<string, list<long>>>"


@pytest.fixture
def catalog(lake: Lake) -> CatalogSpec:
    return spec_of(CATALOG, lake.references[CATALOG].attributes)


@pytest.fixture
def cases(request: pytest.FixtureRequest) -> int:
    return MANY if request.config.getoption("--slow") else SAMPLE


def some_type(dice: random.Random, ids: Iterator[int], depth: int) -> Any:
    match dice.randrange(6) if depth else 0:
        case 3:
            return {"type": "struct", "fields": some_fields(dice, ids, depth - 1)}
        case 4:
            return {
                "type": "list",
                "element-id": next(ids),
                "element": some_type(dice, ids, depth - 1),
                "element-required": False,
            }
        case 5:
            return {
                "type": "map",
                "key-id": next(ids),
                "key": "string",
                "value-id": next(ids),
                "value": some_type(dice, ids, depth - 1),
                "value-required": False,
            }
        case _:
            return dice.choice(["int", "long", "string", "date"])


def some_fields(dice: random.Random, ids: Iterator[int], depth: int) -> list[dict[str, Any]]:
    names = dice.sample(["a", "b", "c", "d.e", "f"], dice.randint(1, 4))
    return [
        {"id": next(ids), "name": name, "required": False, "type": some_type(dice, ids, depth)}
        for name in names
    ]


def some_table(dice: random.Random) -> dict[str, Any]:
    """A table with several schemas, whose counters may all be too low."""
    pool = list(range(1, 400))
    dice.shuffle(pool)
    ids = iter(pool)
    plain = {"id": next(ids), "name": "id", "required": False, "type": "long"}
    schemas: list[dict[str, Any]] = []
    for number in dice.sample(range(9), dice.randint(1, 4)):
        old = dice.choice(schemas)["fields"] if schemas and dice.random() < 0.6 else [plain]
        fields = [*copy.deepcopy(old)]
        taken = {item["name"] for item in fields}
        fields += [item for item in some_fields(dice, ids, 3) if item["name"] not in taken]
        schemas.append({"type": "struct", "schema-id": number, "fields": fields})
    places = {"id": int(str(plain["id"]))}
    spec = new_spec([PartitionField(transform="bucket", param=4, column="id")], places)
    order = new_order([SortField(transform="identity", column="id")], places)
    made = new_metadata(
        dice.choice([1, 2, 3]), (schemas[0], spec, order), {}, table_uuid="u", location="file:///t", now=1
    )
    made["schemas"], made["current-schema-id"] = schemas, dice.choice(schemas)["schema-id"]
    if made["format-version"] == 1:
        made["schema"] = next(item for item in schemas if item["schema-id"] == made["current-schema-id"])
    made["last-column-id"] = dice.choice([0, 1, max(used(made)), max(used(made)) + 7])
    made["last-partition-id"] = dice.choice([0, 999, 1000, 1005, None])
    made["partition-specs"] = [
        {**spec, "spec-id": dice.choice([0, 3])},
        {"spec-id": 7, "fields": [{**spec["fields"][0], "field-id": 1009, "name": "other"}]},
    ]
    made["default-spec-id"] = made["partition-specs"][0]["spec-id"]
    return made


def used(metadata: dict[str, Any]) -> list[int]:
    return [each for schema in metadata["schemas"] for each, _ in levels(schema)]


def loaded(metadata: Any, catalog: CatalogSpec) -> dict[str, Any]:
    entry = Pointer(location="file:///m.json", is_view=False, fetch=lambda: ("file:///m.json", metadata))
    return dict(load_entry(entry, catalog).metadata)


def refusal(metadata: Any, catalog: CatalogSpec) -> tuple[str, str]:
    with pytest.raises(Failure) as failure:
        loaded(metadata, catalog)
    (only,) = failure.value.diagnostics
    assert not re.search(r"\b[A-Z]\w*(Error|Exception|Iteration)\b", only.detail), only.detail
    return only.code, only.detail


def test_what_is_added_gets_ids_that_were_never_used(catalog: CatalogSpec, cases: int) -> None:
    dice = random.Random(30)
    for _ in range(cases):
        before = loaded(some_table(dice), catalog)
        steps = (
            AddColumn(path="new", type=ADDED, required=False, comment=None, after=None),
            AddPartitionField(field=PartitionField(transform="identity", column="id")),
            SetSortOrder(fields=(SortField(transform="identity", column="id", direction="desc"),)),
        )
        after = loaded(updated(before, updates(before, steps), "file:///m.json", 2), catalog)
        taken = set(used(before))
        current = next(item for item in after["schemas"] if item["schema-id"] == after["current-schema-id"])
        new = [each for each, path in levels(current) if path.split(".")[0] == "new"]
        assert len(new) == len(set(new)) == 9
        assert not taken & set(new)
        assert after["last-column-id"] >= max(used(after))
        for name, key in (
            ("schemas", "schema-id"),
            ("partition-specs", "spec-id"),
            ("sort-orders", "order-id"),
        ):
            assert len({item[key] for item in after[name]}) == len(after[name]) == len(before[name]) + 1
        fields = {item["field-id"]: item["transform"] for item in after["partition-specs"][-1]["fields"]}
        assert fields == {1000: "bucket[4]", 1010: "identity"}


def test_what_others_wrote_into_columns_stays(catalog: CatalogSpec, cases: int) -> None:
    dice = random.Random(31)
    for _ in range(cases):
        before = some_table(dice)
        marks = 0
        for schema in before["schemas"]:
            for holder in objects(schema):
                if dice.random() < 0.5 and "schema-id" not in holder:
                    holder["future"], marks = {"by": "others"}, marks + 1
        steps = (
            AddColumn(path="new", type="int", required=False, comment="x", after="id"),
            RenameColumn(path="id", new="key"),
        )
        current = next(item for item in before["schemas"] if item["schema-id"] == before["current-schema-id"])
        after = updated(before, updates(loaded(before, catalog), steps), "file:///m.json", 2)
        assert marked(after["schemas"][-1]) == marked(current)
        assert marked(after["schemas"]) == marks + marked(current)


def objects(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    for inner in value if isinstance(value, list) else ():
        yield from objects(inner)


def marked(value: Any) -> int:
    return sum("future" in item for item in objects(value))


@pytest.mark.parametrize("version", [-1, 0, 4, 5, 42, 10**30])
def test_a_version_that_is_not_known_is_refused_whatever_else_is_there(
    catalog: CatalogSpec, version: int
) -> None:
    whole = some_table(random.Random(1)) | {"format-version": version}
    for each in (whole, {"format-version": version}, whole | {"schemas": 7, "partition-specs": None}):
        code, detail = refusal(each, catalog)
        assert code == "FII016"
        assert f"format version {version}" in detail


@pytest.mark.parametrize("version", [None, True, "2", 2.0, [], {}])
def test_a_version_that_is_no_number_is_damage(catalog: CatalogSpec, version: Any) -> None:
    assert refusal(some_table(random.Random(1)) | {"format-version": version}, catalog)[0] == "FII012"


def doubled(dice: random.Random, made: dict[str, Any]) -> str:
    """Gives two parts of the metadata one id or name; says what the refusal must name."""
    schema = dice.choice(made["schemas"])
    fields = schema["fields"]
    match dice.randrange(4):
        case 0:
            inner = {"id": fields[0]["id"], "name": "x", "required": False, "type": "int"}
            fields.append(
                {"id": 500, "name": "s", "required": False, "type": {"type": "struct", "fields": [inner]}}
            )
            return f"have the same id {fields[0]['id']}"
        case 1:
            fields.append({"id": 501, "name": fields[0]["name"], "required": False, "type": "int"})
            return f"two columns are named {fields[0]['name']}"
        case 2:
            name = dice.choice(["schemas", "partition-specs", "sort-orders"])
            made[name] = [*made[name], copy.deepcopy(made[name][0])]
            return f"two of its {name} have the id"
        case _:
            name = dice.choice(["current-schema-id", "default-spec-id", "default-sort-order-id"])
            made[name] = 99
            return f"{name} is 99"


def test_ids_that_contradict_each_other_are_refused(catalog: CatalogSpec, cases: int) -> None:
    dice = random.Random(32)
    for _ in range(cases):
        made = some_table(dice)
        expected = doubled(dice, made)
        code, detail = refusal(made, catalog)
        assert code == "FII017"
        assert expected in detail


def test_columns_of_an_old_schema_go_and_their_ids_stay_taken(catalog: CatalogSpec) -> None:
    before = some_table(random.Random(3)) | {"last-column-id": 0}
    schema = next(item for item in before["schemas"] if item["schema-id"] == before["current-schema-id"])
    schema["fields"].append({"id": 900, "name": "last", "required": False, "type": "int"})
    without = updated(before, updates(before, (DropColumn(path="last"),)), "file:///m.json", 2)
    without["last-column-id"] = 0
    add = AddColumn(path="last", type="int", required=False, comment=None, after=None)
    after = updated(without, updates(without, (add,)), "file:///m2.json", 3)
    assert after["schemas"][-1]["fields"][-1]["id"] == 901


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"table-uuid": None}, "it has no table-uuid, which format version 1 leaves open"),
        ({"schemas": []}, "schemas is not a list with a schema in it"),
        ({"current-schema-id": None}, "current-schema-id is missing"),
        (
            {"partition-specs": None, "partition-spec": None},
            "partition-specs is not a list with a spec in it",
        ),
    ],
)
def test_old_metadata_that_lacks_something_is_named_by_it(
    catalog: CatalogSpec, change: dict[str, Any], why: str
) -> None:
    made = some_table(random.Random(1)) | {"format-version": 1}
    made["schema"] = made["schemas"][0]
    code, detail = refusal(made | change, catalog)
    assert code == "FII012"
    assert why in detail
    assert ("Append to the table once" in detail) == ("table-uuid" in change)
    assert ("Restore it" in detail) != ("table-uuid" in change)
