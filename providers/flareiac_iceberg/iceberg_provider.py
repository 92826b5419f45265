"""The provider: its block types and functions, and the session that opens drivers."""

from collections.abc import Sequence
from typing import Final

from flareiac.kernel.codes import CodeTable, code_table
from flareiac.kernel.types import NUMBER, STRING
from flareiac.sdk.capabilities import Check
from flareiac.sdk.driver import Driver
from flareiac.sdk.importing import Importable, ImportRequest, LeftOut
from flareiac.sdk.project import Project
from flareiac.sdk.provider import Function, Session
from flareiac.sdk.references import References, Resolved
from flareiac.sdk.resource_type import Kind, ResourceType
from flareiac_iceberg import codes
from flareiac_iceberg.catalogs import canonical as catalog_canonical
from flareiac_iceberg.catalogs import schema as catalog_schema
from flareiac_iceberg.catalogs.connections import Connections
from flareiac_iceberg.catalogs.kinds import home_of, spec_of
from flareiac_iceberg.data_table import schema as data_table_schema
from flareiac_iceberg.data_table.read import DataTableDriver
from flareiac_iceberg.format.locations import places
from flareiac_iceberg.format.transforms import FUNCTIONS
from flareiac_iceberg.maintenance.plan import TableMaintainer
from flareiac_iceberg.maintenance.statistics_text import SHEET
from flareiac_iceberg.namespace import schema as namespace_schema
from flareiac_iceberg.namespace.driver import NamespaceDriver
from flareiac_iceberg.namespace.plan import NamespacePlanner
from flareiac_iceberg.namespace.spec import examine as examine_namespace
from flareiac_iceberg.table import canonical as table_canonical
from flareiac_iceberg.table import schema as table_schema
from flareiac_iceberg.table.driver import TableDriver
from flareiac_iceberg.table.examine import examine
from flareiac_iceberg.table.plan import TablePlanner
from flareiac_iceberg.table.undrop import remains

_TYPES: Final = (
    ResourceType(
        name="catalog",
        kind=Kind.CONNECTION,
        schema=catalog_schema.SCHEMA,
        description="A catalog of Iceberg tables: where they are registered and where their files are.",
        canonical=catalog_canonical.canonical,
        default={},
        home=home_of,
    ),
    ResourceType(
        name="namespace",
        kind=Kind.MANAGED,
        schema=namespace_schema.SCHEMA,
        description="A namespace and its properties.",
        canonical=namespace_schema.canonical,
        planner=NamespacePlanner(),
        usages=namespace_schema.usages,
        examine=examine_namespace,
    ),
    ResourceType(
        name="table",
        kind=Kind.MANAGED,
        schema=table_schema.SCHEMA,
        description="An Iceberg table: schema, layout and properties.",
        canonical=table_canonical.canonical,
        planner=TablePlanner(),
        usages=table_canonical.usages,
        places=places,
        maintainer=TableMaintainer(),
        examine=examine,
        sheet=SHEET,
        remains=remains,
        computed={"uuid": STRING, "metadata_location": STRING, "snapshot_id": NUMBER},
    ),
    ResourceType(
        name="data.table",
        kind=Kind.DATA,
        schema=data_table_schema.SCHEMA,
        description="An Iceberg table that others own. Jobs can read it; FlareIaC never changes it.",
        canonical=data_table_schema.canonical,
        usages=table_canonical.usages,
        places=places,
        computed=data_table_schema.READ,
    ),
)


class IcebergSession:
    """Open catalogs, shared by the drivers."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._connections = Connections()
        self._drivers: dict[str, Driver] = {
            "namespace": NamespaceDriver(self._connections),
            "table": TableDriver(project, self._connections),
        }
        self._drivers["data.table"] = DataTableDriver(project, self._drivers["table"])

    def driver(self, type_name: str) -> Driver:
        """The driver of a managed type."""
        return self._drivers[type_name]

    def checks(self, references: References) -> Sequence[Check]:
        """One verdict for each declared catalog."""
        from flareiac_iceberg.catalogs.doctor import check_catalog

        return [check_catalog(item) for item in references.values() if item.type == "catalog"]

    def recover(self, connections: Sequence[Resolved]) -> None:
        """Has catalogs undo what a killed writer left half done."""
        for item in connections:
            if item.type == "catalog":
                spec_of(item.address, item.attributes).recover()

    def names(self, pattern: str) -> bool:
        """``CATALOG.NAMESPACE.NAME``, which has no slash."""
        return "/" not in pattern

    def importable(self, request: ImportRequest) -> Sequence[Importable | LeftOut]:
        """The tables that a pattern names. Raises ``Failure``."""
        from flareiac_iceberg.discovery.find import Search

        return Search(
            project=self._project, connections=self._connections, driver=self._drivers["table"]
        ).found(request)

    def close(self) -> None:
        """Closes every catalog."""
        self._connections.close()


class IcebergProvider:
    """What the entry point hands out."""

    name = "iceberg"

    def resource_types(self) -> Sequence[ResourceType]:
        """catalog, namespace, table."""
        return _TYPES

    def functions(self) -> Sequence[Function]:
        """Partition transforms and sort directions."""
        return FUNCTIONS

    def codes(self) -> CodeTable:
        """The codes of its diagnostics."""
        return code_table(codes)

    def open(self, project: Project) -> Session:
        """A session; opens nothing until a driver is asked."""
        return IcebergSession(project)
