"""The schema of the ``catalog`` block."""

from typing import Final

from flareiac.kernel.types import ANY, STRING, RefType
from flareiac.sdk.schema import Attribute, Block

SCHEMA: Final = Block(
    description="A catalog of Iceberg tables. Default: SQLite and local files below .flareiac/lake.",
    attributes={
        "type": Attribute(
            type=STRING,
            description="The kind of catalog: sql (on SQLite or PostgreSQL), rest or glue.",
            default="sql",
        ),
        "name": Attribute(
            type=STRING,
            description=(
                "Name of the catalog in Spark SQL and within a sql catalog. Default: the label of the block."
            ),
        ),
        "uri": Attribute(
            type=STRING,
            description='sql: "sqlite:///relative/catalog.db" (to the root module), '
            '"sqlite:////absolute/catalog.db" or '
            '"postgresql://user@host:5432/database"; rest: "https://host/path", without /v1.',
            default="sqlite:///.flareiac/lake/WORKSPACE/catalog.db",
        ),
        "warehouse": Attribute(
            type=STRING,
            description='Where tables are created: a path, a file: URI or "s3://bucket/folder"; rest: the '
            "name of a warehouse on the server.",
            default=".flareiac/lake/WORKSPACE/warehouse",
        ),
        "prefix": Attribute(
            type=STRING,
            description="rest: the path between /v1/ and the resources, if the server does not provide it.",
        ),
        "credential": Attribute(
            type=RefType(("secret",), or_string=True),
            description="sql: the password of the database; rest: ID:SECRET, exchanged for a token (OAuth2).",
        ),
        "token": Attribute(type=RefType(("secret",), or_string=True), description="rest: a bearer token."),
        "properties": Attribute(
            type=ANY,
            description="Additional properties by Iceberg's names, for Spark and for FlareIaC (s3.endpoint, "
            "s3.region, s3.access-key-id, s3.path-style-access, glue.endpoint, scope, ...). Values are "
            "strings, and references to secrets.",
            default={},
        ),
    },
)
