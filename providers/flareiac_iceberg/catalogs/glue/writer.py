"""Writes to the AWS Glue Data Catalog: a table is an entry that names its metadata file. Touches the
world.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError
from botocore.parsers import ResponseParserError
from pyiceberg.catalog.glue import GlueCatalog as Client
from pyiceberg.catalog.glue import _construct_table_input
from pyiceberg.exceptions import CommitFailedException, NoSuchTableError, TableAlreadyExistsError
from pyiceberg.table.metadata import TableMetadataUtil

from flareiac.kernel.diagnostics import Failure
from flareiac.sdk.secrets import said
from flareiac_iceberg.catalogs.glue.reader import GlueReader, glue_client
from flareiac_iceberg.catalogs.glue.spec import GlueCatalog
from flareiac_iceberg.catalogs.glue.table_input import accepted, moved, with_properties
from flareiac_iceberg.catalogs.library_settings import library_settings
from flareiac_iceberg.catalogs.library_writer import LibraryWriter, arguments
from flareiac_iceberg.catalogs.outcomes import Exists
from flareiac_iceberg.catalogs.pointer_writer import Entry, PointerWriter
from flareiac_iceberg.catalogs.requests import Definition
from flareiac_iceberg.catalogs.target import Target
from flareiac_iceberg.catalogs.writer import Missing
from flareiac_iceberg.format.metadata import TableFile


class GlueWriter(PointerWriter[GlueCatalog], LibraryWriter[GlueCatalog, Client]):
    """Glue itself refuses an update of a version that is no longer the current one."""

    def open_library(self) -> Client:
        settings = library_settings(self.spec) | {"warehouse": self.spec.warehouse}
        return Client(self.spec.name, client=glue_client(self.spec), **settings)

    def reader(self) -> GlueReader:
        return GlueReader(self.spec)

    @contextmanager
    def errors(self, *, opening: bool = False) -> Iterator[None]:
        try:
            yield
        except ClientError as error:
            # An answer of 500 and more does not tell whether the change was made.
            known = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 500) < 500
            raise Failure(self.complaint(str(error), known=opening or known)) from error
        except (BotoCoreError, ResponseParserError, RuntimeError) as error:
            raise Failure(self.complaint(said(error), known=opening)) from error
        except OSError as error:
            raise Failure(self.complaint(error.strerror or str(error), known=True)) from error

    def _create(
        self, target: Target, what: Definition, location: str | None, missing: Missing
    ) -> TableFile | None:
        if not self.catalog._is_s3tables_database(target.namespace):
            return super()._create(target, what, location, missing)
        # S3 Tables choose a table's location when they make it
        with _taken(target):
            self.catalog.create_table(*arguments(target, what, location, min(what.version, 2)))
        return None

    def default_location(self, target: Target) -> str:
        """See ``PointerWriter``."""
        return str(self.catalog._resolve_table_location(None, target.namespace, target.name))

    def enter(self, entry: Entry) -> None:
        """See ``PointerWriter``."""
        target = entry.target
        with _taken(target):
            self.catalog._create_glue_table(target.namespace, target.name, _described(entry))

    def move(self, entry: Entry, old: str) -> bool:
        target = entry.target
        try:
            there = self.catalog._get_glue_table(target.namespace, target.name)
            if (there.get("Parameters") or {}).get("metadata_location") != old:
                return False
            kept = accepted(there, self._shape("TableInput"))
            changed = moved(kept, _described(entry, old), entry.before or {}, entry.metadata)
            self.catalog._update_glue_table(target.namespace, target.name, changed, there["VersionId"])
        except (CommitFailedException, NoSuchTableError):
            return False
        return True

    def set_namespace_properties(self, name: str, put: Mapping[str, str], remove: Iterable[str]) -> None:
        """See ``CatalogWriter``."""
        with self.errors():
            there = self.catalog.glue.get_database(Name=name).get("Database")
            changed = with_properties(accepted(there, self._shape("DatabaseInput")), put, remove)
            self.catalog.glue.update_database(Name=name, DatabaseInput=changed)

    def _shape(self, name: str) -> Any:
        return self.catalog.glue.meta.service_model.shape_for(name)


@contextmanager
def _taken(target: Target) -> Iterator[None]:
    try:
        yield
    except TableAlreadyExistsError as taken:
        raise Exists(target.full_name) from taken


def _described(entry: Entry, previous: str | None = None) -> Any:
    """The entry that Iceberg's library makes of a table for Glue; ``previous``: the metadata file that its
    entry names.
    """
    metadata = entry.metadata
    after = TableMetadataUtil.parse_obj(metadata)
    return _construct_table_input(
        entry.target.name, entry.location, metadata["properties"], after, None, previous
    )
