"""The results of writing to a catalog beside success: answers of the catalog, and diagnostics where it gave
none. Pure.
"""

from flareiac.kernel.diagnostics import Diagnostic, error
from flareiac.sdk.secrets import masked
from flareiac_iceberg import codes
from flareiac_iceberg.catalogs.base import CatalogSpec


class Conflict(Exception):
    """Another writer's commit came first, or the table is not what the requirements say."""


class Exists(Exception):
    """There is a table of this name."""


class NotEmpty(Exception):
    """The namespace holds tables."""


def unwritable(spec: CatalogSpec, why: str) -> Diagnostic:
    """Complains that the catalog or its warehouse cannot be written."""
    return error(
        codes.CATALOG_NOT_WRITTEN,
        f"{spec.address}: {_line(why)} (catalog {spec.shown}, warehouse "
        f"{spec.warehouse or 'of the server'}). Nothing of this change took effect. Check free space, write "
        "access to both places, and that no program keeps the catalog locked, then apply again.",
    )


def undecided(spec: CatalogSpec, why: str) -> Diagnostic:
    """Complains that the catalog did not say whether it made a change."""
    return error(
        codes.CHANGE_NOT_CONFIRMED,
        f"{spec.address}: {_line(why)} (catalog {spec.shown}). Whether the change took effect is not known. "
        "Check the catalog (flareiac doctor) and plan again: what was done is found then, and is not done "
        "twice.",
    )


def _line(why: str) -> str:
    return masked(" ".join(why.split()))[:500]
