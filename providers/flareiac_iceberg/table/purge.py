"""Lists the files of a table, and deletes them. Touches the world.

They are listed before the table leaves its catalog: afterwards no one could find them again.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from flareiac.kernel.data import Attributes
from flareiac.kernel.diagnostics import Diagnostic, Failure, error
from flareiac_iceberg import codes
from flareiac_iceberg.catalogs.base import CatalogSpec
from flareiac_iceberg.catalogs.file_access import delete_file
from flareiac_iceberg.catalogs.target import Target
from flareiac_iceberg.format.manifests import Manifest, read_entries, read_list
from flareiac_iceberg.maintenance.read import reader_of
from flareiac_iceberg.table.purge_check import log_of

_AT_ONCE: Final = 8


def files_of(target: Target, location: str, metadata: Attributes) -> tuple[str, ...]:
    """Every file that the metadata in the file ``location`` names, and that file last. Raises ``Failure`` if
    they cannot all be listed.
    """
    read = reader_of(target.catalog)

    def listed(place: str) -> tuple[Manifest, ...]:
        return read_list(place, read(place))

    def named(manifest: Manifest) -> set[str]:
        return {entry.path for entry in read_entries(manifest, read(manifest.location))}

    snapshots = metadata.get("snapshots") or ()
    lists = sorted({snapshot["manifest-list"] for snapshot in snapshots if snapshot.get("manifest-list")})
    if any(not snapshot.get("manifest-list") for snapshot in snapshots):
        raise Failure(
            _unlisted(target, "a snapshot of it has no manifest list, as very old writers made them")
        )
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        try:
            manifests = {
                manifest.location: manifest for listing in pool.map(listed, lists) for manifest in listing
            }
            data = {path for named_paths in pool.map(named, manifests.values()) for path in named_paths}
        except Failure as failure:
            known = failure.diagnostics[0]
            raise Failure(_unlisted(target, known.line.partition(". ")[0])) from failure
    figures = [
        figure for name in ("statistics", "partition-statistics") for figure in metadata.get(name) or ()
    ]
    older = log_of(metadata)
    paths = [
        *sorted(data),
        *manifests,
        *lists,
        *(figure["statistics-path"] for figure in figures),
        *older,
        location,
    ]
    return tuple(dict.fromkeys(paths))


def delete(files: Sequence[str], catalog: CatalogSpec) -> tuple[str, ...]:
    """Deletes files; tells of those that stay, if any do. One that is gone already is fine."""

    def why_not(file: str) -> str | None:
        try:
            delete_file(file, catalog)
        except FileNotFoundError:
            return None
        except OSError as problem:
            return problem.strerror or str(problem)
        return None

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        stay = [
            (file, why) for file, why in zip(files, pool.map(why_not, files), strict=True) if why is not None
        ]
    return tuple(
        f"{len(stay)} of its {len(files)} files could not be deleted and stay, as {file} ({why})"
        for file, why in stay[:1]
    )


def _unlisted(target: Target, why: str) -> Diagnostic:
    return error(
        codes.FILES_NOT_FOUND,
        f"The table {target.full_name} is not purged. {why[0].upper()}{why[1:]}. The table and its files "
        "are as they were. Restore the "
        'file, or keep the files: on_destroy = "drop" in its block and an apply, then remove the block.',
    )
