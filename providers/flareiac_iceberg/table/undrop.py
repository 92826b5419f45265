"""Finds the metadata file by which a dropped table can come back, and whether everything it names is there.
Reads only.
"""

import gzip
import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Final

from flareiac.kernel.codes import Code
from flareiac.kernel.data import Attributes
from flareiac.kernel.diagnostics import Diagnostic, Failure, error
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.type_roles import Remains
from flareiac_iceberg import codes
from flareiac_iceberg.catalogs.base import CatalogSpec
from flareiac_iceberg.catalogs.connections import Connections
from flareiac_iceberg.catalogs.entries import Pointer
from flareiac_iceberg.catalogs.file_access import is_there, names_in, read_file
from flareiac_iceberg.catalogs.list_namespaces import namespaces_in
from flareiac_iceberg.catalogs.metadata_files import later, load, load_entry, version_number
from flareiac_iceberg.catalogs.reader import tables_in
from flareiac_iceberg.catalogs.target import Target
from flareiac_iceberg.format.identity import identity_of
from flareiac_iceberg.format.manifests import read_entries, read_list
from flareiac_iceberg.format.snapshots import current

_LOOKED_AT: Final = 1000
"""Data files, and manifests, that are looked for: a folder that is gone shows with the first of them."""
_AT_ONCE: Final = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Last:
    """The last metadata file of a table, and what there is to say of the choice."""

    location: str
    notes: tuple[str, ...] = ()


def remains(identity: Attributes) -> Remains:
    """The remains of a dropped table that the state knows."""
    location = identity_of(identity).metadata_location
    return Remains(
        trace=f"its last metadata file is {location}" if location else "",
        fate="Its files stay until orphan removal of a table in the same place finds them.",
    )


def last_metadata(target: Target, uuid: str, known: str, *, exact: bool) -> Last:
    """The file to enter in the catalog, with all that it names in place: the known one, or what was committed
    after it.

    What the state knows is as old as the last apply, and others may have written since; unless ``exact``: it
    was current at the drop. Then a later file is of a commit that failed. Raises ``Failure``.
    """
    folder, _, name = known.rpartition("/")
    passed_over: list[str] = []
    for version in () if exact else later(_listed(folder, target.catalog, passed_over), name):
        metadata_by_name = {
            each: metadata for each in version if (metadata := _own(f"{folder}/{each}", uuid, target))
        }
        after = [
            each for each, metadata in metadata_by_name.items() if _follows(metadata, name, target.catalog)
        ]
        if len(after) > 1:
            raise Failure(_unclear(target, folder, after))
        if after:
            _refuse_holes(target, metadata_by_name[after[0]], f"{folder}/{after[0]}")
            return Last(
                location=f"{folder}/{after[0]}",
                notes=(f"{after[0]} is its last metadata file; the state knew {name}", *passed_over),
            )
        passed_over += [
            f"{each} was passed over: it is of this table and later, but was not made from {name}"
            for each in metadata_by_name
        ]
    try:
        metadata = load(known, target.catalog)
    except Failure as failure:
        raise Failure(_unreadable(target, failure)) from failure
    if metadata["table-uuid"] != uuid:
        raise Failure(_another_tables(target, known))
    _refuse_holes(target, metadata, known)
    return Last(location=known, notes=tuple(passed_over))


def refuse_elsewhere(connections: Connections, target: Target, uuid: str, location: str) -> tuple[str, ...]:
    """Raises ``Failure`` if the catalog has the table under another name: two entries of one table destroy
    each other's files.

    Returns what there is to say of entries that a REST catalog does not show.
    """
    hidden: list[str] = []
    for namespace in namespaces_in(connections, target.catalog):
        if not target.catalog.names.fullmatch(namespace):
            continue  # of others, and not ours to ask about
        for name, pointer in _entries(target.catalog, namespace, hidden):
            if pointer.is_view or not _bare(pointer.location).startswith(f"{_bare(location)}/"):
                continue
            if load_entry(pointer, target.catalog).uuid == uuid:
                raise Failure(
                    _elsewhere(target, f"{target.catalog.name}.{namespace}.{name}", target.catalog.label)
                )
    if not hidden:
        return ()
    more = f", and {len(hidden) - 1} more" if len(hidden) > 1 else ""
    return (f"whether it is in the catalog under another name too is not known for sure: {hidden[0]}{more}",)


def _entries(catalog: CatalogSpec, namespace: str, hidden: list[str]) -> Iterator[tuple[str, Pointer]]:
    """A REST catalog tells of each entry alone, and may refuse: of one that is none of ours, that is no
    reason to stop.
    """
    pointers = tables_in(catalog, namespace)
    if not catalog.is_server:
        yield from pointers.items()
        return
    try:
        names = list(pointers)
    except Failure as failure:
        hidden.append(f"the namespace {namespace} cannot be listed ({failure.diagnostics[0].detail})")
        return
    for name in names:
        try:
            pointer = pointers.get(name)
        except Failure as failure:
            hidden.append(f"{namespace}.{name} cannot be read ({failure.diagnostics[0].detail})")
            continue
        if pointer is not None:  # dropped meanwhile
            yield name, pointer


def _bare(location: str) -> str:
    """A location without its scheme, which is written in several ways."""
    return re.sub(r"^\w+:/*", "", location).strip("/")


def _listed(folder: str, catalog: CatalogSpec, notes: list[str]) -> list[str]:
    try:
        return names_in(folder, catalog)
    except FileNotFoundError:
        return []
    except OSError as problem:
        notes.append(
            f"whether it has a later metadata file is not known: {folder} cannot be listed "
            f"({problem.strerror or problem})"
        )
        return []


