"""The class of change that the reference names for an attribute is the one that a plan comes to."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from flareiac.sdk.changes import Effect, Proposal
from flareiac.sdk.on_change import ChangeClass
from flareiac_iceberg import provider
from tests.iceberg.lake import CALLS, Lake, columns
from tests.support.schemas import changes_of

Body = Mapping[str, Any]
COLUMNS = columns(id="long not null", ts="timestamptz", region="string")
TABLE: Body = {"namespace": "n", "column": COLUMNS}


def column(**attributes: Any) -> Body:
    """The table with other attributes of its first column."""
    return {"column": {**COLUMNS, "id": {**COLUMNS["id"], **attributes}}}


CASES: dict[str, tuple[Body, Body]] = {
    "table.namespace": ({}, {"namespace": "m"}),
    "table.name": ({}, {"name": "other"}),
    "table.comment": ({}, {"comment": "c"}),
    "table.format_version": ({}, {"format_version": 3}),
    "table.location": ({}, {"location": "elsewhere"}),
    "table.identifier": ({}, {"identifier": ["id"]}),
    "table.partition_by": ({}, {"partition_by": [CALLS["day"]("ts")]}),
    "table.sort_by": ({}, {"sort_by": ["id"]}),
    "table.distribution": ({}, {"distribution": "hash"}),
    "table.properties": ({}, {"properties": {"write.parquet.compression-codec": "gzip"}}),
    "table.tags": ({}, {"tags": {"team": "a"}}),
    "table.on_destroy": ({}, {"on_destroy": "drop"}),
    "table.column.type": (column(type="int not null"), column(type="long not null")),
    "table.column.comment": ({}, column(comment="c")),
    "table.column.tags": ({}, column(tags={"pii": "yes"})),
    "table.column.default": ({"format_version": 3}, {"format_version": 3, **column(default=7)}),
    "table.branch.retain": ({"branch": {"b": {"retain": "3d"}}}, {"branch": {"b": {"retain": "4d"}}}),
    "table.branch.min_snapshots_to_keep": (
        {"branch": {"b": {"min_snapshots_to_keep": 2}}},
        {"branch": {"b": {"min_snapshots_to_keep": 3}}},
    ),
    "table.branch.max_snapshot_age": (
        {"branch": {"b": {"max_snapshot_age": "3d"}}},
        {"branch": {"b": {"max_snapshot_age": "4d"}}},
    ),
    "table.compaction.every": ({"compaction": {"every": "1d"}}, {"compaction": {"every": "2d"}}),
    "table.snapshot_expiry.older_than": (
        {"snapshot_expiry": {"older_than": "6d"}},
        {"snapshot_expiry": {"older_than": "7d"}},
    ),
    "table.manifest_rewrite.every": ({}, {"manifest_rewrite": {"every": "1d"}}),
    "table.delete_rewrite.every": ({}, {"delete_rewrite": {"every": "1d"}}),
    "table.orphan_removal.older_than": ({}, {"orphan_removal": {"older_than": "9d"}}),
    "table.retention.column": (
        {"retention": {"column": "ts", "keep": "9d"}},
        {"retention": {"column": "ts", "keep": "8d"}},
    ),
    "table.retention.keep": (
        {"retention": {"column": "ts", "keep": "9d"}},
        {"retention": {"column": "ts", "keep": "8d"}},
    ),
    "namespace.properties": ({}, {"properties": {"owner": "me"}}),
    "namespace.on_destroy": ({}, {"on_destroy": "drop"}),
    "namespace.name": ({}, {"name": "other"}),
}
ELSEWHERE = {
    "table.catalog": "needs a second catalog",
    "table.renamed": "golden case table/evolve",
    "table.tag.snapshot_id": "needs a snapshot",
    "table.tag.retain": "needs a snapshot",
    "table.engine": "needs an engine",
    "table.reader.checkpoint": "needs a checkpoint",
    "table.reader.hold": "needs a checkpoint",
    "namespace.catalog": "needs a second catalog",
}
MAINTENANCE = (
    "compaction",
    "snapshot_expiry",
    "manifest_rewrite",
    "delete_rewrite",
    "orphan_removal",
    "retention",
)
"""One attribute of each stands for its others, which are decoded and recorded in the same way."""
NOTES: dict[str, ChangeClass] = {
    ChangeClass.RECORDED: ChangeClass.RECORDED,
    ChangeClass.NEXT_RUN: ChangeClass.NEXT_RUN,
    Effect.METADATA: ChangeClass.METADATA_ONLY,
    Effect.RENAMES: ChangeClass.RENAMES,
    Effect.IRREVERSIBLE: ChangeClass.IRREVERSIBLE,
}


def class_of(plan: Proposal) -> ChangeClass:
    if plan.blockers:
        return ChangeClass.REFUSED
    return max((NOTES[change.note] for change in plan.changes), key=list(ChangeClass).index)


DECLARED = {
    path: on_change
    for type_ in ("table", "namespace")
    for path, on_change in changes_of(provider().resource_types()[type_].load().schema, f"{type_}.")
}


def test_each_attribute_has_a_class_and_a_case() -> None:
    assert [path for path, on_change in DECLARED.items() if on_change is None] == []
    of_maintenance = {path for path in DECLARED if path.split(".")[1] in MAINTENANCE}
    assert {DECLARED[path].does for path in of_maintenance} == {ChangeClass.NEXT_RUN}  # type: ignore[union-attr]  # none is None
    assert {path.split(".")[1] for path in of_maintenance & CASES.keys()} == set(MAINTENANCE)
    assert CASES.keys() | ELSEWHERE.keys() | of_maintenance == DECLARED.keys()


@pytest.mark.parametrize("path", CASES)
def test_the_plan_comes_to_the_class_of_the_reference(path: str, tmp_path: Path) -> None:
    before, after = CASES[path]
    type_ = path.split(".")[0]
    base: Body = TABLE if type_ == "table" else {"name": "n"}
    lake = Lake(tmp_path)
    try:
        lake.apply(f"{type_}.t", {**base, **before})
        plan = lake.plan(f"{type_}.t", {**base, **after})
    finally:
        lake.close()
    on_change = DECLARED[path]
    assert on_change is not None
    assert class_of(plan) == on_change.does
