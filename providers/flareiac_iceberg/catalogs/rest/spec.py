"""The record of a catalog behind Iceberg's REST protocol. Pure."""

from typing import ClassVar, Self
from urllib.parse import urlsplit

from flareiac.kernel.data import UNKNOWN, Attributes, Data
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac_iceberg import codes
from flareiac_iceberg.catalogs.base import CatalogSpec, present
from flareiac_iceberg.catalogs.block import CatalogBlock, CatalogDefinition


@dataclass(frozen=True, slots=True, kw_only=True)
class RestCatalog(CatalogSpec):
    """A server of Iceberg's REST protocol. ``warehouse`` is a name of the server's, or empty. ``credential``
    stands for ``id:secret``.
    """

    type: ClassVar = "rest"
    attributes: ClassVar = ("uri", "credential", "prefix", "token")
    unusable: ClassVar = {
        "rest.sigv4-enabled": ("requests cannot be signed for AWS yet: use a catalog with tokens, or glue"),
        "auth": "write token or credential",
        "rest.auth.type": "write token or credential",
    }
    is_server: ClassVar = True
    advice: ClassVar = (
        "Check that the server runs, and uri, warehouse, prefix and token or credential. "
        "Until then, nothing is planned for its tables."
    )

    uri: str
    prefix: str | None = None
    credential: str | None = None
    token: str | None = None

    @classmethod
    def read(cls, block: CatalogBlock) -> Attributes:
        uri = (
            "" if block.holds_secret("uri", ("token",)) else _server(block.written("uri"), block.diagnostics)
        )
        warehouse = block.written("warehouse")
        unnamed = block.holds_secret_in_warehouse() or warehouse is None or warehouse is UNKNOWN
        return {
            "uri": uri,
            "warehouse": None if unnamed else str(warehouse),
            "prefix": block.written("prefix"),
            "token": block.secret("token"),
        }

    @classmethod
    def place_of(cls, attributes: Attributes) -> str:
        return f"{attributes['uri']}#{attributes['warehouse'] or ''}#{attributes['prefix'] or ''}"

    @classmethod
    def of(cls, address: str, definition: CatalogDefinition) -> Self:
        return cls(
            **definition.common(address),
            uri=definition.uri or "",
            prefix=definition.prefix,
            credential=definition.credential,
            token=definition.token,
        )

    @property
    def token_uri(self) -> str:
        """The URI at which a credential is exchanged for a token; the properties may name another place than
        the server's own.
        """
        return dict(self.properties).get("oauth2-server-uri") or f"{self.uri}/v1/oauth/tokens"

    def spark_settings(self) -> dict[str, str]:
        rest = {"warehouse": self.warehouse or None, "prefix": self.prefix}
        exchange = self.token_uri if self.credential else None
        login = {"credential": self.credential, "token": self.token, "oauth2-server-uri": exchange}
        return {"type": "rest", "uri": self.uri} | present({**rest, **login})


def _server(uri: Data, diagnostics: Diagnostics) -> str:
    text = uri if isinstance(uri, str) else ""
    try:
        parts = urlsplit(text)
        fine = (
            parts.scheme in ("http", "https")
            and bool(parts.hostname)
            and not parts.query
            and not parts.fragment
            and parts.port != 0
        )
    except ValueError:
        fine = False
    if not fine:
        diagnostics.error(
            codes.NO_CATALOG_SERVER,
            f"{'There is no uri' if uri is None else f'{text!r} is not the address of a server'}. "
            'Write uri = "https://host/path": what stands before /v1/config, without parameters.',
            attribute=("uri",),
        )
    return text.rstrip("/")
