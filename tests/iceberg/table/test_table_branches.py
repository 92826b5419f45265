"""Branches and tags from blocks to refs: made, kept, moved and dropped in the table's one commit, and never
somebody else's.
"""

from typing import Any

import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.exceptions import BadRequestError
from pyiceberg.schema import Schema
from pyiceberg.table.refs import SnapshotRef
from pyiceberg.types import LongType, NestedField

from flareiac.sdk.changes import Action, Effect, Origin, Relation, Usage
from flareiac.sdk.results import Applied, NotApplied, Present
from flareiac_iceberg.catalogs.rest.writer import RestWriter
from flareiac_iceberg.catalogs.sqlite.writer import SqliteWriter
from tests.iceberg.lake import Lake, Rejected, columns

BODY: dict[str, Any] = {"namespace": "n", "column": columns(id="long", name="string")}
DAY = 86_400_000


def branch(retain: str | None = None, least: int | None = None, age: str | None = None) -> dict[str, Any]:
    return {"retain": retain, "min_snapshots_to_keep": least, "max_snapshot_age": age}


def tag(snapshot_id: int | None = None, retain: str | None = None) -> dict[str, Any]:
    return {"snapshot_id": snapshot_id, "retain": retain}


def refs(lake: Lake) -> dict[str, SnapshotRef]:
    return lake.table("n.t").metadata.refs


def heads(lake: Lake) -> list[int]:
    return [item.snapshot_id for item in lake.table("n.t").metadata.snapshots]


@pytest.fixture
def made(lake: Lake) -> Lake:
    lake.apply("table.t", BODY)
    for number in (1, 2):
        lake.append("n.t", [{"id": number, "name": "a"}])
    return lake


def test_a_branch_and_a_tag_come_with_a_column_in_one_commit(made: Lake) -> None:
    first, second = heads(made)
    versions = len(made.table("n.t").metadata.metadata_log)
    body = BODY | {
        "column": columns(id="long", name="string", more="int"),
        "branch": {"audit": branch("7d", 5, "36h")},
        "tag": {"first": tag(first, "365d"), "now": tag()},
    }
    proposal = made.apply("table.t", body)
    assert [step.text for step in proposal.steps] == [
        "add column more int",
        "create branch audit, kept for 7d",
        f"create tag first at snapshot {first}, kept for 365d",
        "create tag now at the snapshot on which main stands then",
    ]
    assert len(made.table("n.t").metadata.metadata_log) == versions + 1
    found = refs(made)
    kept = {"min-snapshots-to-keep": 5, "max-snapshot-age-ms": 36 * 3_600_000, "max-ref-age-ms": 7 * DAY}
    assert found["audit"].model_dump(exclude_none=True, by_alias=True) == {
        "snapshot-id": second,
        "type": "branch",
        **kept,
    }
    assert found["first"].model_dump(exclude_none=True, by_alias=True) == {
        "snapshot-id": first,
        "type": "tag",
        "max-ref-age-ms": 365 * DAY,
    }
    assert found["now"].snapshot_id == second
    assert found["main"].snapshot_id == second
    assert made.plan("table.t", body).action is Action.NO_OP
    made.append("n.t", [{"id": 3, "name": "b", "more": 1}])
    assert made.plan("table.t", body).action in (Action.NO_OP, Action.RECORD)
    assert refs(made)["now"].snapshot_id == second


def test_a_branch_of_a_new_table_starts_empty_and_can_be_written(lake: Lake) -> None:
    body = BODY | {"branch": {"audit": branch()}}
    lake.apply("table.t", body)
    assert lake.plan("table.t", body).action is Action.NO_OP
    table = lake.table("n.t")
    assert table.metadata.current_snapshot_id is None
    assert table.scan(snapshot_id=refs(lake)["audit"].snapshot_id).to_arrow().num_rows == 0
    lake.append("n.t", [{"id": 1, "name": "on main"}])
    assert len(lake.rows("n.t")) == 1
    assert lake.table("n.t").scan(snapshot_id=refs(lake)["audit"].snapshot_id).to_arrow().num_rows == 0


def _by_the_library(writer: SqliteWriter) -> SqlCatalog:
    return SqlCatalog(
        writer.spec.name, uri=f"sqlite:///{writer.spec.database}", warehouse=writer.spec.warehouse
    )


def as_a_server_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """New tables are made by the calls that a REST server gets."""
    monkeypatch.setattr(SqliteWriter, "_create", RestWriter._create)
    monkeypatch.setattr(SqliteWriter, "catalog", property(_by_the_library), raising=False)
    monkeypatch.setattr(SqliteWriter, "_commit_staged", RestWriter._commit_staged, raising=False)


