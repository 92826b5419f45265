"""The Iceberg provider: catalogs, namespaces and tables.

Never starts a JVM and never touches a row; plans without any Iceberg library. Hands typed changes to its own
drivers, which make one commit of all changes of a table.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flareiac.sdk.provider import Provider


def provider() -> "Provider":
    """The entry point."""
    # Imported here: the command line reads the declarations of the commands without the provider.
    from flareiac_iceberg.iceberg_provider import IcebergProvider

    return IcebergProvider()
