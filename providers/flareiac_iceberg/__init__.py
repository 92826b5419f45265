"""The Iceberg provider: catalogs, namespaces and tables.

Never starts a JVM and never touches a row; plans without any Iceberg library. Hands typed changes to its own
drivers, which make one commit of all changes of a table.
"""

from flareiac_iceberg.provider import IcebergProvider


def provider() -> IcebergProvider:
    """The entry point."""
    return IcebergProvider()
