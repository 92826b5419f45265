"""The record of a catalog behind Iceberg's REST protocol. Pure."""

from dataclasses import dataclass
from typing import ClassVar

from flareiac_iceberg.catalogs.base import BaseCatalog, present


@dataclass(frozen=True, slots=True, kw_only=True)
class RestCatalog(BaseCatalog):
    """A server of Iceberg's REST protocol. ``warehouse`` is a name of the server's, or empty. ``credential``
    stands for ``id:secret``.
    """

    is_server: ClassVar = True
    advice: ClassVar = (
        "Check that the server runs, and uri, warehouse, prefix and token or credential. "
        "Nothing is known meanwhile."
    )

    uri: str
    prefix: str | None = None
    credential: str | None = None
    token: str | None = None

    @property
    def token_uri(self) -> str:
        """Where a credential is exchanged for a token; the properties may name another place than the
        server's own.
        """
        return dict(self.properties).get("oauth2-server-uri") or f"{self.uri}/v1/oauth/tokens"

    def spark_settings(self) -> dict[str, str]:
        rest = {"warehouse": self.warehouse or None, "prefix": self.prefix}
        exchange = self.token_uri if self.credential else None
        login = {"credential": self.credential, "token": self.token, "oauth2-server-uri": exchange}
        return {"type": "rest", "uri": self.uri} | present({**rest, **login})
