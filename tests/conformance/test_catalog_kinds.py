"""The promises of every kind of catalog, as one suite over all of them."""

import contextlib
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.exceptions import CommitFailedException

from flareiac.kernel.data import to_json
from flareiac.kernel.diagnostics import Failure
from flareiac.sdk.actions import Revive
from flareiac.sdk.capabilities import Undroppable
from flareiac.sdk.changes import Action
from flareiac.sdk.results import Applied, Missing, NotApplied, Present, Recorded, Unreadable
from flareiac_iceberg.catalogs.doctor import check_catalog
from flareiac_iceberg.catalogs.entries import NoCatalog
from flareiac_iceberg.catalogs.file_access import delete_file, read_file, write_file
from flareiac_iceberg.catalogs.glue.spec import GlueCatalog
from flareiac_iceberg.catalogs.library_writer import LibraryWriter
from flareiac_iceberg.catalogs.opening import writer_of
from flareiac_iceberg.catalogs.pointer_writer import write_metadata
from flareiac_iceberg.catalogs.postgres.spec import PostgresCatalog
from flareiac_iceberg.catalogs.reader import tables_in
from flareiac_iceberg.catalogs.rest.spec import RestCatalog
from tests.iceberg.lake import CALLS, CATALOG, columns
from tests.support.catalog_kinds import VARIABLES, KindLake

pytestmark = [
    # Clients of servers leave their sockets to the garbage collector.
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]


def orders(lake: KindLake, **more: Any) -> dict[str, Any]:
    return {
        "namespace": lake.namespace,
        "column": columns(id="long not null", ts="timestamptz", region="string"),
        "partition_by": [CALLS["day"]("ts")],
        "on_destroy": "drop",
        **more,
    }


def test_a_table_lives_from_create_to_drop(lake: KindLake) -> None:
    first, wider = (
        orders(lake),
        orders(lake, column=columns(id="long not null", ts="timestamptz", area="string", n="int")),
    )
    wider |= {
        "renamed": {"region": "area"},
        "partition_by": [CALLS["hour"]("ts")],
        "comment": "wider",
        "identifier": ["id"],
    }
    assert lake.apply("table.orders", first).action is Action.CREATE
    assert lake.plan("table.orders", first).action is Action.NO_OP
    assert lake.apply("table.orders", wider).action is Action.UPDATE
    assert lake.plan("table.orders", wider).action is Action.NO_OP
    lake.append(f"{lake.namespace}.orders", [{"id": 1, "ts": None, "area": "eu", "n": 7}])
    assert lake.rows(f"{lake.namespace}.orders") == [{"id": 1, "ts": None, "area": "eu", "n": 7}]
    assert lake.plan("table.orders", wider).action is Action.NO_OP
    assert lake.names(lake.namespace) == ["orders"]
    assert lake.apply("table.orders", None).action is Action.DELETE
    assert lake.names(lake.namespace) == []
    assert isinstance(lake.read("table.orders", lake.canonical("table", "orders", wider)), Missing)


def test_a_table_whose_metadata_file_was_deleted_is_never_confirmed(lake: KindLake) -> None:
    lake.apply("table.orders", orders(lake))
    request = replace(
        lake.read_request("table.orders", lake.canonical("table", "orders", orders(lake))), confirm=True
    )
    driver = lake.session.driver("table")
    assert isinstance(driver.read(request), Present)
    location = lake.table(f"{lake.namespace}.orders").metadata_location
    content = read_file(location, lake.spec)
    delete_file(location, lake.spec)
    assert isinstance(driver.read(request), Unreadable)
    write_file(location, content, lake.spec)  # the server is one for many tests
    assert isinstance(driver.read(request), Present)


