"""Reads tables without any Iceberg library: one query for a namespace, and a metadata file only where
something may have changed.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from flareiac.kernel.data import ABSENT, Attributes
from flareiac.kernel.diagnostics import Diagnostic, Failure, error
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.kernel.records import encode
from flareiac.sdk.requests import ReadRequest
from flareiac.sdk.results import Missing, Observation, Present, Recorded, Unmanaged, Unreadable
from flareiac_iceberg import codes
from flareiac_iceberg.catalogs.absence import Absence, without_catalog
from flareiac_iceberg.catalogs.base import CatalogSpec
from flareiac_iceberg.catalogs.entries import NoCatalog, Pointer
from flareiac_iceberg.catalogs.file_access import is_there
from flareiac_iceberg.catalogs.metadata_files import load_entry
from flareiac_iceberg.catalogs.reader import table_in, tables_in
from flareiac_iceberg.catalogs.resolve import target_of
from flareiac_iceberg.catalogs.target import Target
from flareiac_iceberg.format.identity import TableIdentity, identity_of
from flareiac_iceberg.format.locations import local_path
from flareiac_iceberg.format.metadata import TableFile, managed_by
from flareiac_iceberg.format.recent_writers import since
from flareiac_iceberg.format.snapshots import live
from flareiac_iceberg.format.spec import (
    DEFAULT_PROPERTIES,
    TableDefinition,
    TableOutline,
    TableSpec,
    layout_of,
)
from flareiac_iceberg.table.branches import OWN_TAGS, lost, wanted_snapshots
from flareiac_iceberg.table.observed import TableFacts, is_another, observed_table, recorded_table
from flareiac_iceberg.table.purge_check import PURGES


def requested(request: ReadRequest) -> Target:
    """The table that a request asks about: the recorded one, else the declared one. Raises ``Failure``."""
    attributes = request.recorded.attributes if request.recorded else request.desired
    assert attributes is not None, "a table is declared or recorded"
    target = target_of(attributes, request.references)
    if request.import_id is not None and request.recorded is None:
        wanted = f"{target.catalog.label}.{target.namespace}.{target.name}"
        if request.import_id != wanted and not request.import_id.startswith(f"{wanted}@"):
            raise Failure(_other_import(request, wanted))
    return target


def _other_import(request: ReadRequest, wanted: str) -> Diagnostic:
    return error(
        codes.IMPORT_ID_DIFFERS,
        f'The import id is "{request.import_id}", and {request.address} declares "{wanted}" '
        "(CATALOG.NAMESPACE.NAME, the catalog by its label). Make both name the same table.",
        address=request.address,
    )


Entries: TypeAlias = Mapping[str, Pointer] | NoCatalog
"""The entries of a namespace, or that there is no catalog."""

Key: TypeAlias = tuple[CatalogSpec, str]
"""A catalog, and a namespace in it."""


@dataclass(frozen=True, slots=True)
class Listed:
    """The entries of namespaces by ``key_of``, and why others have none."""

    entries: Mapping[Key, Entries]
    failures: Mapping[Key, Failure]

    def of(self, key: Key) -> Entries:
        """The entries of a namespace that was asked for. Raises ``Failure``."""
        if key in self.failures:
            raise Failure(*self.failures[key].diagnostics)
        return self.entries[key]


def group(targets: Iterable[Target]) -> Listed:
    """Asks for the namespaces of these tables, one query each. A database that does not answer is waited for
    once.
    """
    entries: dict[Key, Entries] = {}
    failures: dict[Key, Failure] = {}
    silent: dict[CatalogSpec, Failure] = {}
    for key, target in {key_of(table): table for table in targets}.items():
        catalog = target.catalog
        if catalog in silent:
            failures[key] = silent[catalog]
            continue
        try:
            entries[key] = entries_of(target)
        except Failure as failure:
            failures[key] = failure
            if catalog.is_database:
                silent[catalog] = failure
    return Listed(entries, failures)


def entries_of(target: Target) -> Entries:
    """The entries of a table's namespace. Raises ``Failure``."""
    try:
        return tables_in(target.catalog, target.namespace)
    except NoCatalog as absent:
        return absent


