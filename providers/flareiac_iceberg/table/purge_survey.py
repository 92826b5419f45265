"""Surveys what a purge of a table would delete, and who else would miss it. Touches the world by reading
only.
"""

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress

from flareiac.kernel.diagnostics import Failure
from flareiac.sdk.references import Resolved
from flareiac.sdk.requests import ReadRequest
from flareiac_iceberg.catalogs.target import Target
from flareiac_iceberg.format.metadata import TableFile
from flareiac_iceberg.maintenance.catalog_listing import Listings
from flareiac_iceberg.maintenance.same_table import other_entries
from flareiac_iceberg.table.purge import files_of
from flareiac_iceberg.table.purge_check import Doomed, copies_of, outside_of


class PurgeSurvey:
    """Knows the declared catalogs from the requests that were read. Safe to use from several threads."""

    def __init__(self, listings: Listings, resolve: Callable[[str], str]) -> None:
        self._listings = listings
        self._resolve = resolve
        self._declared: dict[str, Resolved] = {}
        self._in_use: frozenset[str] = frozenset()
        self._lock = threading.Lock()

    def learn(self, request: ReadRequest) -> None:
        """Keeps the catalogs that are declared, and the addresses of those in use."""
        with self._lock:
            self._declared.update(request.declared)
            self._in_use |= request.in_use

    def doomed(self, target: Target, there: TableFile) -> Doomed:
        """The files that a purge would delete. Where they cannot be listed, the purge is refused later."""
        entries: Sequence[str] = ()
        unknown = ""
        try:
            entries = other_entries(
                target, there.uuid, there.location, self._declared, self._in_use, self._listings
            )
        except Failure as failure:
            unknown = failure.diagnostics[0].detail
        files: tuple[str, ...] = ()
        copies: tuple[str, ...] = ()
        if not target.catalog.is_server:
            with suppress(Failure, OSError):
                files = files_of(target, *there)
            with suppress(Failure, OSError):
                copies = copies_of(there.uuid, there.location, there.metadata, target.catalog)
        location = there.read()[1].location or ""
        return Doomed(
            files=len(files),
            outside=outside_of(location, files, self._resolve),
            entries=tuple(entries),
            copies=copies,
            unknown=unknown,
        )

    def doomed_now(self, target: Target, there: TableFile) -> Doomed:
        """The same; the catalogs are asked again for their entries."""
        self._listings.forget()
        return self.doomed(target, there)
