"""pyiceberg's client of REST catalogs, with bounded patience. Imports pyiceberg; imported when one is opened."""

from typing import Any

from pyiceberg.catalog.rest import RestCatalog as Writer
from requests import PreparedRequest, Response, Session
from requests.adapters import HTTPAdapter

from flareiac.sdk.secrets import resolve
from flareiac_iceberg.catalogs.spark_settings import token_uri
from flareiac_iceberg.catalogs.spec import ANSWER_SECONDS, CONNECT_SECONDS, RestCatalog


class _Bounded(HTTPAdapter):
    """Requests that name no timeout would wait for ever."""

    def send(self, request: PreparedRequest, *arguments: Any, **options: Any) -> Response:
        if options.get("timeout") is None:
            options["timeout"] = (CONNECT_SECONDS, 3 * ANSWER_SECONDS)
        return super().send(request, *arguments, **options)


class _Catalog(Writer):
    def _config_headers(self, session: Session) -> None:
        # The first thing that is done with a new session, before any token is asked for.
        for scheme in ("http://", "https://"):
            session.mount(scheme, _Bounded())
        super()._config_headers(session)


def open_rest(spec: RestCatalog, settings: dict[str, str]) -> Writer:
    """The open catalog. Raises ``Failure`` and what pyiceberg raises."""
    own = {"uri": spec.uri, "warehouse": spec.warehouse or None, "prefix": spec.prefix}
    login = {
        "credential": resolve(spec.credential) if spec.credential else None,
        "token": resolve(spec.token) if spec.token else None,
        "oauth2-server-uri": token_uri(spec) if spec.credential else None,
    }
    return _Catalog(spec.name, **settings | {name: value for name, value in (own | login).items() if value is not None})
