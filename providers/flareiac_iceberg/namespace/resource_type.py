"""The type ``namespace``."""

from typing import Final

from flareiac.sdk.resource_type import Kind, ResourceType
from flareiac.sdk.type_roles import Planner, Planning, Recording, Relations
from flareiac.sdk.upgrades import without_identity
from flareiac_iceberg.namespace.schema import SCHEMA, canonical, usages
from flareiac_iceberg.namespace.spec import examine


def _planner() -> Planner:
    from flareiac_iceberg.namespace.plan import NamespacePlanner

    return NamespacePlanner()


NAMESPACE: Final = ResourceType(
    name="namespace",
    kind=Kind.MANAGED,
    schema=SCHEMA,
    description="A namespace and its properties.",
    canonical=canonical,
    planning=Planning(planner=_planner),
    recording=Recording(
        examine=examine,
        # Version 1 recorded what only an observation says.
        upgrades=(without_identity("tables"),),
    ),
    relations=Relations(usages=usages),
)
