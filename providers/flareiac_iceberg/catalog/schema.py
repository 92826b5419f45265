"""What users may write in a ``catalog`` block."""

from typing import Final

from flareiac.kernel.types import STRING, MapType
from flareiac.sdk.schema import Attribute, Block

SCHEMA: Final = Block(
    description="A catalog of Iceberg tables. Left empty: SQLite and local files below .flareiac/lake.",
    attributes={
        "type": Attribute(type=STRING, description="The kind of catalog: sql (on SQLite).", default="sql"),
        "name": Attribute(
            type=STRING, description="The catalog's name in Spark SQL and in the catalog itself. Default: the block's label."
        ),
        "uri": Attribute(
            type=STRING,
            description='The SQLite file, as "sqlite:///relative/catalog.db" (to the root module) or "sqlite:////absolute/catalog.db".',
            default="sqlite:///.flareiac/lake/WORKSPACE/catalog.db",
        ),
        "warehouse": Attribute(
            type=STRING,
            description="The folder below which tables are created: a path or a file: URI.",
            default=".flareiac/lake/WORKSPACE/warehouse",
        ),
        "properties": Attribute(type=MapType(STRING), description="Further properties of Spark's catalog.", default={}),
    },
)
