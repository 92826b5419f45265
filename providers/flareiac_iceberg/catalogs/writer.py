"""Writes to a catalog through pyiceberg, as far as all kinds do it alike. Touches the world; imported when a
catalog is opened.
"""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from types import MappingProxyType
from typing import Any, ClassVar, Generic, Literal, TypeAlias, TypeVar

from pyiceberg.catalog import Catalog
from pyiceberg.exceptions import (
    NamespaceAlreadyExistsError,
    NamespaceNotEmptyError,
    NoSuchNamespaceError,
    NoSuchTableError,
    TableAlreadyExistsError,
)
from pyiceberg.io import FileIO, load_file_io
from pyiceberg.manifest import write_manifest_list
from pyiceberg.partitioning import PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table.sorting import SortOrder
from sqlalchemy.exc import IntegrityError

from flareiac.kernel.data import Attributes
from flareiac.kernel.diagnostics import Diagnostic
from flareiac_iceberg.catalogs.base import ANSWER_SECONDS, CONNECT_SECONDS, CatalogSpec, present, s3_settings
from flareiac_iceberg.catalogs.outcomes import Exists, NotEmpty, undecided, unwritable
from flareiac_iceberg.catalogs.requests import Definition, TableCommit
from flareiac_iceberg.catalogs.target import Target
from flareiac_iceberg.format.locations import local_path

Missing: TypeAlias = Callable[[Attributes], Sequence[Attributes]]
"""From the metadata of a table as the library makes it: the updates that make it the declared one."""
S = TypeVar("S", bound=CatalogSpec)
C = TypeVar("C", bound=Catalog)


