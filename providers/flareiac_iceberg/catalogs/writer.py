"""The operations of writing to a catalog of any kind: new tables, commits, names, namespaces. Touches the
world.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from types import MappingProxyType
from typing import ClassVar, Generic, Literal, TypeAlias, TypeVar

from flareiac.kernel.data import Attributes
from flareiac.kernel.diagnostics import Diagnostic
from flareiac_iceberg.catalogs.base import CatalogSpec
from flareiac_iceberg.catalogs.file_access import write_file
from flareiac_iceberg.catalogs.outcomes import undecided, unwritable
from flareiac_iceberg.catalogs.requests import Definition, TableCommit
from flareiac_iceberg.catalogs.target import Target
from flareiac_iceberg.format.locations import local_path
from flareiac_iceberg.format.metadata import TableFile

Missing: TypeAlias = Callable[[Attributes], Sequence[Attributes]]
"""From the metadata of a table as its definition makes it: the updates that make it the declared one."""
S = TypeVar("S", bound=CatalogSpec)


class CatalogWriter(ABC, Generic[S]):
    """One open catalog. Safe to use from several threads. Methods raise ``Failure`` where the catalog did not
    answer.
    """

    marks: ClassVar[Mapping[str, str]] = MappingProxyType({})
    """Properties that every namespace is made with."""
    nests_namespaces: ClassVar[bool] = False
    """True if a namespace is taken only where its parent exists."""

    def __init__(self, spec: S) -> None:
        self.spec = spec
        self._known_namespaces: frozenset[str] = frozenset()
        with self.errors(opening=True):
            self._make_folder()
            self._open()

    @abstractmethod
    def _open(self) -> None:
        """Connects, and makes what the catalog needs where it is missing. Raises what ``errors`` turns."""

    @abstractmethod
    def errors(self, *, opening: bool = False) -> AbstractContextManager[None]:
        """Turns what disks, databases and servers raise into a ``Failure``; an answer of the catalog (a
        conflict, a missing table) passes.

        ``opening``: no change is asked for yet, so none can have been made.
        """

    @abstractmethod
    def _create(
        self, target: Target, what: Definition, location: str | None, missing: Missing
    ) -> TableFile | None:
        """See ``create``; the namespace exists."""

    @abstractmethod
    def commit(self, target: Target, change: TableCommit) -> None:
        """One commit. Raises ``Conflict`` or ``Failure``."""

    @abstractmethod
    def _rename(self, old: Target, new: Target, location: str) -> None:
        """See ``rename``; the namespace exists."""

    @abstractmethod
    def _register(self, target: Target, location: str) -> None:
        """See ``register``; the namespace exists."""

    @abstractmethod
    def drop(self, target: Target, location: str, *, purge: bool) -> bool:
        """Takes a table out of the catalog; one that is gone already is fine. Raises ``Failure``, and
        ``Conflict`` where its metadata file is another one than ``location`` by now.

        Whether it certainly was ``location`` that the entry named when it went: where a catalog deletes by
        name alone, a commit may have come right before. With ``purge`` a server deletes its files too; the
        other kinds do not.
        """

    @abstractmethod
    def _has_namespace(self, name: str) -> bool:
        """Returns True if there is such a namespace."""

    @abstractmethod
    def _make_namespace(self, name: str, properties: Mapping[str, str]) -> None:
        """Another table of this apply, or another process, may be faster: that is fine."""

    @abstractmethod
    def set_namespace_properties(self, name: str, put: Mapping[str, str], remove: Iterable[str]) -> None:
        """Raises ``Failure``."""

    @abstractmethod
    def drop_namespace(self, name: str) -> None:
        """Drops a namespace; one that is gone already is fine. Raises ``NotEmpty`` or ``Failure``."""

    @abstractmethod
    def namespaces(self) -> set[str]:
        """Every namespace at any depth, its levels separated by dots. Raises ``Failure``."""

    def close(self) -> None:
        """Closes what is open."""

    def forget_namespace(self, name: str) -> None:
        """It is looked for again by the next change that needs it."""
        self._known_namespaces -= {name}

    def create(
        self, target: Target, what: Definition, location: str | None, key: str, missing: Missing
    ) -> TableFile | None:
        """Creates a table, and its namespace where that is missing. Raises ``Exists`` or ``Failure``.

        The new table, complete; None where a server made it, which may not have taken all of it.
        """
        with self.errors():
            self._ensure(target.namespace, key)
            return self._create(target, what, location, missing)

    def rename(self, old: Target, new: Target, location: str, key: str) -> None:
        """Gives the table with this metadata file another name; a missing namespace is made.

        Raises ``Exists``, ``Failure``, and ``Conflict`` as ``drop`` does.
        """
        with self.errors():
            self._ensure(new.namespace, key)
            self._rename(old, new, location)

    def register(self, target: Target, location: str, key: str) -> None:
        """Enters a table by its metadata file; a missing namespace is made. Raises ``Exists`` or
        ``Failure``.
        """
        with self.errors():
            self._ensure(target.namespace, key)
            self._register(target, location)

    def ensure_namespace(self, name: str, key: str) -> None:
        """Makes a namespace, if there is none of this name, and marks it with ``key``. Raises ``Failure``."""
        with self.errors():
            self._ensure(name, key)

    def write_no_manifests(
        self, location: str, snapshot_id: int, sequence: int, version: Literal[1, 2]
    ) -> None:
        """Writes the manifest list of a snapshot without files. Raises ``Failure``."""
        # Imported here: few commits write one
        from flareiac_iceberg.catalogs.manifest_list import no_manifests

        with self.errors():
            write_file(location, no_manifests(snapshot_id, sequence, version), self.spec)

    def complaint(self, why: str, *, known: bool) -> Diagnostic:
        """``known``: whether it is certain that nothing was changed."""
        return unwritable(self.spec, why) if known else undecided(self.spec, why)

    def _make_folder(self) -> None:
        warehouse = None if self.spec.is_server else local_path(self.spec.warehouse)
        if warehouse is not None:
            warehouse.mkdir(parents=True, exist_ok=True)

    def _ensure(self, name: str, key: str) -> None:
        # Asked once: hundreds of tables of one apply may be in it, and it is not dropped before they are.
        if name in self._known_namespaces:
            return
        if not self._has_namespace(name):
            levels = name.split(".")
            parents = (
                [".".join(levels[:depth]) for depth in range(1, len(levels))] if self.nests_namespaces else []
            )
            for each in (*parents, name):
                if each == name or not self._has_namespace(each):
                    self._make_namespace(each, {**self.marks, "flareiac.created-by": key})
        self._known_namespaces |= {name}
