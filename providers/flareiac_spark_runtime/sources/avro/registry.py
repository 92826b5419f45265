"""Asks a schema registry that speaks Confluent's HTTP protocol, by the standard library alone."""

import base64
import json
import ssl
from collections.abc import Iterator, Mapping
from dataclasses import field
from http.client import HTTPException
from typing import Any, Final
from urllib.error import HTTPError, URLError
from urllib.parse import quote
from urllib.request import HTTPRedirectHandler, HTTPSHandler, ProxyHandler, Request, build_opener

from flareiac.kernel.data import parse_json
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.secrets import masked, resolve, resolve_all

TIMEOUT_S: Final = 10.0
CA: Final = "ssl.ca.location"
CERTIFICATE: Final = "ssl.certificate.location"
KEY: Final = "ssl.key.location"
KEY_PHRASE: Final = "ssl.key.password"
PROPERTIES: Final = (CA, CERTIFICATE, KEY, KEY_PHRASE)
"""Names of settings beside the address and the login, as Confluent's own clients call them."""
_MOST_BYTES: Final = 16 * 1024 * 1024
_MOST_OF_REASON: Final = 600
_DEEPEST: Final = 20
_MOST_REFERENCES: Final = 200
_ACCEPT: Final = "application/vnd.schemaregistry.v1+json, application/json"
_CONTENT: Final = "application/vnd.schemaregistry.v1+json"
_NOT_FOUND: Final = 404
_REJECTED: Final = (409, 422)
"""Statuses of what is asked of a schema: it is not compatible, or it is invalid."""


class RegistryProblem(Exception):
    """The registry gave no answer that can be used; the message says which registry and why, without a full
    stop, and shows no secret.
    """


class RegistryDown(RegistryProblem):
    """It cannot be reached, or fails: a later attempt may find it well."""


class RegistryRefused(RegistryProblem):
    """It takes neither this login nor this connection."""


class NotFound(Exception):
    """The registry has no such schema, subject or version; the message is its own."""


