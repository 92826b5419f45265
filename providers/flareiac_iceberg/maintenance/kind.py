"""The parts that a kind of maintenance brings. ``kinds`` has a package for each, ``registry`` lists them.
Pure.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Generic, TypeVar

from flareiac.kernel.data import Attributes, Data
from flareiac.kernel.diagnostics import Diagnostic
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import decode
from flareiac.sdk.changes import Blocker, Effect, Usage
from flareiac.sdk.maintenance import MaintenanceTask, MeasureRequest
from flareiac.sdk.table_tasks import Performer
from flareiac_iceberg.catalogs.target import Target
from flareiac_iceberg.maintenance.catalog_listing import Listings
from flareiac_iceberg.maintenance.contents import Contents, Counting, Read, Table
from flareiac_iceberg.maintenance.declaration import Declaration, Settings
from flareiac_iceberg.maintenance.figures import Figures, SmallFiles
from flareiac_iceberg.maintenance.task_builder import Case

S = TypeVar("S", bound=Settings)
F = TypeVar("F")


def _no_complaints(_task: MaintenanceTask, _result: Mapping[str, Data]) -> Iterable[Diagnostic]:
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind(Generic[S, F]):
    """``measure`` takes the figures from the table's files; they are used again while the table is the
    same. ``look`` takes them from beside the table, whenever a plan is made. ``plan`` decides whether work is
    due. ``words`` name the numbers of a result, in the order in which they are shown: ``data file|written``
    names one thing and what became of it, and the words of a size only the latter. ``complaints`` says what
    is wrong with them.

    ``effect`` is the label of its work in a plan.

    ``deletes_shared``: whether it deletes files that another entry of the same table would still name.
    ``location_only``: whether it looks at no place outside of the table's location.
    ``small_files`` counts the data files that the kind would rewrite, whether it is declared or not.
    ``blockers`` and ``warnings`` are about others that use the table.
    """

    declaration: Declaration[S]
    plan: Callable[[Case, S, F | None], MaintenanceTask]
    performer: Performer[Any]
    effect: Effect
    words: Mapping[str, str]
    figures: type[F] | None = None
    measure: Callable[[S, Contents], F | Counting[F] | None] | None = None
    look: Callable[[MeasureRequest, Figures, Target, Listings], F] | None = None
    complaints: Callable[[MaintenanceTask, Mapping[str, Data]], Iterable[Diagnostic]] = _no_complaints
    small_files: Callable[[Table, Figures | None, Read], SmallFiles] | None = None
    deletes_shared: bool = False
    location_only: bool = False
    blockers: Callable[[S, Attributes, Iterable[Usage]], Iterator[Blocker]] | None = None
    warnings: Callable[[S, str, Iterable[Usage]], Iterator[Diagnostic]] | None = None

    @property
    def name(self) -> str:
        """That of its block."""
        return self.declaration.name

    def figures_of(self, figures: Figures) -> F | None:
        """The figures that were measured for this kind, None where there are none. Raises ``Mismatch`` for
        figures of another version.
        """
        data = figures.kinds.get(self.name)
        return None if data is None or self.figures is None else decode(self.figures, data, self.name)