def test_a_namespace_lives_from_create_to_drop(lake: KindLake) -> None:
    body = {"name": lake.namespace, "properties": {"team": "a", "owner_team": "b"}, "on_destroy": "drop"}
    assert lake.apply("namespace.n", body).action is Action.CREATE
    assert lake.plan("namespace.n", body).action is Action.NO_OP
    changed = body | {"properties": {"team": "c"}}
    assert lake.apply("namespace.n", changed).action is Action.UPDATE
    assert lake.plan("namespace.n", changed).action is Action.NO_OP
    planned = lake.plan("namespace.n", None)
    lake.apply("table.t", orders(lake))
    assert [item.code for item in lake.plan("namespace.n", None).blockers] == ["FII042"]
    full = lake.carry_out("namespace.n", planned)
    assert isinstance(full, NotApplied)
    assert [item.code for item in full.diagnostics] == ["FII042"]
    lake.apply("table.t", None)
    lake.carry_out("namespace.n", lake.plan("namespace.n", None))
    assert isinstance(lake.read("namespace.n", lake.canonical("namespace", "n", body)), Missing)


def test_looking_first_makes_nothing(lake: KindLake) -> None:
    desired = lake.canonical("table", "orders", orders(lake))
    assert isinstance(lake.read("table.orders", desired), Missing)
    assert isinstance(
        lake.read("namespace.n", lake.canonical("namespace", "n", {"name": lake.namespace})), Missing
    )
    assert check_catalog(lake.references[CATALOG]).verdict.value == "ok"


def test_what_did_not_move_is_not_loaded(lake: KindLake, monkeypatch: pytest.MonkeyPatch) -> None:
    lake.apply("table.orders", orders(lake))
    desired = lake.canonical("table", "orders", orders(lake))
    with monkeypatch.context() as patch:
        patch.setattr(
            "flareiac_iceberg.table.read.load_entry", lambda *_: pytest.fail("the metadata was loaded")
        )
        assert isinstance(lake.read("table.orders", desired), Present)


def test_another_program_in_between_loses_nothing(lake: KindLake) -> None:
    lake.apply("table.orders", orders(lake))
    wider = orders(lake, comment="mine")
    proposal = lake.plan("table.orders", wider)
    with lake.opened() as catalog:
        catalog.load_table(f"{lake.namespace}.orders").transaction().set_properties(
            theirs="kept"
        ).commit_transaction()
    lake.carry_out("table.orders", proposal)
    properties = lake.table(f"{lake.namespace}.orders").properties
    assert (properties["theirs"], properties["comment"]) == ("kept", "mine")


def test_a_stale_plan_is_refused(lake: KindLake) -> None:
    lake.apply("table.orders", orders(lake))
    proposal = lake.plan(
        "table.orders",
        orders(lake, column=columns(id="long not null", ts="timestamptz", region="string", n="int")),
    )
    with lake.opened() as catalog:
        from pyiceberg.types import StringType

        with catalog.load_table(f"{lake.namespace}.orders").update_schema() as update:
            update.add_column("theirs", StringType())
    outcome = lake.carry_out("table.orders", proposal)
    assert isinstance(outcome, NotApplied)
    assert [item.code for item in outcome.diagnostics] == ["FII040"]
    assert "n" not in {item.name for item in lake.table(f"{lake.namespace}.orders").schema().fields}


def test_a_busy_neighbour_keeps_nobody_out_and_loses_nothing(lake: KindLake) -> None:
    lake.apply("table.orders", orders(lake))
    ended, begun, committed = threading.Event(), threading.Event(), [0]

    def commit() -> None:
        with lake.opened() as catalog:
            while not ended.is_set():
                with contextlib.suppress(CommitFailedException):
                    table = catalog.load_table(f"{lake.namespace}.orders")
                    table.transaction().set_properties(
                        {f"theirs-{committed[0]}": "kept"}
                    ).commit_transaction()
                    committed[0] += 1
                    begun.set()
                ended.wait(0.1)

    neighbour = threading.Thread(target=commit)
    neighbour.start()
    try:
        assert begun.wait(60)
        for number in range(5):
            lake.apply("table.orders", orders(lake, comment=f"mine {number}"))
    finally:
        ended.set()
        neighbour.join()
    properties = lake.table(f"{lake.namespace}.orders").properties
    assert properties["comment"] == "mine 4"
    assert sum(name.startswith("theirs-") for name in properties) == committed[0] > 0


