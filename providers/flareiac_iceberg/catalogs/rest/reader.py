"""The tables and namespaces of a REST catalog, by the protocol itself, within bounded time. Reads only.

What is not there is reported by the server's own error of that kind. Any other answer (another 404, a
failure, no JSON) is no answer.
"""

import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Final
from urllib.parse import quote, unquote, urlencode

from flareiac.kernel.data import Attributes, Data, parse_json
from flareiac.kernel.diagnostics import Failure
from flareiac.sdk.http_client import HttpClient, HttpRefusal, NoAnswer
from flareiac.sdk.secrets import masked, remember, resolve
from flareiac_iceberg.catalogs.base import ANSWER_SECONDS
from flareiac_iceberg.catalogs.entries import Pointer, Registered, folder_of, unreadable
from flareiac_iceberg.catalogs.rest.spec import RestCatalog

_AT_ONCE: Final = 8
_LONGEST_MESSAGE: Final = 1000
_MOST_PAGES: Final = 10_000
"""The limit on the pages of one list: a server that never ends it is no catalog."""
_DEEPEST: Final = 100
_ABSENT: Final = ("NoSuchTable", "NoSuchIcebergTable", "NoSuchView", "NoSuchNamespace")
"""The errors for an object that does not exist in a warehouse. Of a warehouse that is gone (NoSuchWarehouse,
...) nothing is known.
"""
_OAUTH: Final = ("scope", "audience", "resource")


class Entries(Mapping[str, Pointer]):
    """The entries of a namespace. Looking up a name asks for that table alone; iterating lists all names.
    Raises ``Failure``.
    """

    def __init__(self, catalog: RestCatalog, namespace: str) -> None:
        self._server, self._namespace = server(catalog), namespace
        self._known: dict[str, Pointer | None] = {}

    def __getitem__(self, name: str) -> Pointer:
        if name not in self._known:
            self._known[name] = self._asked(name)
        pointer = self._known[name]
        if pointer is None:
            raise KeyError(name)
        return pointer

    def _asked(self, name: str) -> Pointer | None:
        path = f"{self._server.path_of(self._namespace)}/tables/{quote(name, safe='', errors='replace')}"
        answer = self._server.get(f"{path}?snapshots=refs")
        if answer is not None:
            return Pointer(self._server.location_in(answer), False, lambda: self._fetched(path))
        # A view of that name is in the way of a table; servers without views do not know the question.
        return Pointer("", is_view=True) if self._server.has_view(self._namespace, name) else None

    def _fetched(self, path: str) -> tuple[str, Attributes]:
        answer = self._server.get(path)
        if answer is None:
            raise self._server.failure("the table was dropped while it was read")
        metadata = answer.get("metadata")
        if not isinstance(metadata, dict):
            raise self._server.failure("its answer about a table has no metadata")
        return self._server.location_in(answer), metadata

    def __iter__(self) -> Iterator[str]:
        for page in self._server.pages(f"{self._server.path_of(self._namespace)}/tables", {}, "identifiers"):
            if isinstance(page, dict) and isinstance(name := page.get("name"), str):
                yield name

    def __bool__(self) -> bool:
        return True  # without it, emptiness would be asked by listing all names

    def __len__(self) -> int:
        return sum(1 for _ in self)


class RestReader:
    """Asks the server, one question for each table. See ``CatalogReader``."""

    def __init__(self, catalog: RestCatalog) -> None:
        self._catalog = catalog

    def tables(self, namespace: str) -> Mapping[str, Pointer]:
        return Entries(self._catalog, namespace)

    def table(self, namespace: str, name: str) -> Pointer | None:
        """The entry of one table. Raises ``Failure``."""
        return self.tables(namespace).get(name)

    def everything(self) -> Mapping[tuple[str, ...], Registered]:
        """All tables of a server; each is asked for by its name. Raises ``Failure``."""
        registered: dict[tuple[str, ...], Registered] = {}
        for namespace in _namespaces(server(self._catalog)):
            entries = Entries(self._catalog, namespace)
            names = list(entries)
            with ThreadPoolExecutor(_AT_ONCE) as pool:
                for name, pointer in zip(names, pool.map(entries.get, names), strict=True):
                    if pointer is not None and pointer.location:
                        registered[self._catalog.name, namespace, name] = Registered(
                            pointer.location, folder_of(pointer.location), pointer.fetch
                        )
        return registered

    def namespace(self, name: str) -> Mapping[str, str] | None:
        """The properties of a namespace, or None. Raises ``Failure``."""
        rest_server = server(self._catalog)
        answer = rest_server.get(rest_server.path_of(name))
        if answer is None:
            return None
        properties = answer.get("properties") or {}
        if not isinstance(properties, dict):
            raise rest_server.failure("its answer about a namespace has no properties")
        return {str(key): str(value) for key, value in properties.items()}


