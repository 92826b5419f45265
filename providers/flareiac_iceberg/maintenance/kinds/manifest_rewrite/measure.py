"""The sizes of a table's manifests, from the manifest list alone."""

from collections.abc import Iterable
from typing import Final

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_iceberg.format.manifests import Manifest
from flareiac_iceberg.maintenance.contents import Contents, Table, partition_columns
from flareiac_iceberg.maintenance.figures import number
from flareiac_iceberg.maintenance.kinds.manifest_rewrite.settings import ManifestRewrite

_TARGET: Final = "commit.manifest.target-size-bytes"
_DEFAULT: Final = 8 * 1024**2
"""Iceberg's default of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestSizes:
    """So many manifests, with so many bytes in all."""

    count: int
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestFigures:
    """The manifests of data and of delete files, and how large Iceberg makes them. ``unfit``: the column of
    a partition that Iceberg's action cannot read; empty where there is none.
    """

    data: ManifestSizes
    deletes: ManifestSizes
    target: int
    unfit: str = ""


def measure(_settings: ManifestRewrite, contents: Contents) -> ManifestFigures:
    """The figures of the manifests of the current spec, which are those that a rewrite takes."""
    table = contents.table
    own = [manifest for manifest in contents.manifests if manifest.spec_id == table.spec_id]
    return ManifestFigures(
        data=_sizes(manifest for manifest in own if not manifest.deletes),
        deletes=_sizes(manifest for manifest in own if manifest.deletes),
        target=number(table.properties, _TARGET) or _DEFAULT,
        unfit=_unfit(table),
    )


def _unfit(table: Table) -> str:
    """Iceberg's action reads the partitions of all specs as rows of Spark, where a uuid is a text and a fixed
    value an array, and fails (measured).
    """
    return next(partition_columns(table, table.specs, "uuid", "fixed"), "")


def _sizes(manifests: Iterable[Manifest]) -> ManifestSizes:
    lengths = [manifest.length for manifest in manifests]
    return ManifestSizes(count=len(lengths), bytes=sum(lengths))
