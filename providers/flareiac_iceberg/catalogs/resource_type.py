"""The type ``catalog``."""

from typing import Final

from flareiac.sdk.resource_type import Kind, ResourceType
from flareiac.sdk.type_roles import Locating
from flareiac_iceberg.catalogs.canonical import canonical
from flareiac_iceberg.catalogs.kinds import home_of
from flareiac_iceberg.catalogs.schema import SCHEMA

CATALOG: Final = ResourceType(
    name="catalog",
    kind=Kind.CONNECTION,
    schema=SCHEMA,
    description="A catalog of Iceberg tables: where they are registered and where their files are.",
    canonical=canonical,
    locating=Locating(home=home_of),
)