class RegistryRejected(RegistryProblem):
    """It takes no such schema: the schema is invalid, or not compatible with what the subject has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistryAccess:
    """The address and the login of a registry. ``url``: one address, or several with commas in between, which
    are asked in turn. ``username``, ``password``, ``token`` and ``properties`` are texts, or texts that stand
    for a secret.
    """

    url: str
    username: str | None = None
    password: str | None = None
    token: str | None = None
    properties: Mapping[str, str] = field(default_factory=dict)

    @property
    def urls(self) -> tuple[str, ...]:
        """The addresses, without a slash at the end."""
        return tuple(each.strip().rstrip("/") for each in self.url.split(",") if each.strip())


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisteredSchema:
    """A schema. ``kind``: ``AVRO``, ``JSON`` or ``PROTOBUF``. ``references``: texts of the schemas that it
    needs, each after those that it needs itself.
    """

    text: str
    kind: str = "AVRO"
    references: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectVersion:
    """A version of a subject, with the id that its records carry."""

    subject: str
    version: int
    id: int
    schema: RegisteredSchema


class Registry:
    """A client; it keeps nothing open between two questions. Every method raises ``RegistryProblem`` and
    ``NotFound``, the constructor ``Failure`` for a secret that this process cannot have.
    """

    def __init__(self, access: RegistryAccess, *, timeout_s: float = TIMEOUT_S) -> None:
        self._urls, self._timeout = access.urls, timeout_s
        self._headers = {"Accept": _ACCEPT, **_login(access)}
        self._opener = build_opener(ProxyHandler(), HTTPSHandler(context=_tls(access)), _SameHost())

    def by_id(self, number: int) -> RegisteredSchema:
        """The schema of an id."""
        return self._schema(self._get(f"/schemas/ids/{number}"))

    def latest(self, subject: str) -> SubjectVersion:
        """The newest version of a subject."""
        return self.version(subject, "latest")

    def version(self, subject: str, which: int | str) -> SubjectVersion:
        """One version of a subject."""
        found = self._get(f"/subjects/{_in_path(subject)}/versions/{which}")
        match found:
            case {"version": int(number), "id": int(schema_id)}:
                return SubjectVersion(
                    subject=subject, version=number, id=schema_id, schema=self._schema(found)
                )
            case _:
                raise self._not_understood()

    def versions(self, subject: str) -> tuple[int, ...]:
        """The numbers of a subject's versions, ascending."""
        found = self._get(f"/subjects/{_in_path(subject)}/versions")
        if not isinstance(found, list) or not all(isinstance(number, int) for number in found):
            raise self._not_understood()
        return tuple(sorted(found))

    def compatibility(self, subject: str) -> str:
        """The mode of compatibility by which the registry takes changes of a subject: ``BACKWARD``, ``NONE``,
        ...
        """
        try:
            found = self._get(f"/config/{_in_path(subject)}")
        except NotFound:
            found = self._get("/config")
        match found:
            case {"compatibilityLevel": str(level)}:
                return level
            case _:
                raise self._not_understood()

    def registered(self, subject: str, text: str) -> SubjectVersion:
        """The version of a subject that is this schema. Raises ``NotFound`` also where there is no such
        subject.
        """
        match self._post(f"/subjects/{_in_path(subject)}", text):
            case {"version": int(number), "id": int(schema_id)}:
                schema = RegisteredSchema(text=text)
                return SubjectVersion(subject=subject, version=number, id=schema_id, schema=schema)
            case _:
                raise self._not_understood()

    def incompatibilities(self, subject: str, text: str) -> tuple[str, ...]:
        """The reasons for which the registry would not take this schema as the next version of a subject, as
        its mode of compatibility says; empty where it would. Raises ``NotFound`` where there is no such
        subject.
        """
        path = f"/compatibility/subjects/{_in_path(subject)}/versions"
        try:
            found = self._post(f"{path}?verbose=true", text)
        except NotFound:  # also of a registry that compares single versions only
            found = self._post(f"{path}/latest?verbose=true", text)
        match found:
            case {"is_compatible": True}:
                return ()
            case {"is_compatible": False, "messages": [*reasons]} if reasons:
                return tuple(_line(reason, most=_MOST_OF_REASON) for reason in reasons)
            case {"is_compatible": False}:
                return ("it is not compatible with the versions that are there",)
            case _:
                raise self._not_understood()

    def register(self, subject: str, text: str) -> int:
        """The id of a schema, which is a version of the subject from now on, if it was not before. Raises
        ``RegistryRejected``.
        """
        match self._post(f"/subjects/{_in_path(subject)}/versions", text):
            case {"id": int(schema_id)}:
                return schema_id
            case _:
                raise self._not_understood()

    def _schema(self, found: Any) -> RegisteredSchema:
        texts: dict[tuple[str, int], str | None] = {}
        text = self._collected(found, texts, 0)
        references = tuple(named for named in texts.values() if named is not None)
        match found:
            case {"schemaType": str(kind)}:
                return RegisteredSchema(text=text, kind=kind, references=references)
            case _:
                return RegisteredSchema(text=text, references=references)

    def _collected(self, found: Any, texts: dict[tuple[str, int], str | None], deep: int) -> str:
        """The text of an answer; adds the texts that it names, what these name first. Each is asked for once,
        also where schemas name each other.
        """
        if deep > _DEEPEST:
            raise RegistryRefused(f"the references of a schema are nested more than {_DEEPEST} deep")
        match found:
            case {"schema": str(text), "references": [*references]}:
                for item in references:
                    self._collect(item, texts, deep)
                return text
            case {"schema": str(text)}:
                return text
            case _:
                raise self._not_understood()

    def _collect(self, reference: Any, texts: dict[tuple[str, int], str | None], deep: int) -> None:
        match reference:
            case {"subject": str(subject), "version": int(version)}:
                if (subject, version) in texts:
                    return
                if len(texts) >= _MOST_REFERENCES:
                    raise RegistryRefused(f"a schema needs more than {_MOST_REFERENCES} others")
                texts[subject, version] = None
                found = self._get(f"/subjects/{_in_path(subject)}/versions/{version}")
                text = self._collected(found, texts, deep + 1)
                del texts[subject, version]
                texts[subject, version] = text  # after those that it names
            case _:
                raise self._not_understood()

    def _get(self, path: str) -> Any:
        return self._answer(path, None)

    def _post(self, path: str, text: str) -> Any:
        """The answer to a question about a schema."""
        return self._answer(path, json.dumps({"schema": text}).encode())

    def _answer(self, path: str, body: bytes | None) -> Any:
        """The answer of the first address that gives one."""
        problem: RegistryProblem = RegistryDown("the schema registry has no address")
        for url in self._urls:
            try:
                return self._ask(url, path, body)
            except RegistryDown as trouble:
                problem = trouble
        raise problem

    def _ask(self, url: str, path: str, body: bytes | None) -> Any:
        try:
            headers = self._headers if body is None else {**self._headers, "Content-Type": _CONTENT}
            request = Request(url + path, body, headers)  # noqa: S310  # http and https alone
            with self._opener.open(request, timeout=self._timeout) as answer:
                content = answer.read(_MOST_BYTES + 1)
        except HTTPError as refused:
            with refused:
                raise self._problem(url, refused, of_schema=body is not None) from None
        except (URLError, HTTPException, OSError, ValueError) as trouble:
            reason = trouble.reason if isinstance(trouble, URLError) else trouble
            raise RegistryDown(f"the schema registry {url} does not answer: {_line(reason)}") from None
        try:
            return parse_json(content)
        except (ValueError, RecursionError):
            raise self._not_understood() from None

    def _problem(self, url: str, refused: HTTPError, *, of_schema: bool) -> Exception:
        said = _message_of(refused)
        if of_schema and refused.code in _REJECTED and said is not None:
            return RegistryRejected(said)
        if refused.code == _NOT_FOUND and said is not None:
            return NotFound(said)
        if refused.code in (401, 403):
            return RegistryRefused(f"the schema registry {url} refuses the login (HTTP {refused.code})")
        return RegistryDown(
            f"the schema registry {url} answers HTTP {refused.code}" + (f": {said}" if said else "")
        )

    def _not_understood(self) -> RegistryDown:
        return RegistryDown(
            f"the schema registry {', '.join(self._urls)} gives no answer of Confluent's protocol"
        )


