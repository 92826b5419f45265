"""The declared lineage of a project: its datasets, and the jobs between them. Records."""

from collections.abc import Mapping

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.data_flow import ColumnFlow
from flareiac.sdk.lineage import Dataset, LineageJob
from flareiac.sdk.owner import Owner


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredJob:
    """``columns``: of which columns the job makes those of what it writes."""

    address: str
    job: LineageJob
    columns: tuple[ColumnFlow, ...] = ()
    owner: Owner | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredLineage:
    """``datasets`` and ``owners`` by the address of a table or topic; ``jobs`` in the order of addresses.
    ``namespace``: that of jobs whose engine names none.
    """

    namespace: str
    datasets: Mapping[str, Dataset]
    owners: Mapping[str, Owner]
    jobs: tuple[DeclaredJob, ...]
