"""The faults around tables: other writers, lost results, damaged files, full disks, closed folders."""

import errno
import sqlite3
import threading
from pathlib import Path
from typing import Any

import pytest

from flareiac.applying.execute import Unsettled
from flareiac.kernel.data import Reference
from flareiac.kernel.diagnostics import Failure, error
from flareiac.sdk.actions import CustomAction
from flareiac.sdk.changes import Action
from flareiac.sdk.command_line import RecordedResource
from flareiac.sdk.requests import ApplyRequest
from flareiac.sdk.results import Applied, Missing, NotApplied, Present, Recorded, Unreadable
from flareiac_iceberg.catalogs.sqlite.writer import SqliteWriter
from flareiac_iceberg.codes import CATALOG_NOT_WRITTEN, CATALOG_UNREADABLE, CHANGE_NOT_CONFIRMED
from flareiac_iceberg.table import current as current_tables
from flareiac_iceberg.table.actions.rollback import EarlierStates
from flareiac_iceberg.table.driver import TableDriver
from tests.iceberg.lake import Lake, Rejected, columns

BODY: dict[str, Any] = {
    "namespace": "n",
    "column": columns(id="long", name="string"),
    "properties": {"k": "1"},
}
WIDER = BODY | {"column": columns(id="long", name="string", more="int")}


@pytest.fixture
def made(lake: Lake) -> Lake:
    lake.apply("table.t", BODY)
    return lake


def codes(outcome: object) -> list[str]:
    assert isinstance(outcome, NotApplied), outcome
    return [item.code for item in outcome.diagnostics]


def unreadable(lake: Lake) -> str:
    found = lake.read("table.t", lake.canonical("table", "t", BODY))
    assert isinstance(found, Unreadable), found
    assert found.diagnostic.detail
    return found.diagnostic.code


def test_another_commit_between_plan_and_apply_does_no_harm(made: Lake) -> None:
    planned = made.plan("table.t", WIDER)
    made.append("n.t", [{"id": 1, "name": "a"}])
    with made.table("n.t").transaction() as change:
        change.set_properties({"foreign": "1"})
    made.carry_out("table.t", planned)
    assert made.rows("n.t") == [{"id": 1, "name": "a", "more": None}]
    assert made.table("n.t").properties["foreign"] == "1"
    assert made.plan("table.t", WIDER).action is Action.NO_OP


def test_another_schema_between_plan_and_apply_stops_it(made: Lake) -> None:
    planned = made.plan("table.t", WIDER)
    with made.table("n.t").update_schema() as schema:
        schema.delete_column("name")
    request = made.request("table.t", planned)
    assert codes(made.session.driver("table").apply(request)) == ["FII040"]
    assert made.settle("table.t", request) is None


def test_commits_beside_a_busy_writer_all_succeed(made: Lake) -> None:
    stop = threading.Event()

    def write() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            made.append("n.t", [{"id": number, "name": "w"}])
            written.append(number)

    written: list[int] = []
    writer = threading.Thread(target=write)
    writer.start()
    try:
        for index in range(8):
            made.apply("table.t", BODY | {"properties": {"k": str(index + 10)}})
    finally:
        stop.set()
        writer.join(timeout=60)
    assert made.table("n.t").properties["k"] == "17"
    assert [row["id"] for row in sorted(made.rows("n.t"), key=lambda row: int(row["id"]))] == written


def test_a_create_whose_result_was_lost_is_recognised(lake: Lake) -> None:
    planned = lake.plan("table.t", BODY)
    request = lake.request("table.t", planned)
    driver = lake.session.driver("table")
    assert lake.settle("table.t", request) is None
    first, again = driver.apply(request), driver.apply(request)
    settled = lake.settle("table.t", request)
    assert isinstance(first, Applied)
    assert isinstance(again, Applied)
    assert isinstance(settled, Applied)
    assert first.identity == again.identity == settled.identity
    other = lake.request("table.t", planned)
    assert codes(driver.apply(other)) == ["FII040"]
    assert lake.settle("table.t", other) is None


def unconfirmed(patch: pytest.MonkeyPatch, name: str) -> None:
    """The catalog makes the next change of a kind, does not confirm it, and then answers nothing more."""
    real = getattr(SqliteWriter, name)

    def silent(*_arguments: Any) -> Any:
        raise Failure(error(CATALOG_UNREADABLE, "gone"))

    def lost(*arguments: Any, **options: Any) -> None:
        real(*arguments, **options)
        patch.setattr(current_tables, "table_in", silent)
        raise Failure(error(CHANGE_NOT_CONFIRMED, "gone"))

    patch.setattr(SqliteWriter, name, lost)


