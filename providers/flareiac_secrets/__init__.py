"""The provider of secrets: blocks that say where a secret is kept.

Never holds a secret, reads one, or shows one. Hands references to all who need one; they resolve it at the
moment of use.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flareiac.sdk.provider import Provider


def provider() -> "Provider":
    """The entry point."""
    # Imported here: the command line looks into the package for declarations of commands.
    from flareiac_secrets.secrets_provider import SecretsProvider

    return SecretsProvider()
