"""Plans the maintenance of a table: every declared task in the order of work, whether it is due or not.
Pure.
"""

from collections.abc import Iterable, Iterator, Mapping

from flareiac.kernel.data import Attributes, Data
from flareiac.kernel.diagnostics import Diagnostic
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import decode
from flareiac.sdk.changes import Blocker, Usage
from flareiac.sdk.maintenance import Judgement, MaintenanceTask, TasksRequest
from flareiac_iceberg.maintenance.figures import Figures
from flareiac_iceberg.maintenance.registry import declared
from flareiac_iceberg.maintenance.task_builder import Case
from flareiac_iceberg.maintenance.verify import judge


@dataclass(frozen=True, slots=True)
class TableMaintainer:
    """Pure knowledge of what a table needs."""

    def wants(self, attributes: Attributes) -> bool:
        """Returns True if any block is declared and enabled."""
        return any(True for _ in declared(attributes))

    def tasks(self, request: TasksRequest) -> tuple[MaintenanceTask, ...]:
        """All that is declared, in the order of work."""
        figures = decode(Figures, request.figures)
        return tuple(
            kind.plan(
                Case(
                    name=kind.name,
                    settings=settings,
                    performer=kind.performer,
                    effect=kind.effect,
                    request=request,
                    figures=figures,
                ),
                settings,
                kind.figures_of(figures),
            )
            for kind, settings in declared(request.attributes)
        )

    def judge(self, task: MaintenanceTask, result: Mapping[str, Data]) -> Judgement:
        """See ``judge``."""
        return judge(task, result)


def usage_blockers(desired: Attributes, usages: Iterable[Usage]) -> Iterator[Blocker]:
    """The blockers of maintenance that would do to users of the table something that they cannot live
    with.
    """
    for kind, settings in declared(desired):
        if kind.blockers is not None:
            yield from kind.blockers(settings, desired, usages)


def usage_warnings(address: str, desired: Attributes, usages: Iterable[Usage]) -> Iterator[Diagnostic]:
    """The warnings of effects that the users of the table have on the work of maintenance."""
    for kind, settings in declared(desired):
        if kind.warnings is not None:
            yield from kind.warnings(settings, address, usages)
