"""The past of a table that its metadata tells of: the earlier metadata files, and the summaries of its
snapshots. Pure.
"""

from collections.abc import Iterator, Mapping

from flareiac.kernel.data import Attributes, Data
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_iceberg.format.metadata import TableFile


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """One metadata file: ``at`` in ms since 1970."""

    at: int
    location: str


def earlier(table_file: TableFile) -> tuple[Version, ...]:
    """Returns the earlier metadata files that the log names, oldest first."""
    match table_file.metadata:
        case {"metadata-log": list() as entries}:
            return tuple(_versions(entries))
        case _:
            return ()


def now(table_file: TableFile) -> Version:
    """Returns the file itself with the time at which it was written; 0 where it does not say that."""
    match table_file.metadata:
        case {"last-updated-ms": int() as at}:
            return Version(at=at, location=table_file.location)
        case _:
            return Version(at=0, location=table_file.location)


def summaries(table_file: TableFile) -> dict[int, Mapping[str, str]]:
    """Returns the summaries of all snapshots by their ids, in the order in which they were added."""
    match table_file.metadata:
        case {"snapshots": list() as snapshots}:
            return dict(_summaries(snapshots))
        case _:
            return {}


def _versions(entries: list[Attributes]) -> Iterator[Version]:
    for entry in entries:
        match entry:
            case {"timestamp-ms": int() as at, "metadata-file": str() as location}:
                yield Version(at=at, location=location)
            case _:
                pass


def _summaries(snapshots: list[Data]) -> Iterator[tuple[int, Mapping[str, str]]]:
    for snapshot in snapshots:
        match snapshot:
            case {"snapshot-id": int() as number, "summary": dict() as summary}:
                yield number, summary
            case _:
                pass