def _namespaces(server: "_Server") -> Iterator[str]:
    """Every namespace at any depth."""
    waiting: list[tuple[str, ...]] = [()]
    known: set[tuple[str, ...]] = set()
    while waiting:
        for child in server.namespaces_below(waiting.pop()):
            if child not in known:
                known.add(child)
                waiting.append(child)
                yield ".".join(child)


@lru_cache(maxsize=64)
def server(catalog: RestCatalog) -> "_Server":
    """One for each catalog, which has its configuration and token; a server that could not be reached is not
    remembered.
    """
    return _Server(catalog)


class _Server:
    """Asks one server. Safe to use from several threads."""

    def __init__(self, catalog: RestCatalog) -> None:
        self._catalog = catalog
        self._client = HttpClient(seconds=ANSWER_SECONDS)
        self._lock = threading.Lock()
        self._token: str | None = None
        self._settings = catalog.settings()
        query = f"?{urlencode({'warehouse': catalog.warehouse})}" if catalog.warehouse else ""
        try:
            known = self._answer(f"{catalog.uri}/v1/config{query}")
        except _NotThere as gone:
            raise self.failure(f"the server has no such warehouse: {gone}") from None
        defaults, overrides = known.get("defaults") or {}, known.get("overrides") or {}
        if (
            not isinstance(defaults, dict)
            or not isinstance(overrides, dict)
            or not {"defaults", "overrides"} & known.keys()
        ):
            raise self.failure("what it answers to /v1/config is no configuration of an Iceberg catalog")
        own = {**self._settings, **({"prefix": catalog.prefix} if catalog.prefix else {})}
        merged = {**defaults, **own, **overrides}
        address = str(merged.get("uri") or catalog.uri)
        if not address.startswith(("http://", "https://")):
            raise self.failure(f"it names {address!r} as its address, which is not that of a server")
        self._root = f"{address.rstrip('/')}/v1"
        self._root += f"/{str(merged['prefix']).strip('/')}" if merged.get("prefix") else ""
        self._separator = unquote(str(merged.get("namespace-separator") or "%1F"))

    def path_of(self, namespace: str) -> str:
        """The address of a namespace below the root."""
        return f"/namespaces/{quote(self._separator.join(namespace.split('.')), safe='', errors='replace')}"

    def get(self, path: str) -> Attributes | None:
        """The answer, or None where the server says that there is no such thing. Raises ``Failure``."""
        try:
            return self._answer(self._root + path)
        except _NotThere:
            return None

    def namespaces_below(self, parent: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        """Raises ``Failure``."""
        asked = {"parent": self._separator.join(parent)} if parent else {}
        for page in self.pages("/namespaces", asked, "namespaces"):
            if isinstance(page, list) and page:
                if len(page) > _DEEPEST:
                    raise self.failure(f"its namespaces are nested more than {_DEEPEST} deep")
                yield tuple(map(str, page))

    def pages(self, path: str, asked: Mapping[str, str], name: str) -> Iterator[Data]:
        """The entries of a list that the server gives in pages; none where there is no such thing. Raises
        ``Failure``.
        """
        tokens: set[str] = set()
        token = ""
        while True:
            query = {**asked, "pageToken": token} if token else asked
            answer = self.get(f"{path}?{urlencode(query, errors='replace')}" if query else path)
            if answer is None:
                return
            entries = answer.get(name) or []
            if not isinstance(entries, list):
                raise self.failure(f"its list of {name} is none")
            yield from entries
            if not answer.get("next-page-token"):
                return
            token = str(answer["next-page-token"])
            if token in tokens or len(tokens) >= _MOST_PAGES:
                raise self.failure(f"its list of {name} does not come to an end")
            tokens.add(token)

    def has_view(self, namespace: str, name: str) -> bool:
        """Returns True if the server reports a view of this name."""
        try:
            return (
                self.get(f"{self.path_of(namespace)}/views/{quote(name, safe='', errors='replace')}")
                is not None
            )
        except Failure:
            return False

    def location_in(self, answer: Attributes) -> str:
        """The metadata location in an answer about a table. Raises ``Failure``."""
        location = answer.get("metadata-location")
        if not isinstance(location, str) or not location:
            raise self.failure("its answer about a table has no metadata-location")
        return location

    def failure(self, why: str) -> Failure:
        return Failure(unreadable(self._catalog, why))

    def _answer(self, url: str) -> Attributes:
        try:
            return self._asked(url, self._headers())
        except _Refused:
            # A token grows old; a fresh one is asked for once.
            with self._lock:
                self._token = None
            try:
                return self._asked(url, self._headers())
            except _Refused as refused:
                raise self.failure(str(refused)) from None

    def _headers(self) -> dict[str, str]:
        own = {
            name.removeprefix("header."): value
            for name, value in self._settings.items()
            if name.startswith("header.")
        }
        token = self._bearer()
        bearer: dict[str, str] = {"Authorization": f"Bearer {token}"} if token else {}
        return {"Accept": "application/json"} | bearer | own

    def _bearer(self) -> str | None:
        catalog = self._catalog
        if catalog.token is not None:
            return resolve(catalog.token)
        if catalog.credential is None:
            return None
        with self._lock:
            if self._token is None:
                self._token = self._exchanged(catalog.credential)
            return self._token

    def _exchanged(self, credential: str) -> str:
        name, colon, secret = resolve(credential).partition(":")
        login = {"client_id": name, "client_secret": secret} if colon else {"client_secret": name}
        more = {key: self._settings[key] for key in _OAUTH if key in self._settings}
        form: dict[str, str] = {"grant_type": "client_credentials", "scope": "catalog"} | login | more
        uri = self._catalog.token_uri
        if not uri.startswith(("http://", "https://")):
            raise self.failure(f"oauth2-server-uri {uri!r} is not the address of a server")
        try:
            answer = self._asked(uri, {"Accept": "application/json"}, urlencode(form).encode())
        except (_Refused, _NotThere) as refused:
            raise self.failure(f"its credential is not accepted at {uri}: {refused}") from None
        token = answer.get("access_token")
        if not isinstance(token, str) or not token:
            raise self.failure(f"{uri} gave no access_token for its credential")
        remember(token)
        return token

    def _asked(self, url: str, headers: Mapping[str, str], form: bytes | None = None) -> Attributes:
        try:
            content = self._client.ask(url, headers=headers, body=form)
        except HttpRefusal as refusal:
            raise self._refusal(refusal) from None
        except NoAnswer as problem:
            raise self.failure(str(problem)) from None
        return self._understood(content, shown=form is None)

    def _understood(self, content: bytes, *, shown: bool) -> Attributes:
        try:
            answer = parse_json(content)
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict):
            raise self.failure(
                f"what it answers is no JSON object{f' but {_start(content)}' if shown else ''}"
            )
        return answer

    def _refusal(self, refusal: HttpRefusal) -> Exception:
        known = _error_in(refusal.content)
        if refusal.status == 404 and known is not None and str(known.get("type", "")).startswith(_ABSENT):
            return _NotThere(str(known.get("message", "")))
        message = (known or {}).get("message")
        why = _cut(str(message), _LONGEST_MESSAGE) if message else refusal.reason or _start(refusal.content)
        if refusal.status in (401, 419):
            return _Refused(f"HTTP {refusal.status}: {why}")
        return self.failure(f"HTTP {refusal.status}: {why}")


class _NotThere(Exception):
    """The server knows what was asked for, and has none."""


class _Refused(Exception):
    """The server does not accept the token."""


def _error_in(content: bytes) -> Attributes | None:
    try:
        reason = parse_json(content)["error"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return reason if isinstance(reason, dict) else None


def _start(content: bytes) -> str:
    text = _cut(content[: 64 * 1024].decode(errors="replace"), 120)
    return f'"{text}"' if text else "nothing"


def _cut(text: str, most: int) -> str:
    """The beginning of what a server said, on one line. Secrets go first: half a one is not recognised."""
    return masked(" ".join(text.split()))[:most]
