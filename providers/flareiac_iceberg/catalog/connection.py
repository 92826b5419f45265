"""Opens catalogs for writing through pyiceberg, and tells their trouble as diagnostics. Touches the world."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from flareiac.kernel.diagnostics import Diagnostic, Failure, error
from flareiac_iceberg.catalog.spec import BUSY_TIMEOUT_MS, CatalogSpec, local_path

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog


class Connections:
    """The open catalogs of a session, one for each database and name. Safe to use from several threads."""

    def __init__(self) -> None:
        self._open: dict[tuple[str, str, str], Catalog] = {}
        self._lock = threading.Lock()

    def get(self, spec: CatalogSpec) -> "Catalog":
        """The open catalog; its file and the folder of its warehouse are made where they are missing. Raises ``Failure``."""
        key = (str(spec.database), spec.name, spec.warehouse)
        with self._lock:
            if key not in self._open:
                with trouble_told(spec):
                    self._open[key] = _open(spec)
            return self._open[key]

    def close(self) -> None:
        """Closes every open catalog."""
        with self._lock:
            while self._open:
                _, catalog = self._open.popitem()
                catalog.close()


def _open(spec: CatalogSpec) -> "Catalog":
    # The class itself, not load_catalog: that would mix in files and variables of whoever runs this.
    from pyiceberg.catalog.sql import SqlCatalog

    spec.database.parent.mkdir(parents=True, exist_ok=True)
    warehouse = local_path(spec.warehouse)
    if warehouse is not None:
        warehouse.mkdir(parents=True, exist_ok=True)
    uri = f"sqlite:///{spec.database}?timeout={BUSY_TIMEOUT_MS // 1000}"
    return SqlCatalog(spec.name, uri=uri, warehouse=spec.warehouse)


@contextmanager
def trouble_told(spec: CatalogSpec) -> Iterator[None]:
    """Turns what disks and databases raise into a ``Failure``; an answer of the catalog (a conflict, a missing table) passes."""
    from sqlalchemy.exc import SQLAlchemyError

    try:
        yield
    except SQLAlchemyError as trouble:
        raise Failure(unwritable(spec, str(getattr(trouble, "orig", None) or trouble))) from trouble
    except OSError as trouble:
        raise Failure(unwritable(spec, trouble.strerror or str(trouble))) from trouble


def unwritable(spec: CatalogSpec, why: str) -> Diagnostic:
    """Complains that the catalog or its warehouse can not be written."""
    return error(
        "FII011",
        f"The catalog {spec.address} can not be written",
        f"{why} (catalog {spec.database}, warehouse {spec.warehouse}). Nothing of this change took effect. Check free space and write "
        "access to both places, then apply again.",
    )
