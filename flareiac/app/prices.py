"""The use case of ``-cost``: a plan with the costs of its actions, by a file of prices. Reads the file."""

from dataclasses import replace
from pathlib import Path

from flareiac.config.files import read
from flareiac.config.prices import prices_in
from flareiac.kernel.diagnostics import Diagnostics, Failure
from flareiac.model.costs import Prices
from flareiac.model.plan import Plan
from flareiac.planning.costs import costs_of


def read_prices(root: Path, file: str) -> Prices:
    """The prices in a file, relative to the project. Raises ``Failure``."""
    diagnostics = Diagnostics()
    source = read(root / file, file, diagnostics)
    prices = prices_in(source, diagnostics) if source is not None else None
    if source is None or prices is None:
        raise Failure(*diagnostics, sources={} if source is None else {source.path: source})
    return prices


def with_costs(plan: Plan, prices: Prices | None, file: str | None) -> Plan:
    """The plan with its costs; as it is where no prices are given."""
    return plan if prices is None else replace(plan, costs=costs_of(plan, prices, named=file or ""))