def test_a_purged_table_leaves_no_metadata(lake: KindLake) -> None:
    lake.apply("table.orders", orders(lake, on_destroy="purge"))
    location = lake.table(f"{lake.namespace}.orders").metadata_location
    assert read_file(location, lake.spec)
    lake.apply("table.orders", None)
    with pytest.raises(FileNotFoundError):
        read_file(location, lake.spec)


def test_a_repeated_create_finds_its_own_table(lake: KindLake) -> None:
    proposal = lake.plan("table.orders", orders(lake))
    request = lake.request("table.orders", proposal)
    driver = lake.session.driver("table")
    first, again = driver.apply(request), driver.apply(request)
    assert isinstance(first, Applied)
    assert isinstance(again, Applied)
    assert first.identity["uuid"] == again.identity["uuid"]


def test_another_programs_table_is_never_taken(lake: KindLake) -> None:
    proposal = lake.plan("table.orders", orders(lake))
    with lake.opened() as catalog:
        from pyiceberg.schema import Schema
        from pyiceberg.types import LongType, NestedField

        catalog.create_namespace_if_not_exists(lake.namespace)
        catalog.create_table(f"{lake.namespace}.orders", Schema(NestedField(1, "x", LongType())))
    outcome = lake.carry_out("table.orders", proposal)
    assert isinstance(outcome, NotApplied)
    assert [item.code for item in outcome.diagnostics] == ["FII040"]


def test_of_tables_made_at_the_same_time_only_the_refused_ones_are_missing(lake: KindLake) -> None:
    wanted = {f"table.t{number}": f"t{number}" for number in range(12)}
    proposals = {
        address: lake.plan(address, orders(lake, name=name, on_destroy=None))
        for address, name in wanted.items()
    }
    if isinstance(lake.spec, PostgresCatalog):  # it keeps 1,000 characters of a place
        too_long = "/".join([lake.spec.warehouse, *["x" * 200] * 5])
        wanted["table.long"] = "long"
        proposals["table.long"] = lake.plan("table.long", orders(lake, name="long", location=too_long))
    other = lake.plan("table.other", orders(lake, name="t5"))
    lake.carry_out("table.other", other)  # takes a name after the plan
    requests = [lake.request(address, proposal) for address, proposal in proposals.items()]
    with ThreadPoolExecutor(len(requests)) as pool:
        outcomes = dict(zip(wanted, pool.map(lake.asked, requests), strict=True))
    refused = {address for address, outcome in outcomes.items() if isinstance(outcome, NotApplied)}
    assert refused == {"table.t5", "table.long"} & wanted.keys()
    assert lake.names(lake.namespace) == sorted(f"t{number}" for number in range(12))
    for address, outcome in outcomes.items():
        if isinstance(outcome, Applied):
            assert outcome.identity["uuid"] == str(
                lake.table(f"{lake.namespace}.{wanted[address]}").metadata.table_uuid
            )


def test_a_table_gets_another_name_or_says_why_not(lake: KindLake) -> None:
    lake.apply("table.orders", orders(lake))
    uuid = lake.state["table.orders"].identity["uuid"]
    moved = orders(lake, namespace=f"{lake.namespace}_b", name="moved")
    proposal = lake.plan("table.orders", moved)
    if isinstance(lake.spec, GlueCatalog):
        assert [item.code for item in proposal.blockers] == ["FII077"]
        return
    lake.carry_out("table.orders", proposal)
    assert lake.names(lake.namespace) == []
    assert lake.names(f"{lake.namespace}_b") == ["moved"]
    assert lake.state["table.orders"].identity["uuid"] == uuid
    assert lake.plan("table.orders", moved).action is Action.NO_OP


