"""The questions of an apply to a catalog grow with what it changes, not with what exists."""

from typing import Any

import pytest

from flareiac.sdk.results import Applied
from flareiac_iceberg.catalogs.sqlite import reader
from tests.iceberg.lake import Lake, columns


@pytest.mark.parametrize("change", ["create", "update", "delete"])
def test_a_table_costs_as_many_rows_of_the_catalog_however_many_are_beside_it(
    lake: Lake, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    rows = [0]
    original = reader._asked

    def counted(*arguments: Any, **options: Any) -> Any:
        found = original(*arguments, **options)
        rows[0] += len(found)
        return found

    costs = []
    for number in range(12):
        body = {"namespace": "n", "column": columns(id="long"), "on_destroy": "drop"}
        address = f"table.t{number}"
        if change != "create":
            lake.apply(address, body)
        wanted = {"create": body, "update": body | {"comment": "x"}, "delete": None}[change]
        planned = lake.plan(address, wanted)
        with monkeypatch.context() as patch:
            patch.setattr(reader, "_asked", counted)
            before = rows[0]
            assert isinstance(lake.carry_out(address, planned), Applied)
            costs.append(rows[0] - before)
        if change == "delete":
            lake.apply(f"table.kept{number}", body | {"name": f"kept{number}"})
    assert max(costs[2:]) <= 4, costs
