"""Tables are found in every kind of catalog, and their blocks plan empty."""

import pytest

from flareiac.sdk.importing import Importable, Importing, ImportRequest
from flareiac.sdk.results import Present
from tests.conformance.test_catalog_kinds import orders
from tests.iceberg.lake import columns
from tests.support.catalog_kinds import KindLake

pytestmark = [
    # Clients of servers leave their sockets to the garbage collector.
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.mark.parametrize(("pattern", "exact"), [("lake.{}.*", False), ("lake.{}.orders", True)])
def test_what_is_there_is_found_and_said_whole(lake: KindLake, pattern: str, exact: bool) -> None:
    lake.apply("table.orders", orders(lake, comment="theirs", properties={"a": "b"}))
    if not exact:
        lake.apply("table.plain", {"namespace": lake.namespace, "column": columns(id="long")})
    assert isinstance(lake.session, Importing)
    request = ImportRequest(
        pattern=pattern.format(lake.namespace), references=lake.references, declared={}, exact=exact
    )
    found = [item for item in lake.session.importable(request) if isinstance(item, Importable)]
    assert [item.id for item in found] == [
        f"lake.{lake.namespace}.{name}" for name in (["orders"] if exact else ["orders", "plain"])
    ]
    written = found[0].block
    assert "location" not in written.attributes  # where this catalog puts its tables
    assert (written.attributes["comment"], written.attributes["properties"]) == ("theirs", {"a": "b"})
    assert [block.label for block in written.blocks] == ["id", "ts", "region"]


def test_a_data_block_reads_it(lake: KindLake) -> None:
    lake.apply("table.orders", orders(lake))
    asked = lake.canonical("data.table", "raw", {"namespace": lake.namespace, "name": "orders"})
    found = lake.session.driver("data.table").read(lake.read_request("data.table.raw", asked))
    assert isinstance(found, Present)
    assert found.attributes["column_order"] == ["id", "ts", "region"]
    assert found.attributes["uuid"] == lake.state["table.orders"].identity["uuid"]
