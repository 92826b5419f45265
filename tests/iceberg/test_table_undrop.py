"""What was dropped comes back with its rows, and nothing else is ever replaced by it."""

from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

import pytest

from flareiac.sdk.changes import Action
from flareiac.sdk.provider import Applied, ApplyRequest, NotApplied, Outcome, Recorded, Reviving
from tests.iceberg.lake import Lake, columns

BODY: dict[str, Any] = {"namespace": "n", "column": columns(id="long"), "on_destroy": "drop"}


@pytest.fixture(params=[2, 3])
def dropped(lake: Lake, request: pytest.FixtureRequest) -> tuple[Lake, ApplyRequest]:
    """A table with a row, and one commit after the last apply, that was dropped; and what asks for it."""
    lake.apply("table.t", BODY)
    lake.append("n.t", [{"id": 1}])
    lake.apply("table.t", BODY | {"format_version": request.param})
    planned = lake.plan("table.t", None)
    asked = lake.request("table.t", planned)
    outcome = lake.session.driver("table").delete(asked)
    assert isinstance(outcome, Applied)
    assert outcome.revivable
    del lake.state["table.t"]
    recorded = Recorded(attributes=outcome.attributes, identity=outcome.identity)
    return lake, replace(asked, action="revive", planned=outcome.attributes, recorded=recorded, payload=None)


def revive(lake: Lake, request: ApplyRequest) -> Outcome:
    driver = lake.session.driver("table")
    assert isinstance(driver, Reviving)
    return driver.revive(request)


def test_it_is_back_with_its_rows_and_is_not_dropped_again(dropped: tuple[Lake, ApplyRequest]) -> None:
    lake, request = dropped
    assert lake.settle("table.t", request) is None
    outcome = revive(lake, request)
    assert isinstance(outcome, Applied)
    assert outcome.messages[0] == "lake.n.t is back, with 1 rows"
    assert lake.rows("n.t") == [{"id": 1}]
    again, settled = revive(lake, request), lake.settle("table.t", request)
    assert isinstance(again, Applied)
    assert isinstance(settled, Applied)
    lake.record("table.t", outcome)
    assert lake.plan("table.t", None).action is Action.FORGET
    assert lake.plan("table.t", BODY).steps[0].text == "removing the block will drop the table from now on"


def test_another_table_of_the_name_stays(dropped: tuple[Lake, ApplyRequest]) -> None:
    lake, request = dropped
    lake.apply("table.u", BODY | {"name": "t", "column": columns(other="string")})
    outcome = revive(lake, request)
    assert isinstance(outcome, NotApplied)
    assert [item.code for item in outcome.diagnostics] == ["FII088"]
    assert lake.rows("n.t") == []


def test_metadata_that_is_gone_or_broken_is_told(dropped: tuple[Lake, ApplyRequest]) -> None:
    lake, request = dropped
    assert request.recorded is not None
    location = Path(urlparse(request.recorded.identity["metadata_location"]).path)
    content = location.read_text()
    for damaged in (None, "{", content.replace(request.recorded.identity["uuid"], "00000000-0000-0000-0000-000000000000")):
        location.unlink(missing_ok=True)
        if damaged is not None:
            location.write_text(damaged)
        outcome = revive(lake, request)
        assert isinstance(outcome, NotApplied), damaged
        assert outcome.diagnostics[0].code in ("FII012", "FII088")
    assert not lake.other().table_exists("n.t")
