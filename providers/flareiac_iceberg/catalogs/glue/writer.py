"""Writes to the AWS Glue Data Catalog: a table is an entry that names its metadata file. Touches the
world.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError
from botocore.parsers import ResponseParserError
from pyiceberg.catalog.glue import GlueCatalog as Client
from pyiceberg.catalog.glue import _construct_table_input
from pyiceberg.exceptions import CommitFailedException, NoSuchTableError
from pyiceberg.table.metadata import TableMetadataUtil

from flareiac.kernel.diagnostics import Failure
from flareiac.sdk.secrets import said
from flareiac_iceberg.catalogs.glue.reader import glue_client
from flareiac_iceberg.catalogs.glue.spec import GlueCatalog
from flareiac_iceberg.catalogs.pointer_writer import Entry, PointerWriter
from flareiac_iceberg.catalogs.requests import Definition
from flareiac_iceberg.catalogs.target import Target
from flareiac_iceberg.catalogs.writer import Missing, arguments


class GlueWriter(PointerWriter[GlueCatalog, Client]):
    """Glue itself refuses an update of a version that is no longer the current one."""

    def open(self) -> Client:
        settings = self.file_settings() | {"warehouse": self.spec.warehouse}
        return Client(self.spec.name, client=glue_client(self.spec), **settings)

    @contextmanager
    def errors(self, *, opening: bool = False) -> Iterator[None]:
        try:
            yield
        except ClientError as trouble:
            # An answer of 500 and more does not tell whether the change was made.
            known = trouble.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 500) < 500
            raise Failure(self.trouble(str(trouble), known=opening or known)) from trouble
        except (BotoCoreError, ResponseParserError) as trouble:
            raise Failure(
                self.trouble(f"{type(trouble).__name__}: {said(trouble)}", known=opening)
            ) from trouble
        except OSError as trouble:
            raise Failure(self.trouble(trouble.strerror or str(trouble), known=True)) from trouble

    def _create(self, target: Target, what: Definition, location: str | None, missing: Missing) -> None:
        # S3 Tables choose a table's location when they make it
        if self.catalog._is_s3tables_database(target.namespace):
            self.catalog.create_table(*arguments(target, what, location, min(what.version, 2)))
        else:
            super()._create(target, what, location, missing)

    def enter(self, entry: Entry) -> None:
        target = entry.target
        self.catalog._create_glue_table(target.namespace, target.name, _described(entry))

    def move(self, entry: Entry, old: str) -> bool:
        target = entry.target
        try:
            there = self.catalog._get_glue_table(target.namespace, target.name)
            if (there.get("Parameters") or {}).get("metadata_location") != old:
                return False
            self.catalog._update_glue_table(
                target.namespace, target.name, _described(entry, there, old), there["VersionId"]
            )
        except (CommitFailedException, NoSuchTableError):
            return False
        return True


def _described(entry: Entry, *before: Any) -> Any:
    """What Glue is sent; ``before``: the entry that is replaced, and the metadata file that it names."""
    metadata = entry.metadata
    after = TableMetadataUtil.parse_obj(metadata)
    return _construct_table_input(entry.target.name, entry.location, metadata["properties"], after, *before)
