"""Carries changes into a catalog through pyiceberg: one commit, with requirements. Touches the world; imports pyiceberg when needed."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

from flareiac.kernel.data import Attributes
from flareiac_iceberg.catalogs.ensure_namespace import ensure_namespace
from flareiac_iceberg.catalogs.spec import RestCatalog
from flareiac_iceberg.catalogs.target import Target
from flareiac_iceberg.catalogs.writer import Connections, trouble_told
from flareiac_iceberg.format.snapshots import MAIN, heads
from flareiac_iceberg.table import branches
from flareiac_iceberg.table.create import Definition
from flareiac_iceberg.table.new_table import Missing, create_entry, create_on_server
from flareiac_iceberg.table.pointer_commit import commit_pointer

if TYPE_CHECKING:
    from pyiceberg.catalog import MetastoreCatalog
    from pyiceberg.catalog.rest import RestCatalog as Server


class Conflict(Exception):
    """Somebody else's commit came first, or the table is not what the requirements say."""


class Exists(Exception):
    """There is a table of this name."""


def create(connections: Connections, target: Target, what: Definition, location: str | None, key: str, missing: Missing) -> None:
    """Creates a table, and its namespace where that is missing. Raises ``Exists`` or ``Failure``."""
    catalog = connections.get(target.catalog)  # first: pyiceberg's modules import each other in circles, and ``get`` lets one thread in
    from pyiceberg.exceptions import TableAlreadyExistsError

    with trouble_told(target.catalog):
        ensure_namespace(catalog, target.catalog, target.namespace, key)
        try:
            if isinstance(target.catalog, RestCatalog):
                create_on_server(cast("Server", catalog), target, what, location, missing)
            else:
                create_entry(cast("MetastoreCatalog", catalog), target, what, location, missing)
        except TableAlreadyExistsError as taken:
            raise Exists(target.full_name) from taken


def commit(
    connections: Connections, target: Target, found: tuple[str, Attributes], updates: Sequence[Attributes], needs: Iterable[Attributes]
) -> None:
    """One commit on top of ``found``, the table's metadata file and what is in it. Raises ``Conflict`` or ``Failure``.

    Most have nothing but the entry that names the file, which must not have moved; a server checks ``needs`` itself.
    """
    catalog = connections.get(target.catalog)
    if isinstance(target.catalog, RestCatalog):
        _commit_if(catalog, target, needs, updates)
        return
    with trouble_told(target.catalog):
        if not commit_pointer(catalog, target, *found, updates):
            raise Conflict(target.full_name)


def _commit_if(catalog: Any, target: Target, needs_met: Iterable[Attributes], updates: Iterable[Attributes]) -> None:
    from pydantic import TypeAdapter
    from pyiceberg.exceptions import CommitFailedException, NoSuchTableError
    from pyiceberg.table.update import TableRequirement, TableUpdate

    update = TypeAdapter(TableUpdate)
    requirement = TypeAdapter(TableRequirement)
    steps = tuple(update.validate_python(item) for item in updates)
    needs = tuple(requirement.validate_python(item) for item in needs_met)
    with trouble_told(target.catalog):
        try:
            table = catalog.load_table((*target.namespace.split("."), target.name))
            catalog.commit_table(table, needs, steps)
        except (CommitFailedException, NoSuchTableError) as conflict:
            raise Conflict(str(conflict)) from conflict


def requirements(metadata: Attributes, updates: Iterable[Attributes], *, empty: bool) -> list[Attributes]:
    """What must still hold when the commit is made: all that the updates were computed from; with ``empty``, that no branch is written."""
    needs: list[Attributes] = [
        {"type": "assert-table-uuid", "uuid": metadata["table-uuid"]},
        {"type": "assert-current-schema-id", "current-schema-id": metadata.get("current-schema-id", 0)},
        {"type": "assert-last-assigned-field-id", "last-assigned-field-id": metadata["last-column-id"]},
        {"type": "assert-default-spec-id", "default-spec-id": metadata.get("default-spec-id", 0)},
        {"type": "assert-default-sort-order-id", "default-sort-order-id": metadata.get("default-sort-order-id", 0)},
        *branches.requirements(metadata, updates),
    ]
    if metadata.get("last-partition-id") is not None:
        needs.append({"type": "assert-last-assigned-partition-id", "last-assigned-partition-id": metadata["last-partition-id"]})
    if empty:
        stands = {MAIN: None, **heads(metadata)}
        found = ({"type": "assert-ref-snapshot-id", "ref": name, "snapshot-id": snapshot} for name, snapshot in stands.items())
        needs += [item for item in found if item not in needs]
    return needs


def rename(connections: Connections, old: Target, new: Target, key: str) -> None:
    """Gives a table another name in its catalog; the new namespace is made where it is missing. Raises ``Exists`` or ``Failure``."""
    catalog = connections.get(old.catalog)
    from pyiceberg.exceptions import NoSuchTableError, TableAlreadyExistsError

    with trouble_told(old.catalog):
        ensure_namespace(catalog, new.catalog, new.namespace, key)
        try:
            catalog.rename_table((*old.namespace.split("."), old.name), (*new.namespace.split("."), new.name))
        except (TableAlreadyExistsError, NoSuchTableError) as taken:
            raise Exists(new.full_name) from taken


def register(connections: Connections, target: Target, location: str, key: str) -> None:
    """Enters a table in its catalog by its metadata file; a missing namespace is made. Raises ``Exists`` or ``Failure``."""
    catalog = connections.get(target.catalog)
    from pyiceberg.exceptions import TableAlreadyExistsError

    with trouble_told(target.catalog):
        ensure_namespace(catalog, target.catalog, target.namespace, key)
        try:
            catalog.register_table((*target.namespace.split("."), target.name), location)
        except TableAlreadyExistsError as taken:
            raise Exists(target.full_name) from taken


def drop(connections: Connections, target: Target, *, purge: bool) -> None:
    """Takes a table out of its catalog. With ``purge`` a server deletes its files too; nobody else does, so see ``purge.delete``.

    A table that is gone already is fine. Raises ``Failure``.
    """
    catalog = connections.get(target.catalog)
    from pyiceberg.exceptions import NoSuchTableError

    identifier = (*target.namespace.split("."), target.name)
    with trouble_told(target.catalog), suppress(NoSuchTableError):
        if purge and isinstance(target.catalog, RestCatalog):
            catalog.purge_table(identifier)
        else:
            catalog.drop_table(identifier)