def test_a_create_that_was_not_confirmed_is_found_and_recorded(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = lake.request("table.t", lake.plan("table.t", BODY))
    with monkeypatch.context() as patch:
        unconfirmed(patch, "create")
        with pytest.raises(Unsettled) as caught:
            lake.asked(request)
    assert [item.code for item in caught.value.diagnostics] == ["FII113"]
    settled = lake.settle("table.t", request)
    assert isinstance(settled, Applied)
    lake.record("table.t", settled)
    assert lake.plan("table.t", BODY).action is Action.NO_OP


def test_a_new_table_is_known_without_reading_it_back(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    planned = lake.plan("table.t", BODY)

    def silent(*_arguments: Any) -> Any:
        raise Failure(error(CATALOG_UNREADABLE, "gone"))

    with monkeypatch.context() as patch:
        patch.setattr(current_tables, "table_in", silent)
        lake.carry_out("table.t", planned)
    assert lake.plan("table.t", BODY).action is Action.NO_OP


def test_a_drop_that_was_not_confirmed_keeps_the_way_back(
    made: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    made.apply("table.t", BODY | {"on_destroy": "drop"})
    made.append("n.t", [{"id": 1, "name": "a"}])
    last = made.table("n.t").metadata_location
    request = made.deletion("table.t", made.plan("table.t", None))
    with monkeypatch.context() as patch:
        unconfirmed(patch, "drop")
        with pytest.raises(Unsettled):
            made.asked(request)
    settled = made.settle("table.t", request)
    assert isinstance(settled, Applied)
    assert settled.revivable
    assert settled.identity["metadata_location"] == last


def test_a_catalog_that_can_not_be_opened_was_asked_nothing(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned = lake.plan("table.t", BODY)

    def closed(*_arguments: Any) -> Any:
        raise Failure(error(CATALOG_NOT_WRITTEN, "closed"))

    monkeypatch.setattr("flareiac_iceberg.catalogs.connections.writer_of", closed)
    monkeypatch.setattr(current_tables, "table_in", closed)
    assert codes(lake.carry_out("table.t", planned)) == ["FII011"]


@pytest.mark.parametrize("wanted", [WIDER, BODY | {"name": "u"}])
def test_a_table_that_can_not_be_read_before_its_change_was_not_changed(
    made: Lake, wanted: dict[str, Any]
) -> None:
    """Nothing was asked for, so nothing is left to be found out: that would stop every later apply."""
    request = made.request("table.t", made.plan("table.t", wanted))
    file = Path(made.table("n.t").metadata_location.removeprefix("file://"))
    file.unlink()
    assert codes(made.asked(request)) == ["FII012"]


def test_an_update_whose_result_was_lost_is_recognised(made: Lake) -> None:
    renamed = BODY | {"column": columns(id="long", called="string"), "renamed": {"name": "called"}}
    request = made.request("table.t", made.plan("table.t", renamed))
    driver = made.session.driver("table")
    assert made.settle("table.t", request) is None
    first = driver.apply(request)
    versions = len(made.table("n.t").metadata.metadata_log)
    again, settled = driver.apply(request), made.settle("table.t", request)
    assert isinstance(first, Applied)
    assert isinstance(again, Applied)
    assert isinstance(settled, Applied)
    assert len(made.table("n.t").metadata.metadata_log) == versions
    made.record("table.t", settled)
    assert made.plan("table.t", renamed).action is Action.NO_OP


def test_a_drop_whose_result_was_lost_is_recognised(made: Lake) -> None:
    made.apply("table.t", BODY | {"on_destroy": "drop"})
    request = made.deletion("table.t", made.plan("table.t", None))
    driver = made.session.driver("table")
    assert made.settle("table.t", request) is None
    assert isinstance(driver.delete(request), Applied)
    assert isinstance(made.settle("table.t", request), Applied)
    assert isinstance(driver.delete(request), Applied)


def earlier_states(lake: Lake) -> EarlierStates:
    driver = lake.driver("table.t")
    assert isinstance(driver, TableDriver)
    return driver.earlier_states


@pytest.fixture
def back(made: Lake) -> ApplyRequest[CustomAction]:
    """The way back from two rows to one."""
    for number in (1, 2):
        made.append("n.t", [{"id": number, "name": "a"}])
    first = made.table("n.t").metadata.snapshots[0].snapshot_id
    recorded = made.state["table.t"]
    table = RecordedResource(address="table.t", type="table", recorded=recorded, references=made.references)
    way = earlier_states(made).way_back(table, first, ())
    return made.asking("table.t", CustomAction(name="rollback", recorded=recorded, payload=way.payload))


def test_a_way_back_that_was_not_confirmed_is_looked_for(
    made: Lake, back: ApplyRequest[CustomAction], monkeypatch: pytest.MonkeyPatch
) -> None:
    real = SqliteWriter.commit

    def lost(*arguments: Any) -> None:
        real(*arguments)
        raise Failure(error(CHANGE_NOT_CONFIRMED, "gone"))

    monkeypatch.setattr(SqliteWriter, "commit", lost)
    assert isinstance(earlier_states(made).restore(back), Applied)
    assert [row["id"] for row in made.rows("n.t")] == [1]


def test_a_way_back_of_which_nothing_is_known_stays_open(
    made: Lake, back: ApplyRequest[CustomAction], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        unconfirmed(patch, "commit")
        with pytest.raises(Failure):
            earlier_states(made).restore(back)
    assert isinstance(made.settle("table.t", back), Applied)


def test_a_way_back_that_was_refused_is_not_taken(
    made: Lake, back: ApplyRequest[CustomAction], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_arguments: Any) -> None:
        raise Failure(error(CHANGE_NOT_CONFIRMED, "no"))

    monkeypatch.setattr(SqliteWriter, "commit", refused)
    assert codes(earlier_states(made).restore(back)) == ["FII113"]
    assert len(made.rows("n.t")) == 2


def test_a_table_that_became_another_is_never_dropped(made: Lake) -> None:
    made.apply("table.t", BODY | {"on_destroy": "drop"})
    request = made.deletion("table.t", made.plan("table.t", None))
    other = made.other()
    schema = other.load_table("n.t").schema()
    other.drop_table("n.t")
    other.create_table("n.t", schema)
    other.close()
    assert codes(made.session.driver("table").delete(request)) == ["FII040"]
    assert made.rows("n.t") == []


def test_unchanged_tables_are_read_with_one_query_and_no_file(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"t{index}" for index in range(5)]
    for name in names:
        lake.apply(f"table.{name}", BODY)
    asked: list[str] = []
    connect = sqlite3.connect

    def traced(*arguments: Any, **options: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*arguments, **options)
        connection.set_trace_callback(asked.append)
        return connection

    monkeypatch.setattr(sqlite3, "connect", traced)
    monkeypatch.setattr(Path, "read_bytes", lambda path: pytest.fail(f"{path} was opened"))
    wanted = {f"table.{name}": lake.canonical("table", name, BODY) for name in names}
    requests = [lake.read_request(address, desired) for address, desired in wanted.items()]
    found = lake.prefetch(requests)
    assert {address for address, item in found.items() if isinstance(item, Present)} == set(wanted)
    assert len(asked) == 1


def test_a_missing_catalog_means_missing_tables_until_one_was_recorded(lake: Lake) -> None:
    desired = lake.canonical("table", "t", BODY)
    assert isinstance(lake.read("table.t", desired), Missing)
    lake.apply("table.t", BODY)
    lake.session.close()
    lake.database.unlink()
    assert unreadable(lake) == "FII010"
    lake.database.parent.rename(lake.database.parent.with_name("away"))
    assert unreadable(lake) == "FII010"


def test_a_damaged_catalog_is_unreadable(made: Lake) -> None:
    made.session.close()
    made.database.write_bytes(b"this is no database, whatever its name says" * 10)
    assert unreadable(made) == "FII010"


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b'{"format-version": 2}', b"\xff\xfe", b'{"format-version": 2, "schemas": 3}'],
)
def test_damaged_metadata_is_unreadable_and_named(made: Lake, content: bytes) -> None:
    location = Path(made.table("n.t").metadata_location.removeprefix("file://"))
    location.write_bytes(content)
    made.state["table.t"] = Recorded(
        attributes=made.state["table.t"].attributes, identity={"uuid": "x", "metadata_location": "older"}
    )
    found = made.read("table.t", None)
    assert isinstance(found, Unreadable)
    assert found.diagnostic.code == "FII012"
    assert str(location) in found.diagnostic.detail


def test_lost_metadata_is_unreadable(made: Lake) -> None:
    Path(made.table("n.t").metadata_location.removeprefix("file://")).unlink()
    assert unreadable_fresh(made) == "FII012"


def unreadable_fresh(lake: Lake) -> str:
    lake.state.clear()
    return unreadable(lake)


def test_a_full_disk_changes_nothing_and_is_told(made: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    planned = made.plan("table.t", WIDER)

    def full(*_arguments: Any, **_options: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("flareiac_iceberg.catalogs.pointer_writer.write_file", full)
        outcome = made.asked(made.request("table.t", planned))
        assert codes(outcome) == ["FII011"]
        assert isinstance(outcome, NotApplied)
        assert "No space left on device" in outcome.diagnostics[0].detail
    made.carry_out("table.t", planned)
    assert made.plan("table.t", WIDER).action is Action.NO_OP


def test_a_warehouse_that_can_not_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "blocked").write_text("a file where a folder should be")
    lake = Lake(tmp_path, {"warehouse": "blocked/warehouse"})
    outcome = lake.carry_out("table.t", lake.plan("table.t", BODY))
    assert codes(outcome) == ["FII011"]
    lake.close()


def test_a_locked_catalog_is_told(made: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("flareiac_iceberg.catalogs.sqlite.writer.BUSY_TIMEOUT_MS", 0)
    made.session.close()
    planned = made.plan("table.t", WIDER)
    holder = sqlite3.connect(made.database, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    try:
        assert codes(made.asked(made.request("table.t", planned))) == ["FII011"]
    finally:
        holder.close()
    made.carry_out("table.t", planned)


@pytest.mark.parametrize(
    ("catalog", "code"),
    [
        ({"type": "rest"}, "FII111"),
        ({"type": "glue"}, "FII004"),
        ({"type": "nonsense"}, "FII001"),
        ({"uri": "postgresql://host/db?options=x"}, "FII002"),
        ({"uri": "sqlite:///:memory:"}, "FII002"),
        ({"warehouse": "gs://bucket/x"}, "FII004"),
        ({"name": "a b"}, "FII003"),
    ],
)
def test_catalogs_that_are_not_known_are_refused(tmp_path: Path, catalog: dict[str, Any], code: str) -> None:
    with pytest.raises(Rejected) as caught:
        Lake(tmp_path, catalog)
    assert code in caught.value.codes


def test_a_catalog_is_the_same_for_spark(tmp_path: Path) -> None:
    lake = Lake(tmp_path, {"name": "main", "uri": "sqlite:///db/c.db", "warehouse": "wh"})
    attributes = lake.references["catalog.lake"].attributes
    assert attributes["uri"] == f"sqlite:///{tmp_path}/db/c.db"
    assert attributes["warehouse"] == f"file://{tmp_path}/wh"
    conf = attributes["spark_conf"]
    assert (
        conf["spark.sql.catalog.main.uri"]
        == f"jdbc:sqlite:{tmp_path}/db/c.db?journal_mode=WAL&busy_timeout=15000"
    )
    assert conf["spark.sql.catalog.main.warehouse"] == attributes["warehouse"]
    lake.close()


@pytest.mark.parametrize(("written", "meant"), [({}, "true"), ({"s3.path-style-access": False}, "false")])
def test_a_place_that_is_not_of_aws_is_addressed_alike_by_spark(
    tmp_path: Path, written: dict[str, bool], meant: str
) -> None:
    lake = Lake(
        tmp_path,
        {"warehouse": "s3://bucket/x", "properties": {"s3.endpoint": "http://localhost:9000", **written}},
    )
    conf = lake.references["catalog.lake"].attributes["spark_conf"]
    assert conf["spark.sql.catalog.lake.s3.path-style-access"] == meant
    assert "s3.path-style-access" not in str(
        Lake(tmp_path, {"warehouse": "s3://bucket/x"}).references["catalog.lake"].attributes
    )
    lake.close()


def test_a_table_names_its_catalog_by_reference_only(made: Lake) -> None:
    attributes = made.state["table.t"].attributes
    assert attributes["catalog"] == Reference("catalog.lake")
    assert str(made.project.root) not in str(attributes)


def test_a_table_whose_catalog_is_gone_is_unreadable(made: Lake) -> None:
    desired = made.canonical("table", "t", BODY)
    made.references = {}
    found = made.read("table.t", desired)
    assert isinstance(found, Unreadable)
    assert found.diagnostic.code == "FII013"


def test_an_import_id_must_name_the_declared_table(made: Lake) -> None:
    desired = made.canonical("table", "t", BODY)
    made.state.clear()
    driver = made.session.driver("table")
    wrong = driver.read(made.read_request("table.t", desired, import_id="lake.n.other"))
    assert isinstance(wrong, Unreadable)
    assert wrong.diagnostic.code == "FII014"
    assert isinstance(driver.read(made.read_request("table.t", desired, import_id="lake.n.t")), Present)
