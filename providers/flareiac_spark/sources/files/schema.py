"""What users may write in a ``files`` block of a stream."""

from typing import Final

from flareiac.kernel.types import NUMBER, STRING
from flareiac.sdk.schema import Attribute, Block
from flareiac.sdk.validators import between
from flareiac_spark.sources.file_formats import FORMAT, OPTIONS

BLOCK: Final = Block(
    description="Reads new files of a folder.",
    attributes={
        "path": Attribute(
            type=STRING,
            description="Folder or glob, relative to the root module.",
            required=True,
            effect="blocked",
        ),
        "format": FORMAT,
        "options": OPTIONS,
        "max_files_per_trigger": Attribute(
            type=NUMBER,
            description="Maximum number of files per batch.",
            validators=(between(1),),
            effect="restart",
        ),
    },
)
