"""A law: the block that is written for a table, read as HCL, means the table; whatever its columns, layout
and properties are called.
"""

import itertools
import json
import sqlite3
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flareiac.app.discovery import installed
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.sources import Source
from flareiac.lang.decode import decode_body
from flareiac.lang.functions import functions
from flareiac.lang.parse import parse_file
from flareiac.lang.scope import Scope
from flareiac.lang.values import Value, lazy_object, resource_value
from flareiac.render.hcl_text import file_text
from flareiac.sdk.changes import Action
from flareiac.sdk.importing import Importable, Importing, ImportRequest, LeftOut
from tests.iceberg.lake import Lake

TEXT = st.text(
    st.one_of(st.sampled_from("ab.\"\\${}%`' \n\t,<>:#é"), st.characters(exclude_categories=["Cs"])),
    min_size=1,
    max_size=8,
)
PLAIN = st.sampled_from(
    [
        "int",
        "long",
        "string",
        "timestamptz",
        "timestamp",
        "date",
        "decimal(9, 2)",
        "fixed[4]",
        "uuid",
        "binary",
        "variant",
    ]
)
COUNTER = itertools.count(1)


def fields(draw: st.DrawFn, depth: int, most: int) -> list[dict[str, Any]]:
    names = draw(st.lists(TEXT, min_size=1, max_size=most, unique=True))
    return [
        {
            "id": next(COUNTER),
            "name": name,
            "required": draw(st.booleans()),
            "type": kind(draw, depth),
            **({"doc": draw(TEXT)} if draw(st.booleans()) else {}),
        }
        for name in names
    ]


def kind(draw: st.DrawFn, depth: int) -> Any:
    match draw(st.integers(0, 5 if depth else 2)):
        case 3:
            return {"type": "struct", "fields": fields(draw, depth - 1, 3)}
        case 4:
            return {
                "type": "list",
                "element-id": next(COUNTER),
                "element": kind(draw, depth - 1),
                "element-required": draw(st.booleans()),
            }
        case 5:
            key = {"key-id": next(COUNTER), "key": draw(PLAIN), "value-id": next(COUNTER)}
            return {
                "type": "map",
                **key,
                "value": kind(draw, depth - 1),
                "value-required": draw(st.booleans()),
            }
        case _:
            return draw(PLAIN)


TRANSFORMS = st.sampled_from(["identity", "bucket[7]", "Truncate[3]", "day", "YEAR", "mystery", "void"])

_DROPPED: Final = 10**6
"""The id of a column that no schema has."""


@st.composite
def metadata(draw: st.DrawFn) -> dict[str, Any]:
    """Table metadata as some tool may have written it: valid JSON of the right shape, with layouts that need
    not make sense.
    """
    columns = fields(draw, 2, 4)
    sources = [item["id"] for item in columns]
    partitions = [
        {
            "source-id": draw(st.sampled_from([*sources, _DROPPED])),
            "field-id": 1000 + index,
            "transform": draw(TRANSFORMS),
            "name": draw(TEXT),
        }
        for index in range(draw(st.integers(0, 2)))
    ]
    order = [
        {
            "source-id": draw(st.sampled_from([*sources, _DROPPED])),
            "transform": draw(TRANSFORMS),
            "direction": draw(st.sampled_from(["asc", "desc", "ASC", "Desc"])),
            "null-order": draw(st.sampled_from(["nulls-first", "nulls-last", "NULLS-FIRST"])),
        }
        for _ in range(draw(st.integers(0, 2)))
    ]
    names = st.one_of(
        TEXT,
        st.sampled_from(
            ["comment", "owner", "write.distribution-mode", "flareiac.tags.a", "provider", "uuid"]
        ),
    )
    return {
        "format-version": draw(st.sampled_from([1, 2])),
        "table-uuid": str(uuid.uuid4()),
        "location": draw(st.sampled_from(["file:///elsewhere/${x}", "s3://a/b", "s3://a", "gs://a/b"])),
        "last-sequence-number": 0,
        "last-updated-ms": 0,
        "last-column-id": next(COUNTER),
        "schemas": [
            {
                "type": "struct",
                "schema-id": 0,
                "fields": columns,
                "identifier-field-ids": sources[: draw(st.integers(0, 1))],
            }
        ],
        "current-schema-id": 0,
        "partition-specs": [{"spec-id": 0, "fields": partitions}],
        "default-spec-id": 0,
        "last-partition-id": 1001,
        "sort-orders": [{"order-id": 1, "fields": order}],
        "default-sort-order-id": 1,
        "properties": draw(st.dictionaries(names, TEXT | st.sampled_from(["hash", "HASH"]), max_size=3)),
        "snapshots": [],
    }


