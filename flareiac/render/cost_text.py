"""The costs of a plan for people: a line for each action, and a sum that says what it leaves out. Pure."""

from collections.abc import Iterator, Sequence
from decimal import ROUND_HALF_UP, Decimal
from typing import Final

from flareiac.kernel.data import Json
from flareiac.kernel.records import encode
from flareiac.model.costs import Cost, CostKind, CostPart, Costs

_CENT: Final = Decimal("0.01")
_NAMED: Final = 3
_UNITS: Final = {CostKind.STORAGE: " GiB", CostKind.REQUESTS: "", CostKind.CORE_HOURS: ""}


def cost_lines(costs: Costs) -> list[str]:
    """A title, a line for each action (one for several of which nothing is known), and the sum."""
    title = f"Costs by {costs.prices}, in {costs.currency}:"
    named = [
        *costs.changes.items(),
        *(
            (f"{name} of {address}", cost)
            for address, tasks in costs.tasks.items()
            for name, cost in tasks.items()
        ),
    ]
    if not named:
        return [title, "No action of this plan is one that these prices are about."]
    alike: dict[str, list[str]] = {}
    for name, cost in named:
        alike.setdefault("; ".join(map(_part, cost.parts)), []).append(name)
    return [title, *(f"{_names(names)}: {text}" for text, names in alike.items()), *_sums(costs)]


def _names(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more, each" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{more}"


def _part(part: CostPart) -> str:
    if part.amount is None or part.quantity is None:
        return f"{part.kind.value} unknown ({part.why})"
    more = " or more" if part.at_least else ""
    month = " per month" if part.kind is CostKind.STORAGE else ""
    quantity = f"{_quantity(part.quantity)}{_UNITS[part.kind]}"
    return f"{part.kind.value} {quantity}{more}, {amount_text(part.amount)}{more}{month} ({part.why})"


def _sums(costs: Costs) -> Iterator[str]:
    total = costs.total
    more = " or more" if total.at_least else ""
    known = [
        *([f"{amount_text(total.per_month)} per month"] if total.per_month is not None else []),
        *([f"{amount_text(total.once)}{more} once"] if total.once is not None else []),
    ]
    yield f"Sum of what is known: {' and '.join(known) if known else 'nothing is known'}."
    if costs.left_out:
        missing = ", ".join(f"{kind} of {count}" for kind, count in costs.left_out.items())
        noun = "action" if sum(costs.left_out.values()) == 1 else "actions"
        yield f"Not in it, because it was not measured: {missing} {noun}. Savings do not count."


def amount_text(amount: str) -> str:
    """An amount with two places: what is more than nothing and less than a cent is never shown as 0.00."""
    number = Decimal(amount)
    return "< 0.01" if 0 < number < _CENT else format(number.quantize(_CENT, ROUND_HALF_UP), ",f")


def _quantity(text: str) -> str:
    number = Decimal(text)
    return format(number, ",f") if number == number.to_integral_value() else amount_text(text)


def cost_json(cost: Cost, costs: Costs) -> dict[str, Json]:
    """One cost for programs: amounts are texts, in the currency of the prices."""
    document: dict[str, Json] = {"currency": costs.currency, **encode(cost)}
    return document


def total_json(costs: Costs) -> dict[str, Json]:
    """The sum for programs; ``left_out`` counts the parts that it does not hold, by kind."""
    return {**cost_json(costs.total, costs), "prices": costs.prices, "left_out": dict(costs.left_out)}
