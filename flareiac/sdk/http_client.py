"""The HTTP client of FlareIaC's own requests to catalogs, schema registries and Spark's masters. Touches the
network.

It takes the standard library alone, for it travels beside Spark. Every request is bounded in time and every
answer in size. A redirect is never followed: the login in a request's headers goes to the server that was
declared, and to no other.
"""

import base64
import ssl
import time
from collections.abc import Mapping
from http.client import HTTPException, HTTPResponse
from typing import Final
from urllib.error import HTTPError
from urllib.request import HTTPRedirectHandler, HTTPSHandler, ProxyHandler, Request, build_opener

from flareiac.sdk.secrets import resolve, resolve_all, said

MOST_BYTES: Final = 512 * 1024 * 1024
"""The longest answer by default: the metadata of a table with many snapshots has hundreds of MiB."""
REDIRECTED: Final = "it leads to another address, where no login is sent"
"""The words for an answer that is a redirect."""
_MOST_OF_REFUSAL: Final = 64 * 1024
_CA: Final = "ssl.ca.location"
_CERTIFICATE: Final = "ssl.certificate.location"
_KEY: Final = "ssl.key.location"
_KEY_PHRASE: Final = "ssl.key.password"
_TLS_SETTINGS: Final = (_CA, _CERTIFICATE, _KEY, _KEY_PHRASE)


class NoAnswer(Exception):
    """No whole answer came. The message says why, without a full stop and without secrets."""


class HttpRefusal(Exception):
    """The server answered with a status other than success; a redirect is one of them.

    ``status``: the status. ``content``: the first 64 KiB of the answer, empty where it could not be read.
    """

    def __init__(self, status: int, content: bytes) -> None:
        super().__init__(f"HTTP {status}")
        self.status, self.content = status, content

    @property
    def reason(self) -> str:
        """The words for the status where it has a meaning for every server; else empty."""
        return REDIRECTED if 300 <= self.status < 400 else ""


class NoRedirects(HTTPRedirectHandler):
    """Makes a redirect an error for urllib."""

    def redirect_request(self, *_arguments: object, **_named: object) -> None:
        """Returns no request."""


class HttpClient:
    """Asks servers; it keeps nothing open between two requests, and is safe to use from several threads.

    ``seconds``: the time within which a server accepts a connection, and between two parts of an answer; a
    whole answer may take twice as long. ``most_bytes``: the longest answer. ``tls``: certificates other than
    those that the system trusts. Proxies are those of the environment, unless ``direct``.
    """

    def __init__(
        self,
        *,
        seconds: float,
        most_bytes: int = MOST_BYTES,
        tls: ssl.SSLContext | None = None,
        direct: bool = False,
    ) -> None:
        self._seconds, self._most_bytes = seconds, most_bytes
        proxies = ProxyHandler({}) if direct else ProxyHandler()
        self._opener = build_opener(proxies, HTTPSHandler(context=tls), NoRedirects())

    def ask(self, url: str, *, headers: Mapping[str, str] | None = None, body: bytes | None = None) -> bytes:
        """The content of the answer to a GET, or to a POST of ``body``. Raises ``NoAnswer`` and
        ``HttpRefusal``.
        """
        if not url.startswith(("http://", "https://")):
            raise NoAnswer(f"{url!r} is not the address of a server")
        try:
            request = Request(url, body, dict(headers or {}))  # noqa: S310  # http and https alone
            # Bytes that trickle in never let a socket's own timeout pass, so the whole has a deadline too.
            deadline = time.monotonic() + 2 * self._seconds
            with self._opener.open(request, timeout=self._seconds) as response:
                return self._read(response, deadline)
        except HTTPError as refusal:
            raise HttpRefusal(refusal.code, _start(refusal)) from None
        except (OSError, HTTPException, ValueError) as problem:
            raise NoAnswer(said(getattr(problem, "reason", None) or problem)) from None

    def _read(self, response: HTTPResponse, deadline: float) -> bytes:
        content = bytearray()
        while part := response.read1(1 << 20):
            content += part
            if len(content) > self._most_bytes:
                raise ValueError(f"its answer is longer than {self._most_bytes // 1024**2} MiB")
            if time.monotonic() > deadline:
                raise TimeoutError(f"its answer did not come to an end within {2 * self._seconds:.0f} s")
        return bytes(content)


def login_headers(*, username: str | None, password: str | None, token: str | None) -> dict[str, str]:
    """The headers of a login by token, or by user and password; none without either. The texts may stand for
    secrets. Raises ``Failure``.
    """
    if token is not None:
        return {"Authorization": f"Bearer {resolve(token)}"}
    if username is None:
        return {}
    pair = f"{resolve(username)}:{resolve(password or '')}"
    return {"Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}


def tls_of(settings: Mapping[str, str]) -> ssl.SSLContext | None:
    """The certificates that settings name as Confluent's clients call them (``ssl.ca.location``, ...), whose
    values may stand for secrets; None where they name none. Raises ``Failure``, and OSError for a certificate
    that cannot be read.
    """
    given = resolve_all({name: text for name, text in settings.items() if name in _TLS_SETTINGS})
    if not given:
        return None
    context = ssl.create_default_context(cafile=given.get(_CA))
    if _CERTIFICATE in given:
        context.load_cert_chain(given[_CERTIFICATE], given.get(_KEY), given.get(_KEY_PHRASE))
    return context


def _start(refusal: HTTPError) -> bytes:
    with refusal:
        try:
            return refusal.read(_MOST_OF_REFUSAL)
        except (OSError, HTTPException):
            return b""
