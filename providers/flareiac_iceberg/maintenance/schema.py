"""The schema of a table's maintenance: a block for each kind, and the engine that does the work."""

from typing import Final

from flareiac.kernel.types import RefType
from flareiac.sdk.schema import Attribute, NestedBlock, Nesting
from flareiac_iceberg.maintenance.declarations import DECLARATIONS
from flareiac_iceberg.maintenance.schema_parts import NEXT

BLOCKS: Final = {
    declaration.name: NestedBlock(nesting=Nesting.SINGLE, block=declaration.block)
    for declaration in DECLARATIONS
}
NAMES: Final = tuple(BLOCKS)
ENGINE: Final = Attribute(
    type=RefType(("engine",)),
    description="Engine that runs maintenance of the table. Default: the only one declared.",
    on_change=NEXT,
    only_with=NAMES,
)
