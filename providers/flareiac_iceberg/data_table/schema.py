"""The schema of the ``data "table"`` block, and its canonical attributes before it is read."""

from dataclasses import replace
from typing import Final

from flareiac.kernel.data import Attributes
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.types import ANY, NUMBER, STRING, ListType, Type
from flareiac.sdk.project import Project
from flareiac.sdk.references import References
from flareiac.sdk.resource_type import Decoded
from flareiac.sdk.schema import Block
from flareiac_iceberg.table import canonical as table
from flareiac_iceberg.table import schema as table_schema

_PLACE: Final = ("catalog", "namespace", "name")
READ: Final[dict[str, Type]] = {
    "uuid": STRING,
    "location": STRING,
    "format_version": NUMBER,
    "columns": ANY,
    "column_order": ListType(STRING),
    "identifier": ListType(STRING),
    "partition_by": ANY,
}
"""The attributes that reading adds: those that identify the table and describe its rows, and none that moves
while others write it.
"""

SCHEMA: Final = Block(
    description="A table that this project reads and does not own.",
    attributes={
        **{name: table_schema.SCHEMA.attributes[name] for name in _PLACE},
        "namespace": replace(
            table_schema.SCHEMA.attributes["namespace"],
            description=(
                "Namespace of the table: a reference, or its name with levels separated by dots. "
                "It must exist."
            ),
        ),
    },
)


def canonical(
    decoded: Decoded, references: References, project: Project, diagnostics: Diagnostics
) -> Attributes:
    """The attributes that name the place of the table."""
    return {
        name: value
        for name, value in frame(decoded, references, project, diagnostics).items()
        if name in _PLACE
    }


def frame(decoded: Decoded, references: References, project: Project, diagnostics: Diagnostics) -> Attributes:
    """The attributes of a table block that manages nothing."""
    whole = dict.fromkeys([*table_schema.SCHEMA.attributes, *table_schema.SCHEMA.blocks]) | decoded.attributes
    return table.canonical(
        Decoded(address=decoded.address, name=decoded.name, attributes=whole),
        references,
        project,
        diagnostics,
    )
