"""The open catalogs of a session, for writing. Touches the world."""

import threading
from typing import TYPE_CHECKING, Any

from flareiac_iceberg.catalogs.base import CatalogSpec
from flareiac_iceberg.catalogs.opening import writer_of
from flareiac_iceberg.catalogs.reader import tables_in

if TYPE_CHECKING:
    from flareiac_iceberg.catalogs.writer import CatalogWriter


class Connections:
    """One writer for each declared catalog. Safe to use from several threads."""

    def __init__(self) -> None:
        self._open: dict[CatalogSpec, CatalogWriter[Any]] = {}
        self._lock = threading.Lock()

    def get(self, spec: CatalogSpec, *, make: bool = False) -> "CatalogWriter[Any]":
        """The open catalog; the folder of its warehouse is made where it is missing. Raises ``Failure``.

        Only with ``make`` is a catalog made that is not there; else that is ``NoCatalog``.
        """
        with self._lock:  # also for the imports: pyiceberg's modules import each other in circles
            if spec not in self._open:
                if spec.is_made_by_opening and not make:
                    tables_in(spec, "")
                self._open[spec] = writer_of(spec)
            return self._open[spec]

    def close(self) -> None:
        """Closes every open catalog."""
        with self._lock:
            while self._open:
                _, writer = self._open.popitem()
                writer.close()
