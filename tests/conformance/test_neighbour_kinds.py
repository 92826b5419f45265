"""Whose files are below a table's location, by every kind of catalog that can tell of all its tables at
once.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from flareiac.kernel.diagnostics import Failure, error
from flareiac_iceberg import codes
from flareiac_iceberg.catalogs.base import CatalogSpec
from flareiac_iceberg.maintenance import catalog_listing as listing
from tests.iceberg.lake import columns
from tests.iceberg.maintenance.maintenance import measured, tasks
from tests.support.catalog_kinds import KINDS, KindLake, Servers, kind_lake

pytestmark = [
    # Clients of servers leave their sockets to the garbage collector.
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(params=[kind for kind in KINDS if kind != "rest"])
def lake(request: pytest.FixtureRequest, tmp_path: Path, servers: Servers) -> Iterator[KindLake]:
    with kind_lake(request.param, tmp_path, servers, request) as made:
        yield made


def test_a_guest_in_another_namespace_is_seen(lake: KindLake) -> None:
    body = {"namespace": lake.namespace, "column": columns(id="long"), "orphan_removal": {}}
    lake.apply("table.t", body)
    assert measured(lake, body)["kinds"]["orphan_removal"]["under"] == []
    far = f"{lake.namespace}_far"
    with lake.opened() as catalog:
        catalog.create_namespace(far)
        own = catalog.load_table(f"{lake.namespace}.t")
        catalog.create_table(f"{far}.guest", schema=own.schema(), location=f"{own.location()}/guest")
    assert measured(lake, body)["kinds"]["orphan_removal"]["under"] == [f"{far}.guest"]


@pytest.mark.jvm
def test_a_guest_of_a_rest_server_is_seen(
    request: pytest.FixtureRequest, tmp_path: Path, servers: Servers
) -> None:
    """Neither where it is nor what its properties say is hidden by asking for each table."""
    with kind_lake("rest", tmp_path, servers, request) as lake, lake.opened() as catalog:
        body = {"namespace": lake.namespace, "column": columns(id="long"), "orphan_removal": {}}
        lake.apply("table.t", body)
        own, far = catalog.load_table(f"{lake.namespace}.t"), f"{lake.namespace}_far"
        for namespace in ((far,), (far, "deep")):
            catalog.create_namespace(namespace)
        properties = {"write.data.path": f"{own.location()}/guest"}
        catalog.create_table((far, "deep", "guest"), schema=own.schema(), properties=properties)
        assert measured(lake, body)["kinds"]["orphan_removal"]["under"] == [f"{far}.deep.guest"]


def test_a_catalog_is_asked_once_for_all_tables_that_are_looked_at_together(
    lake: KindLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = {"namespace": lake.namespace, "column": columns(id="long"), "orphan_removal": {}}
    bodies = {f"table.t{number}": body | {"name": f"t{number}"} for number in range(3)}
    for address, each in bodies.items():
        lake.apply(address, each)
    asked: list[CatalogSpec] = []

    def nothing(catalog: CatalogSpec) -> dict[tuple[str, ...], tuple[str, str]]:
        asked.append(catalog)
        return {}

    monkeypatch.setattr(listing, "everything_in", nothing)
    for _ in range(2):
        found = lake.prefetch(
            lake.read_request(address, lake.canonical("table", address[6:], each))
            for address, each in bodies.items()
        )
        for address, each in bodies.items():
            figures = measured(lake, each, address=address, observed=found[address])
            assert figures["kinds"]["orphan_removal"]["under"] == []
    assert len(asked) == 2


def test_a_catalog_that_does_not_tell_keeps_its_files(
    lake: KindLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_catalog: CatalogSpec) -> None:
        raise Failure(error(codes.CATALOG_UNREADABLE, "You may not list databases."))

    body = {
        "namespace": lake.namespace,
        "column": columns(id="long"),
        "orphan_removal": {},
        "snapshot_expiry": {},
    }
    lake.apply("table.t", body)
    monkeypatch.setattr(listing, "everything_in", refuse)
    found = tasks(lake, body)["orphan_removal"]
    assert not found.due
    assert [item.code for item in found.diagnostics] == ["FII165"]
    assert "You may not list databases." in found.diagnostics[0].detail
