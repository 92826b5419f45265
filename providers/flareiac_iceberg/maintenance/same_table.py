"""Looks for other entries of a table in all declared catalogs. Two entries of one table destroy each other's
files. Touches the world by reading only.
"""

from collections.abc import Callable, Collection, Iterable

from flareiac.sdk.references import References
from flareiac_iceberg.catalogs.base import CatalogSpec
from flareiac_iceberg.catalogs.entries import NoCatalog
from flareiac_iceberg.catalogs.kinds import spec_of
from flareiac_iceberg.catalogs.target import Target
from flareiac_iceberg.maintenance.catalog_listing import Entry, Listings


def entry_of(target: Target, metadata_location: str) -> Entry:
    """The entry that a table has itself."""
    return (target.catalog.name, target.namespace, target.name), metadata_location


def other_entries(
    target: Target,
    uuid: str,
    metadata_location: str,
    declared: References,
    in_use: Collection[str],
    by: Listings,
) -> list[str]:
    """The names of the table's other entries. Raises ``Failure`` where a catalog does not tell."""
    return in_all_catalogs(
        target.catalog,
        declared,
        in_use,
        lambda catalog, own: by.same_table(
            uuid, metadata_location, catalog, entry_of(target, metadata_location) if own else None
        ),
    )


def in_all_catalogs(
    own: CatalogSpec,
    declared: References,
    in_use: Collection[str],
    ask: Callable[[CatalogSpec, bool], Iterable[str]],
) -> list[str]:
    """The answers of a table's own catalog and of every other declared one; two blocks may mean one catalog.
    Raises ``Failure``.
    """
    specs = [
        spec_of(reference.address, reference.attributes)
        for reference in declared.values()
        if reference.type == "catalog"
    ]
    answers = list(ask(own, True))
    for catalog in {each.place: each for each in specs if each.place != own.place}.values():
        try:
            names = list(ask(catalog, False))
        except NoCatalog:
            if catalog.address in in_use:
                raise
            continue  # it is not made yet
        answers += [f"{name} of {catalog.address}" for name in names]
    return answers