def key_of(target: Target) -> Key:
    """The key that two tables share if one query answers for both. Two blocks of one place may be let in
    differently.
    """
    return (target.catalog, target.namespace)


def observe(request: ReadRequest, target: Target, entries: Entries) -> Observation:
    """The observed table, from the entries of its namespace. Raises ``Failure`` where that cannot be
    known.
    """
    recorded = request.recorded
    if isinstance(entries, NoCatalog):
        return without_catalog(request, target.catalog, entries)
    pointer = entries.get(target.name)
    if pointer is None:
        return Missing(reason=f"the catalog has no table {target.full_name}", facts=Absence(catalog=True))
    if pointer.is_view:
        return Unreadable(diagnostic=_view(target))
    observation = _as_recorded(request, recorded, pointer) if recorded is not None and request.cheap else None
    if observation is None or not _exists(request, pointer, target.catalog):
        return present(request, load_entry(pointer, target.catalog))
    if not request.history:
        return observation
    return replace(observation, history=live(load_entry(pointer, target.catalog).metadata))


def complete_as_recorded(request: ReadRequest, target: Target, entries: Entries) -> Present | None:
    """The observation of a table of which nothing but its entry has to be read, None where more has to be."""
    if request.recorded is None or not request.cheap or request.history or isinstance(entries, NoCatalog):
        return None
    pointer = entries.get(target.name)
    if pointer is None or pointer.is_view or _moves(request):
        return None
    path = _local_file(pointer)
    if not path.exists() if path is not None else request.confirm:
        return None  # the read of this table asks for the file, beside those of other tables
    return _as_recorded(request, request.recorded, pointer)


def _exists(request: ReadRequest, pointer: Pointer, catalog: CatalogSpec) -> bool:
    """Returns False where the metadata file is missing, or is not proven to exist though that was asked for.
    The full read that follows names the reason. In a local folder the answer costs nothing, so it is always
    asked for; a server that loads tables itself answers by the full read.
    """
    if _local_file(pointer) is None and not request.confirm:
        return True
    try:
        return pointer.fetch is None and is_there(pointer.location, catalog)
    except OSError:
        return False


def _local_file(pointer: Pointer) -> Path | None:
    """The metadata file where this process can look for it. A path that a server gives is one of its own."""
    return local_path(pointer.location) if pointer.fetch is None else None


def _as_recorded(request: ReadRequest, recorded: Recorded, pointer: Pointer) -> Present | None:
    """A table of which nothing can differ, as its metadata file is the recorded one; None for others. What
    others wrote into it is no news.
    """
    known = identity_of(recorded.identity)
    if known.metadata_location != pointer.location or not _is_declared_so(request, recorded):
        return None
    seen = _with_news(known, known)
    return Present(
        attributes=recorded.attributes,
        identity=recorded.identity if seen == known else encode(seen),
        facts=TableFacts(as_recorded=True, location=known.location),
        unmanaged=_unmanaged(known, request),
    )


def observe_moving(request: ReadRequest, observation: Observation) -> Observation:
    """The same for a table that is to get another name, or has got it already. Raises ``Failure``."""
    recorded, desired = request.recorded, request.desired
    if recorded is None or desired is None or not _moves(request):
        return observation
    target = target_of(desired, request.references)
    pointer = table_in(target.catalog, target.namespace, target.name)
    if isinstance(observation, Present):
        return replace(
            observation, facts=replace(observed_table(observation).facts, taken=pointer is not None)
        )
    if isinstance(observation, Missing) and pointer is not None and not pointer.is_view:
        there = present(request, load_entry(pointer, target.catalog))
        seen = observed_table(there)
        if not is_another(recorded_table(recorded), seen):
            return replace(there, facts=replace(seen.facts, found_at=(target.namespace, target.name)))
    return observation


def _moves(request: ReadRequest) -> bool:
    """Returns True if the block names another place than the state."""
    recorded, desired = request.recorded, request.desired
    if recorded is None or desired is None:
        return False
    return recorded.attributes != desired and (
        TableOutline.of(recorded.attributes).place != TableOutline.of(desired).place
    )


