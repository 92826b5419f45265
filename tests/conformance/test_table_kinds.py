"""Branches, tags, defaults, renames and moves of tables, in every kind of catalog."""

from typing import Any

import pytest

from flareiac.sdk.changes import Action
from flareiac_iceberg.catalogs.glue.spec import GlueCatalog
from tests.iceberg.lake import columns
from tests.support.catalog_kinds import KindLake

pytestmark = [
    # Clients of servers leave their sockets to the garbage collector.
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]
BRANCH = {"retain": "7d", "min_snapshots_to_keep": 3, "max_snapshot_age": None}


def test_branches_and_tags(lake: KindLake) -> None:
    name, cols = f"{lake.namespace}.t", columns(id="long")
    body: dict[str, Any] = {"namespace": lake.namespace, "column": cols, "branch": {"audit": BRANCH}}
    lake.apply("table.t", body)
    assert lake.plan("table.t", body).action is Action.NO_OP
    assert lake.table(name).metadata.current_snapshot_id is None
    lake.append(name, [{"id": 1}])
    first = lake.table(name).metadata.current_snapshot_id
    body |= {
        "tag": {"one": {"snapshot_id": first, "retain": None}},
        "branch": {"audit": BRANCH | {"retain": "9d"}, "next": BRANCH},
    }
    lake.apply("table.t", body)
    found = lake.table(name).metadata.refs
    assert (found["audit"].max_ref_age_ms, found["next"].snapshot_id, found["one"].snapshot_id) == (
        9 * 86_400_000,
        first,
        first,
    )
    assert lake.plan("table.t", body).action is Action.NO_OP
    lake.append(name, [{"id": 2}])
    second = lake.table(name).metadata.current_snapshot_id
    body |= {"tag": {"one": {"snapshot_id": second, "retain": "1d"}}, "branch": None}
    lake.apply("table.t", body)
    found = lake.table(name).metadata.refs
    assert set(found) == {"main", "one"}
    assert (found["one"].snapshot_id, found["one"].max_ref_age_ms) == (second, 86_400_000)
    assert lake.plan("table.t", body).action is Action.NO_OP


def test_version_3_with_defaults(lake: KindLake) -> None:
    default = {"type": "int", "comment": None, "tags": None, "default": 7}
    body: dict[str, Any] = {"namespace": lake.namespace, "column": columns(id="long")}
    lake.apply("table.t", body)
    third = body | {
        "format_version": 3,
        "column": {**columns(id="long"), "n": default},
        "branch": {"audit": BRANCH},
    }
    lake.apply("table.t", third)
    table = lake.table(f"{lake.namespace}.t")
    assert (table.format_version, table.schema().find_field("n").write_default) == (3, 7)
    assert lake.plan("table.t", third).action is Action.NO_OP
    lake.apply("table.new", third | {"name": "new"})
    assert lake.plan("table.new", third | {"name": "new"}).action is Action.NO_OP
    made = lake.table(f"{lake.namespace}.new")
    assert (made.format_version, made.schema().find_field("n").write_default, set(made.metadata.refs)) == (
        3,
        7,
        {"audit"},
    )


@pytest.mark.parametrize("version", [None, 1, 2, 3])
@pytest.mark.parametrize("branches", [None, {"audit": BRANCH}])
def test_a_table_is_made_in_one_commit(
    lake: KindLake, version: int | None, branches: dict[str, Any] | None
) -> None:
    body = {
        "namespace": lake.namespace,
        "column": columns(id="long"),
        "format_version": version,
        "branch": branches,
    }
    lake.apply("table.t", body)
    metadata = lake.table(f"{lake.namespace}.t").metadata
    assert (metadata.format_version, metadata.metadata_log, set(metadata.refs)) == (
        version or 2,
        [],
        set(branches or ()),
    )
    assert lake.plan("table.t", body).action is Action.NO_OP


def test_a_table_gets_another_name(lake: KindLake) -> None:
    body: dict[str, Any] = {"namespace": lake.namespace, "column": columns(id="long")}
    lake.apply("table.t", body)
    lake.append(f"{lake.namespace}.t", [{"id": 1}])
    moved = body | {"name": "u", "comment": "x"}
    planned = lake.plan("table.t", moved)
    if [item.code for item in planned.blockers] == ["FII077"]:
        assert isinstance(lake.spec, GlueCatalog)
        return
    lake.carry_out("table.t", planned)
    assert lake.names(lake.namespace) == ["u"]
    assert lake.rows(f"{lake.namespace}.u") == [{"id": 1}]
    assert lake.plan("table.t", moved).action is Action.NO_OP
