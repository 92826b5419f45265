"""The type ``data "table"``."""

from typing import Final

from flareiac.sdk.resource_type import Kind, ResourceType
from flareiac.sdk.type_roles import Locating, Relations
from flareiac_iceberg.data_table.schema import READ, SCHEMA, canonical
from flareiac_iceberg.format.locations import places
from flareiac_iceberg.table.canonical import usages
from flareiac_iceberg.table.dataset import dataset

DATA_TABLE: Final = ResourceType(
    name="data.table",
    kind=Kind.DATA,
    schema=SCHEMA,
    description="An Iceberg table that others own. Jobs can read it; FlareIaC never changes it.",
    canonical=canonical,
    computed=READ,
    relations=Relations(usages=usages, dataset=dataset),
    locating=Locating(own=places),
)
