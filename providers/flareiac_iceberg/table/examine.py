"""The check that the record of a table has the shape of records that were once written. Pure."""

from flareiac.kernel.records import Mismatch
from flareiac.sdk.results import Recorded
from flareiac_iceberg.format.identity import identity_of
from flareiac_iceberg.format.spec import TableDefinition, TableOutline
from flareiac_iceberg.maintenance.registry import declared
from flareiac_iceberg.maintenance.schema import NAMES


def examine(recorded: Recorded) -> None:
    """Reads all that is recorded of a table. Raises what reading a wrong shape raises."""
    identity_of(recorded.identity)
    TableOutline.of(recorded.attributes)
    definition = TableDefinition.of(recorded.attributes)
    for name in sorted(set(definition.maintenance).difference(NAMES)):
        raise Mismatch(f"attributes.{name}", "is not known")
    tuple(declared(recorded.attributes))
