"""The contract of lineage for other programs: which datasets a resource is, and which a job reads and writes.
Records.
"""

from typing import Final

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.dataset_names import DatasetName

_NAMESPACE: Final = "flareiac-"


def job_namespace(workspace: str) -> str:
    """The namespace of jobs whose engine names none: jobs of two workspaces are different ones."""
    return f"{_NAMESPACE}{workspace}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A column, with the fields inside of a struct."""

    name: str
    type: str
    description: str = ""
    fields: tuple["Field", ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """``known_as``: another name of it, None without one. ``source``: the address of what keeps it, with a
    name for people. ``storage``: the format of its files where they are a table, else empty.
    """

    name: DatasetName
    source: DatasetName
    known_as: DatasetName | None = None
    fields: tuple[Field, ...] = ()
    description: str = ""
    storage: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """An input of a job under one name: ``address`` is that of a stream or a table, or the path of files, as
    ``data_flow`` gives it. ``parts``: the addresses of the tables and topics behind it, and datasets that no
    block declares. ``fields``: the columns that are read of each of them, where they are declared with it.
    """

    address: str
    parts: tuple[str | Dataset, ...]
    fields: tuple[Field, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LineageJob:
    """``outputs`` as ``Origin.parts``. ``queries``: the SQL of its steps, by
    name. ``namespace``: that of its engine, empty for that of the workspace."""

    origins: tuple[Origin, ...]
    outputs: tuple[str | Dataset, ...]
    is_streaming: bool
    queries: tuple[tuple[str, str], ...] = ()
    namespace: str = ""
