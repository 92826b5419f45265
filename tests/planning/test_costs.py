"""Costs of a plan: exact sums, nothing positive shown as nothing, nothing unknown counted as zero."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from flareiac.app.discovery import installed
from flareiac.model.costs import CostKind, Prices
from flareiac.model.plan import Plan, PlannedResource, PlannedTask
from flareiac.planning.costs import costs_of
from flareiac.render.cost_text import amount_text, cost_lines
from flareiac.render.plan_json import plan_json
from flareiac.sdk.changes import Action, Effect, Proposal, Step
from flareiac.sdk.maintenance import MaintenanceTask
from tests.model.test_codecs import PLAN

PRICE = st.decimals(min_value=0, max_value=10**6, places=6)
PRICES = st.builds(
    Prices,
    currency=st.just("EUR"),
    storage=PRICE,
    requests=PRICE,
    core_hour=PRICE,
    cores=st.none() | st.decimals(min_value="0.5", max_value=512, places=1),
)
FREE = Prices(currency="EUR", storage=Decimal(0), requests=Decimal(0), core_hour=Decimal(0))


def _with_task(plan: Plan, forecast: dict[str, int]) -> Plan:
    task = MaintenanceTask(
        name="compaction", id="i", due=True, summary="s", forecast=forecast, effect=Effect.REWRITES_DATA
    )
    return replace(plan, tasks=(PlannedTask(address="table.a", task=task),))


@given(PLAN, PRICES, st.integers(0, 10**15), st.integers(0, 10**9))
def test_sums_are_exact_and_leave_out_what_is_unknown(
    plan: Plan, prices: Prices, size: int, files: int
) -> None:
    made = _with_task(plan, {"rewritten_bytes": size, "rewritten_files": files})
    costs = costs_of(made, prices, named="p")
    cost = costs.tasks["table.a"]["compaction"]
    assert cost.per_month is not None
    exact = Decimal(size) / 2**30 * prices.storage
    assert abs(Decimal(cost.per_month) - exact) <= exact / 10**11
    assert (Decimal(cost.per_month) > 0) == (exact > 0)
    assert cost.unknown == (CostKind.CORE_HOURS,)
    parts = [part for each in (*costs.changes.values(), cost) for part in each.parts]
    assert sum(part.amount is None for part in parts) == sum(costs.left_out.values())
    assert "E" not in cost.per_month
    lines = "\n".join(cost_lines(costs))
    assert "core hours unknown" in lines
    assert "Not in it, because it was not measured" in lines
    document: Any = plan_json(
        replace(made, costs=costs), tool_version="1", schemas=installed().registry.schemas
    )
    assert document["flareiac"]["cost"]["left_out"] == costs.left_out


@given(PLAN)
def test_what_was_not_measured_is_unknown_also_where_nothing_has_a_price(plan: Plan) -> None:
    costs = costs_of(_with_task(plan, {}), FREE, named="p")
    cost = costs.tasks["table.a"]["compaction"]
    assert (cost.per_month, cost.once) == (None, None)
    assert set(cost.unknown) == set(CostKind)
    assert "0.00" not in "\n".join(cost_lines(costs))


@given(st.decimals(min_value=0, max_value=10**9, allow_nan=False, allow_infinity=False))
def test_a_positive_amount_is_never_shown_as_nothing(amount: Decimal) -> None:
    shown = amount_text(format(amount, "f"))
    assert (shown == "0.00") == (amount == 0)


EMPTY = Plan(
    lineage="l",
    serial=1,
    workspace="default",
    time=0.0,
    configuration="c",
    destroy=False,
    targeted=False,
    maintenance_only=False,
    resources=(),
    references={},
    operations=(),
)


def test_there_are_no_costs_without_prices() -> None:
    document: Any = plan_json(EMPTY, tool_version="1")
    assert "cost" not in document["flareiac"]


def _replayed(cores: Decimal | None, seconds: float | None) -> str | None:
    step = Step(text="t", effect=Effect.RESTART, batch_seconds=seconds, replays=(7,))
    job = PlannedResource(
        address="job.a",
        type="job",
        provider="spark",
        proposal=Proposal(action=Action.UPDATE, planned={}, steps=(step,)),
        desired={},
        recorded={},
    )
    prices = replace(FREE, core_hour=Decimal("0.1"), cores=cores)
    (part,) = costs_of(replace(EMPTY, resources=(job,)), prices, named="p").changes["job.a"].parts
    assert part.kind is CostKind.CORE_HOURS
    return part.amount


def test_a_batch_that_is_done_again_costs_as_long_as_the_last_one_took() -> None:
    assert _replayed(Decimal(4), 90.0) == "0.01"
    assert _replayed(None, 90.0) is None
    assert _replayed(Decimal(4), None) is None
