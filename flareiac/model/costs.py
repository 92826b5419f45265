"""Prices of a team, and what the actions of a plan cost by them: records.

Amounts and quantities are texts of decimal numbers, so that no float rounds them on the way into a document.
"""

from collections.abc import Mapping
from dataclasses import field
from decimal import Decimal
from enum import StrEnum

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import OPTIONAL, SPARSE


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """``storage``: of a GiB kept for a month. ``requests``: of 1,000. ``core_hour``: of one core for one
    hour. ``cores``: those of the application that does batches again; None where that is not known.
    """

    currency: str
    storage: Decimal
    requests: Decimal
    core_hour: Decimal
    cores: Decimal | None = None


class CostKind(StrEnum):
    STORAGE = "storage"
    REQUESTS = "requests"
    CORE_HOURS = "core hours"


@dataclass(frozen=True, slots=True, kw_only=True)
class CostPart:
    """``quantity``: GiB, requests or core hours. None in it and in ``amount``: it was not measured.
    ``at_least``: more of it is certain, and was not measured. ``why``: what was measured.
    """

    kind: CostKind
    quantity: str | None = field(default=None, metadata=OPTIONAL)
    amount: str | None = field(default=None, metadata=OPTIONAL)
    at_least: bool = field(default=False, metadata=SPARSE)
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """``per_month`` and ``once``: the sums of the parts that are known, None where none is. ``at_least``: a
    part of ``once`` is. ``unknown``: the parts that no sum holds.
    """

    per_month: str | None = field(default=None, metadata=OPTIONAL)
    once: str | None = field(default=None, metadata=OPTIONAL)
    at_least: bool = field(default=False, metadata=SPARSE)
    parts: tuple[CostPart, ...] = field(default=(), metadata=SPARSE)
    unknown: tuple[CostKind, ...] = field(default=(), metadata=SPARSE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """The costs of a plan by the file ``prices``. ``changes``: by address. ``tasks``: of due maintenance, by
    address and then by name. ``total`` has no parts; ``left_out`` counts the parts that it leaves out, by
    kind.
    """

    currency: str
    prices: str
    changes: Mapping[str, Cost]
    tasks: Mapping[str, Mapping[str, Cost]]
    total: Cost
    left_out: Mapping[str, int]
