"""Traces when and by whom attributes of a table became what they are: its metadata log names the earlier
metadata files with their times, and the summary of a snapshot names its writer. Reads only.

A commit that writes no snapshot (``ALTER TABLE``) leaves its time, and no name of a writer.
"""

from collections.abc import Mapping, Sequence

from flareiac.kernel.data import ABSENT, Data
from flareiac.kernel.diagnostics import Failure
from flareiac.kernel.paths import Path
from flareiac.kernel.records import encode
from flareiac.sdk.requests import TraceRequest
from flareiac.sdk.results import Trace, Writer
from flareiac_iceberg.catalogs.base import CatalogSpec
from flareiac_iceberg.catalogs.metadata_files import load
from flareiac_iceberg.catalogs.resolve import target_of
from flareiac_iceberg.format.identity import identity_of
from flareiac_iceberg.format.metadata import TableFile
from flareiac_iceberg.format.metadata_log import Version, earlier, now, summaries
from flareiac_iceberg.format.spec import TableSpec, layout_of
from flareiac_iceberg.table.attribute_changes import column_text
from flareiac_iceberg.table.current import current

_KEYS = {
    "program": ("engine-name",),
    "version": ("engine-version",),
    "user": ("user", "spark.user", "trino_user"),
    "application": ("spark.app.id", "app-id"),
}
"""The keys of a summary under which engines write who was at work."""


def traced(request: TraceRequest) -> Mapping[Path, Trace]:
    """Returns what the metadata log tells about these attributes. Raises ``Failure`` where the current
    metadata cannot be read.
    """
    target = target_of(request.recorded.attributes, request.references)
    there = current(target)
    if there is None:
        return {}
    recorded = identity_of(request.recorded.identity)
    if there.uuid != recorded.uuid:
        return {(): Trace(since=next(iter(earlier(there)), now(there)).at / 1000)}
    past = Past(there, recorded.metadata_location, target.catalog)
    return {path: trace for path in request.paths if path and (trace := past.trace(path)) is not None}


class Past:
    """The metadata files of a table from the recorded one to the current one, read when they are needed."""

    def __init__(self, there: TableFile, recorded: str, catalog: CatalogSpec | None) -> None:
        self._catalog = catalog
        self._versions = _versions(there, recorded)
        self._files: dict[str, TableFile | None] = {there.location: there}

    def trace(self, path: Path) -> Trace | None:
        """Returns the commit that gave an attribute its value of now; None where no file that is left tells.

        It looks half-way between a file with another value and one with this value, so that a log of 100
        files costs 7 reads.
        """
        newest = len(self._versions) - 1
        value = self._value(newest, path)
        oldest = next((at for at in range(newest) if self._file(at) is not None), newest)
        if oldest == newest or self._value(oldest, path) == value:
            return None
        before, after = oldest, newest
        while after - before > 1:
            middle = (before + after) // 2
            if self._file(middle) is None:
                return None
            before, after = (before, middle) if self._value(middle, path) == value else (middle, after)
        return Trace(since=self._versions[after].at / 1000, by=self._writer(before, after))

    def _file(self, at: int) -> TableFile | None:
        location = self._versions[at].location
        if location not in self._files:
            try:
                self._files[location] = TableFile(location, load(location, self._catalog))
            except Failure:  # tables delete old metadata files
                self._files[location] = None
        return self._files[location]

    def _value(self, at: int, path: Path) -> Data:
        table_file = self._file(at)
        assert table_file is not None, "asked about files that were read"
        return value_at(table_file.read()[0], path)

    def _writer(self, before: int, after: int) -> Writer | None:
        """Returns the writer of the snapshot that came with the same commit."""
        before_file, after_file = self._file(before), self._file(after)
        assert before_file is not None, "it was compared"
        assert after_file is not None, "it was compared"
        known = summaries(before_file)
        new = [summary for number, summary in summaries(after_file).items() if number not in known]
        return writer_of(new[-1]) if new else None


def value_at(spec: TableSpec, path: Path) -> Data:
    """Returns the value that a table has at a path of ``attribute_changes`` or of what is not declared."""
    match path:
        case ("column", str() as name):
            return column_text(spec, name)
        case ("column", str() as name, "name"):
            return name in (spec.columns or {})
        case ("column", str() as name, str() as part):
            return _below(layout_of(spec), ("columns", name, part))
        case ("branch", str() as name, *rest):
            return _below(encode(spec.branches), (name, *rest))
        case ("tag", str() as name, *rest):
            return _below(encode(spec.snapshot_tags), (name, *rest))
        case _:
            return _below(layout_of(spec), path)


def writer_of(summary: Mapping[str, str]) -> Writer | None:
    """Returns the writer that a snapshot's summary names, None where it names none."""
    known = {part: _first_of(summary, keys) for part, keys in _KEYS.items()}
    return Writer(**known) if any(known.values()) else None


def _first_of(summary: Mapping[str, str], keys: Sequence[str]) -> str:
    return next((summary[key] for key in keys if summary.get(key)), "")


def _below(value: Data, path: Sequence[str | int]) -> Data:
    for step in path:
        value = value.get(step, ABSENT) if isinstance(value, dict) else ABSENT
    return value


def _versions(there: TableFile, recorded: str) -> tuple[Version, ...]:
    """Returns the files from the recorded one on, oldest first; the whole log where it does not name that."""
    log = earlier(there)
    at = next((index for index, version in enumerate(log) if version.location == recorded), 0)
    return (*log[at:], now(there))
