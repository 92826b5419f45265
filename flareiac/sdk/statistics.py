"""The contract of statistics: how much there is of a resource that holds data, and how it is kept, as
``status`` and ``show`` print it. Records.
"""

from collections.abc import Mapping
from dataclasses import field
from typing import Protocol, runtime_checkable

from flareiac.kernel.data import Attributes
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.maintenance import LastRun
from flareiac.sdk.references import References
from flareiac.sdk.results import Recorded
from flareiac.sdk.text_table import Column


@dataclass(frozen=True, slots=True, kw_only=True)
class StatisticsSheet:
    """The table in which ``status`` shows the resources of one type: ``name`` is the key of its JSON,
    ``subject`` the title of the column of addresses, before ``columns``.
    """

    name: str
    subject: str
    columns: tuple[Column, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StatisticsRequest:
    """Asks for the statistics of one recorded resource.

    ``known``: its figures as last measured; ``runs``: the last run of each kind of maintenance, as the state
    keeps them; ``now`` in UTC seconds.
    """

    address: str
    recorded: Recorded
    references: References
    now: float
    known: Attributes = field(default_factory=dict)
    runs: Mapping[str, LastRun] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistics:
    """``figures`` is the JSON, a contract; ``cells`` are those of the sheet's columns; ``lines`` stand below
    the record of the resource in ``show``.

    ``legend`` explains a cell, and is printed once below the sheet; ``trouble`` has titles and texts of what
    is wrong.
    """

    figures: Attributes
    cells: tuple[str, ...]
    lines: tuple[str, ...]
    legend: str = ""
    trouble: tuple[tuple[str, str], ...] = ()


@runtime_checkable
class ReportsStatistics(Protocol):
    """A driver whose resources hold data. Their type has a ``sheet``."""

    def statistics(self, request: StatisticsRequest) -> Statistics:
        """Returns what is known without much work, without an engine. Raises ``Failure``."""
        ...
