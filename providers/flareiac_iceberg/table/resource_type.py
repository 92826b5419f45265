"""The type ``table``."""

from typing import Final

from flareiac.kernel.data import Attributes
from flareiac.kernel.types import NUMBER, STRING
from flareiac.sdk.importing import WrittenBlock
from flareiac.sdk.maintenance import Maintainer
from flareiac.sdk.requests import Unchanged
from flareiac.sdk.resource_type import Kind, ResourceType
from flareiac.sdk.results import Recorded
from flareiac.sdk.type_roles import (
    Declaring,
    Locating,
    Maintaining,
    Planner,
    Planning,
    Recording,
    Relations,
    Remains,
    Showing,
)
from flareiac.sdk.upgrades import without_identity
from flareiac_iceberg.format.locations import places
from flareiac_iceberg.maintenance.statistics_sheet import SHEET
from flareiac_iceberg.table.canonical import canonical, seen_usages, usages
from flareiac_iceberg.table.dataset import dataset
from flareiac_iceberg.table.schema import SCHEMA
from flareiac_iceberg.table.written_path import taking_over, written_path


def _planner() -> Planner:
    from flareiac_iceberg.table.plan import TablePlanner

    return TablePlanner()


def _written(label: str, attributes: Attributes) -> WrittenBlock:
    from flareiac_iceberg.table.written_block import written_block

    return written_block(label, attributes)


def _maintainer() -> Maintainer:
    from flareiac_iceberg.maintenance.plan import TableMaintainer

    return TableMaintainer()


def _examine(recorded: Recorded) -> None:
    from flareiac_iceberg.table.examine import examine

    examine(recorded)


def _is_settled(unchanged: Unchanged) -> bool:
    from flareiac_iceberg.table.settled import is_settled

    return is_settled(unchanged)


def _remains(identity: Attributes) -> Remains:
    from flareiac_iceberg.table.undrop import remains

    return remains(identity)


TABLE: Final = ResourceType(
    name="table",
    kind=Kind.MANAGED,
    schema=SCHEMA,
    description="An Iceberg table: schema, layout and properties.",
    canonical=canonical,
    computed={"uuid": STRING, "metadata_location": STRING, "snapshot_id": NUMBER},
    declaring=Declaring(follows_from_text=True),
    planning=Planning(planner=_planner, is_replaceable=True, is_settled=_is_settled),
    recording=Recording(
        examine=_examine,
        # Version 1 recorded what only an observation says.
        upgrades=(without_identity("gone", "found_at", "destination_taken"),),
    ),
    relations=Relations(usages=usages, seen_usages=seen_usages, dataset=dataset),
    locating=Locating(own=places),
    maintaining=Maintaining(maintainer=_maintainer, sheet=SHEET),
    showing=Showing(
        import_ids="CATALOG.NAMESPACE.NAME, such as lake.sales.orders",
        written=_written,
        written_path=written_path,
        taking_over=taking_over,
        remains=_remains,
    ),
)
