"""Whether what is recorded of a table has the shape of what was once recorded. Pure."""

from flareiac.sdk.results import Recorded
from flareiac_iceberg.format.identity import identity_of
from flareiac_iceberg.format.spec import TableDefinition
from flareiac_iceberg.maintenance.registry import declared


def examine(recorded: Recorded) -> None:
    """Reads all that is recorded of a table. Raises what reading a wrong shape raises."""
    identity_of(recorded.identity)
    TableDefinition.of(recorded.attributes)
    tuple(declared(recorded.attributes))
