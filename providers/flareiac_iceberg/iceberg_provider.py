"""The provider: its block types and functions, and the session that opens drivers."""

from collections.abc import Mapping, Sequence

from flareiac.kernel.codes import CodeTable, code_table
from flareiac.sdk.capabilities import Check
from flareiac.sdk.driver import Driver
from flareiac.sdk.importing import Importable, ImportRequest, LeftOut
from flareiac.sdk.project import Project
from flareiac.sdk.provider import Function, Offered, Session
from flareiac.sdk.references import References, Resolved
from flareiac.sdk.resource_type import ResourceType
from flareiac_iceberg import codes
from flareiac_iceberg.format.transforms import FUNCTIONS


def _catalog() -> ResourceType:
    from flareiac_iceberg.catalogs.resource_type import CATALOG

    return CATALOG


def _namespace() -> ResourceType:
    from flareiac_iceberg.namespace.resource_type import NAMESPACE

    return NAMESPACE


def _table() -> ResourceType:
    from flareiac_iceberg.table.resource_type import TABLE

    return TABLE


def _data_table() -> ResourceType:
    from flareiac_iceberg.data_table.resource_type import DATA_TABLE

    return DATA_TABLE


class IcebergSession:
    """Open catalogs, shared by the drivers."""

    def __init__(self, project: Project) -> None:
        from flareiac_iceberg.catalogs.connections import Connections
        from flareiac_iceberg.data_table.read import DataTableDriver
        from flareiac_iceberg.namespace.driver import NamespaceDriver
        from flareiac_iceberg.table.driver import TableDriver

        self._project = project
        self._connections = Connections()
        tables = TableDriver(project, self._connections)
        self._drivers: dict[str, Driver] = {
            "namespace": NamespaceDriver(self._connections),
            "table": tables,
            "data.table": DataTableDriver(project, tables),
        }

    def driver(self, type_name: str) -> Driver:
        """The driver of a managed type."""
        return self._drivers[type_name]

    def checks(self, references: References) -> Sequence[Check]:
        """One verdict for each declared catalog."""
        from flareiac_iceberg.catalogs.doctor import check_catalog

        return [check_catalog(reference) for reference in references.values() if reference.type == "catalog"]

    def recover(self, connections: Sequence[Resolved]) -> None:
        """Has catalogs undo what a killed writer left half done."""
        from flareiac_iceberg.catalogs.kinds import spec_of
        from flareiac_iceberg.catalogs.opening import recover

        for connection in connections:
            if connection.type == "catalog":
                recover(spec_of(connection.address, connection.attributes))

    def names(self, pattern: str) -> bool:
        """``CATALOG.NAMESPACE.NAME``, which has no slash."""
        return "/" not in pattern

    def importable(self, request: ImportRequest) -> Sequence[Importable | LeftOut]:
        """The tables that a pattern names. Raises ``Failure``."""
        from flareiac_iceberg.discovery.find import Search

        return Search(
            project=self._project, connections=self._connections, driver=self._drivers["table"]
        ).importable(request)

    def close(self) -> None:
        """Closes every catalog."""
        self._connections.close()


class IcebergProvider:
    """The provider that the entry point returns."""

    name = "iceberg"

    def resource_types(self) -> Mapping[str, Offered]:
        """catalog, namespace, table, and tables of others."""
        return {
            "catalog": Offered(load=_catalog, embedded=True),
            "namespace": Offered(load=_namespace),
            "table": Offered(load=_table),
            "data.table": Offered(load=_data_table),
        }

    def functions(self) -> Sequence[Function]:
        """Partition transforms and sort directions."""
        return FUNCTIONS

    def codes(self) -> CodeTable:
        """The codes of its diagnostics."""
        return code_table(codes)

    def open(self, project: Project) -> Session:
        """A session; opens nothing until a driver is asked."""
        return IcebergSession(project)