class CatalogWriter(ABC, Generic[S, C]):
    """One open catalog. Safe to use from several threads. Methods raise ``Failure`` where the catalog did not
    answer.
    """

    marks: ClassVar[Mapping[str, str]] = MappingProxyType({})
    """Properties that every namespace is made with."""
    nests_namespaces: ClassVar[bool] = False
    """Whether a namespace is taken only where its parent exists."""

    def __init__(self, spec: S) -> None:
        self.spec = spec
        with self.errors(opening=True):
            self._make_folder()
            self.catalog = self.open()

    @abstractmethod
    def open(self) -> C:
        """The library's catalog. Its own class, not ``load_catalog``, which mixes in files and variables of
        the current user.
        """

    @abstractmethod
    def errors(self, *, opening: bool = False) -> AbstractContextManager[None]:
        """Turns what disks, databases and servers raise into a ``Failure``; an answer of the catalog (a
        conflict, a missing table) passes.

        ``opening``: no change is asked for yet, so none can have been made.
        """

    @abstractmethod
    def _create(self, target: Target, what: Definition, location: str | None, missing: Missing) -> None:
        """Makes a table in a namespace that exists. Raises what the library raises."""

    @abstractmethod
    def commit(self, target: Target, change: TableCommit) -> None:
        """One commit. Raises ``Conflict`` or ``Failure``."""

    def create(
        self, target: Target, what: Definition, location: str | None, key: str, missing: Missing
    ) -> None:
        """Creates a table, and its namespace where that is missing. Raises ``Exists`` or ``Failure``."""
        with self.errors():
            self._ensure(target.namespace, key)
            try:
                self._create(target, what, location, missing)
            except TableAlreadyExistsError as taken:
                raise Exists(target.full_name) from taken

    def rename(self, old: Target, new: Target, key: str) -> None:
        """Gives a table another name; the new namespace is made where it is missing. Raises ``Exists`` or
        ``Failure``.
        """
        with self.errors():
            self._ensure(new.namespace, key)
            try:
                self.catalog.rename_table(identifier(old), identifier(new))
            except (TableAlreadyExistsError, NoSuchTableError) as taken:
                raise Exists(new.full_name) from taken

    def register(self, target: Target, location: str, key: str) -> None:
        """Enters a table by its metadata file; a missing namespace is made. Raises ``Exists`` or
        ``Failure``.
        """
        with self.errors():
            self._ensure(target.namespace, key)
            try:
                self.catalog.register_table(identifier(target), location)
            except TableAlreadyExistsError as taken:
                raise Exists(target.full_name) from taken

    def drop(self, target: Target, *, purge: bool) -> None:
        """Takes a table out of the catalog; one that is gone already is fine. Raises ``Failure``.

        With ``purge`` a server deletes its files too; the other kinds do not.
        """
        with self.errors(), suppress(NoSuchTableError):
            if purge and self.spec.is_server:
                self.catalog.purge_table(identifier(target))
            else:
                self.catalog.drop_table(identifier(target))

    def ensure_namespace(self, name: str, key: str) -> None:
        """Makes a namespace, if there is none of this name, and marks it with ``key``. Raises ``Failure``."""
        with self.errors():
            self._ensure(name, key)

    def set_namespace_properties(self, name: str, put: dict[str, str], remove: Iterable[str]) -> None:
        """Raises ``Failure``."""
        with self.errors():
            self.catalog.update_namespace_properties(name, set(remove) or None, put)

    def drop_namespace(self, name: str) -> None:
        """One that is gone already is fine. Raises ``NotEmpty`` or ``Failure``."""
        try:
            with self.errors(), suppress(NoSuchNamespaceError):
                self.catalog.drop_namespace(name)
        except NamespaceNotEmptyError as taken:
            raise NotEmpty(name) from taken

    def namespaces(self) -> set[str]:
        """Every namespace at any depth, its levels separated by dots. Raises ``Failure``."""
        found: set[str] = set()
        waiting: list[tuple[str, ...]] = [()]
        with self.errors():
            while waiting:
                try:
                    children = self.catalog.list_namespaces(waiting.pop())
                except NoSuchNamespaceError:  # dropped meanwhile
                    continue
                new = [tuple(item) for item in children if ".".join(item) not in found]
                found.update(".".join(item) for item in new)
                waiting += new
        return found

    def file_io(self, metadata: Attributes, location: str) -> FileIO:
        """What reads and writes the files of a table."""
        return load_file_io({**self.catalog.properties, **(metadata.get("properties") or {})}, location)

    def write_no_manifests(
        self, metadata: Attributes, location: str, snapshot_id: int, sequence: int, version: Literal[1, 2]
    ) -> None:
        """Writes the manifest list of a snapshot without files. Raises ``Failure``."""
        with self.errors():
            output = self.file_io(metadata, location).new_output(location)
            with write_manifest_list(version, output, snapshot_id, None, sequence, "null"):
                pass

    def close(self) -> None:
        """Closes the library's catalog."""
        self.catalog.close()

    def file_settings(self) -> dict[str, str]:
        """The properties by pyiceberg's names, secrets included, with bounds on patience. Raises
        ``Failure``.
        """
        bounds = {"s3.connect-timeout": str(CONNECT_SECONDS), "s3.request-timeout": str(ANSWER_SECONDS)}
        settings = {**bounds, **s3_settings(_with_environment(self.spec.settings()))}
        if settings.get("s3.path-style-access") == "false":
            settings.setdefault("s3.force-virtual-addressing", "true")
        return settings

    def trouble(self, why: str, *, known: bool) -> Diagnostic:
        """``known``: whether it is certain that nothing was changed."""
        return unwritable(self.spec, why) if known else undecided(self.spec, why)

    def _make_folder(self) -> None:
        warehouse = None if self.spec.is_server else local_path(self.spec.warehouse)
        if warehouse is not None:
            warehouse.mkdir(parents=True, exist_ok=True)

    def _ensure(self, name: str, key: str) -> None:
        if self.catalog.namespace_exists(name):
            return
        levels = name.split(".")
        parents = (
            [".".join(levels[:depth]) for depth in range(1, len(levels))] if self.nests_namespaces else []
        )
        for each in (*parents, name):
            if each == name or not self.catalog.namespace_exists(each):
                self._make_namespace(each, {**self.marks, "flareiac.created-by": key})

    def _make_namespace(self, name: str, marks: dict[str, str]) -> None:
        """Another table of this apply, or another process, may be faster: a database has then refused the
        second row of its properties, which is as good as having made it.
        """
        try:
            self.catalog.create_namespace(name, marks)
        except NamespaceAlreadyExistsError:
            return
        except IntegrityError:
            if not self.catalog.namespace_exists(name):
                raise


def _with_environment(settings: dict[str, str]) -> dict[str, str]:
    """Settings with the endpoint and the region that AWS's clients find in the environment, where they say
    nothing else. Reading finds them by itself; pyiceberg would write to AWS all the same.
    """
    endpoint = _first_set("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
    ignored = (_first_set("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS") or "").lower() == "true"
    if not endpoint or ignored or "s3.endpoint" in settings:
        return settings
    region = _first_set("AWS_REGION", "AWS_DEFAULT_REGION")
    return present({"client.region": region}) | settings | {"s3.endpoint": endpoint}


def _first_set(*variables: str) -> str | None:
    return next((os.environ[name] for name in variables if os.environ.get(name)), None)


def identifier(target: Target) -> tuple[str, ...]:
    """The name of a table as the library takes it."""
    return (*target.namespace.split("."), target.name)


def arguments(target: Target, what: Definition, location: str | None, version: int) -> tuple[Any, ...]:
    """What the library creates a table from."""
    return (
        identifier(target),
        Schema.model_validate(what.schema),
        location,
        PartitionSpec.model_validate(what.spec),
        SortOrder.model_validate(what.order),
        what.properties | {"format-version": str(version)},
    )