def test_a_create_on_a_server_that_stages_no_tables_goes_on_after_a_kill(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: Any) -> None:
        raise BadRequestError("BadRequestException: stage-create is not supported")

    body = BODY | {"branch": {"audit": branch()}}
    as_a_server_does(monkeypatch)
    monkeypatch.setattr("pyiceberg.catalog.sql.SqlCatalog.create_table_transaction", refused)
    request = lake.request("table.t", lake.plan("table.t", body))
    driver = lake.session.driver("table")
    with monkeypatch.context() as patch:
        patch.setattr(SqliteWriter, "commit", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            driver.apply(request)
    settled = lake.settle("table.t", request)
    assert isinstance(settled, Applied)
    lake.record("table.t", settled)
    assert [step.text for step in lake.apply("table.t", body).steps] == ["create branch audit"]
    assert "audit" in refs(lake)
    lake.apply("table.u", body | {"name": "u"})
    assert lake.plan("table.u", body | {"name": "u"}).action is Action.NO_OP


def test_a_server_makes_a_table_with_a_branch_in_one_commit(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    as_a_server_does(monkeypatch)
    body = BODY | {"branch": {"audit": branch("7d")}}
    lake.apply("table.t", body)
    assert (lake.table("n.t").metadata.metadata_log, refs(lake)["audit"].max_ref_age_ms) == ([], 7 * DAY)
    assert lake.plan("table.t", body).action is Action.NO_OP


def test_a_server_keeps_the_table_that_appears_while_one_is_staged(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    def overtaken(*arguments: Any) -> None:
        other = lake.other_made()
        other.create_table("n.t", lake_schema)
        other.close()
        original(*arguments)

    original, lake_schema = (
        RestWriter._commit_staged,
        Schema(NestedField(1, "theirs", LongType(), required=False)),
    )
    as_a_server_does(monkeypatch)
    monkeypatch.setattr(SqliteWriter, "_commit_staged", overtaken)
    planned = lake.plan("table.t", BODY | {"branch": {"audit": branch()}})
    outcome = lake.carry_out("table.t", planned)
    assert isinstance(outcome, NotApplied)
    assert outcome.diagnostics[0].code == "FII040"
    assert lake.table("n.t").schema().column_names == ["theirs"]


def test_a_create_that_died_before_its_entry_left_no_table(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = BODY | {"format_version": 3, "branch": {"audit": branch()}}
    request = lake.request("table.t", lake.plan("table.t", body))
    driver = lake.session.driver("table")
    with monkeypatch.context() as patch:
        patch.setattr(SqliteWriter, "enter", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            driver.apply(request)
    assert lake.settle("table.t", request) is None
    lake.apply("table.t", body)
    table = lake.table("n.t")
    assert (table.format_version, table.metadata.metadata_log, set(refs(lake))) == (3, [], {"audit"})


def test_options_change_and_what_is_not_named_stays(made: Lake) -> None:
    made.apply("table.t", BODY | {"branch": {"audit": branch("7d", 5)}, "tag": {"x": tag()}})
    body = BODY | {"branch": {"audit": branch("168h", None, "1d")}, "tag": {"x": tag(None, "2d")}}
    planned = made.plan("table.t", body)
    assert {
        change.path: (change.old, change.new) for change in planned.changes if change.path[-1] == "retain"
    } == {("tag", "x", "retain"): (planned.changes[-1].old, "2d")}
    assert all(change.origin is Origin.CONFIG for change in planned.changes)
    made.carry_out("table.t", planned)
    found = refs(made)
    assert (
        found["audit"].max_ref_age_ms,
        found["audit"].min_snapshots_to_keep,
        found["audit"].max_snapshot_age_ms,
    ) == (7 * DAY, 5, DAY)
    assert found["x"].max_ref_age_ms == 2 * DAY
    assert made.plan("table.t", body).action is Action.NO_OP


def test_a_tag_moves_to_the_declared_snapshot(made: Lake) -> None:
    first, second = heads(made)
    made.apply("table.t", BODY | {"tag": {"x": tag(first, "9d")}})
    body = BODY | {"tag": {"x": tag(second, "9d")}}
    proposal = made.apply("table.t", body)
    assert [step.text for step in proposal.steps] == [
        f"move tag x from snapshot {first} to snapshot {second}"
    ]
    assert (refs(made)["x"].snapshot_id, refs(made)["x"].max_ref_age_ms) == (second, 9 * DAY)
    made.apply("table.t", BODY | {"tag": {"x": tag(first, "3d")}})
    assert (refs(made)["x"].snapshot_id, refs(made)["x"].max_ref_age_ms) == (first, 3 * DAY)


def test_what_is_no_longer_declared_goes_and_what_others_made_stays(made: Lake) -> None:
    (first, _), body = heads(made), BODY | {"branch": {"audit": branch()}, "tag": {"x": tag()}}
    made.apply("table.t", body)
    made.table("n.t").manage_snapshots().create_tag(first, "theirs").create_branch(
        first, "also_theirs"
    ).commit()
    seen = made.read("table.t", made.canonical("table", "t", body))
    assert isinstance(seen, Present)
    assert {part.text for part in seen.unmanaged} == {'tag "theirs"', 'branch "also_theirs"'}
    proposal = made.apply("table.t", BODY)
    assert [(step.text, step.effect) for step in proposal.steps] == [
        ("drop branch audit", Effect.LOSES_DATA),
        ("drop tag x", Effect.METADATA),
    ]
    assert set(refs(made)) == {"main", "theirs", "also_theirs"}
    assert made.plan("table.t", BODY).action is Action.NO_OP


def test_what_others_dropped_or_moved_is_drift_and_put_back(made: Lake) -> None:
    first, second = heads(made)
    body = BODY | {"branch": {"audit": branch("7d")}, "tag": {"x": tag(first), "y": tag()}}
    made.apply("table.t", body)
    change = made.table("n.t").manage_snapshots().remove_branch("audit").remove_tag("x").remove_tag("y")
    change.create_tag(second, "x").create_branch(second, "audit", max_ref_age_ms=5).commit()
    made.append("n.t", [{"id": 3, "name": "c"}])
    proposal = made.plan("table.t", body)
    assert set(proposal.drift) == {
        f'the snapshot_id of tag "x" was changed from {first} to {second} outside of FlareIaC',
        'the retain of branch "audit" was changed from "7d" to "5ms" outside of FlareIaC',
        'tag "y" was removed outside of FlareIaC',
    }
    made.carry_out("table.t", proposal)
    found = refs(made)
    assert (found["x"].snapshot_id, found["y"].snapshot_id, found["audit"].max_ref_age_ms) == (
        first,
        second,
        7 * DAY,
    )


def test_a_tag_whose_time_ran_out_needs_nothing(made: Lake) -> None:
    first, _ = heads(made)
    body = BODY | {"tag": {"x": tag(first, "1s")}}
    made.apply("table.t", body)
    made.table("n.t").manage_snapshots().remove_tag("x").commit()
    made.table("n.t").maintenance.expire_snapshots().by_id(first).commit()
    proposal = made.plan("table.t", body)
    assert (proposal.action, proposal.blockers, proposal.changes) == (Action.NO_OP, (), ())
    assert proposal.reasons == (
        "the time of tag x ran out, and its snapshot expired; its block can be removed",
    )


def test_a_change_that_another_one_contradicts_is_not_made(made: Lake) -> None:
    first, second = heads(made)
    made.apply("table.t", BODY | {"tag": {"x": tag(first)}})
    planned = made.plan("table.t", BODY | {"tag": {"x": tag(second)}, "branch": {"audit": branch()}})
    made.append("n.t", [{"id": 3, "name": "c"}])
    third = heads(made)[-1]
    made.table("n.t").manage_snapshots().remove_tag("x").create_tag(third, "x").commit()
    outcome = made.session.driver("table").apply(made.request("table.t", planned))
    assert isinstance(outcome, NotApplied)
    assert [item.code for item in outcome.diagnostics] == ["FII040"]
    assert set(refs(made)) == {"main", "x"}


def test_refusals_name_the_way_out(made: Lake) -> None:
    first, _ = heads(made)
    made.table("n.t").manage_snapshots().create_tag(first, "theirs").create_branch(first, "side").commit()

    def refused(body: dict[str, Any], usages: tuple[Usage, ...] = ()) -> list[str]:
        blockers = made.plan("table.t", BODY | body, usages=usages).blockers
        assert all(blocker.ways_out for blocker in blockers)
        return [blocker.code for blocker in blockers]

    assert refused({"branch": {"theirs": branch()}}) == ["FII080"]
    assert refused({"tag": {"side": tag()}}) == ["FII080"]
    assert refused({"tag": {"x": tag(7)}}) == ["FII071"]
    made.apply("table.t", BODY | {"branch": {"audit": branch()}})
    writer = Usage(
        subject="table.t", holder="job.j", relation=Relation.WRITES, reason="output o", part="audit"
    )
    assert refused({}, (writer,)) == ["FII083"]
    assert refused({"branch": {"audit": branch()}}, (writer,)) == []


def test_a_tag_needs_a_snapshot(lake: Lake) -> None:
    assert [item.code for item in lake.plan("table.t", BODY | {"tag": {"x": tag()}}).blockers] == ["FII081"]
    assert [item.code for item in lake.plan("table.t", BODY | {"tag": {"x": tag(5)}}).blockers] == ["FII071"]
    lake.apply("table.t", BODY)
    assert [item.code for item in lake.plan("table.t", BODY | {"tag": {"x": tag()}}).blockers] == ["FII081"]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"branch": {"main": branch()}}, "FII085"),
        ({"tag": {"main": tag()}}, "FII085"),
        ({"branch": {"": branch()}}, "FII085"),
        ({"tag": {"flareiac-before-rollback-1": tag()}}, "FII085"),
        ({"branch": {"a": branch()}, "tag": {"a": tag()}}, "FII080"),
        ({"branch": {"a": branch("0s")}}, "FII086"),
        ({"branch": {"a": branch(None, 0)}}, "FII087"),
        ({"tag": {"a": tag(-1)}}, "FII087"),
    ],
)
def test_bad_blocks(lake: Lake, body: dict[str, Any], code: str) -> None:
    with pytest.raises(Rejected) as found:
        lake.canonical("table", "t", BODY | body)
    assert found.value.codes == [code]
