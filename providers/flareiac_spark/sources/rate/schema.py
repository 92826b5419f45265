"""The schema of the ``rate`` block of a stream."""

from typing import Final

from flareiac.kernel.types import NUMBER, STRING
from flareiac.sdk.on_change import ChangeClass, OnChange
from flareiac.sdk.schema import Attribute, Block
from flareiac.sdk.validators import LARGEST_LONG, whole

BLOCK: Final = Block(
    description="Generates rows at a steady rate, with columns timestamp and value.",
    attributes={
        "rows_per_second": Attribute(
            type=NUMBER,
            description="Rows per second.",
            default=1,
            validators=(whole(1, LARGEST_LONG),),
            on_change=OnChange(ChangeClass.RESULTS_CHANGE),
        ),
        "ramp_up": Attribute(
            type=STRING,
            description='Time until the full rate is reached, such as "10s".',
            on_change=OnChange(ChangeClass.RESULTS_CHANGE),
        ),
        "partitions": Attribute(
            type=NUMBER,
            description="Number of partitions of each batch.",
            validators=(whole(),),
            on_change=OnChange(ChangeClass.RESTART),
        ),
    },
)
