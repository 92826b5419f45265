"""The provider of secrets: blocks that say where a secret is kept.

Never holds a secret, reads one, or shows one. Hands references to all who need one; they resolve it at the
moment of use.
"""

from flareiac_secrets.provider import SecretsProvider


def provider() -> SecretsProvider:
    """The entry point."""
    return SecretsProvider()
