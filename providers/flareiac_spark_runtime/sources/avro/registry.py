"""Asks a schema registry that speaks Confluent's HTTP protocol. Touches the network."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Any, Final
from urllib.parse import quote

from flareiac.kernel.data import parse_json
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.sdk.http_client import HttpClient, HttpRefusal, NoAnswer, login_headers, tls_of
from flareiac.sdk.secrets import masked, said

TIMEOUT_S: Final = 10.0
_MOST_BYTES: Final = 16 * 1024 * 1024
"""A schema is far shorter, and a driver may have little memory beside its JVM."""
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
    for a secret; ``properties`` are those of ``tls_of``.
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
        self._urls = access.urls
        login = login_headers(username=access.username, password=access.password, token=access.token)
        self._headers = {"Accept": _ACCEPT, **login}
        try:
            tls = tls_of(access.properties)
        except OSError as problem:
            why = f"a certificate of the schema registry cannot be read: {said(problem)}"
            raise RegistryRefused(why) from None
        self._client = HttpClient(seconds=timeout_s, most_bytes=_MOST_BYTES, tls=tls)

    def by_id(self, number: int) -> RegisteredSchema:
        """The schema of an id."""
        return self._schema(self._get(f"/schemas/ids/{number}"))

    def latest(self, subject: str) -> SubjectVersion:
        """The newest version of a subject."""
        return self.version(subject, "latest")

    def version(self, subject: str, which: int | str) -> SubjectVersion:
        """One version of a subject."""
        answer = self._get(f"/subjects/{_in_path(subject)}/versions/{which}")
        match answer:
            case {"version": int(number), "id": int(schema_id)}:
                return SubjectVersion(
                    subject=subject, version=number, id=schema_id, schema=self._schema(answer)
                )
            case _:
                raise self._not_understood()

    def versions(self, subject: str) -> tuple[int, ...]:
        """The numbers of a subject's versions, ascending."""
        answer = self._get(f"/subjects/{_in_path(subject)}/versions")
        if not isinstance(answer, list) or not all(isinstance(number, int) for number in answer):
            raise self._not_understood()
        return tuple(sorted(answer))

    def compatibility(self, subject: str) -> str:
        """The mode of compatibility by which the registry takes changes of a subject: ``BACKWARD``, ``NONE``,
        ...
        """
        try:
            answer = self._get(f"/config/{_in_path(subject)}")
        except NotFound:
            answer = self._get("/config")
        match answer:
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
            answer = self._post(f"{path}?verbose=true", text)
        except NotFound:  # also of a registry that compares single versions only
            answer = self._post(f"{path}/latest?verbose=true", text)
        match answer:
            case {"is_compatible": True}:
                return ()
            case {"is_compatible": False, "messages": [*reasons]} if reasons:
                return tuple(_line(reason) for reason in reasons)
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

    def _schema(self, answer: Any) -> RegisteredSchema:
        texts: dict[tuple[str, int], str | None] = {}
        text = self._collected(answer, texts, 0)
        references = tuple(named for named in texts.values() if named is not None)
        match answer:
            case {"schemaType": str(kind)}:
                return RegisteredSchema(text=text, kind=kind, references=references)
            case _:
                return RegisteredSchema(text=text, references=references)

    def _collected(self, answer: Any, texts: dict[tuple[str, int], str | None], deep: int) -> str:
        """The text of an answer; adds the texts that it names, what these name first. Each is asked for once,
        also where schemas name each other.
        """
        if deep > _DEEPEST:
            raise RegistryRefused(f"the references of a schema are nested more than {_DEEPEST} deep")
        match answer:
            case {"schema": str(text), "references": [*references]}:
                for reference in references:
                    self._collect(reference, texts, deep)
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
                answer = self._get(f"/subjects/{_in_path(subject)}/versions/{version}")
                text = self._collected(answer, texts, deep + 1)
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
            except RegistryDown as error:
                problem = error
        raise problem

    def _ask(self, url: str, path: str, body: bytes | None) -> Any:
        headers = self._headers if body is None else {**self._headers, "Content-Type": _CONTENT}
        try:
            content = self._client.ask(url + path, headers=headers, body=body)
        except HttpRefusal as refusal:
            raise self._problem(url, refusal, of_schema=body is not None) from None
        except NoAnswer as problem:
            raise RegistryDown(f"the schema registry {url} does not answer: {problem}") from None
        try:
            return parse_json(content)
        except (ValueError, RecursionError):
            raise self._not_understood() from None

    def _problem(self, url: str, refusal: HttpRefusal, *, of_schema: bool) -> Exception:
        status, message = refusal.status, refusal.reason or _message_of(refusal.content)
        if of_schema and status in _REJECTED and message is not None:
            return RegistryRejected(message)
        if status == _NOT_FOUND and message is not None:
            return NotFound(message)
        if status in (401, 403):
            return RegistryRefused(f"the schema registry {url} refuses the login (HTTP {status})")
        return RegistryDown(
            f"the schema registry {url} answers HTTP {status}" + (f": {message}" if message else "")
        )

    def _not_understood(self) -> RegistryDown:
        return RegistryDown(
            f"the schema registry {', '.join(self._urls)} gives no answer of Confluent's protocol"
        )


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


def _message_of(content: bytes) -> str | None:
    """The registry's own message; None for an answer that is not its own."""
    try:
        answer = parse_json(content)
    except (ValueError, RecursionError):
        return None
    match answer:
        case {"error_code": int(), "message": str(text)}:
            return _line(text)
        case _:
            return None


def _line(message: object) -> str:
    return masked(" ".join(str(message).split()))[:_MOST_OF_REASON]