def test_a_dropped_table_comes_back(lake: KindLake) -> None:
    lake.apply("table.orders", orders(lake))
    lake.append(f"{lake.namespace}.orders", [{"id": 1, "ts": None, "region": "eu"}])
    deleted = lake.carry_out("table.orders", lake.plan("table.orders", None))
    assert isinstance(deleted, Applied)
    driver = lake.session.driver("table")
    assert isinstance(driver, Undroppable)
    recorded = Recorded(attributes=deleted.attributes, identity=deleted.identity)
    lake.state["table.orders"] = recorded
    request = lake.asking("table.orders", Revive(recorded=recorded, then={}))
    for _ in range(2):
        revived = driver.revive(request)
        assert isinstance(revived, Applied), revived
    lake.record("table.orders", revived)
    assert lake.plan("table.orders", orders(lake, on_destroy="retain")).action is Action.NO_OP
    assert [row["id"] for row in lake.rows(f"{lake.namespace}.orders")] == [1]


@pytest.mark.parametrize("last_look", [False, True])
def test_a_commit_that_comes_before_the_drop_comes_back(
    lake: KindLake, monkeypatch: pytest.MonkeyPatch, *, last_look: bool
) -> None:
    """Also one that comes after the last look that a catalog without a condition allows."""
    lake.apply("table.orders", orders(lake))
    name = f"{lake.namespace}.orders"
    lake.append(name, [{"id": 1, "ts": None, "region": "eu"}])
    writer = type(writer_of(lake.spec))
    place = "_refuse_moved" if last_look and issubclass(writer, LibraryWriter) else "drop"
    real, waiting = getattr(writer, place), ["one"]

    def beside(*given: Any, **more: Any) -> Any:
        seen = real(*given, **more) if place == "_refuse_moved" else None
        if waiting:
            waiting.clear()
            lake.append(name, [{"id": 2, "ts": None, "region": "eu"}])
        return seen if place == "_refuse_moved" else real(*given, **more)

    planned = lake.plan("table.orders", None)
    monkeypatch.setattr(writer, place, beside)
    deleted = lake.carry_out("table.orders", planned)
    assert isinstance(deleted, Applied)
    assert lake.names(lake.namespace) == []
    driver = lake.session.driver("table")
    assert isinstance(driver, Undroppable)
    recorded = Recorded(attributes=deleted.attributes, identity=deleted.identity)
    lake.state["table.orders"] = recorded
    revived = driver.revive(lake.asking("table.orders", Revive(recorded=recorded, then={})))
    assert isinstance(revived, Applied), revived
    assert sorted(row["id"] for row in lake.rows(name)) == [1, 2]


def test_a_commit_that_comes_before_a_rename_is_kept(lake: KindLake, monkeypatch: pytest.MonkeyPatch) -> None:
    if isinstance(lake.spec, GlueCatalog):
        return  # refused, see above
    lake.apply("table.orders", orders(lake))
    planned = lake.plan("table.orders", orders(lake, name="moved"))
    writer = type(writer_of(lake.spec))
    real, waiting = writer.rename, ["one"]

    def beside(*given: Any, **more: Any) -> Any:
        if waiting:
            waiting.clear()
            lake.append(f"{lake.namespace}.orders", [{"id": 2, "ts": None, "region": "eu"}])
        return real(*given, **more)

    monkeypatch.setattr(writer, "rename", beside)
    assert isinstance(lake.carry_out("table.orders", planned), Applied)
    assert [row["id"] for row in lake.rows(f"{lake.namespace}.moved")] == [2]


def test_format_three_is_made_and_upgraded_to(lake: KindLake) -> None:
    third = orders(lake, format_version=3)
    lake.apply("table.orders", third)
    lake.apply("table.older", orders(lake))
    lake.apply("table.older", third)
    for name in ("orders", "older"):
        assert lake.plan(f"table.{name}", third).action is Action.NO_OP
        assert lake.table(f"{lake.namespace}.{name}").format_version == 3