def _view(target: Target) -> Diagnostic:
    return error(codes.NAME_IS_OF_A_VIEW, f"{target.full_name} is a view. Give the table another name.")


def _is_declared_so(request: ReadRequest, recorded: Recorded) -> bool:
    """Returns True if nothing is declared that was not recorded."""
    if request.desired is None:
        # What is recorded does not tell of properties that no one manages, and one of them may forbid to
        # delete the files.
        return TableOutline.of(recorded.attributes).on_destroy not in PURGES
    # What a state of an earlier version does not mention was not managed then.
    return request.desired == recorded.attributes or _said(request.desired) == _said(recorded.attributes)


def _said(attributes: Attributes) -> Attributes:
    return {name: value for name, value in attributes.items() if value is not None}


def present(request: ReadRequest, table_file: TableFile) -> Present:
    """The table in a metadata file."""
    spec, identity = table_file.read()
    frame = request.recorded.attributes if request.recorded else request.desired
    assert frame is not None, "a table is declared or recorded"
    recorded = identity_of(request.recorded.identity) if request.recorded else None
    tags = recorded.tags if recorded is not None else {}
    gone = frozenset(
        lost(wanted_snapshots(TableDefinition.of(request.desired or frame), tags), table_file.metadata)
    )
    return Present(
        attributes=observed_attributes(frame, spec),
        identity=encode(_with_news(identity, recorded)),
        facts=TableFacts(gone=gone, manager=managed_by(table_file.properties)),
        unmanaged=_unmanaged(identity, request, spec),
        history=live(table_file.metadata) if request.history else None,
    )


def _with_news(identity: TableIdentity, recorded: TableIdentity | None) -> TableIdentity:
    if identity.writers is None:
        return identity
    return replace(identity, writers=since(identity.writers, recorded.writers if recorded else None))


def observed_attributes(frame: Attributes, spec: TableSpec) -> Attributes:
    """Canonical attributes of what is there; what only FlareIaC knows of (``on_destroy``, ...) as in
    ``frame``.
    """
    return dict(frame) | layout_of(spec)


def _unmanaged(
    identity: TableIdentity, request: ReadRequest, spec: TableSpec | None = None
) -> tuple[Unmanaged, ...]:
    """The parts that a table has by its identity and that are not declared; columns and properties where such
    are managed at all. ``spec``: the table, where it was read.
    """
    records = [
        record for record in (request.desired, request.recorded and request.recorded.attributes) if record
    ]
    # What a state of an earlier version does not mention is not known to be there.
    there = {
        "column": [*identity.field_ids, *identity.unsayable],
        "branch": [name for name in identity.branches if not name.startswith(OWN_TAGS)],
        "tag": [name for name in identity.tags if not name.startswith(OWN_TAGS)],
        "property": [
            name
            for name in identity.properties
            if name not in SERVER_DEFAULTS and name not in DEFAULT_PROPERTIES
        ],
    }
    layout: Attributes = {} if spec is None else layout_of(spec)
    parts: list[Unmanaged] = []
    for kind, names in there.items():
        values: Any = layout.get(_DECLARED[kind]) or {}
        declared = [record.get(_DECLARED[kind]) for record in records]
        if kind in ("branch", "tag") or any(value is not None for value in declared):
            parts += [
                Unmanaged(
                    text=f'{kind} "{name}"',
                    path=(_BLOCK.get(kind, kind), name),
                    value=values.get(name, ABSENT),
                )
                for name in sorted(names)
                if not any(name in (value or ()) for value in declared)
            ]
    return tuple(parts)


_DECLARED = {"column": "columns", "branch": "branch", "tag": "tag", "property": "properties"}
"""The attribute that declares such things."""
_BLOCK = {"property": "properties"}
"""What a block has in place of their word."""
SERVER_DEFAULTS = frozenset(
    {"write.parquet.compression-codec", "owner", "created-at", "schema.name-mapping.default"}
)
"""Properties that engines write by themselves."""
