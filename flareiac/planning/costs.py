"""The costs of the actions of a plan, from what was measured for it and a team's prices. Pure.

What was not measured is unknown and never zero. Savings, such as of files that an expiry removes, do not
count.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from decimal import Context, Decimal
from typing import Final

from flareiac.model.costs import Cost, CostKind, CostPart, Costs, Prices
from flareiac.model.plan import Plan, PlannedResource, PlannedTask
from flareiac.sdk.changes import Action, Effect

_EXACT: Final = Context(prec=400)
"""Products of measured numbers and prices have fewer digits."""
_SHOWN: Final = Context(prec=12)
"""Digits of a text: counted from the first that is not zero, so that nothing positive becomes zero."""
_GIB: Final = Decimal(2**30)
_STORES: Final = frozenset(
    {
        Effect.REWRITES_DATA,
        Effect.MOVES_FILES,
        Effect.NEW_SNAPSHOT,
        Effect.NEW_GENERATION,
    }
)
_ASKS: Final = frozenset({Effect.REWRITES_DATA, Effect.MOVES_FILES, Effect.NEW_GENERATION})
_COMPUTES: Final = frozenset({Effect.REWRITES_DATA, Effect.NEW_GENERATION, Effect.RESTART, Effect.STARTS})
_RUNS: Final = frozenset({Effect.RESTART, Effect.STARTS})
_FILES: Final = ("_files", "_manifests")
"""Ends of the names of forecasts that count files which are read, written or deleted."""


def costs_of(plan: Plan, prices: Prices, *, named: str) -> Costs:
    """The costs of a plan; ``named`` is the file of the prices. What is blocked has none."""
    exact: list[CostPart] = []
    changes: dict[str, Cost] = {}
    tasks: dict[str, dict[str, Cost]] = {}
    for resource in plan.resources:
        if parts := list(_of_change(resource, prices)):
            changes[resource.address] = _cost(parts)
            exact += parts
    for due in plan.due:
        parts = list(_of_task(due, prices))
        tasks.setdefault(due.address, {})[due.task.name] = _cost(parts)
        exact += parts
    whole = _cost(exact)
    return Costs(
        currency=prices.currency,
        prices=named,
        changes=changes,
        tasks=tasks,
        total=replace(whole, parts=()),
        left_out=dict(Counter(part.kind.value for part in exact if part.amount is None)),
    )


def _of_change(resource: PlannedResource, prices: Prices) -> Iterator[CostPart]:
    proposal = resource.proposal
    if proposal.blockers or resource.action in (Action.NO_OP, Action.RECORD, Action.FORGET):
        return
    effects = {step.effect for step in proposal.steps}
    if not effects & _RUNS:
        effects.discard(Effect.NEW_GENERATION)  # what runs in it is another resource, and has its own costs
    if effects & _STORES:
        yield CostPart(kind=CostKind.STORAGE, why="what is written was not measured")
    if effects & _ASKS:
        yield CostPart(kind=CostKind.REQUESTS, why="files were not counted")
    if effects & _COMPUTES:
        yield _of_batches(resource, prices)


def _of_batches(resource: PlannedResource, prices: Prices) -> CostPart:
    """Batches that are done again take about as long as the last one; stop and start were not measured."""
    steps = resource.proposal.steps
    replays = len({number for step in steps for number in step.replays})
    seconds = next((step.batch_seconds for step in steps if step.batch_seconds is not None), None)
    if not replays or seconds is None or prices.cores is None:
        missing = (
            "the prices name no cores" if replays and seconds is not None else "no duration was measured"
        )
        return CostPart(kind=CostKind.CORE_HOURS, why=missing)
    hours = _EXACT.divide(
        _EXACT.multiply(_EXACT.multiply(Decimal(str(seconds)), Decimal(replays)), prices.cores), Decimal(3600)
    )
    why = f"{replays} batches of {seconds} s, as long as the last one, on {prices.cores} cores"
    return _known(CostKind.CORE_HOURS, hours, _EXACT.multiply(hours, prices.core_hour), why, at_least=True)


def _of_task(due: PlannedTask, prices: Prices) -> Iterator[CostPart]:
    forecast, effect = due.task.forecast, due.task.effect
    size = forecast.get("rewritten_bytes")
    if size is not None:
        gib = _EXACT.divide(Decimal(size), _GIB)
        why = f"{size:,} bytes are written again, and the old ones stay until no snapshot needs them"
        yield _known(CostKind.STORAGE, gib, _EXACT.multiply(gib, prices.storage), why)
    elif effect is not Effect.IRREVERSIBLE:
        yield CostPart(kind=CostKind.STORAGE, why="what is written was not measured")
    counts = [number for name, number in forecast.items() if name.endswith(_FILES)]
    if counts:
        requests = Decimal(sum(counts))
        amount = _EXACT.multiply(_EXACT.divide(requests, Decimal(1000)), prices.requests)
        why = f"one for each of {sum(counts):,} files that go; others were not counted"
        yield _known(CostKind.REQUESTS, requests, amount, why, at_least=True)
    else:
        yield CostPart(kind=CostKind.REQUESTS, why="files were not counted")
    yield CostPart(kind=CostKind.CORE_HOURS, why="no duration was measured")


def _known(
    kind: CostKind, quantity: Decimal, amount: Decimal, why: str, *, at_least: bool = False
) -> CostPart:
    return CostPart(kind=kind, quantity=_text(quantity), amount=_text(amount), at_least=at_least, why=why)


def _cost(parts: Iterable[CostPart]) -> Cost:
    listed = tuple(parts)
    return Cost(
        per_month=_sum(part for part in listed if part.kind is CostKind.STORAGE),
        once=_sum(part for part in listed if part.kind is not CostKind.STORAGE),
        at_least=any(part.at_least for part in listed),
        parts=listed,
        unknown=tuple(dict.fromkeys(part.kind for part in listed if part.amount is None)),
    )


def _sum(parts: Iterable[CostPart]) -> str | None:
    amounts = [Decimal(part.amount) for part in parts if part.amount is not None]
    total = Decimal(0)
    for amount in amounts:
        total = _EXACT.add(total, amount)
    return _text(total) if amounts else None


def _text(number: Decimal) -> str:
    """The number to 12 digits, without an exponent."""
    text = format(_SHOWN.plus(number), "f")
    return text.rstrip("0").rstrip(".") if "." in text else text
