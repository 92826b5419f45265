"""The answers of catalogs, in one form for every kind: entries of tables, and the diagnostic for a catalog
that cannot be read. Pure.
"""

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Protocol

from flareiac.kernel.data import Attributes
from flareiac.kernel.diagnostics import Diagnostic, Failure, error
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_iceberg import codes
from flareiac_iceberg.catalogs.base import CatalogSpec


@dataclass(frozen=True, slots=True)
class Pointer:
    """One entry of a catalog: the location of its current metadata file; a view is no table.

    ``fetch``: the catalog itself gives the metadata, with the location that it is of; its files may be closed
    to us.
    """

    location: str
    is_view: bool
    fetch: Callable[[], tuple[str, Attributes]] | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Registered:
    """A table or view of a catalog: its metadata file ("" of what is no table), and a folder where it has
    files.

    ``fetch``: the catalog itself gives the metadata.
    """

    metadata: str
    folder: str
    fetch: Callable[[], tuple[str, Attributes]] | None = field(default=None, compare=False)


class NoCatalog(Failure):
    """The catalog itself is not there: not made yet, or gone. What was in it is not known."""


class CatalogReader(Protocol):
    """Reads one catalog without any Iceberg library, within bounded time. Every method raises ``Failure``
    where it cannot be read, and ``NoCatalog`` where it is not there.
    """

    def tables(self, namespace: str) -> Mapping[str, Pointer]:
        """The entries of a namespace by name."""
        ...

    def table(self, namespace: str, name: str) -> Pointer | None:
        """The entry of one table."""
        ...

    def everything(self) -> Mapping[tuple[str, ...], Registered]:
        """The tables that are registered in the catalog's database, by catalog, namespace and name."""
        ...

    def namespace(self, name: str) -> Mapping[str, str] | None:
        """The properties of a namespace, or None if there is no such namespace."""
        ...


def folder_of(metadata_location: str) -> str:
    """The folder of a table with its metadata there, where no one has chosen another place for that."""
    return metadata_location.rpartition("/metadata/")[0] or metadata_location.rpartition("/")[0]


def unreadable(catalog: CatalogSpec, why: str) -> Diagnostic:
    """Complains that the catalog cannot be read."""
    return error(
        codes.CATALOG_UNREADABLE,
        f"{catalog.address} ({catalog.shown}): {why.rstrip(' .?')}. {catalog.advice}",
    )


def no_catalog(catalog: CatalogSpec, why: str) -> NoCatalog:
    """Complains that the catalog is not there. For what was never recorded there, it is not made yet."""
    return NoCatalog(
        error(
            codes.CATALOG_UNREADABLE,
            f"{catalog.address} ({catalog.shown}): {why}. What was in it is not known, and is not taken for "
            "dropped. Restore the catalog, or mount the volume that it is on. If it is lost for good, make "
            "an empty one in its place: flareiac explain FII010.",
        )
    )
