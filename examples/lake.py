"""Opens the lake of an example with pyiceberg, beside FlareIaC and Spark, as any other program could.

pyiceberg's own SQL catalog needs SQLAlchemy, which FlareIaC does not bring. This one reads and writes the
same two tables of a SQLite file with the standard library.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pyarrow as pa
from pyiceberg.catalog import Catalog, MetastoreCatalog
from pyiceberg.catalog.noop import NoopCatalog
from pyiceberg.exceptions import CommitFailedException, NoSuchTableError
from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.serializers import FromInputFile
from pyiceberg.table import CommitTableResponse, Table
from pyiceberg.table.sorting import UNSORTED_SORT_ORDER, SortOrder
from pyiceberg.table.update import TableRequirement, TableUpdate
from pyiceberg.typedef import EMPTY_DICT, Identifier, Properties

_TABLES: Final = """
CREATE TABLE IF NOT EXISTS iceberg_tables (
  catalog_name VARCHAR(255) NOT NULL, table_namespace VARCHAR(255) NOT NULL, table_name VARCHAR(255) NOT NULL,
  metadata_location VARCHAR(1000), previous_metadata_location VARCHAR(1000), iceberg_type VARCHAR(5),
  PRIMARY KEY (catalog_name, table_namespace, table_name));
CREATE TABLE IF NOT EXISTS iceberg_namespace_properties (
  catalog_name VARCHAR(255) NOT NULL, namespace VARCHAR(255) NOT NULL, property_key VARCHAR(255) NOT NULL,
  property_value VARCHAR(1000) NOT NULL, PRIMARY KEY (catalog_name, namespace, property_key));
"""
_FIND: Final = """
SELECT metadata_location FROM iceberg_tables
WHERE catalog_name = ? AND table_namespace = ? AND table_name = ?
"""
_COMMIT: Final = """
UPDATE iceberg_tables SET metadata_location = ?, previous_metadata_location = ?
WHERE catalog_name = ? AND table_namespace = ? AND table_name = ? AND metadata_location = ?
"""


class Lake(MetastoreCatalog, NoopCatalog):
    """The catalog ``lake/catalog.db`` of a project, with the warehouse beside it.

    It opens, creates and commits tables; NoopCatalog refuses everything else.
    """

    def __init__(self, project: Path) -> None:
        folder = project.resolve() / "lake"
        super().__init__("lake", warehouse=f"file://{folder}/warehouse")
        self._file = folder / "catalog.db"

    def load_table(self, identifier: str | Identifier) -> Table:
        """Raises ``NoSuchTableError``."""
        name = Catalog.identifier_to_tuple(identifier)
        with self._database() as database:
            row = database.execute(_FIND, self._key(name)).fetchone()
        if row is None:
            raise NoSuchTableError(f"{'.'.join(name)} does not exist")
        io = self._load_file_io(location=row[0])
        metadata = FromInputFile.table_metadata(io.new_input(row[0]))
        return Table(name, metadata, row[0], io, self)

    def create_namespace(self, namespace: str | Identifier, properties: Properties = EMPTY_DICT) -> None:
        """Makes file and tables of the catalog where they are missing."""
        self._file.parent.mkdir(parents=True, exist_ok=True)
        name = Catalog.namespace_to_string(namespace)
        with self._database("rwc") as database:
            database.executescript(_TABLES)
            for key, value in {"exists": "true", **properties}.items():
                row = (self.name, name, key, value)
                database.execute("INSERT INTO iceberg_namespace_properties VALUES (?, ?, ?, ?)", row)

    def load_namespace_properties(self, namespace: str | Identifier) -> Properties:
        """Empty: a table of this lake is below the warehouse."""
        del namespace
        return {}

    def create_table(
        self,
        identifier: str | Identifier,
        schema: Schema | pa.Schema,
        location: str | None = None,
        partition_spec: PartitionSpec = UNPARTITIONED_PARTITION_SPEC,
        sort_order: SortOrder = UNSORTED_SORT_ORDER,
        properties: Properties = EMPTY_DICT,
    ) -> Table:
        """A new, empty table."""
        made = self._create_staged_table(identifier, schema, location, partition_spec, sort_order, properties)
        self._write_metadata(made.metadata, made.io, made.metadata_location)
        row = (*self._key(made.name()), made.metadata_location, None, "TABLE")
        with self._database() as database:
            database.execute("INSERT INTO iceberg_tables VALUES (?, ?, ?, ?, ?, ?)", row)
        return self.load_table(identifier)

    def commit_table(
        self, table: Table, requirements: tuple[TableRequirement, ...], updates: tuple[TableUpdate, ...]
    ) -> CommitTableResponse:
        """Raises ``CommitFailedException`` where another writer was faster."""
        current = self.load_table(table.name())
        new = self._update_and_stage_table(current, table.name(), requirements, updates)
        self._write_metadata(new.metadata, new.io, new.metadata_location)
        before = current.metadata_location
        with self._database() as database:
            done = database.execute(
                _COMMIT, (new.metadata_location, before, *self._key(table.name()), before)
            )
        if done.rowcount != 1:
            raise CommitFailedException(f"{'.'.join(table.name())} was changed at the same moment")
        return CommitTableResponse.model_validate(
            {"metadata": new.metadata, "metadata-location": new.metadata_location}
        )

    def _key(self, identifier: Identifier) -> tuple[str, str, str]:
        return self.name, ".".join(identifier[:-1]), identifier[-1]

    @contextmanager
    def _database(self, mode: str = "rw") -> Iterator[sqlite3.Connection]:
        """One transaction."""
        database = sqlite3.connect(f"{self._file.as_uri()}?mode={mode}", uri=True, timeout=15)
        try:
            with database:
                yield database
        finally:
            database.close()