@pytest.fixture(scope="module")
def lake() -> Iterator[Lake]:
    with tempfile.TemporaryDirectory() as folder:
        made = Lake(Path(folder))
        made.apply("table.first", {"namespace": "n", "column": {"id": {"type": "long"}}})  # makes the catalog
        yield made
        made.close()


def register(lake: Lake, name: str, content: dict[str, Any]) -> None:
    place = lake.project.root / f"{uuid.uuid4()}.metadata.json"
    place.write_text(json.dumps(content))
    with (
        closing(sqlite3.connect(lake.project.data_dir / "lake" / "default" / "catalog.db")) as connection,
        connection,
    ):
        connection.execute(
            "INSERT INTO iceberg_tables (catalog_name, table_namespace, table_name, metadata_location) "
            "VALUES ('lake', 'n', ?, ?)",
            (name, f"file://{place}"),
        )


def read_back(text: str) -> tuple[str, dict[str, Any]]:
    """The label and the decoded body of the block in a text."""
    found = Diagnostics()
    catalog = lazy_object({"lake": resource_value("catalog.lake", "catalog", {})}, "catalog")

    def lookup(name: str) -> Value | None:
        return catalog if name == "catalog" else None

    scope = Scope(
        lookup=lookup, functions=functions(Path(), installed().registry.functions), roots=lambda: ["catalog"]
    )
    block = parse_file(Source("written", text), found, cache=False).blocks[0]
    decoded = decode_body(block.body, installed().registry.types["table"].schema, scope, found)
    assert not [item for item in found if item.severity.value == "error"], (
        [item.summary for item in found],
        text,
    )
    return block.labels[0], dict(decoded.attributes)


@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@given(content=metadata(), name=TEXT)
def test_a_block_says_the_table_or_says_why_not(lake: Lake, content: dict[str, Any], name: str) -> None:
    real = f"{name}{next(COUNTER)}"
    register(lake, real, content)
    assert isinstance(lake.session, Importing)
    request = ImportRequest(pattern=f"lake.n.{real}", references=lake.references, declared={}, exact=True)
    if "." in real:
        return  # it would be another namespace's
    (found,) = lake.session.importable(request)
    if isinstance(found, LeftOut):
        assert found.why
        return
    assert isinstance(found, Importable)
    label, body = read_back(file_text([found.block]))
    body["name"] = body["name"] or label
    address = f"table.{label}"
    proposal = lake.plan(address, body, importing=True)
    mark = [step.text for step in proposal.steps]
    assert mark == ["mark the table as managed by this state"]
    assert (proposal.action, proposal.blockers) == (Action.ADOPT, ())


COLUMN: Final = {"id": 1, "name": "c", "required": False, "type": "string"}
PARTITION: Final = {"source-id": 1, "field-id": 1000, "transform": "bucket[7]", "name": "p\0"}


@pytest.mark.parametrize(
    "parts",
    [
        pytest.param({"column": {"doc": "a\0b"}}, id="comment of a column"),
        pytest.param({"column": {"name": "c\0"}}, id="name of a column"),
        pytest.param({"properties": {"comment": "\0"}}, id="comment"),
        pytest.param({"properties": {"flareiac.tags.a": "\0"}}, id="tag"),
        pytest.param({"properties": {"my.own": "x\0"}}, id="value of a property"),
        pytest.param({"properties": {"my\0own": "x"}}, id="name of a property"),
        pytest.param({"partition": PARTITION}, id="name of a partition field"),
    ],
)
def test_what_no_configuration_may_hold_is_left_out(lake: Lake, parts: dict[str, Any]) -> None:
    """The law above draws U+0000 once in a while."""
    content = {
        "format-version": 2,
        "table-uuid": str(uuid.uuid4()),
        "location": "s3://a/b",
        "last-sequence-number": 0,
        "last-updated-ms": 0,
        "last-column-id": 1,
        "schemas": [{"type": "struct", "schema-id": 0, "fields": [COLUMN | parts.get("column", {})]}],
        "current-schema-id": 0,
        "partition-specs": [{"spec-id": 0, "fields": [parts["partition"]] if "partition" in parts else []}],
        "default-spec-id": 0,
        "last-partition-id": 1001,
        "sort-orders": [{"order-id": 0, "fields": []}],
        "default-sort-order-id": 0,
        "properties": parts.get("properties", {}),
        "snapshots": [],
    }
    real = f"nul{next(COUNTER)}"
    register(lake, real, content)
    assert isinstance(lake.session, Importing)
    request = ImportRequest(pattern=f"lake.n.{real}", references=lake.references, declared={}, exact=True)
    (importable,) = lake.session.importable(request)
    assert isinstance(importable, Importable)
    text = file_text([importable.block])
    assert "U+0000" in text
    label, body = read_back(text)
    body["name"] = body["name"] or label
    assert lake.plan(f"table.{label}", body, importing=True).blockers == ()
