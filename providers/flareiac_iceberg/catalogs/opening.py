"""Opens the reader and the writer of a catalog, by its kind. Touches the world; a kind is imported when one
of its catalogs is opened, since the libraries of some take longer to import than a small apply.

The kinds meet here and in ``kinds``: a new one is a case in ``reader_of`` and ``writer_of``.
"""

from typing import TYPE_CHECKING, Any

from flareiac.sdk.optional_packages import needed_by
from flareiac_iceberg.catalogs.base import CatalogSpec
from flareiac_iceberg.catalogs.entries import CatalogReader
from flareiac_iceberg.catalogs.glue.spec import GlueCatalog
from flareiac_iceberg.catalogs.postgres.spec import PostgresCatalog
from flareiac_iceberg.catalogs.rest.spec import RestCatalog
from flareiac_iceberg.catalogs.sqlite.spec import SqliteCatalog

if TYPE_CHECKING:
    from flareiac_iceberg.catalogs.writer import CatalogWriter


def reader_of(spec: CatalogSpec) -> CatalogReader:
    """Opens nothing yet. Raises ``Failure`` where a package that this kind needs is not installed."""
    match spec:
        case SqliteCatalog():
            from flareiac_iceberg.catalogs.sqlite.reader import SqliteReader

            return SqliteReader(spec)
        case PostgresCatalog():
            with needed_by(_subject(spec)):
                from flareiac_iceberg.catalogs.postgres.reader import PostgresReader
            return PostgresReader(spec)
        case RestCatalog():
            from flareiac_iceberg.catalogs.rest.reader import RestReader

            return RestReader(spec)
        case GlueCatalog():
            with needed_by(_subject(spec)):
                from flareiac_iceberg.catalogs.glue.reader import GlueReader
            return GlueReader(spec)
        case _:
            raise NotImplementedError(f"{type(spec).__name__} has no reader")


def writer_of(spec: CatalogSpec) -> "CatalogWriter[Any]":
    """Opens the catalog for writing. Raises ``Failure``."""
    match spec:
        case SqliteCatalog():
            from flareiac_iceberg.catalogs.sqlite.writer import SqliteWriter

            return SqliteWriter(spec)
        case PostgresCatalog():
            with needed_by(_subject(spec)):
                from flareiac_iceberg.catalogs.postgres.writer import PostgresWriter
            return PostgresWriter(spec)
        case RestCatalog():
            from flareiac_iceberg.catalogs.rest.writer import RestWriter

            return RestWriter(spec)
        case GlueCatalog():
            with needed_by(_subject(spec)):
                from flareiac_iceberg.catalogs.glue.writer import GlueWriter
            return GlueWriter(spec)
        case _:
            raise NotImplementedError(f"{type(spec).__name__} has no writer")


def recover(spec: CatalogSpec) -> None:
    """Undoes what a killed writer left half done; other databases and servers do so themselves."""
    if isinstance(spec, SqliteCatalog):
        from flareiac_iceberg.catalogs.sqlite.reader import recover as recover_file

        recover_file(spec)


def _subject(spec: CatalogSpec) -> str:
    return f"{spec.address} ({spec.shown})"
