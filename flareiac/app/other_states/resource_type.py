"""The type ``data "state"``."""

from typing import Final

from flareiac.app.other_states.schema import READ, SCHEMA, canonical
from flareiac.sdk.resource_type import Kind, ResourceType
from flareiac.sdk.type_roles import Declaring

DATA_STATE: Final = ResourceType(
    name="data.state",
    kind=Kind.DATA,
    schema=SCHEMA,
    description="What another project hands on: its outputs, read when a plan is made.",
    canonical=canonical,
    computed=READ,
    declaring=Declaring(values_only=True),
)