def test_a_format_that_is_not_known_is_not_read(lake: KindLake) -> None:
    if isinstance(lake.spec, RestCatalog):
        return  # its server reads the files, and takes none of a later format
    lake.apply("table.orders", orders(lake))
    location = lake.table(f"{lake.namespace}.orders").metadata_location
    metadata = json.loads(read_file(location, lake.spec))
    delete_file(location, lake.spec)
    write_metadata(location, metadata | {"format-version": 4}, lake.spec)
    recorded = lake.state["table.orders"]
    for state in (
        {},
        {"table.orders": replace(recorded, identity=recorded.identity | {"metadata_location": "x"})},
    ):
        lake.state = state
        found = lake.read("table.orders", lake.canonical("table", "orders", orders(lake)))
        assert isinstance(found, Unreadable)
        assert found.diagnostic.code == "FII016"


def test_no_secret_stands_anywhere(lake: KindLake) -> None:
    lake.apply("table.orders", orders(lake))
    catalog = lake.references[CATALOG].attributes
    kept = json.dumps(to_json([catalog, [[item.attributes, item.identity] for item in lake.state.values()]]))
    for secret in VARIABLES.values():
        assert secret not in kept


def test_a_secret_that_is_not_there_makes_unreadable(lake: KindLake, monkeypatch: pytest.MonkeyPatch) -> None:
    catalog = lake.references[CATALOG].attributes
    lake.apply("table.orders", orders(lake))
    recorded = lake.state["table.orders"]
    lake.state["table.orders"] = Recorded(
        attributes=recorded.attributes, identity=recorded.identity | {"metadata_location": "older"}
    )
    with monkeypatch.context() as patch:
        for name in VARIABLES:
            patch.delenv(name)
        found = lake.read("table.orders", None)
        # A server that gave a token already goes on to accept it.
        if catalog["type"] != "rest" and (catalog["properties"] or "credential" in catalog):
            assert isinstance(found, Unreadable)
            assert found.diagnostic.code == "FIX050"
        else:
            assert isinstance(found, Present)
    assert isinstance(lake.read("table.orders", None), Present)


def test_a_database_without_its_tables_is_no_empty_catalog(lake: KindLake) -> None:
    """A schema that was dropped, a database that was made again."""
    with lake.opened() as catalog:
        if not isinstance(catalog, SqlCatalog):
            pytest.skip("the catalog of an account or a warehouse of a server")
        lake.apply("table.orders", orders(lake))
        lake.apply(f"namespace.{lake.namespace}", {})
        wider = lake.plan("table.orders", orders(lake, comment="wider"))
        gone = lake.plan("table.orders", None)
        new = lake.read("table.new", lake.canonical("table", "new", orders(lake)))
        catalog.destroy_tables()
        for address, kind in (("table.orders", "table"), (f"namespace.{lake.namespace}", "namespace")):
            body = orders(lake) if kind == "table" else {}
            found = lake.read(address, lake.canonical(kind, address.partition(".")[2], body))
            assert isinstance(found, Unreadable)
            assert found.diagnostic.code == "FII010"
        for request in (lake.request("table.orders", wider), lake.deletion("table.orders", gone)):
            refused = lake.asked(request)
            assert isinstance(refused, NotApplied)
            assert [item.code for item in refused.diagnostics] == ["FII010"]
            with pytest.raises(Failure):
                lake.settle("table.orders", request)
        without = lake.read("table.new", lake.canonical("table", "new", orders(lake)))
        assert isinstance(new, Missing)
        assert isinstance(without, Missing)
        assert new.facts != without.facts
        lake.close()
        with pytest.raises(NoCatalog):
            tables_in(lake.spec, lake.namespace)
