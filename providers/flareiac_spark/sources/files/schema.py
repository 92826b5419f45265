"""The schema of the ``files`` block of a stream."""

from typing import Final

from flareiac.kernel.types import NUMBER, STRING
from flareiac.sdk.on_change import ChangeClass, OnChange
from flareiac.sdk.schema import Attribute, Block
from flareiac.sdk.validators import is_duration, one_of, whole
from flareiac_spark.sources.file_formats import FORMAT, OPTIONS
from flareiac_spark_runtime.sources.files.reading import FIRST, NEWEST

BLOCK: Final = Block(
    description="Reads new files of a folder.",
    attributes={
        "path": Attribute(
            type=STRING,
            description="Folder or glob, relative to the root module.",
            required=True,
            on_change=OnChange(ChangeClass.NEW_GENERATION),
        ),
        "format": FORMAT,
        "options": OPTIONS,
        "max_files_per_trigger": Attribute(
            type=NUMBER,
            description="Maximum number of files per batch.",
            validators=(whole(),),
            on_change=OnChange(ChangeClass.RESTART),
        ),
        "max_file_age": Attribute(
            type=STRING,
            description="Age from which a new file is not read, counted back from the newest file that was "
            'read: "30d". Reading 2 reads files of every age unless this is written; reading 1 passes over '
            "files that are older than seven days.",
            validators=(is_duration,),
            on_change=OnChange(ChangeClass.RESTART),
        ),
        "reading": Attribute(
            type=NUMBER,
            description=f"Version of the rules by which files are read. {NEWEST}: folders below the folder "
            "are read, files of every age and of every name are read once, quoted CSV is read as RFC 4180 "
            "says, header lines are compared with the columns, and what fits the columns only in part is a "
            f"bad record. {FIRST}: Spark's own rules. A stream that is recorded keeps its version until this "
            f"says another one; a new one has {NEWEST}.",
            validators=(one_of(FIRST, NEWEST),),
            on_change=OnChange(ChangeClass.RESTART, over_state=ChangeClass.RESULTS_CHANGE),
        ),
    },
    instead={
        **dict.fromkeys(
            ("schema", "columns", "column"),
            'Columns stand in the stream block: column "NAME" { type = "long" }.',
        ),
        **dict.fromkeys(
            ("header", "delimiter", "sep", "encoding", "multiline", "quote"),
            'What the reader of the format takes stands in options: options = { header = "true" }.',
        ),
    },
)