def _own(location: str, uuid: str, target: Target) -> Attributes | None:
    """The metadata of this table in a file; None for what is no such thing, as a commit that broke off may
    leave it. Raises ``Failure`` for a file that is whole but not for us to read: it may be the last one.
    """
    try:
        metadata = load(location, target.catalog)
    except Failure as failure:
        damaged = failure.diagnostics[0].code == codes.METADATA_UNREADABLE.id
        if damaged and _is_damage(failure.__cause__):
            return None
        raise Failure(_unreadable(target, failure)) from failure
    return metadata if metadata["table-uuid"] == uuid else None


def _is_damage(cause: BaseException | None) -> bool:
    """Returns True where the content itself is at fault, and not the way to it."""
    return not isinstance(cause, OSError) or isinstance(cause, FileNotFoundError | gzip.BadGzipFile)


def _follows(metadata: Attributes, known: str, catalog: CatalogSpec) -> bool:
    """Returns True if the known file is among those that this one was made from; where the way back is
    deleted, nothing speaks against it.
    """
    floor = version_number(known) or 0
    while True:
        log = [str(entry["metadata-file"]) for entry in metadata.get("metadata-log") or ()]
        if known in (location.rpartition("/")[2] for location in log):
            return True
        if not log or (version_number(log[0]) or 0) <= floor:
            return False
        try:
            metadata = load(log[0], catalog)
        except Failure:
            return True


def _refuse_holes(target: Target, metadata: Attributes, location: str) -> None:
    gone = _gone(metadata, target.catalog)
    if gone:
        raise Failure(_holes(target, location, gone))


def _gone(metadata: Attributes, catalog: CatalogSpec) -> list[str]:
    """The files that the current snapshot names and that do not exist, as far as looked. Raises ``Failure``
    for a manifest that cannot be read.
    """
    head = current(metadata)
    snapshot: Attributes = next(
        (candidate for candidate in metadata.get("snapshots") or () if candidate["snapshot-id"] == head), {}
    )
    listed = snapshot.get("manifest-list")
    if listed is None:  # never written, or by a very old writer
        return []
    files: list[str] = []
    named: list[str] = []
    try:
        place = listed
        manifests = read_list(place, read_file(place, catalog))
        for manifest in manifests:
            place = manifest.location
            if len(files) < _LOOKED_AT:
                entries = read_entries(manifest, read_file(place, catalog))
                files += (entry.path for entry in islice(entries, _LOOKED_AT - len(files)))
            elif len(named) < _LOOKED_AT:
                named.append(place)
    except FileNotFoundError:
        return [place]
    except OSError:
        return []  # not ours to read: nothing is known to be gone
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        there = pool.map(lambda each: _maybe_there(each, catalog), (*named, *files))
        return [each for each, exists in zip((*named, *files), there, strict=True) if not exists]


def _maybe_there(location: str, catalog: CatalogSpec) -> bool:
    try:
        return is_there(location, catalog)
    except OSError:
        return True


def _refused(target: Target, code: Code, why: str) -> Diagnostic:
    return error(code, f"The table {target.full_name} cannot be brought back. {why}")


def name_taken(target: Target) -> Diagnostic:
    """Complains that something else has the name."""
    why = (
        "There is another table (or a view) of this name. Nothing was changed. Rename or drop the other "
        "one first."
    )
    return _refused(target, codes.NAME_TAKEN, why)


def refuse_other_catalog(target: Target, then: Target) -> None:
    """Raises ``Failure`` if the catalog's block means another catalog by now than the one that the table was
    dropped from.
    """
    if target.catalog.place != then.catalog.place:
        why = (
            f"{target.catalog.address} was {then.catalog.shown} when the table was in it, and is "
            f"{target.catalog.shown} now. Nothing was changed. To have the table where it was, declare that "
            "catalog again until it is back; to have it here, register its metadata file here with another "
            "tool and write an import block."
        )
        raise Failure(_refused(target, codes.CATALOG_IS_ANOTHER, why))


def _elsewhere(target: Target, name: str, label: str) -> Diagnostic:
    why = (
        f"It is in the catalog as {name}. Entered once more, either of the two would delete the other's "
        "files. Nothing was changed. Write the block with that name and an import block with the id "
        f"{label}.{name.partition('.')[2]}, or rename it back."
    )
    return _refused(target, codes.UNDER_ANOTHER_NAME, why)


def _unclear(target: Target, folder: str, names: Sequence[str]) -> Diagnostic:
    why = (
        f"In {folder}, {' and '.join(names)} both continue it, and one of them was never committed. Nothing "
        "was changed. Register the right one in the catalog with another tool, and write an import block."
    )
    return _refused(target, codes.TWO_CONTINUATIONS, why)


def _unreadable(target: Target, failure: Failure) -> Diagnostic:
    known = failure.diagnostics[0].detail.partition(" The catalog names")[0].rstrip(".")
    why = f"Its last known metadata file {known}. Nothing was changed. Make it readable, then try again."
    return _refused(target, codes.LAST_METADATA_UNREADABLE, why)


def _another_tables(target: Target, location: str) -> Diagnostic:
    why = (
        f"Its last known metadata file {location} is another table's by now. Nothing was changed. "
        "Restore the file, then try again."
    )
    return _refused(target, codes.LAST_METADATA_OF_ANOTHER, why)


def _holes(target: Target, location: str, gone: Sequence[str]) -> Diagnostic:
    more = f" and {len(gone) - 1} more" if len(gone) > 1 else ""
    why = (
        f"{gone[0]}{more} of the files that its metadata file {location} names are gone, so it could not be "
        "read. Nothing was changed. Restore the files, then try again."
    )
    return _refused(target, codes.FILES_GONE, why)
