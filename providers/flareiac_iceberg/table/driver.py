"""The driver of tables: what the core asks of them, put together from the parts that each do one thing.
Touches the world.
"""

from collections.abc import Mapping, Sequence
from typing import assert_never

from flareiac.kernel.data import Attributes
from flareiac.kernel.diagnostics import Failure
from flareiac.kernel.paths import Path
from flareiac.kernel.records import encode
from flareiac.sdk.actions import Adopt, Create, CustomAction, Delete, Revive, Settleable, Update
from flareiac.sdk.freshness import Freshness, FreshnessRequest
from flareiac.sdk.maintenance import MeasureRequest
from flareiac.sdk.project import Project
from flareiac.sdk.requests import ApplyRequest, ChangeRequest, ReadRequest, TraceRequest
from flareiac.sdk.results import NotApplied, Observation, Outcome, Trace
from flareiac.sdk.statistics import Statistics, StatisticsRequest
from flareiac_iceberg.catalogs.connections import Connections
from flareiac_iceberg.catalogs.resolve import target_of
from flareiac_iceberg.format.newest_data import newest_data
from flareiac_iceberg.maintenance.catalog_listing import Listings
from flareiac_iceberg.maintenance.read import figures, reader_of
from flareiac_iceberg.maintenance.statistics import survey
from flareiac_iceberg.maintenance.statistics_text import statistics_of
from flareiac_iceberg.table.actions.commit import TableCommitter
from flareiac_iceberg.table.actions.create import TableCreator
from flareiac_iceberg.table.actions.drop import TableDropper
from flareiac_iceberg.table.actions.order import order_of
from flareiac_iceberg.table.actions.revive import TableReviver
from flareiac_iceberg.table.actions.rollback import EarlierStates
from flareiac_iceberg.table.actions.update import TableUpdater
from flareiac_iceberg.table.current import current, own
from flareiac_iceberg.table.observer import TableObserver
from flareiac_iceberg.table.purge_survey import PurgeSurvey
from flareiac_iceberg.table.trace import traced


class TableDriver:
    """Reads and changes tables. Safe to use from several threads."""

    def __init__(self, project: Project, connections: Connections) -> None:
        self._project = project
        self._connections = connections
        self._listings = Listings(project.resolve)
        purges = PurgeSurvey(self._listings, project.resolve)
        self._observer = TableObserver(self._listings, purges)
        committer = TableCommitter(connections)
        self._creator = TableCreator(connections, committer, project.root)
        self._updater = TableUpdater(connections, committer)
        self._dropper = TableDropper(connections, purges, project.lineage)
        self._reviver = TableReviver(connections)
        self.earlier_states = EarlierStates(connections, project.lineage)

    def prefetch(self, requests: Sequence[ReadRequest]) -> Mapping[str, Observation]:
        """See ``TableObserver``."""
        return self._observer.prefetch(requests)

    def read(self, request: ReadRequest) -> Observation:
        """See ``TableObserver``."""
        return self._observer.read(request)

    def trace(self, request: TraceRequest) -> Mapping[Path, Trace]:
        """See ``traced``."""
        return traced(request)

    def apply(self, request: ChangeRequest) -> Outcome:
        """Creates, adopts or updates. The same request again finds what the first one did.

        Raises ``Failure`` where only ``settle`` can tell what was done.
        """
        try:
            order = order_of(request, request.action, self._project.lineage)
            creates = isinstance(order.change, Create)
            self._connections.get(order.target.catalog, make=creates)
        except Failure as failure:
            return NotApplied(diagnostics=failure.diagnostics)
        return self._creator.create(order) if creates else self._updater.update(order)

    def delete(self, request: ApplyRequest[Delete]) -> Outcome:
        """See ``TableDropper``. Raises ``Failure`` as ``apply`` does."""
        return self._dropper.drop(request)

    def revive(self, request: ApplyRequest[Revive]) -> Outcome:
        """See ``TableReviver``."""
        return self._reviver.revive(request)

    def measure(self, request: MeasureRequest) -> Attributes:
        """The figures by which its maintenance is decided; reads metadata, never data files. Raises
        ``Failure``.
        """
        attributes: Attributes = encode(
            figures(request, self._listings, self._project.resolve, self._project.root)
        )
        return attributes

    def statistics(self, request: StatisticsRequest) -> Statistics:
        """The figures of the recorded table. Raises ``Failure``."""
        target = target_of(request.recorded.attributes, request.references)
        surveyed = survey(current(target), target.full_name, request, reader_of(target.catalog))
        return statistics_of(surveyed, now=request.now)

    def freshness(self, request: FreshnessRequest) -> Freshness:
        """Returns when rows last came into the recorded table. Raises ``Failure``."""
        target = target_of(request.recorded.attributes, request.references)
        return newest_data(own(target, request.recorded).metadata)

    def foresee(self, request: ApplyRequest[Settleable]) -> Outcome | None:
        """See ``settle``, which reads only."""
        return self.settle(request)

    def settle(self, request: ApplyRequest[Settleable]) -> Outcome | None:
        """The outcome of an operation whose result was lost, if it took effect. Else None."""
        match request.action:
            case Create() as change:
                return self._creator.settled(order_of(request, change, self._project.lineage))
            case Adopt() | Update() as change:
                return self._updater.settled(order_of(request, change, self._project.lineage))
            case Delete() as action:
                return self._dropper.settled(action, request.references)
            case Revive() as action:
                return self._reviver.settled(action, request.references)
            case CustomAction() as action:
                return self.earlier_states.settled(action, request.references)
            case other:
                assert_never(other)