class _SameHost(HTTPRedirectHandler):
    """No login goes to another address."""

    def redirect_request(self, *arguments: Any, **named: Any) -> None:
        del arguments, named


def registry_schemas(registry: Registry, subject: str, *, newest: int) -> Iterator[SubjectVersion]:
    """The newest versions of a subject, ascending; none where there is no such subject. Raises
    ``RegistryProblem``.
    """
    try:
        numbers = registry.versions(subject)
    except NotFound:
        return
    for number in numbers[-newest:]:
        try:
            yield registry.version(subject, number)
        except NotFound:  # deleted in between
            continue


def _in_path(subject: str) -> str:
    """A subject as a part of an address. Half of a surrogate pair, as a reference in a schema may have it,
    has no bytes: it is sent as a question mark, under which no subject is.
    """
    return quote(subject, safe="", errors="replace")


def _login(access: RegistryAccess) -> dict[str, str]:
    if access.token is not None:
        return {"Authorization": f"Bearer {resolve(access.token)}"}
    if access.username is None:
        return {}
    pair = f"{resolve(access.username)}:{resolve(access.password or '')}"
    return {"Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}


def _tls(access: RegistryAccess) -> ssl.SSLContext:
    given = resolve_all({name: text for name, text in access.properties.items() if name in PROPERTIES})
    try:
        context = ssl.create_default_context(cafile=given.get(CA))
        if CERTIFICATE in given:
            context.load_cert_chain(given[CERTIFICATE], given.get(KEY), given.get(KEY_PHRASE))
    except (OSError, ssl.SSLError) as trouble:
        raise RegistryRefused(
            f"a certificate of the schema registry cannot be read: {_line(trouble)}"
        ) from None
    return context


def _message_of(refused: HTTPError) -> str | None:
    """The registry's own message; None for an answer that is not its own."""
    try:
        answer = parse_json(refused.read(_MOST_BYTES))
    except (ValueError, OSError, HTTPException, RecursionError):
        return None
    match answer:
        case {"error_code": int(), "message": str(text)}:
            return _line(text, most=_MOST_OF_REASON)
        case _:
            return None


def _line(trouble: object, *, most: int = 200) -> str:
    text = masked(" ".join(str(trouble).split()))
    return text[:most] if "header value" not in text.lower() else "the login has a sign that cannot be sent"
