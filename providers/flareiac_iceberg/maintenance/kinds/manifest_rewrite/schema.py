"""The schema of manifest rewrites: the time at which manifests are merged."""

from typing import Final

from flareiac.kernel.types import ANY
from flareiac.sdk.schema import Attribute, Block
from flareiac.sdk.validators import whole
from flareiac_iceberg.maintenance.schema_parts import (
    NEXT,
    always,
    entries,
    some_size,
)

BLOCK: Final = Block(
    description="Merges small manifests.",
    attributes={
        **always(),
        "run_if": Attribute(
            type=ANY,
            description=(
                'Due when all of these hold. Default: { manifests_over = 50, mean_size_under = "1MB" }.'
            ),
            validators=(entries(manifests_over=whole(0), mean_size_under=some_size),),
            on_change=NEXT,
        ),
    },
)
